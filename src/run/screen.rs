//! The `ui` room as the loop sees it: a view, a composer, and how they look and which keys they take.

use crossterm::event::Event;
use ratatui::Frame;

use crate::app::state::ViewInfo;
use crate::app::{Msg, State};
use crate::ui::{Composer, Keymap, Theme, View, input};

/// What draws the state and reads keys.
pub struct Screen {
    view: View,
    composer: Composer,
    theme: Theme,
    keymap: Keymap,
}

impl Screen {
    /// An empty composer under this theme and these keys.
    pub fn new(theme: Theme, keymap: Keymap) -> Self {
        Self {
            view: View::default(),
            composer: Composer::default(),
            theme,
            keymap,
        }
    }

    /// What an event of the terminal asks for.
    pub(super) fn read(&mut self, event: &Event, state: &State) -> Vec<Msg> {
        input::read(event, state, &self.keymap, &mut self.composer, &self.view)
    }

    /// Draws the state and tells what it came to.
    pub(super) fn draw(&mut self, state: &State, frame: &mut Frame<'_>) -> ViewInfo {
        self.view.draw(state, &self.composer, &self.theme, &self.keymap, frame)
    }

    /// Draws in these colours from the next frame on.
    pub(super) fn set_theme(&mut self, theme: Theme) {
        self.theme = theme;
    }

    /// What stands in the composer.
    pub(super) fn draft(&self) -> String {
        self.composer.text()
    }

    /// Has messages be edited as in vi, or not.
    pub fn set_vi(&mut self, on: bool) {
        self.composer.set_vi(on);
    }

    /// Takes these keys from now on.
    pub(super) fn set_keymap(&mut self, keymap: Keymap) {
        self.keymap = keymap;
    }

    /// Puts a text where the cursor is, folded.
    pub(super) fn fold(&mut self, text: &str) {
        self.composer.fold(text);
    }

    /// Puts a text into the composer, the cursor at its end.
    pub(super) fn set_draft(&mut self, text: &str) {
        self.composer.set_text(text);
    }
}
