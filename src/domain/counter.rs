//! The vocabulary of the model that is loaded, on loan: how many tokens a text takes and which, asked from anywhere without waiting for
//! the engine. Tokenizing needs the vocabulary alone, which may be read by many at once.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::inference::Token;

/// Cuts texts that a person writes into tokens: names of special tokens are text like any other.
pub trait Tokenize: Send {
    /// How many tokens a text takes.
    fn count(&self, text: &str) -> u32;

    /// Its tokens where it goes on after another, each with its bytes.
    fn tokens(&self, text: &str) -> Vec<(Token, Vec<u8>)>;
}

/// Counts with the vocabulary of the model that is loaded. A copy counts with the same one.
#[derive(Clone, Default)]
pub struct Counter(Arc<Mutex<Option<Box<dyn Tokenize>>>>);

impl Counter {
    /// Counts with this from now on; with none, while no model is loaded. When it returns, what counted before is gone.
    pub fn set(&self, vocabulary: Option<Box<dyn Tokenize>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = vocabulary;
    }

    /// How many tokens a text takes; `None` where no model is loaded.
    pub fn count(&self, text: &str) -> Option<u32> {
        let vocabulary = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        vocabulary.as_ref().map(|vocabulary| vocabulary.count(text))
    }

    /// The tokens of a text that goes on after another, each with its bytes; none where no model is loaded.
    pub fn tokens(&self, text: &str) -> Vec<(Token, Vec<u8>)> {
        let vocabulary = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        vocabulary
            .as_ref()
            .map_or_else(Vec::new, |vocabulary| vocabulary.tokens(text))
    }
}

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Counter")
    }
}
