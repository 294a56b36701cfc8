//! Sampling settings: the stages a distribution passes through before a token is drawn, in llama.cpp's words, order and
//! defaults, and the table of parameters from which flags, `/set`, presets, configuration and documentation are made.
//!
//! This file says what can be set. How each stage works on logits is the engine's business.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One step between raw logits and the draw. Each stage removes candidates or changes their logits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Repeat, frequency and presence penalties over the last tokens.
    Penalties,
    /// "Don't repeat yourself": a penalty that grows with the length of a repeated sequence.
    Dry,
    /// Keep what lies within n standard deviations of the best logit.
    TopNSigma,
    /// Keep the k likeliest.
    TopK,
    /// Locally typical sampling.
    Typical,
    /// Nucleus sampling: keep the likeliest that together reach p.
    TopP,
    /// Keep what has at least p times the probability of the likeliest.
    MinP,
    /// Exclude top choices, now and then.
    Xtc,
    /// Sharpen or flatten what is left.
    Temperature,
}

impl Stage {
    /// llama.cpp's default order.
    pub const ORDER: [Self; 9] = [
        Self::Penalties,
        Self::Dry,
        Self::TopNSigma,
        Self::TopK,
        Self::Typical,
        Self::TopP,
        Self::MinP,
        Self::Xtc,
        Self::Temperature,
    ];
}

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
    /// Fewest candidates that a truncating stage may leave.
    pub min_keep: u32,
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
            min_keep: 0,
            seed: Seed::Random,
        }
    }
}

impl Sampling {
    /// Whether every draw is the likeliest candidate.
    pub fn is_greedy(&self) -> bool {
        self.temperature <= 0.0
    }

    /// The settings whose value is not `base`'s, in table order.
    pub fn differences<'a>(&'a self, base: &'a Self) -> impl Iterator<Item = &'static Parameter> + 'a {
        PARAMETERS.iter().filter(move |p| p.get(self) != p.get(base))
    }
}

/// What a parameter may be set to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A real number within both bounds.
    Real {
        /// Smallest value accepted.
        min: f32,
        /// Largest value accepted.
        max: f32,
    },
    /// A whole number from 0 to `max`.
    Whole {
        /// Largest value accepted.
        max: u32,
    },
    /// `random`, or a whole number up to [`Seed::MAX`].
    Seed,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Real { min, max } => write!(f, "a number from {min} to {max}"),
            Self::Whole { max } => write!(f, "a whole number from 0 to {max}"),
            Self::Seed => write!(f, "'random' or a whole number from 0 to {}", Seed::MAX),
        }
    }
}

/// The value of a parameter, whatever its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// For [`Kind::Real`].
    Real(f32),
    /// For [`Kind::Whole`].
    Whole(u32),
    /// For [`Kind::Seed`].
    Seed(Seed),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Real(x) => write!(f, "{x}"),
            Self::Whole(n) => write!(f, "{n}"),
            Self::Seed(seed) => seed.fmt(f),
        }
    }
}

/// How a parameter reaches its field.
#[derive(Clone, Copy, Debug)]
enum Field {
    Real(fn(&mut Sampling) -> &mut f32),
    Whole(fn(&mut Sampling) -> &mut u32),
    Seed(fn(&mut Sampling) -> &mut Seed),
}

/// One row of the table: everything that is said about a setting anywhere comes from here.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The name in flags, `/set`, presets and the configuration.
    pub name: &'static str,
    /// Other names that people's hands know.
    pub aliases: &'static [&'static str],
    /// What it accepts.
    pub kind: Kind,
    /// One line on what it does.
    pub help: &'static str,
    field: Field,
}

/// Why a value was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The parameter's name.
    pub name: &'static str,
    /// What was typed.
    pub value: String,
    /// What would be accepted.
    pub accepts: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "'{}' is no value for {}: give {}",
            self.value, self.name, self.accepts
        )
    }
}

impl std::error::Error for Refused {}

impl Parameter {
    /// The row of this name or alias; `_` and `-` are the same.
    pub fn find(name: &str) -> Option<&'static Self> {
        let name = name.trim().to_lowercase().replace('_', "-");
        PARAMETERS
            .iter()
            .find(|p| p.name == name || p.aliases.contains(&name.as_str()))
    }

    /// The value in `settings`.
    pub fn get(&self, settings: &Sampling) -> Value {
        // The accessors hand out `&mut` so that one function serves both ways; reading pays a small copy.
        let mut copy = settings.clone();
        match self.field {
            Field::Real(f) => Value::Real(*f(&mut copy)),
            Field::Whole(f) => Value::Whole(*f(&mut copy)),
            Field::Seed(f) => Value::Seed(*f(&mut copy)),
        }
    }

    /// llama.cpp's value.
    pub fn default(&self) -> Value {
        self.get(&Sampling::default())
    }

    /// Reads `text` and sets it.
    ///
    /// # Errors
    /// What would be accepted, when `text` is not a number or is out of range.
    pub fn set(&self, settings: &mut Sampling, text: &str) -> Result<(), Refused> {
        let text = text.trim();
        let refused = || Refused {
            name: self.name,
            value: text.to_owned(),
            accepts: self.kind.to_string(),
        };
        match (self.field, self.kind) {
            (Field::Real(f), Kind::Real { min, max }) => {
                let x: f32 = text.parse().map_err(|_| refused())?;
                *f(settings) = (min..=max).contains(&x).then_some(x).ok_or_else(refused)?;
            }
            (Field::Whole(f), Kind::Whole { max }) => {
                let n: u32 = text.parse().map_err(|_| refused())?;
                *f(settings) = (n <= max).then_some(n).ok_or_else(refused)?;
            }
            (Field::Seed(f), _) if text.eq_ignore_ascii_case("random") => *f(settings) = Seed::Random,
            (Field::Seed(f), _) => {
                let seed: u32 = text.parse().map_err(|_| refused())?;
                *f(settings) = (seed <= Seed::MAX).then_some(Seed::Fixed(seed)).ok_or_else(refused)?;
            }
            // The table pairs each field with its own kind; a test holds it.
            _ => return Err(refused()),
        }
        Ok(())
    }
}

const fn real(
    name: &'static str,
    aliases: &'static [&'static str],
    (min, max): (f32, f32),
    field: fn(&mut Sampling) -> &mut f32,
    help: &'static str,
) -> Parameter {
    Parameter {
        name,
        aliases,
        kind: Kind::Real { min, max },
        help,
        field: Field::Real(field),
    }
}

const fn whole(
    name: &'static str,
    aliases: &'static [&'static str],
    max: u32,
    field: fn(&mut Sampling) -> &mut u32,
    help: &'static str,
) -> Parameter {
    Parameter {
        name,
        aliases,
        kind: Kind::Whole { max },
        help,
        field: Field::Whole(field),
    }
}

/// Longest look-back of the penalties, in tokens: more than any context in use, and bounded so that a typo costs nothing.
const LOOK_BACK: u32 = 1 << 20;

/// All parameters, in the order in which they are shown everywhere. The order is part of the face: do not sort.
pub const PARAMETERS: &[Parameter] = &[
    real(
        "temperature",
        &["temp"],
        (0.0, 5.0),
        |s| &mut s.temperature,
        "how freely it draws; 0 always takes the likeliest token",
    ),
    whole(
        "top-k",
        &[],
        1_000_000,
        |s| &mut s.top_k,
        "keep the k likeliest candidates; 0 is off",
    ),
    real(
        "top-p",
        &[],
        (0.0, 1.0),
        |s| &mut s.top_p,
        "keep the likeliest that together reach this probability; 1 is off",
    ),
    real(
        "min-p",
        &[],
        (0.0, 1.0),
        |s| &mut s.min_p,
        "keep what has this share of the best candidate's probability; 0 is off",
    ),
    real(
        "typical-p",
        &["typical", "typ-p"],
        (0.0, 1.0),
        |s| &mut s.typical_p,
        "keep the candidates of typical surprise, up to this mass; 1 is off",
    ),
    real(
        "top-n-sigma",
        &["top-nsigma"],
        (-1.0, 100.0),
        |s| &mut s.top_n_sigma,
        "keep logits within n standard deviations of the best; -1 is off",
    ),
    real(
        "repeat-penalty",
        &["repeat"],
        (0.0, 10.0),
        |s| &mut s.repeat_penalty,
        "makes what was said lately less likely; 1 is off",
    ),
    real(
        "frequency-penalty",
        &["frequency"],
        (-10.0, 10.0),
        |s| &mut s.frequency_penalty,
        "taken off a logit for every time the token was said; 0 is off",
    ),
    real(
        "presence-penalty",
        &["presence"],
        (-10.0, 10.0),
        |s| &mut s.presence_penalty,
        "taken off a logit once a token was said at all; 0 is off",
    ),
    whole(
        "repeat-last-n",
        &[],
        LOOK_BACK,
        |s| &mut s.repeat_last_n,
        "tokens that the penalties look back on; 0 is off",
    ),
    real(
        "dry-multiplier",
        &["dry"],
        (0.0, 100.0),
        |s| &mut s.dry_multiplier,
        "strength of DRY, which breaks repeated sequences; 0 is off",
    ),
    real(
        "dry-base",
        &[],
        (1.0, 10.0),
        |s| &mut s.dry_base,
        "how fast the DRY penalty grows with the length of the repetition",
    ),
    whole(
        "dry-allowed-length",
        &[],
        LOOK_BACK,
        |s| &mut s.dry_allowed_length,
        "longest repetition in tokens that DRY lets pass",
    ),
    whole(
        "dry-last-n",
        &[],
        LOOK_BACK,
        |s| &mut s.dry_last_n,
        "tokens that DRY looks back on; 0 is off; a newline hides what is before it",
    ),
    real(
        "xtc-probability",
        &["xtc"],
        (0.0, 1.0),
        |s| &mut s.xtc_probability,
        "how often the top choices are excluded; 0 is off",
    ),
    real(
        "xtc-threshold",
        &[],
        (0.0, 1.0),
        |s| &mut s.xtc_threshold,
        "probability from which a candidate counts as a top choice; above 0.5 is off",
    ),
    real(
        "dynatemp-range",
        &["dynatemp"],
        (0.0, 5.0),
        |s| &mut s.dynatemp_range,
        "lets the temperature follow the entropy by this much up and down; 0 is off",
    ),
    real(
        "dynatemp-exponent",
        &[],
        (0.0, 10.0),
        |s| &mut s.dynatemp_exponent,
        "how entropy maps into the temperature's range",
    ),
    whole(
        "min-keep",
        &[],
        1_000_000,
        |s| &mut s.min_keep,
        "fewest candidates that a stage may leave",
    ),
    Parameter {
        name: "seed",
        aliases: &[],
        kind: Kind::Seed,
        help: "where the randomness comes from; the same seed gives the same answer",
        field: Field::Seed(|s| &mut s.seed),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_reads_back_what_it_sets() {
        for p in PARAMETERS {
            let text = match p.kind {
                Kind::Real { min, max } => (min + (max - min) * 0.3).to_string(),
                Kind::Whole { max } => (max / 2).to_string(),
                Kind::Seed => "7".to_owned(),
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
