//! The sampling settings in force and the presets they can come from.

use crate::domain::preset::DEFAULT_PRESET;
use crate::domain::{Preset, Sampling};

/// The settings that the next token is drawn with.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// All presets, shipped and own.
    pub presets: Vec<Preset>,
    /// The name of the preset that the settings come from.
    pub preset: String,
    /// The settings, with the changes made since.
    pub sampling: Sampling,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            presets: Preset::shipped(),
            preset: DEFAULT_PRESET.to_owned(),
            sampling: Sampling::default(),
        }
    }
}

impl Tuning {
    /// The preset of this name.
    pub fn find(&self, name: &str) -> Option<&Preset> {
        self.presets.iter().find(|p| p.name.eq_ignore_ascii_case(name))
    }

    /// Takes the settings of a preset. Says whether there is one of this name.
    pub fn choose(&mut self, name: &str) -> bool {
        let Some(Preset { name, sampling }) = self.find(name).cloned() else {
            return false;
        };
        self.preset = name;
        // The form of an answer is no matter of taste: it stays until it is taken away.
        let grammar = self.sampling.grammar.take();
        self.sampling = Sampling { grammar, ..sampling };
        true
    }

    /// The preset's name, with a star where the settings were changed since.
    pub fn label(&self) -> String {
        let same = |preset: &Preset| self.sampling.differences(&preset.sampling).next().is_none();
        let changed = !self.find(&self.preset).is_some_and(same);
        format!("{}{}", self.preset, if changed { "*" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_preset_shows_a_star() {
        let mut tuning = Tuning::default();
        assert_eq!(tuning.label(), "balanced");
        tuning.sampling.temperature = 1.5;
        assert_eq!(tuning.label(), "balanced*");
        assert!(tuning.choose("Precise") && !tuning.choose("nonsense"));
        assert_eq!(tuning.label(), "precise");
    }
}
