//! How many tokens a text takes, asked from anywhere without waiting for the engine: tokenizing needs the vocabulary alone, which may be
//! read by many at once.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Counts the tokens of a text.
pub type Count = Box<dyn Fn(&str) -> u32 + Send>;

/// Counts with the vocabulary of the model that is loaded. A copy counts with the same one.
#[derive(Clone, Default)]
pub struct Counter(Arc<Mutex<Option<Count>>>);

impl Counter {
    /// Counts with this from now on; with none, while no model is loaded. When it returns, what counted before is gone.
    pub fn set(&self, count: Option<Count>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = count;
    }

    /// The tokens of a text; `None` where no model is loaded.
    pub fn count(&self, text: &str) -> Option<u32> {
        let count = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        count.as_ref().map(|count| count(text))
    }
}

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Counter")
    }
}
