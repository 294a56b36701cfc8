//! The candidates of a draw: put into llama.cpp's array, all of them or right away only those that a leading top-k would keep.

use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token::data::LlamaTokenData;

use crate::domain::inference::Token;

pub(super) fn candidate(id: usize, logit: f32) -> LlamaTokenData {
    LlamaTokenData::new(LlamaToken(id as i32), logit, 0.0)
}

/// The token of the highest logit, the first where several are equal; `None` where there is no number.
pub(super) fn greedy(logits: &[f32]) -> Option<Token> {
    let mut best: Option<(usize, f32)> = None;
    for (id, &logit) in logits.iter().enumerate() {
        if logit.is_finite() && best.is_none_or(|(_, highest)| logit > highest) {
            best = Some((id, logit));
        }
    }
    best.map(|(id, _)| Token(id as i32))
}

/// Writes the `k` highest of `logits` into `out`, highest first. One pass with a rising threshold: most logits are looked at
/// once and never stored, which beats filling and sorting an array of the whole vocabulary.
pub(super) fn top(logits: &[f32], k: usize, out: &mut Vec<LlamaTokenData>) {
    let higher = |a: &LlamaTokenData, b: &LlamaTokenData| b.logit().total_cmp(&a.logit());
    // Room for as many again as are kept: each cut then pays for k insertions.
    let room = 2 * k.max(1);
    let mut threshold = f32::NEG_INFINITY;
    for (id, &logit) in logits.iter().enumerate() {
        if logit > threshold {
            out.push(candidate(id, logit));
            if out.len() == room {
                out.select_nth_unstable_by(k - 1, higher);
                out.truncate(k);
                threshold = out[k - 1].logit();
            }
        }
    }
    out.sort_unstable_by(higher);
    out.truncate(k);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn top_equals_sorting_all(logits in proptest::collection::vec(-50.0_f32..50.0, 1..400), k in 1_usize..60) {
            let mut out = Vec::new();
            top(&logits, k, &mut out);
            let mut all = logits.clone();
            all.sort_by(|a, b| b.total_cmp(a));
            all.truncate(k);
            prop_assert_eq!(out.iter().map(LlamaTokenData::logit).collect::<Vec<_>>(), all);
            for c in &out {
                prop_assert_eq!(logits[c.id().0 as usize], c.logit());
            }
        }
    }

    #[test]
    fn greedy_skips_what_is_no_number() {
        assert_eq!(greedy(&[f32::NAN, 1.0, 3.0, f32::INFINITY, 3.0]), Some(Token(2)));
        assert_eq!(greedy(&[f32::NAN, f32::NEG_INFINITY]), None);
    }
}
