//! Sampling settings: the stages a distribution passes through before a token is drawn, in llama.cpp's words, order and
//! defaults, and the table of parameters from which flags, `/set`, presets, configuration and documentation are made.
//!
//! This room says what can be set. How each stage works on logits is the engine's business.

use std::fmt;

use serde::{Deserialize, Serialize};

mod chosen;
mod parameter;
mod slider;
mod stage;
mod table;
mod written;

pub use chosen::Chosen;
pub use parameter::{Kind, Parameter, Refused, Value};
pub use slider::{Slider, Step};
pub use stage::{Stage, WrongStage};
pub use table::PARAMETERS;

/// Where the randomness of the draw comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Seed {
    /// A new seed for every answer; the one drawn is recorded with the answer.
    #[default]
    Random,
    /// The same draws every time, `0..=`[`Seed::MAX`].
    Fixed(u32),
}

impl Seed {
    /// llama.cpp reads `u32::MAX` as "random", so a fixed seed ends one below.
    pub const MAX: u32 = u32::MAX - 1;
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random => f.write_str("random"),
            Self::Fixed(seed) => write!(f, "{seed}"),
        }
    }
}

/// A token whose logit is moved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bias {
    /// Which token.
    pub token: BiasedToken,
    /// Added to its logit; minus infinity bans it.
    pub bias: f32,
}

/// How a token is named that is to be moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BiasedToken {
    /// By its id.
    Id(u32),
    /// By its text, which must be a single token of the vocabulary.
    Text(String),
}

/// A form that an answer must have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grammar {
    /// Where it came from, for people.
    pub name: String,
    /// How it is written.
    pub form: GrammarForm,
    /// Its text.
    pub text: String,
}

/// How a grammar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GrammarForm {
    /// llama.cpp's GBNF, with a rule `root`.
    Gbnf,
    /// A JSON schema; the answer is JSON that follows it.
    JsonSchema,
}

/// Every sampling setting, resolved. The default is llama.cpp's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Sampling {
    /// Order of the stages; one that is left out does not run.
    pub stages: Vec<Stage>,
    /// Divides the logits before the draw; 0 means greedy, the likeliest candidate always.
    pub temperature: f32,
    /// Half-width of the temperature's range when it follows the entropy; 0 is off.
    pub dynatemp_range: f32,
    /// How entropy maps into that range.
    pub dynatemp_exponent: f32,
    /// Candidates kept by [`Stage::TopK`]; 0 is off.
    pub top_k: u32,
    /// Cumulated probability kept by [`Stage::TopP`]; 1 is off.
    pub top_p: f32,
    /// Share of the best probability required by [`Stage::MinP`]; 0 is off.
    pub min_p: f32,
    /// Probability mass kept by [`Stage::Typical`]; 1 is off.
    pub typical_p: f32,
    /// Width in standard deviations of [`Stage::TopNSigma`]; 0 or less is off.
    pub top_n_sigma: f32,
    /// How often [`Stage::Xtc`] acts; 0 is off.
    pub xtc_probability: f32,
    /// Probability from which [`Stage::Xtc`] counts a candidate as a top choice; above 0.5 it is off.
    pub xtc_threshold: f32,
    /// Tokens that [`Stage::Penalties`] looks back on; 0 is off.
    pub repeat_last_n: u32,
    /// Divides or multiplies the logit of what was said lately; 1 is off.
    pub repeat_penalty: f32,
    /// Subtracted from a logit for every occurrence; 0 is off.
    pub frequency_penalty: f32,
    /// Subtracted from a logit for having occurred; 0 is off.
    pub presence_penalty: f32,
    /// Strength of [`Stage::Dry`]; 0 is off.
    pub dry_multiplier: f32,
    /// Growth of the DRY penalty per repeated token.
    pub dry_base: f32,
    /// Length in tokens of a repetition that DRY lets pass.
    pub dry_allowed_length: u32,
    /// Tokens that DRY looks back on; 0 is off.
    pub dry_last_n: u32,
    /// What ends a repetition for DRY.
    pub dry_breakers: Vec<String>,
    /// Fewest candidates that a truncating stage may leave.
    pub min_keep: u32,
    /// Version of mirostat, which takes the place of all stages but the temperature; 0 is off.
    pub mirostat: u32,
    /// The surprise that mirostat aims at, in bits.
    pub mirostat_tau: f32,
    /// How fast mirostat learns.
    pub mirostat_eta: f32,
    /// The probability that adaptive-p aims at with what it draws; below 0 it is off.
    pub adaptive_target: f32,
    /// How long adaptive-p remembers, 0 to 0.99.
    pub adaptive_decay: f32,
    /// Tokens whose logits are moved before any stage.
    pub logit_bias: Vec<Bias>,
    /// Whether the model is kept from ending its turn.
    pub ignore_eos: bool,
    /// Texts that end an answer; they are not part of it.
    pub stop: Vec<String>,
    /// The form that the answer must have.
    pub grammar: Option<Grammar>,
    /// Where the randomness comes from.
    pub seed: Seed,
}

impl Default for Sampling {
    fn default() -> Self {
        Self {
            stages: Stage::ORDER.to_vec(),
            temperature: 0.8,
            dynatemp_range: 0.0,
            dynatemp_exponent: 1.0,
            top_k: 40,
            top_p: 0.95,
            min_p: 0.05,
            typical_p: 1.0,
            top_n_sigma: -1.0,
            xtc_probability: 0.0,
            xtc_threshold: 0.1,
            repeat_last_n: 64,
            repeat_penalty: 1.0,
            frequency_penalty: 0.0,
            presence_penalty: 0.0,
            dry_multiplier: 0.0,
            dry_base: 1.75,
            dry_allowed_length: 2,
            dry_last_n: 64,
            dry_breakers: ["\n", ":", "\"", "*"].map(str::to_owned).to_vec(),
            min_keep: 0,
            mirostat: 0,
            mirostat_tau: 5.0,
            mirostat_eta: 0.1,
            adaptive_target: -1.0,
            adaptive_decay: 0.9,
            logit_bias: Vec::new(),
            ignore_eos: false,
            stop: Vec::new(),
            grammar: None,
            seed: Seed::Random,
        }
    }
}

impl Sampling {
    /// The stages that change anything, in order.
    pub fn active(&self) -> impl Iterator<Item = Stage> + use<'_> {
        let penalizes = self.repeat_penalty != 1.0 || self.frequency_penalty != 0.0 || self.presence_penalty != 0.0;
        let acts = move |stage: &Stage| match stage {
            // Mirostat takes the place of all but the temperature.
            Stage::Temperature if self.mirostat > 0 => self.temperature != 1.0,
            _ if self.mirostat > 0 => false,
            // llama.cpp divides by the repeat penalty and asks for more than 0.
            Stage::Penalties => self.repeat_last_n > 0 && self.repeat_penalty > 0.0 && penalizes,
            Stage::Dry => self.dry_multiplier > 0.0 && self.dry_last_n > 0,
            Stage::TopNSigma => self.top_n_sigma > 0.0,
            Stage::TopK => self.top_k > 0,
            Stage::Typical => self.typical_p < 1.0,
            Stage::TopP => self.top_p < 1.0,
            Stage::MinP => self.min_p > 0.0,
            Stage::Xtc => self.xtc_probability > 0.0 && self.xtc_threshold <= 0.5,
            Stage::Temperature => self.temperature != 1.0 || self.dynatemp_range > 0.0,
        };
        self.stages.iter().copied().filter(acts)
    }

    /// Whether every draw is the likeliest candidate.
    pub fn is_greedy(&self) -> bool {
        self.temperature <= 0.0
    }

    /// Takes what a model recommends (names of parameters, and values as they are written) wherever the value in force is that of
    /// `base` and the parameter is none of those `chosen`. A value that its parameter refuses is left out.
    pub fn heed(&mut self, base: &Self, recommended: &[(&'static str, String)], chosen: &[(&'static str, Chosen)]) {
        let free = recommended
            .iter()
            .filter(|(name, _)| chosen.iter().all(|(other, _)| other != name));
        for (name, value) in free {
            if let Some(parameter) = Parameter::find(name).filter(|p| p.get(self) == p.get(base)) {
                let _ = parameter.set(self, value);
            }
        }
    }

    /// The settings whose value is not `base`'s, in table order.
    pub fn differences<'a>(&'a self, base: &'a Self) -> impl Iterator<Item = &'static Parameter> + 'a {
        PARAMETERS.iter().filter(move |p| p.get(self) != p.get(base))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_stages_that_change_something_run() {
        let neutral = Sampling {
            top_k: 0,
            top_p: 1.0,
            min_p: 0.0,
            temperature: 1.0,
            ..Sampling::default()
        };
        assert_eq!(neutral.active().count(), 0);
        let stages: Vec<_> = Sampling::default().active().collect();
        assert_eq!(stages, [Stage::TopK, Stage::TopP, Stage::MinP, Stage::Temperature]);
        let mirostat = Sampling {
            mirostat: 2,
            ..Sampling::default()
        };
        assert_eq!(mirostat.active().collect::<Vec<_>>(), [Stage::Temperature]);
    }

    #[test]
    fn every_row_reads_back_what_it_sets() {
        for p in PARAMETERS {
            let text = match p.kind {
                Kind::Real { min, max } => (min + (max - min) * 0.3).to_string(),
                Kind::Whole { max } => (max / 2).to_string(),
                Kind::Seed => "7".to_owned(),
                Kind::Switch => "true".to_owned(),
                Kind::Written(_) => match p.name {
                    "stages" => "top-k,temperature".to_owned(),
                    "logit-bias" => "#5=-inf".to_owned(),
                    _ => "one,two".to_owned(),
                },
            };
            let mut settings = Sampling::default();
            p.set(&mut settings, &text).unwrap();
            assert_ne!(p.get(&settings), p.default(), "{} did not change", p.name);
            assert_eq!(
                settings
                    .differences(&Sampling::default())
                    .map(|d| d.name)
                    .collect::<Vec<_>>(),
                [p.name]
            );
            p.set(&mut settings, &p.default().to_string()).unwrap();
            assert_eq!(settings, Sampling::default(), "{} has no way back", p.name);
        }
    }

    #[test]
    fn off_is_a_value_that_does_nothing() {
        for p in PARAMETERS.iter().filter(|p| p.off.is_some()) {
            let (mut word, mut value) = (Sampling::default(), Sampling::default());
            p.set(&mut word, " Off ").unwrap();
            p.set(&mut value, p.off.unwrap()).unwrap();
            assert_eq!(word, value, "{}", p.name);
        }
        let mut settings = Sampling::default();
        Parameter::find("top-p").unwrap().set(&mut settings, "off").unwrap();
        assert_eq!(settings.top_p, 1.0);
        assert!(
            Parameter::find("xtc-threshold")
                .unwrap()
                .set(&mut settings, "off")
                .is_err()
        );
    }

    #[test]
    fn names_and_aliases_are_unique_and_found() {
        let mut seen = std::collections::HashSet::new();
        for p in PARAMETERS {
            for name in p.aliases.iter().chain([&p.name]) {
                assert!(seen.insert(*name), "'{name}' stands twice");
                assert_eq!(Parameter::find(name).unwrap().name, p.name);
            }
        }
        assert_eq!(Parameter::find("Top_K").unwrap().name, "top-k");
    }

    #[test]
    fn refusals_say_what_would_do() {
        let mut settings = Sampling::default();
        let refused = Parameter::find("top-p").unwrap().set(&mut settings, "1.5").unwrap_err();
        assert_eq!(
            refused.to_string(),
            "'1.5' is no value for top-p: give a number from 0 to 1"
        );
        let stages = Parameter::find("stages").unwrap();
        let wrong = |settings: &mut Sampling, text| stages.set(settings, text).unwrap_err().to_string();
        assert_eq!(
            wrong(&mut settings, "top-k,top-q"),
            "'top-k,top-q' is no value for stages: there is no stage 'top-q', did you mean top-k?"
        );
        assert_eq!(
            wrong(&mut settings, "xtc,xtc"),
            "'xtc,xtc' is no value for stages: 'xtc' stands twice, name it once"
        );
        for bad in ["", "nan", "-1", "abc", "inf", "4294967295"] {
            assert!(
                Parameter::find("top-p").unwrap().set(&mut settings, bad).is_err(),
                "{bad}"
            );
        }
        assert!(
            Parameter::find("seed")
                .unwrap()
                .set(&mut settings, "4294967295")
                .is_err()
        );
        assert_eq!(settings, Sampling::default());
    }
}
