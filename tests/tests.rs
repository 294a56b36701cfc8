//! All tests that use quipu from outside, in one program. The rings are described in ARCHITECTURE.md.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failure here fails the test"
)]

mod docs;
mod keys;
#[cfg(feature = "llama")]
mod model;
mod oneshot;
mod pty;

#[cfg(feature = "llama")]
#[path = "support/engine.rs"]
mod engine;
#[cfg(feature = "llama")]
#[path = "support/gguf.rs"]
mod gguf;
#[path = "support/harness.rs"]
mod harness;
#[path = "support/pty.rs"]
mod terminal;
