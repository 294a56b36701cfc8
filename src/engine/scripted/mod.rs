//! An engine that plays a script: deterministic answers, delays, errors and crashes over the same channels as any other, for
//! tests, demonstrations and builds without llama.cpp. It never pretends to be a model: its name says that it is a script.
//!
//! Its tokens are words, its prompt is marked up as `<|user|>…<|end|>`, and it remembers its prompts, so that the counts it
//! tells (prompt, reused, context) are true of what it did.

mod play;
mod script;
mod words;

use std::io;

pub use script::{Script, ScriptError};

use super::{EngineHandle, spawn as spawn_engine};

/// Starts an engine that plays `script`.
///
/// # Errors
/// When the system gives no thread.
pub fn spawn(script: Script) -> io::Result<EngineHandle> {
    spawn_engine("quipu-scripted", move |ends| play::Player::new(ends, script).run())
}

#[cfg(test)]
mod tests;
