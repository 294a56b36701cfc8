//! Undo: what each step changed of a conversation, so that it can be changed back, and forth again. Nothing is lost by it: what
//! is undone is hidden.

use super::{Answer, Conversation, MessageId};

/// Most steps that can be undone.
const STEPS: usize = 200;

/// What turns a conversation back into what it was before one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Step {
    /// The tip before.
    tip: Option<MessageId>,
    /// Whether messages were hidden before.
    hidden: Vec<(MessageId, bool)>,
    /// Which child was shown before, by parent.
    shown: Vec<(Option<MessageId>, Option<MessageId>)>,
    /// What messages said before.
    content: Vec<(MessageId, Content)>,
}

/// What a message said, and how it came to be.
type Content = Box<(String, Option<Answer>)>;

/// The steps behind and, after an undo, ahead.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct History {
    done: Vec<Step>,
    undone: Vec<Step>,
}

impl Conversation {
    /// Begins a step that can be undone as one.
    pub fn begin_step(&mut self) {
        let step = Step {
            tip: self.tip,
            ..Step::default()
        };
        self.history.undone.clear();
        self.history.done.push(step);
        if self.history.done.len() > STEPS {
            self.history.done.remove(0);
        }
    }

    /// Forgets the last step: nothing came of it.
    pub fn drop_step(&mut self) {
        self.history.done.pop();
    }

    /// Undoes the last step. Says whether there was one.
    pub fn undo(&mut self) -> bool {
        let Some(step) = self.history.done.pop() else {
            return false;
        };
        let back = self.turn_back(step);
        self.history.undone.push(back);
        true
    }

    /// Does again what was undone last. Says whether there was anything.
    pub fn redo(&mut self) -> bool {
        let Some(step) = self.history.undone.pop() else {
            return false;
        };
        let back = self.turn_back(step);
        self.history.done.push(back);
        true
    }

    /// Keeps what a message says before it is changed, as a part of the step.
    pub fn keep_content(&mut self, id: MessageId) {
        let content = self
            .get(id)
            .map(|message| Box::new((message.text.clone(), message.answer.clone())));
        if let (Some(step), Some(content)) = (self.history.done.last_mut(), content) {
            step.content.push((id, content));
        }
    }

    /// Forgets the last step, where nothing of it is left.
    pub(super) fn forget_step(&mut self, taken_back: MessageId) {
        if let Some(step) = self.history.done.last_mut() {
            step.hidden.retain(|(id, _)| *id != taken_back);
            step.content.retain(|(id, _)| *id != taken_back);
            let about = |id: Option<MessageId>| id == Some(taken_back);
            step.shown.retain(|(parent, child)| !about(*parent) && !about(*child));
            if step.hidden.is_empty() && step.content.is_empty() {
                self.history.done.pop();
            }
        }
        // What lies ahead may speak of it.
        self.history.undone.clear();
    }

    /// Notes how a message was hidden before the step changed it.
    pub(super) fn note_hidden(&mut self, id: MessageId, before: bool) {
        if let Some(step) = self.history.done.last_mut() {
            step.hidden.push((id, before));
        }
    }

    /// Notes which child of `parent` was shown before the step changed it.
    pub(super) fn note_shown(&mut self, parent: Option<MessageId>, before: Option<MessageId>) {
        if let Some(step) = self.history.done.last_mut() {
            step.shown.push((parent, before));
        }
    }

    /// Puts back what a step changed, and returns what would change it again.
    fn turn_back(&mut self, step: Step) -> Step {
        let mut back = Step {
            tip: self.tip,
            ..Step::default()
        };
        self.shape += 1;
        // The last change first, so that one which was changed twice is what it was at first.
        for (id, hidden) in step.hidden.into_iter().rev() {
            if let Some(message) = self.get_mut(id) {
                back.hidden.push((id, std::mem::replace(&mut message.hidden, hidden)));
            }
        }
        for (parent, child) in step.shown.into_iter().rev() {
            let before = self.set_shown(parent, child);
            back.shown.push((parent, before));
        }
        for (id, content) in step.content.into_iter().rev() {
            if let Some(message) = self.get_mut(id) {
                let (text, answer) = *content;
                let text = std::mem::replace(&mut message.text, text);
                let answer = std::mem::replace(&mut message.answer, answer);
                back.content.push((id, Box::new((text, answer))));
            }
        }
        self.set_tip(step.tip);
        back
    }
}
