//! The chats of an Open WebUI export: trees of messages that name each other, in `chat.history`.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::domain::session::{Details, Whole};

use super::tree::{self, Node};
use super::{Imported, Refused, Source, milliseconds, parts, speaker, whole};

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    created_at: Option<f64>,
    #[serde(default)]
    pinned: Option<bool>,
    #[serde(default)]
    archived: Option<bool>,
    #[serde(borrow, default)]
    chat: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Chat<'a> {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    system: Option<String>,
    #[serde(default)]
    tags: Option<Vec<String>>,
    #[serde(borrow)]
    history: History<'a>,
}

#[derive(Deserialize)]
struct History<'a> {
    #[serde(borrow)]
    messages: HashMap<String, &'a RawValue>,
    #[serde(default, rename = "currentId")]
    current: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default, rename = "parentId")]
    parent: Option<String>,
    #[serde(default, rename = "childrenIds")]
    children: Vec<String>,
    role: String,
    #[serde(default)]
    content: String,
    #[serde(default)]
    timestamp: Option<f64>,
    #[serde(default)]
    model: Option<String>,
}

pub(super) fn read<'a>(source: Source<'a>, document: &'a RawValue) -> Result<Imported, Refused> {
    let mut read = Imported::default();
    for raw in parts(source, document)? {
        read.sessions.extend(entry(source, raw, &mut read.left_out)?);
    }
    Ok(read)
}

/// A chat; `None` for one in which nobody said anything.
fn entry<'a>(source: Source<'a>, raw: &'a RawValue, left_out: &mut usize) -> Result<Option<Whole>, Refused> {
    let entry: Entry<'a> = source.borrow(raw.get())?;
    let chat: Chat<'a> = source.borrow(entry.chat.unwrap_or(raw).get())?;
    let mut nodes = HashMap::with_capacity(chat.history.messages.len());
    for (name, raw) in &chat.history.messages {
        nodes.insert(name.clone(), node(source, raw, left_out)?);
    }
    let shown = chat.history.current.as_deref();
    let mut conversation = tree::grow(&nodes, shown).map_err(|(name, why)| {
        let at = chat.history.messages.get(&name).map_or(raw.get(), |raw| raw.get());
        source.refuse(at, format!("the message '{name}': {why}"))
    })?;
    if conversation.messages().is_empty() {
        return Ok(None);
    }
    if let Some(system) = chat.system.filter(|system| !system.is_empty()) {
        conversation.set_system(Some(system));
    }
    let read = whole(
        entry.title.or(chat.title),
        entry.created_at.unwrap_or(0.0),
        conversation,
    );
    Ok(Some(Whole {
        details: Details {
            pinned: entry.pinned.unwrap_or(false),
            archived: entry.archived.unwrap_or(false),
            tags: Details::tags_of(&chat.tags.unwrap_or_default().join(" ")),
            ..read.details
        },
        ..read
    }))
}

fn node(source: Source<'_>, raw: &RawValue, left_out: &mut usize) -> Result<Node, Refused> {
    let message: Message = source.read(raw)?;
    let role = speaker(&message.role).map_err(|why| source.refuse(raw.get(), why))?;
    if role.is_none() {
        *left_out += 1;
    }
    let at = milliseconds(message.timestamp.unwrap_or(0.0));
    Ok(Node {
        parent: message.parent,
        children: message.children,
        said: role.map(|role| (role, message.content, at)),
        model: message.model,
    })
}
