//! Walking the tokens of an answer, as data: which answer, which token, which of its candidates. What keys do to it is in
//! `update/inspect.rs`; what there is to see comes from the answer itself.

use crate::domain::MessageId;

/// How many tokens count as those that the model was least sure of.
pub const UNSURE: usize = 5;

/// The walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inspector {
    /// The answer.
    pub answer: MessageId,
    /// The token, by its index among those of which is known what they were drawn from.
    pub at: usize,
    /// The candidate, by its index among those of the token.
    pub candidate: usize,
    /// What the tokens are shaded by.
    pub shade: Shade,
}

/// What keys do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Walk {
    /// Go to the token before.
    Previous,
    /// Go to the next token.
    Next,
    /// Go several tokens back.
    Back,
    /// Go several tokens on.
    On,
    /// Go to the first token.
    First,
    /// Go to the last token.
    Last,
    /// Go to one of the tokens that the model was least sure of: to the least of them first.
    Unsure,
    /// Shade the tokens by the other measure.
    Shade,
    /// Type a text to stand in the place of the token.
    Force,
}

/// What tokens are shaded by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shade {
    /// How likely the token was.
    #[default]
    Probability,
    /// How open the choice was.
    Entropy,
}

impl Shade {
    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Probability => Self::Entropy,
            Self::Entropy => Self::Probability,
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Probability => "probability",
            Self::Entropy => "entropy",
        }
    }
}
