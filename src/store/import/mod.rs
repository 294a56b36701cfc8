//! Sessions from files: our own, and those of others. A file is read whole or refused whole, with the line and the reason. Which
//! kind it is is told by what stands in it, never by its name.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::domain::session::Whole;
use crate::domain::{Conversation, Role};

mod chatgpt;
mod lists;
mod ours;
#[cfg(test)]
mod tests;
mod tree;
mod webui;

/// Largest file that is read, in bytes: the exports of years are smaller.
const LARGEST: u64 = 1 << 30;

/// What was read.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Imported {
    /// The sessions, in the order of the file.
    pub(super) sessions: Vec<Whole>,
    /// Entries that are no messages of people or models.
    pub(super) left_out: usize,
}

/// Reads the sessions in a file.
///
/// # Errors
/// In words: the file, the line, and what is wrong with it.
pub(super) fn read_file(path: &Path) -> Result<Imported, String> {
    let shown = path.display();
    let unreadable = |why: &dyn std::fmt::Display| format!("cannot read '{shown}' ({why}): nothing was imported");
    let found = fs::metadata(path).map_err(|error| unreadable(&error))?;
    if !found.is_file() {
        return Err(unreadable(&"it is no file"));
    }
    if found.len() > LARGEST {
        return Err(unreadable(&"it is larger than 1 GiB"));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LARGEST).read_to_end(&mut bytes))
        .map_err(|error| unreadable(&error))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]).into_owned();
        let line = 1 + good.matches('\n').count();
        format!("'{shown}' is not imported: line {line} is no UTF-8 text")
    })?;
    read(&text).map_err(|Refused { line, why }| format!("'{shown}' is not imported: line {line}: {why}"))
}

/// Why a file is refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused {
    /// The line, counted from 1.
    line: usize,
    why: String,
}

/// A text of which parts can be found again.
#[derive(Clone, Copy)]
struct Source<'a> {
    text: &'a str,
}

impl<'a> Source<'a> {
    /// The line on which a part of the text begins, counted from 1.
    fn line_of(self, part: &str) -> usize {
        let offset = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let before = self.text.get(..offset).unwrap_or_default();
        1 + before.matches('\n').count()
    }

    /// Refuses the file over this part of it.
    fn refuse(self, part: &str, why: impl Into<String>) -> Refused {
        Refused {
            line: self.line_of(part),
            why: why.into(),
        }
    }

    /// Reads a part as this kind of thing.
    fn read<T: DeserializeOwned>(self, raw: &RawValue) -> Result<T, Refused> {
        serde_json::from_str(raw.get()).map_err(|error| self.at(raw.get(), &error))
    }

    /// Reads a part whose own parts are to be found again.
    fn borrow<T: serde::Deserialize<'a>>(self, part: &'a str) -> Result<T, Refused> {
        serde_json::from_str(part).map_err(|error| self.at(part, &error))
    }

    fn at(self, part: &str, error: &serde_json::Error) -> Refused {
        let words = error.to_string();
        let why = words.split(" at line ").next().unwrap_or(&words).to_owned();
        Refused {
            line: self.line_of(part) + error.line().saturating_sub(1),
            why,
        }
    }
}

/// Reads the sessions in a text.
pub(super) fn read(text: &str) -> Result<Imported, Refused> {
    let source = Source { text };
    let body = text.trim_start_matches('\u{feff}');
    match serde_json::from_str::<&RawValue>(body) {
        Ok(whole) => document(source, whole),
        // One document on each line is the other way in which such lists are written.
        Err(error) if is_lines(body) => lists::read_lines(source, body).map_err(|refused| {
            if refused.line == 0 {
                source.at(body, &error)
            } else {
                refused
            }
        }),
        Err(error) => Err(source.at(body, &error)),
    }
}

/// Whether the first line is a document, and more come.
fn is_lines(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next();
    first.is_some_and(|line| serde_json::from_str::<&RawValue>(line).is_ok()) && lines.next().is_some()
}

fn document<'a>(source: Source<'a>, whole: &'a RawValue) -> Result<Imported, Refused> {
    let first = first_of(whole);
    let has = |key: &str| first.as_ref().is_some_and(|value| value.get(key).is_some());
    if has("format") {
        return ours::read(source, whole);
    }
    if has("mapping") {
        return chatgpt::read(source, whole);
    }
    if has("chat") || has("history") {
        return webui::read(source, whole);
    }
    lists::read(source, whole)
}

/// The document, or the first thing in it where it is a list.
fn first_of(whole: &RawValue) -> Option<Value> {
    let text = whole.get();
    if text.starts_with('[') {
        let all: Vec<&RawValue> = serde_json::from_str(text).ok()?;
        return serde_json::from_str(all.first()?.get()).ok();
    }
    serde_json::from_str(text).ok()
}

/// A document as a list: of its parts, or of itself alone.
fn parts<'a>(source: Source<'a>, whole: &'a RawValue) -> Result<Vec<&'a RawValue>, Refused> {
    if whole.get().starts_with('[') {
        source.borrow(whole.get())
    } else {
        Ok(vec![whole])
    }
}

/// Who speaks under this name; `None` for those whose words are no part of a conversation.
///
/// # Errors
/// Where nobody is called that.
fn speaker(name: &str) -> Result<Option<Role>, String> {
    match name.to_ascii_lowercase().as_str() {
        "user" | "human" | "prompter" => Ok(Some(Role::User)),
        "assistant" | "gpt" | "chatgpt" | "bot" | "model" | "ai" => Ok(Some(Role::Assistant)),
        "system" | "developer" => Ok(Some(Role::System)),
        "tool" | "function" | "observation" | "function_call" => Ok(None),
        _ => Err(format!(
            "nobody is called '{name}': 'user', 'assistant' and 'system' are known"
        )),
    }
}

/// Seconds since 1970 as some write them, in milliseconds; what is larger than any second is milliseconds already.
fn milliseconds(time: f64) -> i64 {
    const LATEST: f64 = 1e11;
    let scaled = if time.abs() < LATEST { time * 1000.0 } else { time };
    if scaled.is_finite() && scaled > 0.0 {
        scaled as i64
    } else {
        0
    }
}

/// A conversation that was made of a file, with the details that such files have.
fn whole(title: Option<String>, created: f64, conversation: Conversation) -> Whole {
    let first = conversation
        .path()
        .into_iter()
        .find(|message| message.role == Role::User);
    let own = title.filter(|title| !title.trim().is_empty());
    let given = own.is_some();
    let title = own.unwrap_or_else(|| first.map(|message| message.text.clone()).unwrap_or_default());
    Whole {
        details: crate::domain::session::Details {
            title: crate::domain::session::title_of(&title),
            titled: if given {
                crate::domain::session::Titled::Person
            } else {
                crate::domain::session::Titled::First
            },
            ..Default::default()
        },
        created: milliseconds(created),
        conversation,
    }
}
