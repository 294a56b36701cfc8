//! One layer of settings and how layers lie on each other. The only place that knows which layer wins.

use std::str::FromStr;

use crate::domain::LoopGuard;
use crate::domain::Preset;
use crate::domain::load_option::{LoadOption, NotAccepted};
use crate::domain::loading::{LoadOptions, Overflow};
use crate::domain::preset::DEFAULT_PRESET;
use crate::domain::sampling::{Chosen, Parameter, Refused, Sampling};
use crate::domain::thinking::Thinking;

use super::paths::from_home;
use super::problem::{Place, Problem, suggestion};
use super::settings::{Binding, Settings};

/// A number, or the decision left to quipu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Written `auto`.
    Auto,
    /// Written as a whole number.
    Exactly(u32),
}

impl Amount {
    const fn number(self) -> Option<u32> {
        match self {
            Self::Auto => None,
            Self::Exactly(number) => Some(number),
        }
    }
}

impl FromStr for Amount {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.eq_ignore_ascii_case("auto") {
            Ok(Self::Auto)
        } else {
            text.parse().map(Self::Exactly)
        }
    }
}

/// What one source says; `None` and empty say nothing and leave what is beneath. The command line fills one in by hand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layer {
    /// The model to start with.
    pub model: Option<String>,
    /// Folders with models.
    pub folders: Option<Vec<String>>,
    /// The system prompt; an empty one takes away what a lower layer set.
    pub system: Option<String>,
    /// Longest answer in tokens.
    pub max_tokens: Option<Amount>,
    /// What to do when a conversation outgrows the context.
    pub overflow: Option<Overflow>,
    /// What to do about a loop.
    pub loop_guard: Option<LoopGuard>,
    /// Whether models shall think; `Some(None)` leaves it to their templates.
    pub thinking: Option<Option<Thinking>>,
    /// Longest thinking in tokens.
    pub thinking_budget: Option<Amount>,
    /// Whether files that are new here are tried in a process of their own first.
    pub probe: Option<bool>,
    /// Whether sessions are kept.
    pub keep: Option<bool>,
    /// Candidates that are kept of every token.
    pub trace: Option<u32>,
    /// Days for which they are kept.
    pub trace_days: Option<u32>,
    /// MiB of the states that are kept.
    pub states: Option<u32>,
    /// The theme.
    pub theme: Option<String>,
    /// Whether the mouse is ours.
    pub mouse: Option<bool>,
    /// Whether the chat goes line by line.
    pub plain: Option<bool>,
    /// Whether messages are edited as in vi.
    pub vi: Option<bool>,
    /// Whether something turns while one waits.
    pub motion: Option<bool>,
    /// Whether lines and marks are drawn in ASCII.
    pub ascii: Option<Option<bool>>,
    /// Own presets, for every layer to choose from.
    pub presets: Vec<Preset>,
    /// Own personas.
    pub personas: Vec<(String, String)>,
    /// Own keys.
    pub bindings: Vec<Binding>,
    /// The preset, and where it was chosen; see [`Layer::choose_preset`].
    pub(crate) preset: Option<(String, Place)>,
    /// Names of load options and values that they accept; see [`Layer::set_load`].
    pub(crate) load: Vec<(&'static str, String)>,
    /// Names of parameters and values that they accept; see [`Layer::set_sampling`].
    pub(crate) sampling: Vec<(&'static str, String)>,
}

impl Layer {
    /// Chooses a preset. It replaces all sampling values of the layers beneath; this layer's own go over it.
    pub fn choose_preset(&mut self, name: &str, place: Place) {
        self.preset = Some((name.to_owned(), place));
    }

    /// Sets a sampling value from its text.
    ///
    /// # Errors
    /// What the parameter would accept.
    pub fn set_sampling(&mut self, parameter: &'static Parameter, text: &str) -> Result<(), Refused> {
        parameter.set(&mut Sampling::default(), text)?;
        self.sampling.push((parameter.name, text.to_owned()));
        Ok(())
    }

    /// Sets a load option from its text.
    ///
    /// # Errors
    /// What the option would accept.
    pub fn set_load(&mut self, option: &'static LoadOption, text: &str) -> Result<(), NotAccepted> {
        option.set(&mut LoadOptions::default(), text)?;
        self.load.push((option.name, text.to_owned()));
        Ok(())
    }

    /// Lays this layer over `settings`.
    fn cover(&self, settings: &mut Settings, place: Chosen) -> Result<(), Problem> {
        put(&mut settings.folders, self.folders.as_ref());
        put(&mut settings.model, self.model.as_deref().map(from_home).as_ref());
        for (name, text) in &self.load {
            // `set_load` let in only what the option accepts.
            let _ = LoadOption::find(name).map(|option| option.set(&mut settings.load, text));
        }
        put(&mut settings.max_tokens, self.max_tokens.map(Amount::number).as_ref());
        if let Some(system) = &self.system {
            settings.system = Some(system.clone()).filter(|text| !text.is_empty());
        }
        put(&mut settings.theme, self.theme.as_deref().map(from_home).as_ref());
        put(&mut settings.overflow, self.overflow.as_ref());
        put(&mut settings.loop_guard, self.loop_guard.as_ref());
        put(&mut settings.thinking, self.thinking.as_ref());
        let budget = self.thinking_budget.map(Amount::number);
        put(&mut settings.thinking_budget, budget.as_ref());
        put(&mut settings.keep, self.keep.as_ref());
        put(&mut settings.trace, self.trace.as_ref());
        put(&mut settings.trace_days, self.trace_days.as_ref());
        put(&mut settings.states, self.states.as_ref());
        put(&mut settings.probe, self.probe.as_ref());
        put(&mut settings.mouse, self.mouse.as_ref());
        put(&mut settings.plain, self.plain.as_ref());
        put(&mut settings.vi, self.vi.as_ref());
        put(&mut settings.motion, self.motion.as_ref());
        put(&mut settings.ascii, self.ascii.as_ref());
        settings.personas.extend_from_slice(&self.personas);
        settings.bindings.extend_from_slice(&self.bindings);
        self.cover_sampling(settings, place)
    }

    fn cover_sampling(&self, settings: &mut Settings, place: Chosen) -> Result<(), Problem> {
        let mut outcome = Ok(());
        if let Some((name, place)) = &self.preset
            && !settings.choose(name)
        {
            let known: Vec<&str> = settings.presets.iter().map(|preset| preset.name.as_str()).collect();
            let message = format!("there is no preset '{name}': {}", suggestion(name, known));
            outcome = Err(Problem {
                place: place.clone(),
                message,
            });
        }
        for (name, text) in &self.sampling {
            // `set_sampling` let in only what the parameter accepts.
            let _ = Parameter::find(name).map(|parameter| parameter.set(&mut settings.sampling, text));
            settings.chosen.retain(|(other, _)| other != name);
            settings.chosen.push((name, place));
        }
        outcome
    }
}

fn put<T: Clone>(setting: &mut T, given: Option<&T>) {
    if let Some(given) = given {
        setting.clone_from(given);
    }
}

/// The defaults under all `layers`, the lowest first, each with its place. The only problem here is a preset that no layer has; its layer's
/// other settings count all the same.
pub(super) fn resolve(layers: &[(Chosen, Layer)]) -> (Settings, Vec<Problem>) {
    let mut settings = Settings::default();
    for preset in layers.iter().flat_map(|(_, layer)| &layer.presets) {
        settings.keep(preset);
    }
    // The preset in force may be one that the person wrote anew.
    settings.choose(DEFAULT_PRESET);
    let problems = layers
        .iter()
        .filter_map(|(place, layer)| layer.cover(&mut settings, *place).err())
        .collect();
    (settings, problems)
}
