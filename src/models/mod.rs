//! Which models are on this machine: the built-in one, and what a name on the command line means.
//!
//! [`resolve()`] is the way in, and [`resolve_vocabulary()`] where no weights are wanted. Whatever they return was read and checked
//! by the `gguf` room; no other file may be given to llama.cpp. [`locate()`] is for whoever checks a file himself. [`hub`] fetches
//! others.

mod broken;
mod builtin;
mod error;
mod found;
#[cfg(feature = "llama")]
pub mod hub;
mod named;
mod notes;
mod places;
mod resolve;
mod shelf;

#[cfg(test)]
mod tests;

pub use broken::{BrokenOff, broken_off};
pub use builtin::{BUILT_IN, Unpacked, unpack, unpack_or_temp};
pub use error::ModelError;
pub use places::{Places, caches};
pub use resolve::{Located, Resolved, locate, resolve, resolve_vocabulary};
pub use shelf::{shelf, shelved_at};
