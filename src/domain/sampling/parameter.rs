//! One row of the table of sampling parameters: what it accepts, how it is read and written. The rows are in `table.rs`.

use std::fmt;

use super::{PARAMETERS, Sampling, Seed, Stage, written};

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
    /// On or off.
    Switch,
    /// A text with a grammar of its own, told in these words.
    Written(&'static str),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Real { min, max } => write!(f, "a number from {min} to {max}"),
            Self::Whole { max } => write!(f, "a whole number from 0 to {max}"),
            Self::Seed => write!(f, "'random' or a whole number from 0 to {}", Seed::MAX),
            Self::Switch => f.write_str("true or false"),
            Self::Written(words) => f.write_str(words),
        }
    }
}

/// The value of a parameter, whatever its kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// For [`Kind::Real`].
    Real(f32),
    /// For [`Kind::Whole`].
    Whole(u32),
    /// For [`Kind::Seed`].
    Seed(Seed),
    /// For [`Kind::Switch`].
    Switch(bool),
    /// For [`Kind::Written`], as it would be written.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Real(x) => write!(f, "{x}"),
            Self::Whole(n) => write!(f, "{n}"),
            Self::Seed(seed) => seed.fmt(f),
            Self::Switch(on) => on.fmt(f),
            Self::Text(text) if text.is_empty() => f.write_str("off"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// How a parameter reaches its field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Field {
    Real(fn(&mut Sampling) -> &mut f32),
    Whole(fn(&mut Sampling) -> &mut u32),
    Seed(fn(&mut Sampling) -> &mut Seed),
    Switch(fn(&mut Sampling) -> &mut bool),
    Stages(fn(&mut Sampling) -> &mut Vec<Stage>),
    Written(fn(&Sampling) -> String, fn(&mut Sampling, &str) -> Option<()>),
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
    /// The value that does nothing, which the word `off` stands for; `None` where there is none.
    pub off: Option<&'static str>,
    pub(super) field: Field,
}

/// Why a value was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The parameter's name.
    pub name: &'static str,
    /// What was typed.
    pub value: String,
    /// What is wrong with it, or what would be accepted.
    pub remedy: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is no value for {}: {}", self.value, self.name, self.remedy)
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
            Field::Switch(f) => Value::Switch(*f(&mut copy)),
            Field::Stages(f) => Value::Text(written::stages(f(&mut copy))),
            Field::Written(get, _) => Value::Text(get(&copy)),
        }
    }

    /// llama.cpp's value.
    pub fn default(&self) -> Value {
        self.get(&Sampling::default())
    }

    /// Reads `text` and sets it. The word `off` stands for the value that does nothing, where there is one.
    ///
    /// # Errors
    /// What is wrong with `text`, or what would be accepted. Nothing is set then.
    pub fn set(&self, settings: &mut Sampling, text: &str) -> Result<(), Refused> {
        let whole = text;
        let text = text.trim();
        let text = self.off.filter(|_| text.eq_ignore_ascii_case("off")).unwrap_or(text);
        let because = |remedy: String| Refused {
            name: self.name,
            value: text.to_owned(),
            remedy,
        };
        let refused = || because(format!("give {}", self.kind));
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
            (Field::Switch(f), _) => {
                *f(settings) = match text {
                    "true" | "on" | "yes" | "1" => true,
                    "false" | "off" | "no" | "0" => false,
                    _ => return Err(refused()),
                }
            }
            (Field::Stages(f), _) => {
                *f(settings) = written::read_stages(text).map_err(|wrong| because(wrong.to_string()))?;
            }
            // Blanks may be part of it.
            (Field::Written(_, set), _) => set(settings, whole).ok_or_else(refused)?,
            // The table pairs each field with its own kind; a test holds it.
            _ => return Err(refused()),
        }
        Ok(())
    }
}
