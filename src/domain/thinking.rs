//! A model's thinking: whether it shall, and which part of an answer it is. How it is found in a stream is `text::thinking`'s
//! business.

use serde::{Deserialize, Serialize};

/// Whether a model that can reason before it answers shall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinking {
    /// It thinks first.
    On,
    /// It answers at once.
    Off,
}

impl Thinking {
    /// The switch of this name, in any case; `auto` leaves it to the template.
    ///
    /// # Errors
    /// What would be accepted.
    pub fn named(name: &str) -> Result<Option<Self>, &'static str> {
        match name.to_ascii_lowercase().as_str() {
            "on" => Ok(Some(Self::On)),
            "off" => Ok(Some(Self::Off)),
            "auto" => Ok(None),
            _ => Err("give 'on', 'off' or 'auto'"),
        }
    }

    /// What it is called.
    pub const fn name(switch: Option<Self>) -> &'static str {
        match switch {
            Some(Self::On) => "on",
            Some(Self::Off) => "off",
            None => "auto",
        }
    }
}

/// A part of what a model says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// What it thinks before it answers.
    Thinking,
    /// The answer.
    #[default]
    Answer,
}
