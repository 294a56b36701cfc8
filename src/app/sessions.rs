//! The panel of sessions as data: what was listed and found, what is typed, and which row is selected. What happens to it is
//! in `update/sessions.rs`.

use crate::domain::session::{Hit, Summary};

/// The panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionList {
    /// What is looked for; empty shows all sessions.
    pub query: String,
    /// All sessions there are, pinned ones first, then by use.
    pub sessions: Vec<Summary>,
    /// The messages in which the query stands, newest first.
    pub hits: Vec<Hit>,
    /// The selected row.
    pub selected: usize,
    /// Whether archived sessions are shown, too.
    pub archived: bool,
    /// The new title of the selected session, while it is typed.
    pub renaming: Option<String>,
    /// The newest requests for the list and for the search: older answers are dropped.
    pub requests: (u64, u64),
    /// Whether the list has come.
    pub there: bool,
    /// Whether the last search is still under way.
    pub searching: bool,
}

/// A row of the panel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Row<'a> {
    /// A session.
    Session(&'a Summary),
    /// A message of one.
    Hit(&'a Hit),
}

/// What is typed in the panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Typed {
    /// A character, or a pasted text.
    Text(String),
    /// The character before is taken back.
    Backspace,
    /// All is taken back.
    Clear,
}

impl Typed {
    /// Does to a line what was typed; control characters are no text.
    pub fn to(&self, line: &mut String) {
        match self {
            Self::Text(text) => line.extend(text.chars().filter(|c| !c.is_control())),
            Self::Backspace => {
                line.pop();
            }
            Self::Clear => line.clear(),
        }
    }
}

impl SessionList {
    /// The rows: sessions whose title or tags have the query in them, then messages.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let wanted = self.query.trim().to_lowercase();
        let fits = move |session: &&Summary| {
            let details = &session.details;
            let tag = |tag: &String| *tag == wanted.trim_start_matches('#');
            wanted.is_empty() || details.title.to_lowercase().contains(&wanted) || details.tags.iter().any(tag)
        };
        let sessions = self.sessions.iter().filter(fits).map(Row::Session);
        sessions.chain(self.hits.iter().map(Row::Hit))
    }

    /// The selected row.
    pub fn row(&self) -> Option<Row<'_>> {
        self.rows().nth(self.selected)
    }

    /// The selected session.
    pub fn session(&self) -> Option<&Summary> {
        match self.row()? {
            Row::Session(session) => Some(session),
            Row::Hit(hit) => self.sessions.iter().find(|session| session.id == hit.session),
        }
    }
}
