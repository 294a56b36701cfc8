//! What is wrong with a setting and where it stands, in words for the person. Finds no problems itself.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::text::nearest;

/// A setting that could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where it stands.
    pub place: Place,
    /// What is wrong and what to do: lower case, no full stop.
    pub message: String,
}

/// Where a setting stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of a file, counted from 1.
    Line(PathBuf, usize),
    /// A file as a whole.
    File(PathBuf),
    /// An environment variable.
    Variable(String),
    /// A flag of the command line.
    Flag(&'static str),
}

impl Place {
    /// The file it stands in, if it stands in one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Line(path, _) | Self::File(path) => Some(path),
            Self::Variable(_) | Self::Flag(_) => None,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(path, line) => write!(f, "{}:{line}", path.display()),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Variable(name) => f.write_str(name),
            Self::Flag(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for Problem {}

/// What was written, fit to be shown inside a sentence: one line, no control characters, not endless.
pub(super) fn shown(text: &str) -> String {
    /// Enough to recognise a value by.
    const LONGEST: usize = 40;
    let line = text.lines().next().unwrap_or_default();
    let mut shown: String = line.chars().take(LONGEST).collect();
    shown.retain(|c| !c.is_control());
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// "did you mean 'x'?", or where nothing is near all there is, or where to read it.
pub(super) fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    /// More names than this are no sentence any more.
    const NAMES: usize = 12;
    if let Some(name) = nearest(name, known.clone()) {
        return format!("did you mean '{name}'?");
    }
    let known: Vec<_> = known.into_iter().collect();
    if known.len() > NAMES {
        "config.example.toml has all there is".to_owned()
    } else {
        format!("there are {}", known.join(", "))
    }
}
