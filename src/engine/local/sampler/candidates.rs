//! The candidates of a draw: put into llama.cpp's array, all of them or right away only those that a leading top-k would keep.

use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token::data::LlamaTokenData;

use crate::domain::inference::Token;

pub(super) fn candidate(id: usize, logit: f32) -> LlamaTokenData {
    LlamaTokenData::new(LlamaToken(id as i32), logit, 0.0)
}

/// The first token of the `highest` logit.
pub(super) fn greedy(logits: &[f32], highest: f32) -> Option<Token> {
    // Whole rows are compared at once, and only the row that has it is looked through.
    let (rows, rest) = logits.as_chunks::<ROW>();
    let in_row = |row: &[f32; ROW]| row.iter().map(|logit| u32::from(*logit == highest)).sum::<u32>() > 0;
    let start = rows
        .iter()
        .position(in_row)
        .map_or(logits.len() - rest.len(), |row| row * ROW);
    let within = logits[start..].iter().position(|logit| *logit == highest)?;
    Some(Token((start + within) as i32))
}

/// Logits compared at once.
const ROW: usize = 64;

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
    fn greedy_takes_the_first_of_the_highest() {
        for length in [1, 63, 64, 65, 200] {
            for at in [0, length / 2, length - 1] {
                let mut logits = vec![-1.0; length];
                logits[at] = 3.0;
                logits[length - 1] = 3.0;
                assert_eq!(greedy(&logits, 3.0), Some(Token(at as i32)), "{length}");
            }
        }
        assert_eq!(greedy(&[1.0], 2.0), None);
    }
}
