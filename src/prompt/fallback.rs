//! Other forms of the same conversation, for templates that refuse it as it is. Nothing is left out, only rearranged.

use std::ops::Range;

use super::{Message, Path};
use crate::domain::Role;

/// Between messages that became one: a paragraph break, as between any two thoughts.
const BETWEEN: &str = "\n\n";

/// One message as the template sees it: one or several of those given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Turn<'a> {
    pub(super) role: Role,
    parts: Vec<Part<'a>>,
    /// What was thought before.
    thoughts: Vec<Part<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part<'a> {
    message: usize,
    text: &'a str,
}

impl Turn<'_> {
    /// The content, and where in it which of the given messages stands.
    pub(super) fn content(&self) -> (String, Vec<(usize, Range<usize>)>) {
        joined(&self.parts)
    }

    /// The thinking, in the same way.
    pub(super) fn thinking(&self) -> (String, Vec<(usize, Range<usize>)>) {
        joined(&self.thoughts)
    }
}

impl<'a> Turn<'a> {
    fn take(&mut self, other: &Self) {
        self.parts.extend(&other.parts);
        self.thoughts.extend(&other.thoughts);
    }

    fn user(parts: Vec<Part<'a>>) -> Self {
        Self {
            role: Role::User,
            parts,
            thoughts: Vec::new(),
        }
    }
}

fn joined(parts: &[Part<'_>]) -> (String, Vec<(usize, Range<usize>)>) {
    let mut content = String::new();
    let mut ranges = Vec::with_capacity(parts.len());
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            content.push_str(BETWEEN);
        }
        let start = content.len();
        content.push_str(part.text);
        ranges.push((part.message, start..content.len()));
    }
    (content, ranges)
}

/// The conversation as it was given.
pub(super) fn as_is<'a>(messages: &[Message<'a>]) -> Vec<Turn<'a>> {
    let turn = |(message, given): (usize, &Message<'a>)| Turn {
        role: given.role,
        parts: vec![Part {
            message,
            text: given.content,
        }],
        thoughts: Some(given.thinking)
            .filter(|thinking| !thinking.is_empty())
            .map(|text| Part { message, text })
            .into_iter()
            .collect(),
    };
    messages.iter().enumerate().map(turn).collect()
}

/// What to try when the template refuses `turns`, in this order; forms that change nothing are left out.
pub(super) fn others<'a>(turns: &[Turn<'a>]) -> Vec<(Path, Vec<Turn<'a>>)> {
    let folded = fold_system(turns);
    let merged = merge_roles(turns);
    let both = merge_roles(&folded);
    let mut forms: Vec<(Path, Vec<Turn<'a>>)> = Vec::new();
    for (path, form) in [
        (Path::SystemFolded, folded),
        (Path::RolesMerged, merged),
        (Path::SystemFoldedAndRolesMerged, both),
    ] {
        if form != turns && forms.iter().all(|(_, known)| *known != form) {
            forms.push((path, form));
        }
    }
    forms
}

/// System messages go to the beginning of the user message that follows them.
fn fold_system<'a>(turns: &[Turn<'a>]) -> Vec<Turn<'a>> {
    let mut folded: Vec<Turn<'a>> = Vec::with_capacity(turns.len());
    let mut waiting: Vec<Part<'a>> = Vec::new();
    for turn in turns {
        match turn.role {
            Role::System => waiting.extend(&turn.parts),
            Role::User => {
                let mut parts = std::mem::take(&mut waiting);
                parts.extend(&turn.parts);
                folded.push(Turn::user(parts));
            }
            Role::Assistant => {
                folded.extend(user_turn(&mut waiting));
                folded.push(turn.clone());
            }
        }
    }
    folded.extend(user_turn(&mut waiting));
    folded
}

/// Where no user message follows, the system's words become one.
fn user_turn<'a>(waiting: &mut Vec<Part<'a>>) -> Option<Turn<'a>> {
    let parts = std::mem::take(waiting);
    (!parts.is_empty()).then(|| Turn::user(parts))
}

/// Neighbours of equal role become one message.
fn merge_roles<'a>(turns: &[Turn<'a>]) -> Vec<Turn<'a>> {
    let mut merged: Vec<Turn<'a>> = Vec::with_capacity(turns.len());
    for turn in turns {
        match merged.last_mut() {
            Some(last) if last.role == turn.role => last.take(turn),
            _ => merged.push(turn.clone()),
        }
    }
    merged
}
