//! quipu: chat with language models that run on this machine, in a terminal.
//!
//! The rooms and the arrows between them are described in `ARCHITECTURE.md` and held by `tests/architecture.rs`:
//! a pure core (`domain`, `text`, `gguf`, `prompt`, `app`), the machines around it (`engine`, `models`, `config`, `ui`),
//! and the shell that joins them (`run`, `cli`).

pub mod app;
pub mod cli;
pub mod config;
#[cfg(feature = "llama")]
pub mod doctor;
pub mod domain;
pub mod engine;
pub mod gguf;
pub mod models;
pub mod prompt;
pub mod run;
pub mod store;
pub mod text;
pub mod ui;
