//! An examination of the model under way or over, as data. What is checked and how is the doctor's business.

use crate::domain::examination::{Check, Finding};
use crate::domain::inference::TurnId;

/// The examination.
#[derive(Clone, Debug, PartialEq)]
pub struct Ward {
    /// Names it.
    pub turn: TurnId,
    /// The model.
    pub model: String,
    /// The check under way, and how much of it is done, from 0 to 1, where that is known.
    pub now: Option<(Check, Option<f32>)>,
    /// What was found so far.
    pub findings: Vec<Finding>,
    /// Whether it is over, or in words why it broke off.
    pub end: Option<Result<(), String>>,
    /// First line shown.
    pub top: u32,
}

impl Ward {
    /// One that begins.
    pub fn new(turn: TurnId, model: String) -> Self {
        Self {
            turn,
            model,
            now: None,
            findings: Vec::new(),
            end: None,
            top: 0,
        }
    }
}

/// What the doctor tells.
#[derive(Clone, Debug, PartialEq)]
pub enum Word {
    /// A check begins.
    Begins(Check),
    /// A part of it is done, from 0 to 1.
    Part(Check, f32),
    /// It is over.
    Found(Finding),
    /// All is over.
    Over,
    /// Nothing can be examined, in words.
    Failed(String),
}
