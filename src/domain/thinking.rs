//! A model's thinking: whether it shall, and which part of an answer it is. How it is found in a stream is `text::thinking`'s
//! business.

use serde::{Deserialize, Serialize};

/// Whether a model that can reason before it answers shall, and how hard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Thinking {
    /// It thinks first.
    On,
    /// It answers at once.
    Off,
    /// It thinks a little first.
    Low,
    /// It thinks first.
    Medium,
    /// It thinks hard first.
    High,
}

/// The wishes by the names that people write, `auto` for leaving it to the template.
const NAMES: [(&str, Option<Thinking>); 6] = [
    ("on", Some(Thinking::On)),
    ("off", Some(Thinking::Off)),
    ("low", Some(Thinking::Low)),
    ("medium", Some(Thinking::Medium)),
    ("high", Some(Thinking::High)),
    ("auto", None),
];

impl Thinking {
    /// The wish of this name, in any case; `auto` leaves it to the template.
    ///
    /// # Errors
    /// What would be accepted.
    pub fn named(name: &str) -> Result<Option<Self>, &'static str> {
        let found = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found
            .map(|(_, wish)| *wish)
            .ok_or("give 'on', 'off', 'low', 'medium', 'high' or 'auto'")
    }

    /// What it is called.
    pub fn name(wish: Option<Self>) -> &'static str {
        NAMES
            .iter()
            .find(|(_, known)| *known == wish)
            .map_or("", |(name, _)| name)
    }

    /// Whether it thinks at all.
    pub const fn is_on(self) -> bool {
        !matches!(self, Self::Off)
    }

    /// How hard it thinks, where that was said.
    pub fn effort(self) -> Option<&'static str> {
        matches!(self, Self::Low | Self::Medium | Self::High).then(|| Self::name(Some(self)))
    }
}

/// What of it a chat template lets a person decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThinkingControls {
    /// Whether the model thinks.
    pub switch: bool,
    /// How hard it thinks.
    pub effort: bool,
}

impl ThinkingControls {
    /// Whether the template can do as is wished.
    pub fn can(self, wish: Thinking) -> bool {
        match wish.effort() {
            Some(_) => self.effort,
            None => self.switch,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_read_as_they_are_written() {
        for (name, wish) in NAMES {
            assert_eq!(Thinking::named(&name.to_uppercase()), Ok(wish));
            assert_eq!(Thinking::name(wish), name);
        }
        assert!(Thinking::named("maybe").is_err());
        let effort = ThinkingControls {
            effort: true,
            ..ThinkingControls::default()
        };
        assert!(effort.can(Thinking::High) && !effort.can(Thinking::Off));
    }
}
