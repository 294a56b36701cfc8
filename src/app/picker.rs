//! A list to choose from, as data: what there is, what is typed to find it, and which row is selected. The palette of commands, the
//! themes and what was sent before are such lists. What choosing does is in `update/pick.rs`.

use crate::text::fuzzy;

use super::caught::Remedy;
use super::command::CommandId;

/// The list.
#[derive(Clone, Debug, PartialEq)]
pub struct Picker {
    /// What is chosen.
    pub title: &'static str,
    /// What is looked for; empty shows all.
    pub query: String,
    /// All rows there are.
    pub rows: Vec<Pick>,
    /// The selected one of those that fit.
    pub selected: usize,
    /// What the rows still to come are waited for with; they come all at once.
    pub waiting: Option<&'static str>,
    /// The theme to go back to where none is taken.
    pub before: Option<String>,
    /// Rows that fit the query, best first, by their index.
    fits: Vec<usize>,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pick {
    /// What is shown and looked through.
    pub label: String,
    /// A few words beside it.
    pub note: String,
    /// What it stands for.
    pub what: Choice,
}

/// What a row stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A command.
    Command(CommandId),
    /// A theme, by its name.
    Theme(String),
    /// A text that was sent before.
    Sent(String),
    /// A model, by the name that loads it.
    Model(String),
    /// A way out of a loop.
    Remedy(Remedy),
}

impl Picker {
    /// A list of all rows with the first selected.
    pub fn new(title: &'static str, rows: Vec<Pick>) -> Self {
        Self {
            title,
            query: String::new(),
            fits: (0..rows.len()).collect(),
            rows,
            selected: 0,
            waiting: None,
            before: None,
        }
    }

    /// Looks for something else.
    pub fn look_for(&mut self, query: String) {
        self.fits = fuzzy(&query, self.rows.iter().map(|row| row.label.as_str()));
        self.query = query;
        self.selected = 0;
    }

    /// Takes in rows that were waited for. What is typed and what is selected stay.
    pub fn arrive(&mut self, rows: Vec<Pick>) {
        let selected = self.row().map(|row| row.what.clone());
        self.waiting = None;
        self.rows = rows;
        let query = std::mem::take(&mut self.query);
        self.look_for(query);
        if let Some(what) = selected {
            self.select(&what);
        }
    }

    /// The rows that fit, best first.
    pub fn fitting(&self) -> impl ExactSizeIterator<Item = &Pick> {
        self.fits.iter().map(|at| &self.rows[*at])
    }

    /// The selected row.
    pub fn row(&self) -> Option<&Pick> {
        self.fits.get(self.selected).map(|at| &self.rows[*at])
    }

    /// Selects the row that stands for this, where it fits.
    pub fn select(&mut self, what: &Choice) {
        let at = self.fits.iter().position(|at| self.rows[*at].what == *what);
        self.selected = at.unwrap_or(self.selected);
    }

    /// Moves the selection by rows.
    pub fn step(&mut self, rows: i64) {
        let last = self.fits.len().saturating_sub(1) as i64;
        self.selected = (self.selected as i64).saturating_add(rows).clamp(0, last) as usize;
    }
}
