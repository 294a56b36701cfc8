//! An answer that went round in circles, as data: what repeats, where it began, why, and the ways out. What they do is in
//! `update/caught.rs`.

use crate::domain::MessageId;
use crate::domain::inference::Token;

/// A loop that was caught.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caught {
    /// The answer.
    pub answer: MessageId,
    /// What repeats.
    pub unit: String,
    /// Tokens of it, from its beginning to where it was caught.
    pub tokens: usize,
    /// The place of the token that it began with, in the answer, from 0; where it is known.
    pub begin: Option<usize>,
    /// The token that it began with, where it is known.
    pub first: Option<Token>,
    /// Bytes of the answer before it; `None` where it began in what was thought.
    pub kept: Option<usize>,
}

/// A way out of a loop. All but the last go back to before it and answer on from there, as another version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Penalise what would go on with a repetition.
    Dry,
    /// Draw more freely.
    Temperature,
    /// Draw other numbers.
    Seed,
    /// Choose another token where it began.
    Another,
    /// Never draw the token that the loop began with.
    Ban,
    /// Go on as it is, and say no more.
    GoOn,
}

impl Remedy {
    /// All of them, the most promising first, with what each is called and what it does.
    pub const ALL: [(Self, &'static str, &'static str); 6] = [
        (
            Self::Dry,
            "penalise repetition",
            "DRY over the whole loop, with nothing in it that hides it",
        ),
        (Self::Temperature, "draw more freely", "a higher temperature"),
        (Self::Seed, "draw other numbers", "the same settings, another seed"),
        (
            Self::Another,
            "choose another token",
            "the candidates where the loop began, to go on from one of them",
        ),
        (
            Self::Ban,
            "ban its first token",
            "the one that the loop began with is not drawn any more",
        ),
        (Self::GoOn, "go on as it is", "the answer continues and is not watched"),
    ];
}
