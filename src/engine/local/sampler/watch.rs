//! Watches a draw from the outside: which of the likeliest tokens each stage removed, how many it left, and what the probabilities
//! became. Changes nothing.

use llama_cpp_2::token::data::LlamaTokenData;

use crate::domain::inference::{Candidate, Report, Token};
use crate::domain::sampling::Stage;

use super::candidates::top;
use super::look::{Look, rank};

/// Tokens that a report tells of, beside the one that was drawn.
const SHOWN: usize = 10;

/// One draw, watched.
#[derive(Default)]
pub(super) struct Watch {
    look: Look,
    /// The likeliest before any stage.
    tops: Vec<LlamaTokenData>,
    /// The stage that removed each of them.
    removed: Vec<Option<Stage>>,
    kept: Vec<(Stage, u32)>,
    /// What is left, with its probability; only of `tops`.
    after: Vec<Option<f32>>,
    /// Of all that is left: the highest logit and the sum of e^(logit - highest).
    left: (f32, f32),
}

impl Watch {
    /// Before any stage. `sorted` are candidates in falling order where they are at hand.
    pub(super) fn begin(&mut self, logits: &[f32], sorted: Option<&[LlamaTokenData]>) {
        self.look = Look::at(logits);
        self.tops.clear();
        match sorted.filter(|sorted| sorted.len() >= SHOWN) {
            Some(sorted) => self.tops.extend_from_slice(&sorted[..SHOWN]),
            None => top(logits, SHOWN, &mut self.tops),
        }
        self.removed.clear();
        self.removed.resize(self.tops.len(), None);
        self.kept.clear();
    }

    /// After a stage that left `candidates` of `before`.
    pub(super) fn stage(&mut self, stage: Stage, before: usize, candidates: &[LlamaTokenData]) {
        // A temperature of 0 keeps all and makes all but one impossible.
        let possible = |c: &&LlamaTokenData| stage != Stage::Temperature || c.logit() > f32::NEG_INFINITY;
        let left = candidates.iter().filter(possible).count();
        self.kept.push((stage, left as u32));
        if left == before {
            return;
        }
        let there = self.find(candidates);
        for (removed, there) in self.removed.iter_mut().zip(there) {
            if there.is_none() {
                removed.get_or_insert(stage);
            }
        }
    }

    /// After all stages, before the draw.
    pub(super) fn end(&mut self, candidates: &[LlamaTokenData]) {
        let highest = candidates
            .iter()
            .map(LlamaTokenData::logit)
            .fold(f32::NEG_INFINITY, f32::max);
        let sum: f32 = candidates.iter().map(|c| (c.logit() - highest).exp()).sum();
        self.left = (highest, sum);
        let logits = self.find(candidates);
        self.after = logits
            .into_iter()
            .map(|logit| logit.map(|logit| self.share(logit)))
            .collect();
    }

    /// The probability after all stages that goes with a logit after all stages.
    fn share(&self, logit: f32) -> f32 {
        let (highest, sum) = self.left;
        (logit - highest).exp() / sum
    }

    /// The logits that the likeliest have among `candidates` now.
    fn find(&self, candidates: &[LlamaTokenData]) -> Vec<Option<f32>> {
        let mut found = vec![None; self.tops.len()];
        let mut missing = found.len();
        for candidate in candidates {
            if missing == 0 {
                break;
            }
            let possible = candidate.logit() > f32::NEG_INFINITY;
            let at = self.tops.iter().position(|top| top.id() == candidate.id());
            if let Some(at) = at.filter(|_| possible) {
                found[at] = Some(candidate.logit());
                missing -= 1;
            }
        }
        found
    }

    /// The report on `token`, whose logit after all stages was `logit`; `None` where a greedy draw needed no stages.
    pub(super) fn report(&self, logits: &[f32], token: Token, logit: Option<f32>) -> Report {
        let raw = |token: Token| usize::try_from(token.0).ok().and_then(|id| logits.get(id)).copied();
        let own = raw(token).unwrap_or(f32::NEG_INFINITY);
        let candidate = |token: Token, logit: f32, after, removed| Candidate {
            token,
            text: String::new(),
            logit,
            before: self.look.probability(logit),
            after,
            removed,
        };
        let shown = self.tops.iter().enumerate().map(|(at, top)| {
            let after = self.after.get(at).copied().flatten();
            candidate(Token(top.id().0), top.logit(), after, self.removed[at])
        });
        let mut candidates: Vec<_> = shown.collect();
        let after = logit.map_or(1.0, |logit| self.share(logit));
        if !candidates.iter().any(|c| c.token == token) {
            candidates.push(candidate(token, own, Some(after), None));
        }
        Report {
            probability: self.look.probability(own),
            after,
            rank: rank(logits, token),
            entropy: self.look.entropy,
            kept: self.kept.clone(),
            candidates,
            ..Report::default()
        }
    }

    /// A draw of the likeliest, for which no stage needs to run: it is certain.
    pub(super) fn greedy(&mut self, token: Token) {
        self.after = self
            .tops
            .iter()
            .map(|top| (top.id().0 == token.0).then_some(1.0))
            .collect();
        let removed = self
            .tops
            .iter()
            .map(|top| (top.id().0 != token.0).then_some(Stage::Temperature));
        self.removed = removed.collect();
        self.kept.push((Stage::Temperature, 1));
    }
}
