//! What can go wrong between messages and prompt, in words for the person who must choose what to do next.

use minijinja::ErrorKind;

use crate::text::sanitize_line;

/// The longest part of a template's own words that is shown, in characters: enough for a sentence or two.
const SHOWN: usize = 240;

/// Why no prompt could be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// The template is longer than any honest one.
    #[error("the chat template has '{bytes}' bytes, more than the '{limit}' allowed; choose another with /template")]
    TooLong {
        /// Its size.
        bytes: usize,
        /// The largest size taken.
        limit: usize,
    },
    /// The template never looks at the messages: some models carry a mere name where it should be.
    #[error("the chat template '{start}' does not use the messages; choose another with /template")]
    NoMessages {
        /// Its first words.
        start: String,
    },
    /// The template does not parse.
    #[error("the chat template does not parse at line '{line}': {said}; choose another with /template")]
    Syntax {
        /// Line in the template, from 1.
        line: usize,
        /// What the parser says.
        said: String,
    },
    /// The template itself refused these messages, in every form that was tried.
    #[error(
        "the chat template refuses this conversation: '{said}'; change the messages or choose another with /template"
    )]
    Refused {
        /// The template's own words.
        said: String,
    },
    /// The template failed while it ran.
    #[error("the chat template fails at line '{line}': {said}; choose another with /template")]
    Failed {
        /// Line in the template, from 1; 0 where it is not known.
        line: usize,
        /// What the template engine says.
        said: String,
    },
    /// The template ran longer than any honest one.
    #[error("the chat template does not come to an end; choose another with /template")]
    Endless,
    /// The template wrote far more than it was given.
    #[error("the chat template writes more than '{limit}' bytes; choose another with /template")]
    Flood {
        /// The most it may write, in bytes.
        limit: usize,
    },
    /// No built-in template has this name.
    #[error("no built-in template is called '{name}'; choose one of {known}")]
    UnknownName {
        /// The name asked for.
        name: String,
        /// All names there are.
        known: String,
    },
    /// The messages use every private character, so that no place in them can be marked.
    #[error("the messages contain every private-use character there is; remove some of them")]
    NoFreeCharacter,
    /// The vocabulary's special tokens cannot be searched for.
    #[error("the special tokens of this model cannot be searched for: {said}; choose another model")]
    Markers {
        /// What the search library says.
        said: String,
    },
}

/// Carries the words that a template gave to `raise_exception`.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Refusal(pub(super) String);

impl TemplateError {
    /// Sorts out what the template engine reports.
    pub(super) fn from_engine(error: &minijinja::Error) -> Self {
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
        while let Some(current) = cause {
            if let Some(Refusal(said)) = current.downcast_ref() {
                return Self::Refused { said: shown(said) };
            }
            if let Some(inner) = current.downcast_ref::<minijinja::Error>()
                && inner.kind() == ErrorKind::OutOfFuel
            {
                return Self::Endless;
            }
            cause = current.source();
        }
        let line = error.line().unwrap_or(0);
        let said = match error.detail() {
            Some(detail) => shown(&format!("{}: {detail}", error.kind())),
            None => error.kind().to_string(),
        };
        match error.kind() {
            ErrorKind::SyntaxError | ErrorKind::BadEscape => Self::Syntax { line, said },
            _ => Self::Failed { line, said },
        }
    }

    /// Whether other messages might fare better.
    pub(super) fn depends_on_messages(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::Failed { .. })
    }
}

/// Words of the template, made safe and short.
pub(super) fn shown(text: &str) -> String {
    let clean = sanitize_line(text);
    let clean = clean.trim();
    match clean.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &clean[..end]),
        None => clean.to_owned(),
    }
}
