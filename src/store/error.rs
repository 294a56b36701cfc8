//! What can go wrong with the store, in words for the person.

use std::io;
use std::path::PathBuf;

use rusqlite::ErrorCode;
use thiserror::Error;

/// Why something was not read or not kept.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The folder cannot be used.
    #[error(
        "the folder '{folder}' cannot be written to ({source}): give it to this user, or set QUIPU_HOME to another"
    )]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A newer quipu wrote it.
    #[error(
        "the sessions in '{}' were written by a newer quipu (schema {found}, this one knows {known}): update quipu; until then \
         nothing is kept", file.display()
    )]
    Newer {
        /// The file.
        file: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest that is known here.
        known: i64,
    },
    /// The file is damaged, or is none of ours.
    #[error("the file of the sessions is damaged ({0})")]
    Damaged(String),
    /// There is no room.
    #[error("the disk is full: make room")]
    Full,
    /// Another program holds it.
    #[error("another program holds the file of the sessions")]
    Busy,
    /// `SQLite` refuses.
    #[error("the file of the sessions cannot be used ({0})")]
    Sqlite(rusqlite::Error),
    /// There is no such session.
    #[error("there is no session '{0}': 'quipu sessions' lists them")]
    Unknown(String),
    /// It was removed for good while it was open here.
    #[error("the session {0} was removed for good by another quipu: it is begun anew, with all that is on the screen")]
    Gone(i64),
    /// There is none at all.
    #[error("there is no session to continue yet: 'quipu' begins one")]
    None,
    /// What was kept makes no conversation.
    #[error("the session {0} is damaged: the message {1} stands on none")]
    NoTree(i64, u32),
    /// A record cannot be read.
    #[error("a record in the session {0} cannot be read ({1})")]
    Record(i64, String),
}

impl StoreError {
    /// Whether the file itself is bad, so that another must take its place.
    pub(super) fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged(_))
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged(error.to_string()),
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            _ => Self::Sqlite(error),
        }
    }
}
