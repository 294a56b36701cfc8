//! All tests that use quipu from outside, in one program. The rings are described in ARCHITECTURE.md.

mod keys;
#[cfg(feature = "llama")]
mod model;

#[cfg(feature = "llama")]
#[path = "support/engine.rs"]
mod engine;
#[cfg(feature = "llama")]
#[path = "support/gguf.rs"]
mod gguf;
#[path = "support/harness.rs"]
mod harness;
