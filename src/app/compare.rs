//! Several answers to one question side by side, as data: what each says so far and under which settings. What keys do to them is in
//! `update/compare.rs`.

use crate::domain::inference::TurnId;
use crate::domain::{Answer, MessageId};

/// A comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparing {
    /// The turn.
    pub turn: TurnId,
    /// What is answered.
    pub question: MessageId,
    /// The columns.
    pub columns: Vec<Column>,
    /// The one that Enter keeps.
    pub selected: usize,
    /// Whether all are over.
    pub over: bool,
    /// First line shown, once all are over; before, the newest are.
    pub top: u32,
}

impl Comparing {
    /// One that begins.
    pub fn new(turn: TurnId, question: MessageId, columns: Vec<Column>) -> Self {
        Self {
            turn,
            question,
            columns,
            selected: 0,
            over: false,
            top: 0,
        }
    }
}

/// One of the answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// The preset.
    pub name: String,
    /// What it says so far.
    pub text: String,
    /// How it came to be so far, with the settings, and why it ended.
    pub answer: Answer,
    /// How long the text was behind each token, in bytes.
    pub ends: Vec<usize>,
}

impl Column {
    /// Where its text leaves that of `first`, in bytes: behind the tokens that both said. Its whole length where it does not.
    pub fn leaves(&self, first: &Self) -> usize {
        let pairs = self.answer.tokens.iter().zip(&first.answer.tokens);
        let same = pairs.take_while(|(own, other)| own == other).count();
        if same == self.answer.tokens.len() {
            return self.text.len();
        }
        same.checked_sub(1)
            .and_then(|last| self.ends.get(last))
            .copied()
            .unwrap_or(0)
    }
}
