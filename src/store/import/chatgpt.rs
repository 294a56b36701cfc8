//! The conversations of a ChatGPT export: trees of nodes that name each other, in `mapping`.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::domain::session::Whole;

use super::tree::{self, Node};
use super::{Imported, Refused, Source, milliseconds, parts, speaker, whole};

#[derive(Deserialize)]
struct Talk<'a> {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    create_time: Option<f64>,
    #[serde(default)]
    current_node: Option<String>,
    #[serde(borrow)]
    mapping: HashMap<String, &'a RawValue>,
}

#[derive(Deserialize)]
struct Place {
    #[serde(default)]
    parent: Option<String>,
    #[serde(default)]
    children: Vec<String>,
    #[serde(default)]
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    author: Author,
    #[serde(default)]
    create_time: Option<f64>,
    #[serde(default)]
    content: Option<Content>,
    #[serde(default)]
    metadata: Option<Metadata>,
}

#[derive(Deserialize)]
struct Author {
    role: String,
}

#[derive(Deserialize, Default)]
struct Metadata {
    #[serde(default)]
    model_slug: Option<String>,
    #[serde(default)]
    is_visually_hidden_from_conversation: bool,
}

/// Parts are texts, or things that are none, such as pictures.
#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    parts: Vec<Value>,
    #[serde(default)]
    text: Option<String>,
}

impl Content {
    fn text(&self) -> String {
        let parts = self.parts.iter().filter_map(|part| match part {
            Value::String(text) => Some(text.as_str()),
            Value::Object(fields) => fields.get("text").and_then(Value::as_str),
            _ => None,
        });
        let parts: Vec<_> = parts
            .chain(self.text.as_deref())
            .filter(|text| !text.is_empty())
            .collect();
        parts.join("\n")
    }
}

pub(super) fn read<'a>(source: Source<'a>, document: &'a RawValue) -> Result<Imported, Refused> {
    let mut read = Imported::default();
    for raw in parts(source, document)? {
        read.sessions.extend(talk(source, raw, &mut read.left_out)?);
    }
    Ok(read)
}

/// A conversation; `None` for one in which nobody said anything.
fn talk<'a>(source: Source<'a>, raw: &'a RawValue, left_out: &mut usize) -> Result<Option<Whole>, Refused> {
    let talk: Talk<'a> = source.borrow(raw.get())?;
    let mut nodes = HashMap::with_capacity(talk.mapping.len());
    for (name, raw) in &talk.mapping {
        nodes.insert(name.clone(), node(source, raw, left_out)?);
    }
    let shown = talk.current_node.as_deref();
    let conversation = tree::grow(&nodes, shown).map_err(|(name, why)| {
        let at = talk.mapping.get(&name).map_or(raw.get(), |raw| raw.get());
        source.refuse(at, format!("the node '{name}': {why}"))
    })?;
    let empty = conversation.messages().is_empty();
    Ok((!empty).then(|| whole(talk.title, talk.create_time.unwrap_or(0.0), conversation)))
}

fn node(source: Source<'_>, raw: &RawValue, left_out: &mut usize) -> Result<Node, Refused> {
    let Place {
        parent,
        children,
        message,
    } = source.read(raw)?;
    let mut node = Node {
        parent,
        children,
        ..Node::default()
    };
    let Some(message) = message else { return Ok(node) };
    let role = speaker(&message.author.role).map_err(|why| source.refuse(raw.get(), why))?;
    let text = message.content.as_ref().map(Content::text).unwrap_or_default();
    let metadata = message.metadata.unwrap_or_default();
    if role.is_none() {
        *left_out += 1;
    }
    if !text.is_empty() && !metadata.is_visually_hidden_from_conversation {
        let at = milliseconds(message.create_time.unwrap_or(0.0));
        node.said = role.map(|role| (role, text, at));
        node.model = metadata.model_slug;
    }
    Ok(node)
}
