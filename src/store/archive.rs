//! The file of the sessions for commands that need no chat: each call opens, does, and is done.

use std::path::Path;

use rusqlite::Connection;

use crate::domain::Conversation;
use crate::domain::session::{Hit, SessionId, Summary, Which, Whole};

use super::error::StoreError;
use super::tables::Traces;
use super::{StoreOptions, database, search, tables, worker};

/// The sessions there are.
pub struct Archive {
    connection: Connection,
    /// What the person should know of how it was opened.
    pub notice: Option<String>,
}

impl Archive {
    /// Opens the file in the folder, or begins one.
    ///
    /// # Errors
    /// Where the folder cannot be used, or a newer quipu wrote the file.
    pub fn open(options: &StoreOptions) -> Result<Self, StoreError> {
        let opened = database::open(&options.folder, worker::now())?;
        let notice = opened.set_aside.map(|file| {
            let file = file.display();
            format!("the file of the sessions was damaged and is now '{file}'; a new one was begun")
        });
        Ok(Self {
            connection: opened.connection,
            notice,
        })
    }

    /// All sessions; with `archived`, those out of sight and those deleted, too.
    pub fn list(&self, archived: bool) -> Result<Vec<Summary>, StoreError> {
        tables::list(&self.connection, archived)
    }

    /// All of the session that is meant.
    pub fn read(&self, which: &Which) -> Result<(Summary, Conversation), StoreError> {
        let id = tables::find(&self.connection, which)?;
        tables::read(&self.connection, id, Traces::Read)
    }

    /// The messages with these words, newest first.
    pub fn search(&self, text: &str) -> Result<Vec<Hit>, StoreError> {
        search::search(&self.connection, text)
    }

    /// Reads the sessions in a file and keeps them, all or none; returns their numbers, and how many entries were left out.
    ///
    /// # Errors
    /// In words, naming the line.
    pub fn import(&mut self, path: &Path) -> Result<(Vec<SessionId>, usize), String> {
        let read = super::import::read_file(path)?;
        let kept = tables::write_whole(&mut self.connection, read.sessions, worker::now());
        Ok((kept.map_err(|error| error.to_string())?, read.left_out))
    }

    /// Keeps a session that came from elsewhere.
    pub fn keep(&mut self, session: Whole) -> Result<Vec<SessionId>, StoreError> {
        tables::write_whole(&mut self.connection, vec![session], worker::now())
    }

    /// Deletes a session; it can be brought back for a while.
    pub fn delete(&mut self, id: SessionId) -> Result<(), StoreError> {
        tables::delete(&self.connection, id, Some(worker::now()))
    }

    /// Brings a deleted session back.
    pub fn restore(&mut self, id: SessionId) -> Result<(), StoreError> {
        tables::delete(&self.connection, id, None)
    }

    /// Deletes a session for good.
    pub fn remove(&mut self, id: SessionId) -> Result<(), StoreError> {
        tables::remove(&self.connection, id)
    }
}
