//! What is done about an answer that goes round in circles.

use serde::{Deserialize, Serialize};

/// What is done about a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoopGuard {
    /// Stop there, say what repeats, and offer ways out.
    #[default]
    Pause,
    /// Say it and let the answer go on.
    Warn,
    /// Nothing.
    Off,
}

impl LoopGuard {
    /// All of them with the names that people write.
    pub const ALL: [(&'static str, Self); 3] = [("pause", Self::Pause), ("warn", Self::Warn), ("off", Self::Off)];

    /// The name that people write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Warn => "warn",
            Self::Off => "off",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, guard)| *guard)
    }
}
