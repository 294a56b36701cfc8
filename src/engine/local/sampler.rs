//! Draws tokens: llama.cpp's samplers as a list of stages that is ours, so that one can be changed between two tokens while
//! the others keep their state and the random numbers go on.
//!
//! Settings come from `domain::sampling`; which stages exist and in which order is said there.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token::data::LlamaTokenData;
use llama_cpp_2::token::data_array::LlamaTokenDataArray;

use crate::domain::Sampling;
use crate::domain::inference::Token;
use crate::domain::sampling::{Seed, Stage};

/// What ends a repetition for DRY: llama.cpp's default list.
const DRY_BREAKERS: [&str; 4] = ["\n", ":", "\"", "*"];

/// Draws the tokens of one turn.
pub(super) struct Sampler {
    model: Arc<LlamaModel>,
    settings: Sampling,
    seed: u32,
    /// The stages that do something, in order.
    stages: Vec<(Stage, LlamaSampler)>,
    /// The draw; lives as long as the turn, so that its random numbers go on whatever is tuned.
    dist: LlamaSampler,
    /// Kept between tokens for its memory.
    candidates: LlamaTokenDataArray,
    /// The prompt and what was said: what a rebuilt stage must know of.
    history: Vec<LlamaToken>,
}

impl Sampler {
    /// A sampler for a turn whose prompt is `prompt`. A random seed is drawn here; [`Self::seed`] tells it.
    pub(super) fn new(model: Arc<LlamaModel>, settings: &Sampling, prompt: &[Token]) -> Self {
        let seed = match settings.seed {
            Seed::Fixed(seed) => seed.min(Seed::MAX),
            // The standard library's hasher keys are random; good enough to choose a seed, which is then recorded.
            Seed::Random => (RandomState::new().build_hasher().finish() as u32).min(Seed::MAX),
        };
        let mut sampler = Self {
            model,
            settings: settings.clone(),
            seed,
            stages: Vec::new(),
            dist: LlamaSampler::dist(seed),
            candidates: LlamaTokenDataArray::new(Vec::new(), false),
            history: prompt.iter().map(|t| LlamaToken(t.0)).collect(),
        };
        sampler.stages = active(settings).map(|stage| (stage, sampler.build(stage))).collect();
        sampler
    }

    /// The seed in force.
    pub(super) fn seed(&self) -> u32 {
        self.seed
    }

    /// Takes new settings for the next token on. A stage whose own settings did not change keeps its state.
    pub(super) fn tune(&mut self, settings: Sampling) {
        let old = std::mem::replace(&mut self.settings, settings);
        let mut kept: Vec<_> = std::mem::take(&mut self.stages);
        let stages: Vec<Stage> = active(&self.settings).collect();
        for stage in stages {
            let same = parameters(stage, &old) == parameters(stage, &self.settings);
            let found = kept.iter().position(|(s, _)| *s == stage).filter(|_| same);
            let sampler = found.map_or_else(|| self.build(stage), |at| kept.swap_remove(at).1);
            self.stages.push((stage, sampler));
        }
    }

    /// Draws a token from `logits` (one per entry of the vocabulary) and remembers it. `None` where the logits are no numbers.
    pub(super) fn draw(&mut self, logits: &[f32]) -> Option<Token> {
        let token = if self.settings.is_greedy() && self.stages.iter().all(|(s, _)| *s == Stage::Temperature) {
            LlamaToken(greedy(logits)?)
        } else {
            self.fill(logits);
            for (_, sampler) in &mut self.stages {
                self.candidates.apply_sampler(sampler);
            }
            self.candidates.apply_sampler(&mut self.dist);
            let selected = self.candidates.selected?;
            let chosen = self.candidates.data.get(selected).filter(|c| c.logit().is_finite())?;
            chosen.id()
        };
        for (stage, sampler) in &mut self.stages {
            if let Err(error) = sampler.try_accept(token) {
                tracing::warn!(?stage, %error, "a sampling stage did not accept the token it let through");
            }
        }
        self.history.push(token);
        Some(Token(token.0))
    }

    /// Puts the candidates into the array: all, or right away only those that a leading top-k would keep.
    fn fill(&mut self, logits: &[f32]) {
        let data = &mut self.candidates.data;
        data.clear();
        self.candidates.selected = None;
        if let Some((Stage::TopK, _)) = self.stages.first() {
            top(logits, self.settings.top_k as usize, data);
            self.candidates.sorted = true;
        } else {
            data.extend(logits.iter().enumerate().map(|(id, &logit)| candidate(id, logit)));
            self.candidates.sorted = false;
        }
    }

    /// Makes the sampler of a stage from the settings in force, knowing the history.
    fn build(&self, stage: Stage) -> LlamaSampler {
        let s = &self.settings;
        let keep = s.min_keep as usize;
        match stage {
            Stage::Penalties => {
                let penalties = LlamaSampler::penalties(
                    self.model.n_vocab(),
                    s.repeat_last_n as i32,
                    s.repeat_penalty,
                    s.frequency_penalty,
                    s.presence_penalty,
                );
                penalties.with_tokens(self.recent(s.repeat_last_n))
            }
            Stage::Dry => {
                let dry = LlamaSampler::dry(
                    &self.model,
                    s.dry_multiplier,
                    s.dry_base,
                    s.dry_allowed_length as i32,
                    s.dry_last_n as i32,
                    DRY_BREAKERS,
                );
                dry.with_tokens(self.recent(s.dry_last_n))
            }
            Stage::TopNSigma => LlamaSampler::top_n_sigma(s.top_n_sigma),
            Stage::TopK => LlamaSampler::top_k(s.top_k as i32),
            Stage::Typical => LlamaSampler::typical(s.typical_p, keep),
            Stage::TopP => LlamaSampler::top_p(s.top_p, keep),
            Stage::MinP => LlamaSampler::min_p(s.min_p, keep),
            Stage::Xtc => LlamaSampler::xtc(s.xtc_probability, s.xtc_threshold, keep, self.seed),
            Stage::Temperature => LlamaSampler::temp_ext(s.temperature, s.dynatemp_range, s.dynatemp_exponent),
        }
    }

    /// The last `n` tokens of the history.
    fn recent(&self, n: u32) -> &[LlamaToken] {
        &self.history[self.history.len().saturating_sub(n as usize)..]
    }
}

/// The stages of `settings` that change anything, in order.
fn active(s: &Sampling) -> impl Iterator<Item = Stage> + use<'_> {
    let penalizes = s.repeat_penalty != 1.0 || s.frequency_penalty != 0.0 || s.presence_penalty != 0.0;
    let acts = move |stage: &Stage| match stage {
        // llama.cpp divides by the repeat penalty and asks for more than 0.
        Stage::Penalties => s.repeat_last_n > 0 && s.repeat_penalty > 0.0 && penalizes,
        Stage::Dry => s.dry_multiplier > 0.0 && s.dry_last_n > 0,
        Stage::TopNSigma => s.top_n_sigma > 0.0,
        Stage::TopK => s.top_k > 0,
        Stage::Typical => s.typical_p < 1.0,
        Stage::TopP => s.top_p < 1.0,
        Stage::MinP => s.min_p > 0.0,
        Stage::Xtc => s.xtc_probability > 0.0 && s.xtc_threshold <= 0.5,
        Stage::Temperature => s.temperature != 1.0 || s.dynatemp_range > 0.0,
    };
    s.stages.iter().copied().filter(acts)
}

/// The settings that a stage depends on: equal values, equal stage.
fn parameters(stage: Stage, s: &Sampling) -> [f32; 5] {
    let keep = s.min_keep as f32;
    match stage {
        Stage::Penalties => [
            s.repeat_last_n as f32,
            s.repeat_penalty,
            s.frequency_penalty,
            s.presence_penalty,
            0.0,
        ],
        Stage::Dry => [
            s.dry_multiplier,
            s.dry_base,
            s.dry_allowed_length as f32,
            s.dry_last_n as f32,
            0.0,
        ],
        Stage::TopNSigma => [s.top_n_sigma, 0.0, 0.0, 0.0, 0.0],
        Stage::TopK => [s.top_k as f32, 0.0, 0.0, 0.0, 0.0],
        Stage::Typical => [s.typical_p, keep, 0.0, 0.0, 0.0],
        Stage::TopP => [s.top_p, keep, 0.0, 0.0, 0.0],
        Stage::MinP => [s.min_p, keep, 0.0, 0.0, 0.0],
        Stage::Xtc => [s.xtc_probability, s.xtc_threshold, keep, 0.0, 0.0],
        Stage::Temperature => [s.temperature, s.dynatemp_range, s.dynatemp_exponent, 0.0, 0.0],
    }
}

fn candidate(id: usize, logit: f32) -> LlamaTokenData {
    LlamaTokenData::new(LlamaToken(id as i32), logit, 0.0)
}

/// The id of the highest logit, the first where several are equal; `None` where there is no number.
fn greedy(logits: &[f32]) -> Option<i32> {
    let mut best: Option<(usize, f32)> = None;
    for (id, &logit) in logits.iter().enumerate() {
        if logit.is_finite() && best.is_none_or(|(_, highest)| logit > highest) {
            best = Some((id, logit));
        }
    }
    best.map(|(id, _)| id as i32)
}

/// Writes the `k` highest of `logits` into `out`, highest first. One pass with a rising threshold: most logits are looked at
/// once and never stored, which beats filling and sorting an array of the whole vocabulary.
fn top(logits: &[f32], k: usize, out: &mut Vec<LlamaTokenData>) {
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

/// Natural logarithm of the probability of `token` under `logits`: its logit less the log-sum-exp of all, in f32 around the
/// maximum. `None` for an id outside the vocabulary.
pub(super) fn logprob(logits: &[f32], token: Token) -> Option<f32> {
    let chosen = *logits.get(usize::try_from(token.0).ok()?)?;
    let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = logits.iter().map(|l| (l - highest).exp()).sum();
    Some(chosen - highest - sum.ln())
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

        #[test]
        fn log_probabilities_sum_to_one(logits in proptest::collection::vec(-30.0_f32..30.0, 1..200)) {
            let sum: f32 = (0..logits.len() as i32).map(|id| logprob(&logits, Token(id)).unwrap().exp()).sum();
            prop_assert!((sum - 1.0).abs() < 1e-4, "{}", sum);
        }
    }

    #[test]
    fn greedy_skips_what_is_no_number() {
        assert_eq!(greedy(&[f32::NAN, 1.0, 3.0, f32::INFINITY, 3.0]), Some(2));
        assert_eq!(greedy(&[f32::NAN, f32::NEG_INFINITY]), None);
    }

    #[test]
    fn only_stages_that_change_something_run() {
        let neutral = Sampling {
            top_k: 0,
            top_p: 1.0,
            min_p: 0.0,
            temperature: 1.0,
            ..Sampling::default()
        };
        assert_eq!(active(&neutral).count(), 0);
        let stages: Vec<_> = active(&Sampling::default()).collect();
        assert_eq!(stages, [Stage::TopK, Stage::TopP, Stage::MinP, Stage::Temperature]);
    }
}
