//! All tests that use quipu from outside, in one program. The rings are described in ARCHITECTURE.md.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failure here fails the test"
)]

mod commands;
#[cfg(feature = "llama")]
mod compare;
#[cfg(feature = "llama")]
mod context;
#[cfg(feature = "llama")]
mod dangers;
#[cfg(feature = "llama")]
mod diagnoses;
mod docs;
#[cfg(feature = "llama")]
mod doctor;
mod ends;
mod environment;
mod fetched;
mod kept;
mod keys;
#[cfg(feature = "llama")]
mod model;
#[cfg(feature = "llama")]
mod mutants;
#[cfg(feature = "llama")]
mod neutral;
mod oneshot;
#[cfg(feature = "llama")]
mod parity;
#[cfg(feature = "llama")]
mod probe;
mod pty;
#[cfg(feature = "llama")]
mod sampling;
mod screen;
mod sessions;
mod settings;
mod shelf;
mod shots;
#[cfg(feature = "llama")]
mod thinking;
#[cfg(feature = "llama")]
mod tokens;
#[cfg(feature = "llama")]
mod warm;

mod tour;
mod trust;
mod wire;

#[path = "support/allowed.rs"]
#[allow(unreachable_pub, reason = "shared with the fuzz target")]
mod allowed;
#[cfg(feature = "llama")]
#[path = "support/engine.rs"]
mod engine;
#[cfg(feature = "llama")]
#[path = "support/gguf.rs"]
mod gguf;
#[path = "support/harness.rs"]
mod harness;
#[cfg(feature = "llama")]
#[path = "support/hub.rs"]
mod hub;
#[path = "support/svg.rs"]
mod picture;
#[path = "support/places.rs"]
#[allow(unreachable_pub, reason = "shared with the fuzz target")]
mod places;
#[cfg(feature = "llama")]
#[path = "support/shapes.rs"]
mod shapes;
#[path = "support/pty.rs"]
mod terminal;
#[cfg(feature = "llama")]
#[path = "support/vocabulary.rs"]
mod vocabulary;
