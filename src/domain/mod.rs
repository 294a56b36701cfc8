//! The words everyone uses: conversations, sampling settings, the engine's vocabulary. Plain data on std and serde;
//! nothing here reads a clock, a file or a terminal.

pub mod preset;
pub mod role;
pub mod sampling;

pub use role::Role;
