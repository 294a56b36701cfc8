//! A conversation is a tree of messages of which one path is on the screen. Nothing is ever overwritten: another answer is
//! a sibling, and siblings are versions. Keeping the tree on disk is not this file's business.

use std::time::Duration;

use super::inference::{Finish, Stats, Token};
use super::role::Role;

/// A message's place in its conversation: ids count from 0 in the order of creation and are given out once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageId(u32);

/// How an answer came to be.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// Why it ended; `None` while it streams or when it was cut off.
    pub finish: Option<Finish>,
    /// Counts and times, once it ended.
    pub stats: Stats,
}

/// What a model thought.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thought {
    /// The words, without the tags around them.
    pub text: String,
    /// Tokens it took, the tags included.
    pub tokens: u32,
    /// Time it took.
    pub time: Duration,
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Its id.
    pub id: MessageId,
    /// What it answers; `None` at the root.
    pub parent: Option<MessageId>,
    /// Who spoke.
    pub role: Role,
    /// The words exactly as they were said; sanitising is for who shows them.
    pub text: String,
    /// For what a model said: how.
    pub answer: Option<Answer>,
}

/// The tree. Messages are only added, so an id stays good for the conversation's life; the newest alone can be taken back,
/// while nothing is built on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversation {
    /// In the order of their ids.
    messages: Vec<Message>,
    /// The id to give out next.
    next: u32,
    tip: Option<MessageId>,
    /// The system prompt in force, if any.
    pub system: Option<String>,
}

impl Conversation {
    /// Whether nothing was said yet.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// The last message of the path on the screen.
    pub fn tip(&self) -> Option<MessageId> {
        self.tip
    }

    /// The message of this id, if it is of this conversation.
    pub fn get(&self, id: MessageId) -> Option<&Message> {
        self.messages.get(self.index(id)?)
    }

    /// The same, to write to.
    pub fn get_mut(&mut self, id: MessageId) -> Option<&mut Message> {
        let at = self.index(id)?;
        self.messages.get_mut(at)
    }

    /// All messages of all branches, in the order in which they came.
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

    /// Says `text` after the tip and makes it the tip.
    pub fn push(&mut self, role: Role, text: impl Into<String>) -> MessageId {
        self.add(self.tip, role, text.into())
    }

    /// Begins another version of `of` (same parent, same role) and makes it the tip. `None` where there is no such message.
    pub fn push_version(&mut self, of: MessageId, text: impl Into<String>) -> Option<MessageId> {
        let Message { parent, role, .. } = *self.get(of)?;
        Some(self.add(parent, role, text.into()))
    }

    fn add(&mut self, parent: Option<MessageId>, role: Role, text: String) -> MessageId {
        let id = MessageId(self.next);
        self.next += 1;
        self.messages.push(Message {
            id,
            parent,
            role,
            text,
            answer: None,
        });
        self.tip = Some(id);
        id
    }

    /// Takes back what was said last, so that it can be said again, and makes its parent the tip. `None`, and nothing
    /// changed, where `id` is not the newest message.
    pub fn take_back(&mut self, id: MessageId) -> Option<Message> {
        let message = self.messages.pop_if(|newest| newest.id == id)?;
        self.tip = message.parent;
        Some(message)
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

    /// All versions of `id`, itself included, oldest first.
    pub fn versions(&self, id: MessageId) -> Vec<MessageId> {
        let Some(message) = self.get(id) else { return Vec::new() };
        self.messages
            .iter()
            .filter(|m| m.parent == message.parent)
            .map(|m| m.id)
            .collect()
    }

    /// Shows the branch that goes through `id`, down to its newest end.
    pub fn select(&mut self, id: MessageId) {
        if self.get(id).is_none() {
            return;
        }
        let mut tip = id;
        while let Some(child) = self.messages.iter().rev().find(|m| m.parent == Some(tip)) {
            tip = child.id;
        }
        self.tip = Some(tip);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_retry_is_a_version_beside_the_first() {
        let mut talk = Conversation::default();
        let question = talk.push(Role::User, "hello");
        let first = talk.push(Role::Assistant, "hi");
        let second = talk.push_version(first, "hello!").unwrap();
        assert_eq!(talk.versions(first), [first, second]);
        assert_eq!(talk.path().iter().map(|m| m.id).collect::<Vec<_>>(), [question, second]);
        talk.push(Role::User, "and now?");
        talk.select(first);
        assert_eq!(
            talk.path().iter().map(|m| m.text.as_str()).collect::<Vec<_>>(),
            ["hello", "hi"]
        );
        talk.select(question);
        assert_eq!(talk.path().len(), 3, "selecting goes down to the newest end");
    }

    #[derive(Clone, Debug)]
    enum Step {
        Push,
        Version(usize),
        Select(usize),
        TakeBack(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            Just(Step::Push),
            any::<usize>().prop_map(Step::Version),
            any::<usize>().prop_map(Step::Select),
            any::<usize>().prop_map(Step::TakeBack)
        ];
        proptest::collection::vec(step, 0..60)
    }

    proptest! {
        #[test]
        fn no_message_is_lost_and_every_path_is_a_path(steps in steps()) {
            let mut talk = Conversation::default();
            let mut said: Vec<(MessageId, String)> = Vec::new();
            for (n, step) in steps.into_iter().enumerate() {
                let pick = |k: usize| (!said.is_empty()).then(|| said[k % said.len()].0);
                let text = n.to_string();
                match step {
                    Step::Push => said.push((talk.push(Role::User, &text), text)),
                    Step::Version(k) => if let Some(id) = pick(k) {
                        said.push((talk.push_version(id, &text).unwrap(), text));
                    },
                    Step::Select(k) => if let Some(id) = pick(k) {
                        talk.select(id);
                        prop_assert!(talk.path().iter().any(|m| m.id == id));
                    },
                    Step::TakeBack(k) => if let Some(id) = pick(k) {
                        let newest = said.last().map(|(id, _)| *id);
                        let taken = talk.take_back(id);
                        prop_assert_eq!(taken.is_some(), newest == Some(id));
                        if let Some(message) = taken {
                            prop_assert_eq!(talk.tip(), message.parent);
                            said.pop();
                        }
                    },
                }
                let path = talk.path();
                prop_assert_eq!(path.last().map(|m| m.id), talk.tip());
                prop_assert!(path.first().is_none_or(|m| m.parent.is_none()));
                prop_assert!(path.windows(2).all(|w| w[1].parent == Some(w[0].id)));
                for (id, text) in &said {
                    prop_assert_eq!(&talk.get(*id).unwrap().text, text);
                    prop_assert!(talk.versions(*id).contains(id));
                }
            }
        }
    }
}
