//! The panel in which sampling is tuned, as data: which row is selected and what is typed into it. What changing a row does is in
//! `update/tune.rs`; how far a step goes is `domain/sampling/slider.rs`'s business.

use crate::domain::sampling::{PARAMETERS, Parameter};

/// The panel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TunePanel {
    /// Whether keys are for it, and not for the message.
    pub focused: bool,
    /// The selected row: the preset, then the parameters in the order of their table.
    pub selected: usize,
    /// The value that is being typed for it.
    pub typing: Option<String>,
    /// The name that is being typed to keep the settings by.
    pub naming: Option<String>,
}

impl TunePanel {
    /// One that was just opened.
    pub fn open() -> Self {
        Self {
            focused: true,
            // The first that most people turn.
            selected: 1,
            ..Self::default()
        }
    }

    /// How many rows there are.
    pub const ROWS: usize = PARAMETERS.len() + 1;

    /// The selected parameter; none where the preset is.
    pub fn parameter(&self) -> Option<&'static Parameter> {
        self.selected.checked_sub(1).and_then(|at| PARAMETERS.get(at))
    }

    /// The line that is being typed.
    pub fn line(&mut self) -> Option<&mut String> {
        self.naming.as_mut().or(self.typing.as_mut())
    }

    /// Whether one is being typed.
    pub fn is_typed_in(&self) -> bool {
        self.naming.is_some() || self.typing.is_some()
    }
}
