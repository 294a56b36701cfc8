//! The store's thread: takes commands in order, keeps what could not be written and tries again, and tells what came of it. It
//! alone touches the file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, SystemTime};

use rusqlite::Connection;
use tokio::sync::mpsc::UnboundedSender;

use crate::domain::session::{
    Details, Format, NotOpened, Opened, SessionId, SessionKey, StoreCommand, StoreEvent, Which, Whole,
};
use crate::domain::{Changes, MessageId};

use super::checkpoint::Checkpoints;
use super::database::{self, FILE};
use super::error::StoreError;
use super::hold::Hold;
use super::tables::Traces;
use super::{drafts, export, import, search, tables};

/// How long after a failed write it is tried again, if nothing asks for it before: twice as long every time, up to the longest.
const AGAIN: Duration = Duration::from_secs(2);
const LONGEST: Duration = Duration::from_mins(1);

/// Where and how things are kept.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// The folder of the file.
    pub folder: PathBuf,
    /// Days for which is kept what there was to draw from.
    pub trace_days: u32,
    /// The states of models, which go with their sessions.
    pub states: Option<Checkpoints>,
}

/// A session of this process.
#[derive(Default)]
struct Session {
    id: Option<SessionId>,
    hold: Option<Hold>,
    /// What is not written yet.
    unwritten: Changes,
    details: Option<Details>,
    ticket: u64,
}

impl Session {
    fn is_written(&self) -> bool {
        self.unwritten.is_empty() && self.details.is_none()
    }
}

/// The thread's own.
pub(super) struct Worker {
    options: StoreOptions,
    /// Opened when it is first needed, and again after it failed.
    connection: Option<Connection>,
    sessions: BTreeMap<SessionKey, Session>,
    events: UnboundedSender<StoreEvent>,
}

impl Worker {
    /// One that has opened nothing yet.
    pub(super) fn new(options: StoreOptions, events: UnboundedSender<StoreEvent>) -> Self {
        Self {
            options,
            connection: None,
            sessions: BTreeMap::new(),
            events,
        }
    }

    /// Takes commands until nobody is left to give one; then what is left is written, where it can be.
    pub(super) fn run(&mut self, commands: &Receiver<StoreCommand>) {
        if let Err(error) = self.database() {
            self.tell(StoreEvent::Unsaved {
                ticket: 0,
                words: error.to_string(),
            });
        }
        let mut patience = AGAIN;
        loop {
            let waits = self.sessions.values().any(|session| !session.is_written());
            let command = if waits {
                commands.recv_timeout(patience)
            } else {
                commands.recv().map_err(|_| RecvTimeoutError::Disconnected)
            };
            patience = if waits { LONGEST.min(patience * 2) } else { AGAIN };
            match command {
                Ok(command) => self.take(command),
                Err(RecvTimeoutError::Timeout) => self.write_all(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.write_all();
    }

    /// Carries out a command.
    pub(super) fn take(&mut self, command: StoreCommand) {
        match command {
            StoreCommand::Save {
                ticket,
                key,
                changes,
                details,
            } => {
                let session = self.sessions.entry(key).or_default();
                session.unwritten.absorb(changes);
                session.details = details.or(session.details.take());
                session.ticket = ticket;
                self.write_all();
            }
            StoreCommand::Open { key, which } => {
                let opened = self.open(key, &which).map(Box::new).map_err(|error| match error {
                    StoreError::Unknown(_) | StoreError::None => NotOpened::Unknown(error.to_string()),
                    _ => NotOpened::Failed(error.to_string()),
                });
                self.tell(StoreEvent::Opened { key, opened });
            }
            StoreCommand::Release { key } => self.release(key),
            StoreCommand::List { request, archived } => self.list(request, archived),
            StoreCommand::Search { request, text } => self.search(request, &text),
            StoreCommand::Describe { id, details } => {
                self.arrange(|connection| tables::describe(connection, id, &details));
            }
            StoreCommand::Delete { id } => {
                self.arrange(|connection| tables::delete(connection, id, Some(now())));
                // What it can be read from is gone with it.
                if let Some(states) = &self.options.states {
                    states.forget(&id.state_name());
                }
            }
            StoreCommand::Restore { id } => self.arrange(|connection| tables::delete(connection, id, None)),
            StoreCommand::Draft { session, text } => {
                self.aside(|connection| drafts::keep(connection, session, &text, now()));
            }
            StoreCommand::Sent { text } => self.aside(|connection| drafts::sent(connection, &text)),
            StoreCommand::Trace { key, session, message } => self.trace(key, session, message),
            StoreCommand::Recall { key, session } => self.recall(key, session),
            StoreCommand::Import { path } => {
                let done = self.import(Path::new(&path));
                self.tell(StoreEvent::Done(done));
            }
            StoreCommand::Export {
                key,
                session,
                path,
                format,
            } => {
                let session = self.whole(key).unwrap_or(*session);
                let done = export_to(&session, Path::new(&path), format);
                self.tell(StoreEvent::Done(done));
            }
        }
    }

    fn tell(&self, event: StoreEvent) {
        // Nobody listens any more: no command will come either.
        let _ = self.events.send(event);
    }

    /// Changes what is known of a session; only a failure is told.
    fn arrange(&mut self, change: impl FnOnce(&mut Connection) -> Result<(), StoreError>) {
        if let Err(error) = self.change(change) {
            self.tell(StoreEvent::Done(Err(error.to_string())));
        }
    }

    fn list(&mut self, request: u64, archived: bool) {
        let sessions = self.read(|connection| tables::list(connection, archived));
        let sessions = sessions.map_err(|error| error.to_string());
        self.tell(StoreEvent::Listed { request, sessions });
    }

    fn search(&mut self, request: u64, text: &str) {
        let hits = self.read(|connection| search::search(connection, text));
        let hits = hits.map_err(|error| error.to_string());
        self.tell(StoreEvent::Found { request, hits });
    }

    fn trace(&mut self, key: SessionKey, session: SessionId, message: MessageId) {
        // What was just said must be found.
        self.write_all();
        let trace = self.read(|connection| tables::trace_of(connection, session, message));
        let trace = trace.unwrap_or_default();
        self.tell(StoreEvent::Traced { key, message, trace });
    }

    fn recall(&mut self, key: SessionKey, session: Option<SessionId>) {
        let read = |connection: &Connection| Ok((drafts::read(connection, session)?, drafts::history(connection)?));
        let (draft, sent) = self.read(read).unwrap_or_default();
        self.tell(StoreEvent::Recalled { key, draft, sent });
    }

    /// Changes what is no part of a session. A failure is for the log: saving what is said says the same, and louder.
    fn aside(&mut self, change: impl FnOnce(&mut Connection) -> Result<(), StoreError>) {
        if let Err(error) = self.change(change) {
            tracing::warn!(%error, "a draft was not kept");
        }
    }

    /// The file, opened where it is not.
    pub(super) fn database(&mut self) -> Result<&mut Connection, StoreError> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.open_file()?,
        };
        Ok(self.connection.insert(connection))
    }

    fn open_file(&mut self) -> Result<Connection, StoreError> {
        let database::Opened {
            mut connection,
            set_aside,
        } = database::open(&self.options.folder, now())?;
        if let Some(file) = set_aside {
            self.emptied(&file);
        }
        // That there is much to tidy is no reason not to chat.
        if let Err(error) = tables::tidy(&mut connection, now(), self.options.trace_days) {
            tracing::warn!(%error, "the sessions were not tidied");
        }
        Ok(connection)
    }

    /// Says where the damaged file went, and has everybody begin anew.
    fn emptied(&mut self, file: &Path) {
        for session in self.sessions.values_mut() {
            session.id = None;
            session.hold = None;
        }
        let words = format!(
            "the file of the sessions was damaged and is now '{}'; a new one was begun, and what is on the screen is kept in it",
            file.display()
        );
        self.tell(StoreEvent::Emptied { words });
    }

    /// Reads from the file; a damaged one gives way to a new one.
    fn read<T>(&mut self, read: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.change(|connection| read(connection))
    }

    fn change<T>(&mut self, change: impl FnOnce(&mut Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let done = self.database().and_then(change);
        if done.as_ref().is_err_and(StoreError::is_damage) {
            self.replace();
        }
        done
    }

    /// Sets the file aside and begins another.
    fn replace(&mut self) {
        self.connection = None;
        match database::set_aside(&self.options.folder.join(FILE), now()) {
            Ok(file) => self.emptied(&file),
            Err(error) => tracing::error!(%error, "the damaged file of the sessions cannot be renamed"),
        }
    }

    /// Writes what is not written yet, and tells what came of it.
    fn write_all(&mut self) {
        let keys: Vec<_> = self.sessions.keys().copied().collect();
        for key in keys {
            let written = self.sessions.get(&key).is_none_or(Session::is_written);
            if !written {
                let told = self.write(key);
                self.tell(told);
            }
        }
    }

    fn write(&mut self, key: SessionKey) -> StoreEvent {
        let Some(mut session) = self.sessions.remove(&key) else {
            return StoreEvent::Done(Ok(String::new()));
        };
        let ticket = session.ticket;
        let done = self.change(|connection| {
            tables::write(
                connection,
                &tables::Write {
                    id: session.id,
                    changes: &session.unwritten,
                    details: session.details.as_ref(),
                    now: now(),
                },
            )
        });
        let told = match done {
            Ok(id) => {
                if session.id.is_none() {
                    session.id = Some(id);
                    session.hold = Hold::take(&self.options.folder, id.0).ok().flatten();
                }
                session.unwritten = Changes::default();
                session.details = None;
                StoreEvent::Saved { ticket, key, id }
            }
            Err(error) => {
                // It begins anew, with all that is in memory, which comes again.
                if matches!(error, StoreError::Gone(_)) {
                    let words = error.to_string();
                    self.tell(StoreEvent::Emptied { words });
                }
                if matches!(error, StoreError::Gone(_) | StoreError::Damaged(_)) {
                    (session.id, session.hold) = (None, None);
                }
                StoreEvent::Unsaved {
                    ticket,
                    words: error.to_string(),
                }
            }
        };
        self.sessions.insert(key, session);
        told
    }

    fn open(&mut self, key: SessionKey, which: &Which) -> Result<Opened, StoreError> {
        // What was just said must be found.
        self.write_all();
        let (summary, conversation) = self.read(|connection| {
            let id = tables::find(connection, which)?;
            tables::read(connection, id, Traces::Left)
        })?;
        let id = summary.id;
        // One that is open here already stays here.
        let mut here = self.sessions.values_mut().filter(|session| session.id == Some(id));
        let hold = match here.find_map(|session| session.hold.take()) {
            Some(hold) => Ok(Some(hold)),
            None => Hold::take(&self.options.folder, id.0),
        };
        let elsewhere = hold.is_err();
        let session = Session {
            id: Some(id),
            hold: hold.ok().flatten(),
            ..Session::default()
        };
        self.sessions.insert(key, session);
        Ok(Opened {
            id,
            details: summary.details,
            conversation,
            held: elsewhere,
        })
    }

    /// Lets go of a session. What of it could not be written yet stays until it can.
    fn release(&mut self, key: SessionKey) {
        self.write_all();
        let Some(session) = self.sessions.get_mut(&key) else {
            return;
        };
        session.hold = None;
        if !session.is_written() {
            return;
        }
        let id = session.id;
        self.sessions.remove(&key);
        if let Some(id) = id {
            let removed = self.change(|connection| tables::remove_if_empty(connection, id));
            if let Err(error) = removed {
                tracing::debug!(%error, "an empty session was not removed");
            }
        }
    }

    /// All of a session of this process as it is on the disk, where all of it is: with what there was to draw from.
    fn whole(&mut self, key: SessionKey) -> Option<Whole> {
        self.write_all();
        let session = self.sessions.get(&key).filter(|session| session.is_written())?;
        let id = session.id?;
        let read = self.read(|connection| tables::read(connection, id, Traces::Read));
        let (summary, conversation) = read.ok()?;
        Some(Whole {
            details: summary.details,
            created: summary.created,
            conversation,
        })
    }

    fn import(&mut self, path: &Path) -> Result<String, String> {
        let read = import::read_file(path)?;
        let kept = self.keep_whole(read.sessions).map_err(|error| error.to_string())?;
        let left_out = match read.left_out {
            0 => String::new(),
            1 => "; one entry of a tool was left out".to_owned(),
            many => format!("; {many} entries of tools were left out"),
        };
        Ok(match kept.as_slice() {
            [only] => format!("one session was imported, as number {}{left_out}", only.0),
            all => format!("{} sessions were imported{left_out}", all.len()),
        })
    }

    /// Keeps sessions that came from elsewhere, all of them or none.
    pub(super) fn keep_whole(&mut self, sessions: Vec<Whole>) -> Result<Vec<SessionId>, StoreError> {
        let now = now();
        self.change(|connection| tables::write_whole(connection, sessions, now))
    }
}

/// Writes a session to a file that is not there yet.
fn export_to(session: &Whole, path: &Path, format: Format) -> Result<String, String> {
    export::write_file(session, path, format)?;
    Ok(format!("written to '{}'", path.display()))
}

/// What time it is, in milliseconds since 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
