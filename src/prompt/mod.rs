//! Messages and a chat template become the exact prompt text, with a map of what in it is trusted. Knows no token ids and
//! no llama.cpp; the engine tokenizes what this room renders.
//!
//! The text is what the template gives, byte for byte, so that its tokens are those the model was trained on. What a
//! person types must never become a control token, though: wherever a message spells one, wholly or partly, the text
//! carries a *cut*, and the engine tokenizes the pieces between cuts apart.

mod builtin;
mod cuts;
mod error;
mod fallback;
mod markers;
mod open;
mod reasoning;
mod render;
mod sentinels;
mod shims;
mod template;
mod tojson;

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;

use jiff::civil::DateTime;

use crate::domain::Role;
use crate::domain::thinking::{Part, Thinking};

pub use builtin::{DEFAULT, NAMES, builtin};
pub use error::TemplateError;
pub use markers::{MarkerKind, Markers};
pub use reasoning::begun;
pub use template::Template;

/// One message of the conversation, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// Who says it.
    pub role: Role,
    /// What is said, exactly: untrusted text.
    pub content: &'a str,
    /// What the model thought before it said that: untrusted too, and empty where it did not. Templates know it as
    /// `reasoning_content`, `reasoning` or `thinking`, and most leave it out of all turns but the last.
    pub thinking: &'a str,
}

impl<'a> Message<'a> {
    /// A message without thinking.
    pub const fn new(role: Role, content: &'a str) -> Self {
        Self {
            role,
            content,
            thinking: "",
        }
    }
}

/// What a template may ask for besides the messages.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether the text ends where the model's answer begins.
    pub add_generation_prompt: bool,
    /// Text of the beginning-of-sequence token; empty where the vocabulary has none.
    pub bos_token: String,
    /// Text of the end-of-sequence token; empty where the vocabulary has none.
    pub eos_token: String,
    /// The time a template may print. Keep it for the length of a conversation: a changed date changes the prompt's
    /// beginning, and with it everything that is cached.
    pub now: DateTime,
    /// Whether a reasoning model thinks; `None` leaves it to the template.
    pub thinking: Option<Thinking>,
    /// Whether the model's messages may hold thinking between tags, for the template to find: then these tags stay whole in them.
    /// Where thinking is given apart they are text like any other.
    pub thinking_in_content: bool,
}

impl Options {
    /// Asks for an answer, at this time, with no special tokens and the template's own idea of thinking.
    pub fn new(now: DateTime) -> Self {
        Self {
            add_generation_prompt: true,
            bos_token: String::new(),
            eos_token: String::new(),
            now,
            thinking: None,
            thinking_in_content: true,
        }
    }
}

/// A small conversation to try templates with: a question, an answer, a question. No text of it stands in another or in a template.
pub const TRIAL: [(Role, &str); 3] = [
    (Role::User, "Which river flows through Lima?"),
    (Role::Assistant, "The Rimac does"),
    (Role::User, "And through Cusco?"),
];

/// The prompt, ready to be tokenized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The whole prompt.
    pub text: String,
    /// Byte offsets, ascending, at which the text must be split and its pieces tokenized apart.
    pub cuts: Vec<usize>,
    /// Where message contents are, in order of appearance. Reasoning tags in the model's own messages are not content.
    /// A message is missing where the template dropped it or changed it beyond recognition.
    pub contents: Vec<Content>,
    /// How the template was made to take the messages.
    pub path: Path,
}

impl Rendered {
    /// The text split at its cuts: tokenize each piece apart, special tokens parsed, and join the tokens.
    pub fn pieces(&self) -> impl Iterator<Item = &str> {
        let ends = self.cuts.iter().copied().chain([self.text.len()]);
        let mut start = 0;
        ends.map(move |end| {
            let piece = self.text.get(start..end).unwrap_or_default();
            start = end;
            piece
        })
    }
}

/// A stretch of the prompt that came from a message. One message may have several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Index among the messages given.
    pub message: usize,
    /// What of the message it is.
    pub part: Part,
    /// Byte range in the text.
    pub range: Range<usize>,
}

/// Which way was taken to get the messages through the template. `Display` says it to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// The model's template took the messages as they are.
    AsIs,
    /// It refuses system messages: they stand at the beginning of the user message that follows.
    SystemFolded,
    /// It insists on alternating roles: neighbours of equal role became one message.
    RolesMerged,
    /// Both of the above.
    SystemFoldedAndRolesMerged,
    /// One of our own templates, by name.
    BuiltIn(&'static str),
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AsIs => f.write_str("the model's own template"),
            Self::SystemFolded => f.write_str("the model's own template; system message folded into the user message"),
            Self::RolesMerged => f.write_str("the model's own template; neighbouring messages of one role merged"),
            Self::SystemFoldedAndRolesMerged => {
                f.write_str("the model's own template; system message folded, neighbouring messages of one role merged")
            }
            Self::BuiltIn(name) => write!(f, "the built-in template '{name}'"),
        }
    }
}
