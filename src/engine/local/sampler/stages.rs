//! The stages themselves: which of them act under given settings, what each depends on, and how llama.cpp's sampler for it is
//! made. Keeps no state.

use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;

use crate::domain::Sampling;
use crate::domain::sampling::Stage;
use crate::engine::local::ffi;

/// What draws one of the candidates that the stages left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pick {
    /// By probability.
    Distribution,
    /// Mirostat: by probability among those whose surprise is near its aim (Basu et al. 2020, arXiv 2007.14966).
    Mirostat {
        /// 1 or 2.
        version: u32,
        /// Its aim in bits.
        tau: f32,
        /// Its rate of learning.
        eta: f32,
    },
    /// Adaptive-p: favours what keeps the mean probability of the drawn near an aim.
    Adaptive {
        /// The aim.
        target: f32,
        /// How long it remembers.
        decay: f32,
    },
}

/// How many candidates mirostat 1 estimates from: the paper's value, and llama.cpp's.
const MIROSTAT_M: i32 = 100;

impl Pick {
    /// What draws under these settings.
    pub(super) fn of(s: &Sampling) -> Self {
        match s.mirostat {
            0 if s.adaptive_target >= 0.0 => Self::Adaptive {
                target: s.adaptive_target,
                decay: s.adaptive_decay,
            },
            0 => Self::Distribution,
            version => Self::Mirostat {
                version,
                tau: s.mirostat_tau,
                eta: s.mirostat_eta,
            },
        }
    }

    /// llama.cpp's sampler for it.
    pub(super) fn build(self, vocabulary: i32, seed: u32) -> LlamaSampler {
        match self {
            Self::Distribution => LlamaSampler::dist(seed),
            Self::Mirostat { version: 1, tau, eta } => LlamaSampler::mirostat(vocabulary, seed, tau, eta, MIROSTAT_M),
            Self::Mirostat { tau, eta, .. } => LlamaSampler::mirostat_v2(seed, tau, eta),
            Self::Adaptive { target, decay } => ffi::adaptive_p(target, decay, seed),
        }
    }
}

/// llama.cpp's sampler for a stage, which has seen the `history`.
pub(super) fn build(stage: Stage, s: &Sampling, model: &LlamaModel, seed: u32, history: &[LlamaToken]) -> LlamaSampler {
    let keep = s.min_keep as usize;
    let recent = |n: u32| &history[history.len().saturating_sub(n as usize)..];
    match stage {
        Stage::Penalties => {
            let penalties = LlamaSampler::penalties(
                model.n_vocab(),
                s.repeat_last_n as i32,
                s.repeat_penalty,
                s.frequency_penalty,
                s.presence_penalty,
            );
            penalties.with_tokens(recent(s.repeat_last_n))
        }
        Stage::Dry => {
            let dry = LlamaSampler::dry(
                model,
                s.dry_multiplier,
                s.dry_base,
                s.dry_allowed_length as i32,
                s.dry_last_n as i32,
                &s.dry_breakers,
            );
            dry.with_tokens(recent(s.dry_last_n))
        }
        Stage::TopNSigma => LlamaSampler::top_n_sigma(s.top_n_sigma),
        Stage::TopK => LlamaSampler::top_k(s.top_k as i32),
        Stage::Typical => LlamaSampler::typical(s.typical_p, keep),
        Stage::TopP => LlamaSampler::top_p(s.top_p, keep),
        Stage::MinP => LlamaSampler::min_p(s.min_p, keep),
        Stage::Xtc => LlamaSampler::xtc(s.xtc_probability, s.xtc_threshold, keep, seed),
        Stage::Temperature => LlamaSampler::temp_ext(s.temperature, s.dynatemp_range, s.dynatemp_exponent),
    }
}

/// Whether a stage is the same under both settings, and so may keep its state.
pub(super) fn is_same(stage: Stage, one: &Sampling, other: &Sampling) -> bool {
    let texts = stage != Stage::Dry || one.dry_breakers == other.dry_breakers;
    texts && parameters(stage, one) == parameters(stage, other)
}

/// The numbers that a stage depends on.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_changes_with_its_own_settings_only() {
        let base = Sampling::default();
        let cooler = Sampling {
            temperature: 0.1,
            dry_breakers: Vec::new(),
            ..Sampling::default()
        };
        let changed: Vec<_> = Stage::ORDER
            .into_iter()
            .filter(|s| !is_same(*s, &base, &cooler))
            .collect();
        assert_eq!(changed, [Stage::Dry, Stage::Temperature]);
    }
}
