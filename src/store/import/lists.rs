//! Conversations that are lists: of messages with `role` and `content`, as OpenAI's interface has them, and of turns with `from`
//! and `value`, as ShareGPT wrote them. One conversation, a list of them, or one on each line.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::domain::session::Whole;
use crate::domain::{Conversation, Role};

use super::{Imported, Refused, Source, milliseconds, speaker, whole};

/// A conversation with what may stand around it.
#[derive(Deserialize)]
struct Talk<'a> {
    #[serde(default)]
    title: Option<String>,
    #[serde(default, alias = "create_time", alias = "created_at")]
    created: Option<f64>,
    #[serde(default)]
    system: Option<String>,
    #[serde(borrow, alias = "conversations", alias = "conversation", alias = "items")]
    messages: Vec<&'a RawValue>,
}

/// A message of either kind.
#[derive(Deserialize)]
struct Entry {
    #[serde(alias = "from")]
    role: String,
    #[serde(alias = "value")]
    content: Option<Content>,
    #[serde(default, alias = "create_time", alias = "timestamp")]
    created: Option<f64>,
}

/// What a message says: text, or parts of which some are.
#[derive(Deserialize)]
#[serde(untagged, expecting = "'content' is neither a text nor a list of parts")]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    text: Option<String>,
}

impl Content {
    fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Parts(parts) => parts
                .into_iter()
                .filter_map(|part| part.text)
                .collect::<Vec<_>>()
                .join("\n"),
        }
    }
}

/// A document that is a conversation, or a list of them.
pub(super) fn read<'a>(source: Source<'a>, document: &'a RawValue) -> Result<Imported, Refused> {
    let mut read = Imported::default();
    if !document.get().starts_with('[') {
        read.sessions.push(talk(source, document, &mut read.left_out)?);
        return Ok(read);
    }
    let parts: Vec<&'a RawValue> = source.borrow(document.get())?;
    let Some(first) = parts.first() else {
        return Err(source.refuse(document.get(), "the list is empty"));
    };
    // A list of messages is one conversation.
    let lone = source.read::<Entry>(first).is_ok();
    if lone {
        let conversation = conversation(source, &parts, None, &mut read.left_out)?;
        read.sessions.push(whole(None, 0.0, conversation));
        return Ok(read);
    }
    for part in parts {
        read.sessions.push(talk(source, part, &mut read.left_out)?);
    }
    Ok(read)
}

/// One conversation on each line.
pub(super) fn read_lines<'a>(source: Source<'a>, text: &'a str) -> Result<Imported, Refused> {
    let mut read = Imported::default();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let raw: &RawValue = source.borrow(line)?;
        read.sessions.push(talk(source, raw, &mut read.left_out)?);
    }
    Ok(read)
}

fn talk<'a>(source: Source<'a>, raw: &'a RawValue, left_out: &mut usize) -> Result<Whole, Refused> {
    if raw.get().starts_with('[') {
        let parts: Vec<&'a RawValue> = source.borrow(raw.get())?;
        return Ok(whole(None, 0.0, conversation(source, &parts, None, left_out)?));
    }
    let talk: Talk<'a> = source.borrow(raw.get())?;
    let conversation = conversation(source, &talk.messages, talk.system, left_out)?;
    Ok(whole(talk.title, talk.created.unwrap_or(0.0), conversation))
}

fn conversation(
    source: Source<'_>,
    entries: &[&RawValue],
    system: Option<String>,
    left_out: &mut usize,
) -> Result<Conversation, Refused> {
    let mut talk = Conversation::under(system);
    for raw in entries {
        let entry: Entry = source.read(raw)?;
        let role = speaker(&entry.role).map_err(|why| source.refuse(raw.get(), why))?;
        let text = entry.content.map(Content::text).unwrap_or_default();
        match role {
            // What stands before everything is the prompt of the session.
            Some(Role::System) if talk.messages().is_empty() && talk.system().is_none() => talk.set_system(Some(text)),
            Some(role) => {
                talk.push(role, text, milliseconds(entry.created.unwrap_or(0.0)));
            }
            None => *left_out += 1,
        }
    }
    if talk.messages().is_empty() {
        let at = entries.first().map_or(source.text, |raw| raw.get());
        return Err(source.refuse(at, "a conversation without a message"));
    }
    Ok(talk)
}
