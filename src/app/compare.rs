//! Several answers to one question side by side, as data: what each says so far and under which settings. What keys do to them is in
//! `update/compare.rs`.

use std::ops::Range;

use crate::domain::inference::TurnId;
use crate::domain::{Answer, MessageId};

/// A comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparing {
    /// The turn under way: of the answers, or of the load that they wait for.
    pub turn: TurnId,
    /// What is answered.
    pub question: MessageId,
    /// The columns; those of one model that stand side by side are answered together.
    pub columns: Vec<Column>,
    /// The columns of the turn; those before are over, those behind wait.
    pub asked: Range<usize>,
    /// The one that Enter keeps.
    pub selected: usize,
    /// Whether all are over.
    pub over: bool,
    /// First line shown, once all are over; before, the newest are.
    pub top: u32,
}

impl Comparing {
    /// One that begins.
    pub fn new(question: MessageId, columns: Vec<Column>) -> Self {
        Self {
            turn: TurnId::default(),
            question,
            columns,
            asked: 0..0,
            selected: 0,
            over: false,
            top: 0,
        }
    }

    /// Goes on to the next columns that one model answers. `None` where there are none.
    pub fn go_on(&mut self) -> Option<&Column> {
        let start = self.asked.end;
        let first = self.columns.get(start)?;
        let same = |column: &&Column| column.wish.model == first.wish.model;
        let count = self.columns[start..].iter().take_while(same).count();
        self.asked = start..start + count;
        self.columns.get(start)
    }

    /// The columns of the turn.
    pub fn current(&mut self) -> &mut [Column] {
        self.columns.get_mut(self.asked.clone()).unwrap_or_default()
    }
}

/// What a column is to be answered with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// The preset; `None` is the settings in force.
    pub preset: Option<String>,
    /// The model, as `/model` takes it; `None` is the one that is loaded.
    pub model: Option<String>,
}

impl Wish {
    /// Reads `PRESET`, `PRESET@MODEL` or `@MODEL`.
    pub fn read(word: &str) -> Self {
        let (preset, model) = word.split_once('@').unwrap_or((word, ""));
        let named = |name: &str| Some(name.to_owned()).filter(|name| !name.is_empty());
        Self {
            preset: named(preset),
            model: named(model),
        }
    }

    /// What such a column is called beside others; `now` stands for the settings in force. Of a path its
    /// last part.
    pub fn label(&self, now: &str) -> String {
        let file = |model: &String| model.rsplit(['/', '\\']).next().unwrap_or(model).to_owned();
        match (&self.preset, &self.model.as_ref().map(file)) {
            (None, None) => now.to_owned(),
            (Some(preset), None) => preset.clone(),
            (None, Some(model)) => model.clone(),
            (Some(preset), Some(model)) => format!("{preset}@{model}"),
        }
    }
}

/// One of the answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// What it is to be answered with.
    pub wish: Wish,
    /// What it is called.
    pub name: String,
    /// Why there is no answer, where its model could not be loaded.
    pub failed: Option<String>,
    /// What it says so far.
    pub text: String,
    /// How it came to be so far, with the settings, and why it ended.
    pub answer: Answer,
    /// How long the text was behind each token, in bytes.
    pub ends: Vec<usize>,
}

impl Column {
    /// Where its text leaves that of `first`, in bytes: behind the tokens that both said, or behind the letters where their models
    /// are two. Its whole length where it does not.
    pub fn leaves(&self, first: &Self) -> usize {
        if self.answer.model != first.answer.model {
            return common_prefix(&self.text, &first.text);
        }
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

/// How many bytes two texts begin with alike, in whole letters.
pub fn common_prefix(one: &str, other: &str) -> usize {
    let pairs = one.chars().zip(other.chars());
    pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
}
