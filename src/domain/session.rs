//! Sessions as everyone speaks of them: a conversation that is kept, what is known of it without reading it, and what the
//! store can be asked and tells. Plain data; how it is kept is the store's business.

use serde::{Deserialize, Serialize};

use super::conversation::{Changes, Conversation, MessageId};
use super::inference::Report;
use super::role::Role;

/// A session's number in the store; given out once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SessionId(pub i64);

impl SessionId {
    /// The name under which the state of a model is kept for it.
    pub fn state_name(self) -> String {
        format!("session-{}", self.0)
    }
}

/// A conversation of this process, whether it is kept already or not: they count from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey(pub u32);

/// Who gave a session its title.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Titled {
    /// It is the beginning of the first message.
    #[default]
    First,
    /// A model was asked for it.
    Model,
    /// The person.
    Person,
}

/// What people decide about a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Details {
    /// One line.
    pub title: String,
    /// Who gave it.
    pub titled: Titled,
    /// Whether it stands above the others.
    pub pinned: bool,
    /// Whether it is out of sight.
    pub archived: bool,
    /// Words to find it by, sorted.
    pub tags: Vec<String>,
}

/// Characters of a title that is made of a message.
const TITLE: usize = 60;

/// The title that a first message makes: the beginning of its first line.
pub fn title_of(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
    let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= TITLE {
        return words;
    }
    let cut: String = words.chars().take(TITLE - 1).collect();
    let whole = words[cut.len()..].starts_with(' ');
    // A word is cut only where it is longer than half of the line.
    let end = cut
        .rfind(' ')
        .filter(|at| *at > cut.len() / 2 && !whole)
        .unwrap_or(cut.len());
    format!("{}…", cut[..end].trim_end_matches([',', '.', ';', ':', '?', '!']))
}

impl Details {
    /// The tags that a line names: words, with or without `#`.
    pub fn tags_of(line: &str) -> Vec<String> {
        let words = line.split([' ', ',']).map(|word| word.trim_start_matches('#').trim());
        let mut tags: Vec<_> = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
        tags.sort();
        tags.dedup();
        tags
    }
}

/// A session in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Its number.
    pub id: SessionId,
    /// What people decided about it.
    #[serde(flatten)]
    pub details: Details,
    /// When it was begun, in milliseconds since 1970.
    pub created: i64,
    /// When it was written to last.
    pub used: i64,
    /// Messages that can be seen, of all branches.
    pub messages: u32,
    /// Bytes of text in them.
    pub bytes: u64,
    /// The name of the model that spoke last.
    pub model: String,
    /// The beginning of what was said last.
    pub preview: String,
    /// Whether it was deleted and can still be brought back.
    pub deleted: bool,
}

/// Which session is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// The one with this number.
    Id(SessionId),
    /// The one with this title, or number.
    Named(String),
    /// The one that was written to last.
    Latest,
}

/// A session that was opened.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    /// Its number.
    pub id: SessionId,
    /// What people decided about it.
    pub details: Details,
    /// What was said.
    pub conversation: Conversation,
    /// Whether another quipu has it open: it can be read, and forked.
    pub held: bool,
}

/// Why a session was not opened, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotOpened {
    /// There is none like it.
    Unknown(String),
    /// It cannot be read.
    Failed(String),
}

/// A message that a search found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// The session.
    pub session: SessionId,
    /// Its title.
    pub title: String,
    /// The message.
    pub message: MessageId,
    /// Who said it.
    pub role: Role,
    /// When, in milliseconds since 1970; 0 where nobody knows.
    pub at: i64,
    /// What stands around what was found, in pieces: whether it is what was looked for, and the text.
    pub snippet: Vec<(bool, String)>,
}

/// How a session is written to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// To be read: the path that is shown.
    Markdown,
    /// All of it: reading it back gives the same tree.
    Json,
    /// To be read in a browser: the path that is shown.
    Html,
}

impl Format {
    /// All of them with the names that people write.
    pub const ALL: [(&'static str, Self); 3] =
        [("markdown", Self::Markdown), ("json", Self::Json), ("html", Self::Html)];

    /// The format of this name.
    pub fn named(name: &str) -> Option<Self> {
        let short = if name == "md" { "markdown" } else { name };
        Self::ALL
            .iter()
            .find(|(known, _)| *known == short)
            .map(|(_, format)| *format)
    }

    /// The format that a file's name asks for.
    pub fn of_file(path: &str) -> Option<Self> {
        let (_, ending) = path.rsplit_once('.')?;
        let ending = ending.to_ascii_lowercase();
        match ending.as_str() {
            "htm" => Some(Self::Html),
            other => Self::named(other),
        }
    }
}

/// A session outside of the store: all there is to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Whole {
    /// What people decided about it.
    pub details: Details,
    /// When it was begun, in milliseconds since 1970; 0 where nobody knows.
    pub created: i64,
    /// What was said.
    pub conversation: Conversation,
}

/// What the store can be asked. It takes commands in order.
#[derive(Clone, Debug, PartialEq)]
pub enum StoreCommand {
    /// Keep what changed; begins the session where it is new.
    Save {
        /// Told back when it is kept.
        ticket: u64,
        /// The conversation.
        key: SessionKey,
        /// What changed of it.
        changes: Changes,
        /// What people decided, where that changed.
        details: Option<Details>,
    },
    /// Read a session and hold it for this process.
    Open {
        /// The conversation that it will be.
        key: SessionKey,
        /// Which.
        which: Which,
    },
    /// Let go of a session.
    Release {
        /// The conversation.
        key: SessionKey,
    },
    /// Tell what an answer of a session was drawn from, which is not read with the session.
    Trace {
        /// The conversation.
        key: SessionKey,
        /// The session that it is.
        session: SessionId,
        /// The answer.
        message: MessageId,
    },
    /// Tell all sessions.
    List {
        /// Told back with the answer.
        request: u64,
        /// Whether those out of sight are meant, too.
        archived: bool,
    },
    /// Tell the messages in which these words stand.
    Search {
        /// Told back with the answer.
        request: u64,
        /// The words.
        text: String,
    },
    /// Change what people decided about a session.
    Describe {
        /// The session.
        id: SessionId,
        /// All of it.
        details: Details,
    },
    /// Delete a session; it can be brought back for a while.
    Delete {
        /// The session.
        id: SessionId,
    },
    /// Bring a deleted session back.
    Restore {
        /// The session.
        id: SessionId,
    },
    /// Keep what is being written; nothing is told back but a failure, to the log.
    Draft {
        /// The session; `None` where the conversation is none yet.
        session: Option<SessionId>,
        /// What is written; empty where nothing is.
        text: String,
    },
    /// Keep a text that was sent.
    Sent {
        /// The text.
        text: String,
    },
    /// Tell what was being written, and what was sent before.
    Recall {
        /// The conversation that asks.
        key: SessionKey,
        /// The session; `None` where it is none yet.
        session: Option<SessionId>,
    },
    /// Read the sessions in a file and keep them.
    Import {
        /// The file.
        path: String,
    },
    /// Write a session to a file.
    Export {
        /// The conversation.
        key: SessionKey,
        /// What of it is in memory, for where it is not kept.
        session: Box<Whole>,
        /// The file, which must not be there yet.
        path: String,
        /// How.
        format: Format,
    },
}

/// What the store tells.
#[derive(Clone, Debug, PartialEq)]
pub enum StoreEvent {
    /// All is kept up to this ticket.
    Saved {
        /// The ticket.
        ticket: u64,
        /// The conversation.
        key: SessionKey,
        /// The session that it is.
        id: SessionId,
    },
    /// What was to be kept could not be; it stays in memory and is tried again.
    Unsaved {
        /// The ticket up to which nothing more is waited for.
        ticket: u64,
        /// Why, in words.
        words: String,
    },
    /// The store had to begin anew: what is in memory must be kept whole.
    Emptied {
        /// Why, in words.
        words: String,
    },
    /// A session was read, or could not be, in words.
    Opened {
        /// The conversation that it will be.
        key: SessionKey,
        /// What was read.
        opened: Result<Box<Opened>, NotOpened>,
    },
    /// What an answer was drawn from; empty where that was not kept, or no longer.
    Traced {
        /// The conversation that asked.
        key: SessionKey,
        /// The answer.
        message: MessageId,
        /// Token by token.
        trace: Vec<Report>,
    },
    /// The sessions that there are.
    Listed {
        /// The request.
        request: u64,
        /// Pinned ones first, then by use.
        sessions: Result<Vec<Summary>, String>,
    },
    /// What was found.
    Found {
        /// The request.
        request: u64,
        /// Newest first.
        hits: Result<Vec<Hit>, String>,
    },
    /// What was being written, and what was sent before.
    Recalled {
        /// The conversation that asked.
        key: SessionKey,
        /// What was being written; empty where nothing was.
        draft: String,
        /// What was sent, oldest first.
        sent: Vec<String>,
    },
    /// Something that was asked for is done, or could not be, in words.
    Done(Result<String, String>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_beginning_of_the_first_line() {
        assert_eq!(title_of("\n  What is\ta quipu?\nTell me."), "What is a quipu?");
        let long = "Tell me everything there is to know about the knotted cords of the Andes, please";
        assert_eq!(
            title_of(long),
            "Tell me everything there is to know about the knotted cords…"
        );
        assert_eq!(title_of(&"x".repeat(99)).chars().count(), 60);
        assert_eq!(title_of(&"語".repeat(99)).chars().count(), 60);
        assert_eq!(title_of(" \n "), "");
    }

    #[test]
    fn tags_are_words() {
        assert_eq!(Details::tags_of("#Work, rust  work #"), ["rust", "work"]);
    }

    #[test]
    fn a_file_name_says_the_format() {
        assert_eq!(Format::of_file("a.b.MD"), Some(Format::Markdown));
        assert_eq!(Format::of_file("x.htm"), Some(Format::Html));
        assert_eq!(Format::of_file("json"), None);
    }
}
