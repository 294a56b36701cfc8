//! Trials in a process of their own: quipu starts itself anew, has the child load what is not known here, and outlives it
//! whatever happens. What is tried is said in `engine::local`; this room makes the process, watches it and remembers.

mod child;
mod known;
mod parent;
mod word;

pub use child::serve;
pub use parent::ChildProber;

#[cfg(test)]
mod tests;

/// The hidden command under which a child is started.
pub const COMMAND: &str = "try-model";
