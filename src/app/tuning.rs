//! The sampling settings in force and the presets they can come from.

use crate::domain::preset::{DEFAULT_PRESET, PLAIN_PRESET};
use crate::domain::sampling::{Chosen, Parameter, Value};
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
    /// What the model recommends: it lies beneath all that a person chose.
    pub recommended: Vec<(&'static str, String)>,
    /// The values that a person chose one by one since the preset was taken, and where.
    pub chosen: Vec<(&'static str, Chosen)>,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            presets: Preset::shipped(),
            preset: DEFAULT_PRESET.to_owned(),
            sampling: Sampling::default(),
            recommended: Vec::new(),
            chosen: Vec::new(),
        }
    }
}

impl Tuning {
    /// What [`Self::origin`] says of a value that nobody chose.
    pub const DEFAULT: &'static str = "default";

    /// The preset of this name.
    pub fn find(&self, name: &str) -> Option<&Preset> {
        self.presets.iter().find(|p| p.name.eq_ignore_ascii_case(name))
    }

    /// Takes the settings of a preset. Says whether there is one of this name.
    pub fn choose(&mut self, name: &str) -> bool {
        let Some(preset) = self.find(name).cloned() else {
            return false;
        };
        let sampling = self.base(&preset);
        self.preset = preset.name;
        // The form of an answer is no matter of taste: it stays until it is taken away.
        let grammar = self.sampling.grammar.take();
        self.sampling = Sampling { grammar, ..sampling };
        self.chosen.clear();
        true
    }

    /// Changes what a parameter reads. What it was and what it is now, where that is another.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn change<E>(
        &mut self,
        parameter: &'static Parameter,
        to: impl FnOnce(&mut Sampling) -> Result<(), E>,
    ) -> Result<Option<(Value, Value)>, E> {
        let old = parameter.get(&self.sampling);
        to(&mut self.sampling)?;
        let new = parameter.get(&self.sampling);
        Ok((new != old).then(|| {
            self.choose_value(parameter);
            (old, new)
        }))
    }

    /// Notes that a person chose this parameter's value in the chat.
    pub fn choose_value(&mut self, parameter: &'static Parameter) {
        self.chosen.retain(|(name, _)| *name != parameter.name);
        self.chosen.push((parameter.name, Chosen::Chat));
    }

    /// Puts a parameter back to what the preset says.
    pub fn reset(&mut self, parameter: &'static Parameter) {
        if let Some(preset) = self.find(&self.preset).cloned() {
            let value = parameter.get(&self.base(&preset)).to_string();
            // It reads what it wrote, as a test of the table holds.
            let _ = parameter.set(&mut self.sampling, &value);
            self.chosen.retain(|(name, _)| *name != parameter.name);
        }
    }

    /// Where the value in force comes from, in a word or two.
    pub fn origin(&self, parameter: &Parameter) -> String {
        if let Some((_, chosen)) = self.chosen.iter().find(|(name, _)| *name == parameter.name) {
            return chosen.place().to_owned();
        }
        let value = parameter.get(&self.sampling);
        let preset = self.find(&self.preset);
        let of_preset = preset.is_some_and(|preset| parameter.get(&preset.sampling) == value);
        match preset {
            _ if value == parameter.default() => Self::DEFAULT.to_owned(),
            Some(preset) if of_preset => format!("preset {}", preset.name),
            _ => "the model".to_owned(),
        }
    }

    /// Keeps the settings in force as a preset of this name, in the place of one of the same name, and takes it.
    pub fn keep_as(&mut self, name: &str) -> Preset {
        let preset = Preset {
            name: name.to_owned(),
            sampling: Sampling {
                grammar: None,
                ..self.sampling.clone()
            },
        };
        match self.presets.iter_mut().find(|p| p.name.eq_ignore_ascii_case(name)) {
            Some(same) => *same = preset.clone(),
            None => self.presets.push(preset.clone()),
        }
        name.clone_into(&mut self.preset);
        self.chosen.clear();
        preset
    }

    /// The settings that a preset means with this model.
    fn base(&self, preset: &Preset) -> Sampling {
        let mut sampling = preset.sampling.clone();
        if preset.name != PLAIN_PRESET {
            sampling.heed(&Sampling::default(), &self.recommended, &[]);
        }
        sampling
    }

    /// Takes what another model recommends in the place of what the one before did. What a person changed stays.
    pub fn heed(&mut self, recommended: Vec<(&'static str, String)>) {
        let preset = self.find(&self.preset).cloned();
        let before = preset.as_ref().map(|preset| self.base(preset));
        self.recommended = recommended;
        let after = preset.as_ref().map(|preset| self.base(preset));
        if let (Some(before), Some(after)) = (before, after) {
            let values = after.differences(&before).map(|p| (p.name, p.get(&after).to_string()));
            let values: Vec<_> = values.collect();
            self.sampling.heed(&before, &values, &self.chosen);
        }
    }

    /// The preset's name, with a star where the settings were changed since.
    pub fn label(&self) -> String {
        let same = |preset: &Preset| self.sampling.differences(&self.base(preset)).next().is_none();
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

    #[test]
    fn a_models_advice_lies_beneath_what_a_person_chose() {
        let mut tuning = Tuning::default();
        tuning.sampling.top_p = 0.5;
        tuning.heed(vec![("temperature", "0.6".to_owned()), ("top-p", "0.9".to_owned())]);
        assert_eq!((tuning.sampling.temperature, tuning.sampling.top_p), (0.6, 0.5));
        assert_eq!(tuning.label(), "balanced*", "top-p was changed");
        assert!(tuning.choose("balanced"));
        assert_eq!((tuning.sampling.temperature, tuning.sampling.top_p), (0.6, 0.9));
        assert_eq!(tuning.label(), "balanced", "advice is no change");
        assert!(tuning.choose("precise"));
        assert_eq!((tuning.sampling.temperature, tuning.sampling.top_p), (0.3, 0.9));
        assert!(tuning.choose("llama.cpp"));
        assert_eq!(tuning.sampling, Sampling::default());
        assert!(tuning.choose("balanced"));
        tuning.heed(vec![("top-k", "nonsense".to_owned())]);
        assert_eq!(
            tuning.sampling,
            Sampling::default(),
            "the model before has no say any more"
        );
    }
}
