//! What the newest token was drawn from, as the engine leaves it for others to look at: its logits and what came before it. A slot
//! and no event: whoever looks wants the newest, and one that nobody looked at is replaced.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::inference::Token;

/// Tokens before it that are told: the window of penalties and DRY, as far as anyone sets it while looking.
pub const HISTORY: usize = 512;

/// What a token was drawn from.
#[derive(Clone, Default, PartialEq)]
pub struct Prospect {
    /// A logit for every entry of the vocabulary, biases added.
    pub logits: Vec<f32>,
    /// The tokens before it and their texts, the newest last; at most [`HISTORY`].
    pub history: Vec<(Token, String)>,
    /// The texts of the likeliest tokens before any stage.
    pub texts: Vec<(Token, String)>,
    /// The token that was drawn.
    pub said: Token,
    /// Its place in an answer that is over, from 0, where it was looked at again.
    pub place: Option<u32>,
}

impl Prospect {
    /// The text of a token, where it is known.
    pub fn text(&self, token: Token) -> Option<&str> {
        let known = self.texts.iter().chain(&self.history);
        known
            .into_iter()
            .find(|(id, _)| *id == token)
            .map(|(_, text)| text.as_str())
    }
}

impl fmt::Debug for Prospect {
    /// Says how much there is: a hundred thousand numbers help nobody.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = (self.logits.len(), self.history.len());
        write!(f, "Prospect {{ {counts:?}, said: {:?} }}", self.said)
    }
}

/// Where the newest prospect lies. A copy looks at the same one.
#[derive(Clone, Debug, Default)]
pub struct Lookout(Arc<Slot>);

#[derive(Debug, Default)]
struct Slot {
    wanted: AtomicBool,
    newest: Mutex<Option<Arc<Prospect>>>,
}

impl Lookout {
    /// Says whether every token is to be looked at from now on; otherwise only the last of an answer is left here.
    pub fn watch(&self, wanted: bool) {
        self.0.wanted.store(wanted, Ordering::Relaxed);
    }

    /// Whether every token is looked at.
    pub fn is_watched(&self) -> bool {
        self.0.wanted.load(Ordering::Relaxed)
    }

    /// Leaves a prospect.
    pub fn put(&self, prospect: Prospect) {
        *self.0.newest.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(prospect));
    }

    /// The newest one.
    pub fn newest(&self) -> Option<Arc<Prospect>> {
        self.0.newest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
