//! Sessions on disk: one `SQLite` file in the data folder, on a thread of its own, behind commands and events like the engine's.
//! Also sessions as files for other programs, and the states of models that make a return quick.
//!
//! What is kept is kept as it was said; sanitising is for who shows it.

use std::io;
use std::sync::mpsc;
use std::thread;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::domain::session::{StoreCommand, StoreEvent};

pub mod archive;
mod checkpoint;
mod database;
mod drafts;
mod error;
pub mod export;
mod hold;
pub mod import;
mod search;
mod tables;
#[cfg(test)]
mod tests;
mod trace;
mod worker;

pub use archive::Archive;
pub use checkpoint::{Checkpoint, Checkpoints};
pub use error::StoreError;
pub use worker::{StoreOptions, now};

use worker::Worker;

/// The two ends of a running store. Dropping `commands` ends its thread once all is written; `events` ends with it.
#[derive(Debug)]
pub struct StoreHandle {
    /// What it is asked. Taken in order.
    pub commands: mpsc::Sender<StoreCommand>,
    /// What it tells.
    pub events: UnboundedReceiver<StoreEvent>,
}

/// Starts the store. The file is opened there, so nobody waits for it.
///
/// # Errors
/// When the system gives no thread.
pub fn spawn(options: StoreOptions) -> io::Result<StoreHandle> {
    let (commands, taken) = mpsc::channel();
    let (told, events) = unbounded_channel();
    thread::Builder::new().name("quipu-store".to_owned()).spawn(move || {
        Worker::new(options, told).run(&taken);
    })?;
    Ok(StoreHandle { commands, events })
}
