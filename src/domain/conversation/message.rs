//! A message, and for what a model said the whole record of how: enough to say it again. The tree that messages make is the
//! parent module's.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::inference::{Change, Finish, Report, Stats, Token};
use crate::domain::loading::Overflow;
use crate::domain::role::Role;
use crate::domain::sampling::Sampling;
use crate::domain::thinking::Thinking;

/// A message's place in its conversation: ids count from 0 in the order of creation and are given out once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MessageId(pub u32);

/// How an answer came to be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Answer {
    /// Fingerprint of the model that spoke.
    pub model: String,
    /// Its name for people.
    pub model_name: String,
    /// What it was made to start with; the beginning of the message's text.
    pub opening: String,
    /// What it thought before it answered.
    pub thinking: Thought,
    /// The ids it said behind the opening, in order, those of the thinking included.
    pub tokens: Vec<Token>,
    /// The bytes that these ids spell, where they are not the text alone: with thinking, its tags, or half characters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bytes: Vec<u8>,
    /// Why it ended; `None` while it streams or when it was cut off.
    pub finish: Option<Finish>,
    /// Counts and times, once it ended.
    pub stats: Stats,
    /// The requests that made it, oldest first: one more for every time it went on.
    pub takes: Vec<Take>,
    /// What there was to draw from, token by token, where that was kept; as many as the last of the tokens.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<Report>,
}

/// One request that made an answer, or went on with one: all that it takes to ask the same again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Take {
    /// How many of the answer's tokens stood before it.
    pub from: u32,
    /// Fingerprint of the model that was asked.
    pub model: String,
    /// What computed: the version of llama.cpp, and what of the loading bears on the numbers.
    pub build: String,
    /// Digest of the chat template.
    pub template: String,
    /// How the template was applied, in words.
    pub path: String,
    /// Digest of the prompt's token ids, those of the opening included.
    pub prompt: String,
    /// The system prompt in force.
    pub system: Option<String>,
    /// What it was made to start with.
    pub opening: String,
    /// The settings at its first token.
    pub settings: Sampling,
    /// What changed while it streamed: tokens of this take that stood before, and what.
    pub changes: Vec<(u32, Change)>,
    /// The seed that was drawn with.
    pub seed: u32,
    /// Whether the model was to think.
    pub thinking: Option<Thinking>,
    /// Tokens of thinking after which it was made to answer.
    pub thinking_budget: Option<u32>,
    /// Tokens after which it was to end.
    pub max_tokens: Option<u32>,
    /// What was to be done where the context is full.
    pub overflow: Overflow,
}

/// What a model thought.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Thought {
    /// The words, without the tags around them.
    pub text: String,
    /// Tokens it took, the tags included.
    pub tokens: u32,
    /// Time it took.
    pub time: Duration,
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Its id.
    pub id: MessageId,
    /// What it answers; `None` at the root.
    pub parent: Option<MessageId>,
    /// Who spoke.
    pub role: Role,
    /// When, in milliseconds since 1970; 0 where nobody knows.
    #[serde(default)]
    pub at: i64,
    /// The words exactly as they were said; sanitising is for who shows them.
    pub text: String,
    /// For what a model said: how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// Whether it was deleted or undone, and with it all that was said on it: it is not shown, and can be brought back.
    #[serde(default, skip_serializing_if = "is_false")]
    pub hidden: bool,
    /// Which of the messages said on it was shown last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<MessageId>,
}

impl Message {
    /// Whether it is a summary of what was said before it: what a model said for the system. See
    /// [`compaction`](crate::domain::compaction).
    pub fn is_summary(&self) -> bool {
        self.role == Role::System && self.answer.is_some()
    }

    /// Whether it is one that came to its end.
    pub fn is_whole_summary(&self) -> bool {
        let finish = self.answer.as_ref().and_then(|answer| answer.finish);
        self.is_summary() && !matches!(finish, None | Some(Finish::Stopped)) && !self.text.trim().is_empty()
    }
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out a reference to what it may skip"
)]
fn is_false(value: &bool) -> bool {
    !value
}
