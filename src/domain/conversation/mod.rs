//! A conversation is a tree of messages of which one path is on the screen. Nothing is ever overwritten: another answer is
//! a sibling, and siblings are versions. It knows what of it changed since somebody last kept it; keeping it on disk is not
//! this file's business.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

mod history;
mod message;
#[cfg(test)]
mod tests;

pub use self::message::{Answer, Message, MessageId, Take, Thought};

use self::history::History;
use super::inference::Report;
use super::role::Role;

/// The tree. Messages are only added or hidden, so an id stays good for the conversation's life; the newest alone can be taken
/// back, while nothing is built on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversation {
    /// In the order of their ids.
    messages: Vec<Message>,
    /// The id to give out next.
    next: u32,
    tip: Option<MessageId>,
    /// Which of the first messages was shown last.
    shown: Option<MessageId>,
    system: Option<String>,
    history: History,
    unkept: Unkept,
    /// Counts what was added, hidden, shown again and taken back.
    shape: u64,
    /// One more with every write to a message that is not the tip.
    edits: u64,
}

/// What changed since somebody last kept it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Unkept {
    messages: BTreeSet<MessageId>,
    removed: Vec<MessageId>,
    head: bool,
}

/// All of a conversation that is no message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Head {
    /// The last message of the path on the screen.
    pub tip: Option<MessageId>,
    /// Which of the first messages was shown last.
    pub shown: Option<MessageId>,
    /// The id to give out next.
    pub next: u32,
    /// The system prompt in force, if any.
    pub system: Option<String>,
}

/// What is to be kept of a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Messages that are new or not what they were, in the order of their ids.
    pub messages: Vec<Message>,
    /// Messages that were taken back.
    pub removed: Vec<MessageId>,
    /// All the rest, where it changed.
    pub head: Option<Head>,
}

impl Changes {
    /// Whether there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.removed.is_empty() && self.head.is_none()
    }

    /// Adds what changed later.
    pub fn absorb(&mut self, later: Self) {
        let gone: BTreeSet<_> = later.removed.iter().copied().collect();
        let newer: BTreeSet<_> = later.messages.iter().map(|message| message.id).collect();
        self.messages
            .retain(|message| !gone.contains(&message.id) && !newer.contains(&message.id));
        self.messages.extend(later.messages);
        self.messages.sort_by_key(|message| message.id);
        // One that was taken back and whose id was never given out again stays gone.
        self.removed.extend(later.removed);
        if later.head.is_some() {
            self.head = later.head;
        }
    }
}

/// Why messages make no conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoTree(
    /// The message that does not fit.
    pub MessageId,
);

impl Conversation {
    /// An empty one under this system prompt.
    pub fn under(system: Option<String>) -> Self {
        Self {
            system,
            ..Self::default()
        }
    }

    /// The conversation of these messages, as it was kept.
    ///
    /// # Errors
    /// Where an id stands twice or out of order, or a message stands on one that is not before it.
    pub fn restore(messages: Vec<Message>, head: Head) -> Result<Self, NoTree> {
        for (at, message) in messages.iter().enumerate() {
            let before = &messages[..at];
            let known = |id: MessageId| before.binary_search_by_key(&id, |m| m.id).is_ok();
            let ordered = before.last().is_none_or(|last| last.id < message.id);
            if !ordered || !message.parent.is_none_or(known) {
                return Err(NoTree(message.id));
            }
        }
        let next = messages.last().map_or(0, |last| last.id.0.saturating_add(1));
        let mut talk = Self {
            messages,
            next: next.max(head.next),
            tip: None,
            shown: head.shown,
            system: head.system,
            history: History::default(),
            unkept: Unkept::default(),
            shape: 0,
            edits: 0,
        };
        let seen = |id: &MessageId| talk.is_visible(*id);
        talk.tip = head.tip.filter(seen);
        if talk.tip.is_none() && head.tip.is_some() {
            talk.tip = talk.end_below(None);
        }
        Ok(talk)
    }

    /// Whether nothing that can be seen was said.
    pub fn is_empty(&self) -> bool {
        self.messages.iter().all(|message| message.hidden)
    }

    /// Another number than before, whenever a message came or went.
    pub fn shape(&self) -> u64 {
        self.shape
    }

    /// Another number than before, whenever a message that is not the tip was written to.
    pub fn edits(&self) -> u64 {
        self.edits
    }

    /// The last message of the path on the screen.
    pub fn tip(&self) -> Option<MessageId> {
        self.tip
    }

    /// The system prompt in force, if any.
    pub fn system(&self) -> Option<&str> {
        self.system.as_deref()
    }

    /// Sets or removes the system prompt.
    pub fn set_system(&mut self, system: Option<String>) {
        self.system = system;
        self.unkept.head = true;
    }

    /// The message of this id, if it is of this conversation.
    pub fn get(&self, id: MessageId) -> Option<&Message> {
        self.messages.get(self.index(id)?)
    }

    /// The same, to write to. It counts as changed.
    pub fn get_mut(&mut self, id: MessageId) -> Option<&mut Message> {
        let at = self.index(id)?;
        self.unkept.messages.insert(id);
        self.edits += u64::from(self.tip != Some(id));
        self.messages.get_mut(at)
    }

    /// Puts back what an answer was drawn from, as it is kept: nothing changes by that.
    pub fn recall_trace(&mut self, id: MessageId, trace: Vec<Report>) {
        let message = self.index(id).and_then(|at| self.messages.get_mut(at));
        if let Some(answer) = message.and_then(|message| message.answer.as_mut()) {
            answer.trace = trace;
        }
    }

    /// All messages of all branches, the hidden ones too, in the order in which they came.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    fn index(&self, id: MessageId) -> Option<usize> {
        // As long as none was taken back, an id is an index.
        let at = id.0 as usize;
        if self.messages.get(at).is_some_and(|m| m.id == id) {
            return Some(at);
        }
        self.messages.binary_search_by_key(&id, |m| m.id).ok()
    }

    /// Whether neither it nor anything that it stands on is hidden.
    fn is_visible(&self, id: MessageId) -> bool {
        self.get(id).is_some() && self.back_from(Some(id)).all(|message| !message.hidden)
    }

    /// Says `text` after the tip and makes it the tip. `at` is the time, in milliseconds since 1970.
    pub fn push(&mut self, role: Role, text: impl Into<String>, at: i64) -> MessageId {
        self.add(self.tip, role, text.into(), at)
    }

    /// Begins another version of `of` (same parent, same role) and makes it the tip. `None` where there is no such message.
    pub fn push_version(&mut self, of: MessageId, text: impl Into<String>, at: i64) -> Option<MessageId> {
        let (parent, role) = self.get(of).map(|message| (message.parent, message.role))?;
        Some(self.add(parent, role, text.into(), at))
    }

    /// Has the next message stand on `parent`, or on nothing.
    pub fn stand_on(&mut self, parent: Option<MessageId>) {
        self.tip = parent.filter(|id| self.index(*id).is_some());
    }

    fn add(&mut self, parent: Option<MessageId>, role: Role, text: String, at: i64) -> MessageId {
        let id = MessageId(self.next);
        self.next += 1;
        self.messages.push(Message {
            id,
            parent,
            role,
            at,
            text,
            answer: None,
            hidden: false,
            shown: None,
        });
        self.unkept.messages.insert(id);
        self.shape += 1;
        // To undo it is to hide it.
        self.note_hidden(id, true);
        self.set_tip(Some(id));
        id
    }

    /// Takes back what was said last, so that it can be said again, and makes its parent the tip. `None`, and nothing
    /// changed, where `id` is not the newest message.
    pub fn take_back(&mut self, id: MessageId) -> Option<Message> {
        let message = self.messages.pop_if(|newest| newest.id == id)?;
        self.unkept.messages.remove(&id);
        self.unkept.removed.push(id);
        self.shape += 1;
        let last_beside = self.newest_beside(message.parent);
        if self.shown_below(message.parent) == Some(id) {
            self.set_shown(message.parent, last_beside);
        }
        self.forget_step(id);
        self.set_tip(message.parent);
        Some(message)
    }

    /// Hides a message and all that was said on it. The tip moves to another version of it, else to what it stood on. Says
    /// whether there was anything to hide.
    pub fn hide(&mut self, id: MessageId) -> bool {
        if !self.is_visible(id) {
            return false;
        }
        let on_path = self.back_from(self.tip).any(|message| message.id == id);
        let Some(message) = self.get_mut(id) else { return false };
        message.hidden = true;
        let parent = message.parent;
        self.shape += 1;
        self.note_hidden(id, false);
        if on_path {
            let beside = self.newest_beside(parent);
            let tip = beside.and_then(|beside| self.end_below_message(beside)).or(parent);
            self.set_tip(tip);
        }
        true
    }

    /// A conversation of its own that begins with the path to `end`.
    #[must_use]
    pub fn fork(&self, end: MessageId) -> Self {
        let mut fork = Self::under(self.system.clone());
        for message in self.path_to(Some(end)) {
            let id = fork.push(message.role, message.text.clone(), message.at);
            if let Some(copy) = fork.get_mut(id) {
                copy.answer.clone_from(&message.answer);
            }
        }
        fork
    }

    /// The messages from the root to the tip.
    pub fn path(&self) -> Vec<&Message> {
        self.path_to(self.tip)
    }

    /// The messages from the root to `end`, both included.
    pub fn path_to(&self, end: Option<MessageId>) -> Vec<&Message> {
        let mut path: Vec<_> = self.back_from(end).collect();
        path.reverse();
        path
    }

    /// The same from `end` back to the root, one by one: for who wants only the last few.
    pub fn back_from(&self, end: Option<MessageId>) -> impl Iterator<Item = &Message> {
        std::iter::successors(end.and_then(|id| self.get(id)), |m| self.get(m.parent?))
    }

    /// All versions of `id` that can be seen, itself included, oldest first.
    pub fn versions(&self, id: MessageId) -> Vec<MessageId> {
        let Some(message) = self.get(id) else { return Vec::new() };
        self.children(message.parent).map(|m| m.id).collect()
    }

    /// What can be seen of what was said on `parent`, oldest first.
    fn children(&self, parent: Option<MessageId>) -> impl DoubleEndedIterator<Item = &Message> {
        self.messages.iter().filter(move |m| m.parent == parent && !m.hidden)
    }

    fn newest_beside(&self, parent: Option<MessageId>) -> Option<MessageId> {
        self.children(parent).next_back().map(|message| message.id)
    }

    /// Shows the branch that goes through `id`, down to where it was left, else to its newest end.
    pub fn select(&mut self, id: MessageId) {
        if self.is_visible(id) {
            let end = self.end_below_message(id);
            self.set_tip(end);
        }
    }

    /// Shows the path that ends with `id`, which need not be an end.
    pub fn select_exactly(&mut self, id: MessageId) {
        if self.is_visible(id) {
            self.set_tip(Some(id));
        }
    }

    fn end_below_message(&self, id: MessageId) -> Option<MessageId> {
        self.end_below(Some(id)).or(Some(id))
    }

    /// The end of the branch below `parent` that was shown last.
    fn end_below(&self, parent: Option<MessageId>) -> Option<MessageId> {
        let (mut parent, mut end) = (parent, None);
        loop {
            let remembered = self.shown_below(parent).and_then(|id| self.get(id));
            let child = remembered
                .filter(|message| !message.hidden && message.parent == parent)
                .map(|message| message.id)
                .or_else(|| self.newest_beside(parent));
            let Some(child) = child else { return end };
            (parent, end) = (Some(child), Some(child));
        }
    }

    fn shown_below(&self, parent: Option<MessageId>) -> Option<MessageId> {
        match parent {
            None => self.shown,
            Some(parent) => self.get(parent)?.shown,
        }
    }

    /// Remembers which child of `parent` is shown; returns which was.
    fn set_shown(&mut self, parent: Option<MessageId>, child: Option<MessageId>) -> Option<MessageId> {
        let slot = match parent {
            None => {
                self.unkept.head = true;
                &mut self.shown
            }
            Some(parent) => match self.get_mut(parent) {
                Some(message) => &mut message.shown,
                None => return None,
            },
        };
        std::mem::replace(slot, child)
    }

    /// Moves the tip and remembers the way to it.
    fn set_tip(&mut self, tip: Option<MessageId>) {
        self.tip = tip;
        self.unkept.head = true;
        let way: Vec<_> = self.back_from(tip).map(|m| (m.parent, m.id)).collect();
        for (parent, id) in way {
            if self.shown_below(parent) == Some(id) {
                // Above it, the way was remembered when it was first gone.
                continue;
            }
            let before = self.set_shown(parent, Some(id));
            self.note_shown(parent, before);
        }
    }

    /// What changed since it was last kept, and from now on counts as kept. What `later` names is left for another time.
    pub fn changes(&mut self, later: Option<MessageId>) -> Changes {
        let waits = later.filter(|id| self.unkept.messages.remove(id));
        let touched = std::mem::take(&mut self.unkept);
        self.unkept.messages.extend(waits);
        Changes {
            messages: touched
                .messages
                .into_iter()
                .filter_map(|id| self.get(id).cloned())
                .collect(),
            removed: touched.removed,
            head: touched.head.then(|| self.head()),
        }
    }

    /// Whether there is anything to keep.
    pub fn is_kept(&self) -> bool {
        self.unkept == Unkept::default()
    }

    /// Has everything count as not kept.
    pub fn keep_all(&mut self) {
        self.unkept.messages = self.messages.iter().map(|message| message.id).collect();
        self.unkept.head = true;
    }

    /// All of it that is no message.
    pub fn head(&self) -> Head {
        Head {
            tip: self.tip,
            shown: self.shown,
            next: self.next,
            system: self.system.clone(),
        }
    }
}
