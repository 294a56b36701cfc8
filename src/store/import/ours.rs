//! Our own files: all there is to a session, as `export.rs` writes it.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::domain::session::{Details, Whole};
use crate::domain::{Conversation, Head, Message};
use crate::store::export::{FORMAT, VERSION};

use super::{Imported, Refused, Source};

#[derive(Deserialize)]
struct File<'a> {
    format: String,
    version: u32,
    #[serde(borrow)]
    sessions: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(default)]
    created: i64,
    head: Head,
    #[serde(borrow)]
    messages: Vec<&'a RawValue>,
}

pub(super) fn read<'a>(source: Source<'a>, document: &'a RawValue) -> Result<Imported, Refused> {
    let file: File<'_> = source.borrow(document.get())?;
    if file.format != FORMAT {
        return Err(source.refuse(
            document.get(),
            format!("the format '{}' is not known here", file.format),
        ));
    }
    if file.version > VERSION {
        let why = format!(
            "a newer quipu wrote it (version {}, this one knows {VERSION}): update quipu",
            file.version
        );
        return Err(source.refuse(document.get(), why));
    }
    let sessions = file.sessions.into_iter().map(|raw| session(source, raw));
    Ok(Imported {
        sessions: sessions.collect::<Result<_, _>>()?,
        left_out: 0,
    })
}

fn session<'a>(source: Source<'a>, raw: &'a RawValue) -> Result<Whole, Refused> {
    let entry: Entry<'_> = source.borrow(raw.get())?;
    let details: Details = source.read(raw)?;
    let mut messages = Vec::with_capacity(entry.messages.len());
    for raw in &entry.messages {
        let message: Message = source.read(raw)?;
        messages.push(message);
    }
    let ids: Vec<_> = messages.iter().map(|message| message.id).collect();
    let conversation = Conversation::restore(messages, entry.head).map_err(|bad| {
        // Of two with one number, the later one does not fit.
        let at = ids
            .iter()
            .rposition(|id| *id == bad.0)
            .and_then(|at| entry.messages.get(at));
        let why = format!(
            "the message {} stands on none that is before it, or is there twice",
            bad.0.0
        );
        source.refuse(at.map_or(raw.get(), |raw| raw.get()), why)
    })?;
    Ok(Whole {
        details,
        created: entry.created,
        conversation,
    })
}
