//! The settings in force, complete: what the rest of the program is given. How they came about is not its business.

use crate::domain::LoopGuard;
use crate::domain::inference::{LoadOptions, Overflow, Thinking};
use crate::domain::preset::DEFAULT_PRESET;
use crate::domain::sampling::Chosen;
use crate::domain::{Preset, Sampling};

use super::problem::Place;

/// Every setting, resolved.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of its own in the file")]
pub struct Settings {
    /// The model to start with: a file, or the name of the one that quipu brings along.
    pub model: String,
    /// Folders in which models are looked for, besides quipu's own.
    pub folders: Vec<String>,
    /// How to load models.
    pub load: LoadOptions,
    /// Whether a model's first load is tried in a process of its own.
    pub probe: bool,
    /// The presets that ship and the person's own, in the order in which they are offered. Names are unique.
    pub presets: Vec<Preset>,
    /// The name of the preset that `sampling` started from; one of `presets`.
    pub preset: String,
    /// How tokens are drawn: the preset, and over it the values given one by one.
    pub sampling: Sampling,
    /// The sampling values among them that were given one by one, and where.
    pub chosen: Vec<(&'static str, Chosen)>,
    /// The system prompt of a new conversation.
    pub system: Option<String>,
    /// Longest answer in tokens; `None` is until the model ends or the context is full.
    pub max_tokens: Option<u32>,
    /// What to do when a conversation outgrows the context.
    pub overflow: Overflow,
    /// What to do about a loop.
    pub loop_guard: LoopGuard,
    /// Whether models that can think shall; `None` leaves it to their templates.
    pub thinking: Option<Thinking>,
    /// Tokens of thinking after which a model is made to answer; `None` is without limit.
    pub thinking_budget: Option<u32>,
    /// Whether sessions are kept.
    pub keep: bool,
    /// How many of the likeliest candidates of every token are kept with an answer; 0 keeps none.
    pub trace: u32,
    /// For how many days they are kept.
    pub trace_days: u32,
    /// How many MiB the states of models may take that make a return to a session quick; 0 keeps none.
    pub states: u32,
    /// The theme's name, or a file.
    pub theme: String,
    /// Whether the mouse is ours; selecting text by the terminal then takes Shift in most of them.
    pub mouse: bool,
    /// Whether the chat goes line by line, as screen readers want it.
    pub plain: bool,
    /// Whether messages are edited as in vi.
    pub vi: bool,
    /// Whether something turns while one waits.
    pub motion: bool,
    /// Whether lines and marks are drawn in ASCII; `None` goes by the locale.
    pub ascii: Option<bool>,
    /// Names and system prompts, in the order of the file.
    pub personas: Vec<(String, String)>,
    /// The person's own keys, in the order of the file. What they mean is read where keys are known.
    pub bindings: Vec<Binding>,
}

/// Keys that the file gives to an action, as they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Where the keys count: the part after `keys.` in the section's name.
    pub context: String,
    /// What they do.
    pub action: String,
    /// The chords; none takes all keys away from the action.
    pub chords: Vec<String>,
    /// Where it stands, for whoever finds it wrong.
    pub place: Place,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            model: "cria".to_owned(),
            folders: Vec::new(),
            load: LoadOptions::default(),
            probe: true,
            presets: Preset::shipped(),
            preset: DEFAULT_PRESET.to_owned(),
            sampling: Sampling::default(),
            chosen: Vec::new(),
            system: None,
            max_tokens: None,
            overflow: Overflow::default(),
            loop_guard: LoopGuard::default(),
            thinking: None,
            thinking_budget: None,
            keep: true,
            trace: 5,
            trace_days: 30,
            states: 2048,
            theme: "quipu".to_owned(),
            mouse: true,
            plain: false,
            vi: false,
            motion: true,
            ascii: None,
            personas: Vec::new(),
            bindings: Vec::new(),
        }
    }
}

impl Settings {
    /// Adds a preset, in the place of one of the same name.
    pub(super) fn keep(&mut self, preset: &Preset) {
        match self
            .presets
            .iter_mut()
            .find(|p| p.name.eq_ignore_ascii_case(&preset.name))
        {
            Some(same) => *same = preset.clone(),
            None => self.presets.push(preset.clone()),
        }
    }

    /// Takes the settings of a preset. Says whether there is one of this name.
    pub(super) fn choose(&mut self, name: &str) -> bool {
        let chosen = self.presets.iter().find(|p| p.name.eq_ignore_ascii_case(name));
        if let Some(preset) = chosen {
            self.preset.clone_from(&preset.name);
            self.sampling = preset.sampling.clone();
            self.chosen.clear();
        }
        chosen.is_some()
    }
}
