//! Opening the file of the sessions: settings of `SQLite`, the schema and its history, and what becomes of a file that cannot be
//! used. What is in the tables is the business of the files beside.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::error::StoreError;

/// The file's name.
pub(super) const FILE: &str = "sessions.db";

/// Tells our files from others': "quip".
const APPLICATION: i64 = 0x7175_6970;

/// How long another quipu's write is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// What makes each schema of the one before. A row that was released is never changed.
pub(super) const MIGRATIONS: &[&str] = &[include_str!("migrations/0001.sql"), include_str!("migrations/0002.sql")];

/// A file that was opened, and what the person should know of it.
pub(super) struct Opened {
    pub(super) connection: Connection,
    /// Where a damaged file went whose place this one took.
    pub(super) set_aside: Option<PathBuf>,
}

/// Opens the file in `folder`, or begins one. A damaged one is set aside.
///
/// # Errors
/// Where the folder cannot be used, or a newer quipu wrote the file.
pub(super) fn open(folder: &Path, now: i64) -> Result<Opened, StoreError> {
    make_folder(folder)?;
    let file = folder.join(FILE);
    match open_file(&file) {
        Err(error) if error.is_damage() => {
            let set_aside = Some(set_aside(&file, now).map_err(|source| unusable(folder, source))?);
            let connection = open_file(&file)?;
            Ok(Opened { connection, set_aside })
        }
        opened => Ok(Opened {
            connection: opened?,
            set_aside: None,
        }),
    }
}

fn unusable(folder: &Path, source: io::Error) -> StoreError {
    StoreError::Folder {
        folder: folder.to_owned(),
        source,
    }
}

/// What people say is theirs alone.
fn make_folder(folder: &Path) -> Result<(), StoreError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder.create(folder).map_err(|source| unusable(folder, source))?;
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    Ok(())
}

fn open_file(file: &Path) -> Result<Connection, StoreError> {
    // The file is made before SQLite would make it, since its log and index take on its mode.
    let made = OpenOptions::new().create(true).append(true).mode(0o600).open(file);
    let folder = || file.parent().unwrap_or(file);
    made.map_err(|source| unusable(folder(), source))?;
    // One that was copied here may be open to others.
    let _ = fs::set_permissions(file, fs::Permissions::from_mode(0o600));
    let unclean = is_unclean(file);
    let mut connection = settled(file)?;
    let application: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if application != APPLICATION && !(application == 0 && version == 0 && is_empty(&connection)?) {
        return Err(StoreError::Damaged("another program made it".to_owned()));
    }
    let known = MIGRATIONS.len() as i64;
    if version > known {
        return Err(StoreError::Newer {
            file: file.to_owned(),
            found: version,
            known,
        });
    }
    if unclean {
        check(&connection)?;
    }
    migrate(&mut connection, file, MIGRATIONS)?;
    Ok(connection)
}

/// Opens the file as it is.
fn connect(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    #[cfg(test)]
    let connection = armed(connection)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

#[cfg(test)]
thread_local! {
    /// Counts the operations of `SQLite` on files opened here down to one that fails.
    pub(super) static FUSE: std::cell::RefCell<Option<std::sync::Arc<std::sync::atomic::AtomicI64>>> = const {
        std::cell::RefCell::new(None)
    };
}

/// Puts the fuse of this thread in.
#[cfg(test)]
fn armed(mut connection: Connection) -> rusqlite::Result<Connection> {
    use std::sync::atomic::Ordering;
    if let Some(fuse) = FUSE.with_borrow(Clone::clone) {
        connection.progress_handler(1, Some(move || fuse.fetch_sub(1, Ordering::Relaxed) == 0))?;
    }
    Ok(connection)
}

/// Whether whoever used the file last could not close it: `SQLite` leaves its log or its journal then.
fn is_unclean(file: &Path) -> bool {
    ["-wal", "-journal"].iter().any(|end| {
        let beside = beside(file, end);
        fs::metadata(beside).is_ok_and(|found| found.len() > 0)
    })
}

fn beside(file: &Path, end: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(tables == 0)
}

/// Has changes go to a log (`SQLite`'s WAL); says whether they do. It needs memory that processes share, which some file systems refuse.
fn take_log(connection: &Connection) -> rusqlite::Result<bool> {
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    // The log is opened with what is read next.
    is_empty(connection)?;
    Ok(mode.eq_ignore_ascii_case("wal"))
}

fn is_refusal(error: &rusqlite::Error) -> bool {
    use ErrorCode::{CannotOpen, SystemIoFailure};
    matches!(error.sqlite_error_code(), Some(CannotOpen | SystemIoFailure))
}

/// Opens the file with its settings. Where no log can be used, a journal does instead.
fn settled(file: &Path) -> Result<Connection, StoreError> {
    let mut connection = connect(file)?;
    let log = match take_log(&connection) {
        Err(error) if is_refusal(&error) => false,
        log => log?,
    };
    if !log {
        // A connection that was refused stays so. Another one, alone with the file, reads a log that may have come from elsewhere
        // without memory to share.
        connection = connect(file)?;
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        let mode: String = connection.pragma_update_and_check(None, "journal_mode", "DELETE", |row| row.get(0))?;
        connection.pragma_update(None, "locking_mode", "NORMAL")?;
        tracing::warn!(
            mode,
            "the sessions are written without a log: this file system refuses one"
        );
    }
    // What was acknowledged survives a power cut.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // The file may come from anywhere.
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(connection)
}

fn check(connection: &Connection) -> Result<(), StoreError> {
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if found == "ok" {
        Ok(())
    } else {
        Err(StoreError::Damaged(found))
    }
}

/// Brings the schema up to the last of `migrations`, each in a transaction of its own; before one that changes a file with
/// something in it, a copy is made.
pub(super) fn migrate(connection: &mut Connection, file: &Path, migrations: &[&str]) -> Result<(), StoreError> {
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for (done, migration) in migrations.iter().enumerate().skip(version as usize) {
        // What was begun just now has nothing to lose.
        if version > 0 {
            back_up(connection, file, done)?;
        }
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        // Another quipu may have been quicker.
        let now: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if now == done as i64 {
            transaction.execute_batch(migration)?;
            transaction.pragma_update(None, "application_id", APPLICATION)?;
            transaction.pragma_update(None, "user_version", done as i64 + 1)?;
        }
        transaction.commit()?;
    }
    Ok(())
}

/// Copies the file as it is, in place of the copy of an earlier schema.
fn back_up(connection: &Connection, file: &Path, version: usize) -> Result<(), StoreError> {
    for old in 0..=version {
        let _ = fs::remove_file(beside(file, &format!(".schema-{old}")));
    }
    let copy = beside(file, &format!(".schema-{version}"));
    connection.execute("VACUUM INTO ?1", [copy.to_string_lossy()])?;
    let _ = fs::set_permissions(&copy, fs::Permissions::from_mode(0o600));
    Ok(())
}

/// Gives a damaged file, with its log, another name; returns that of the file.
pub(super) fn set_aside(file: &Path, now: i64) -> io::Result<PathBuf> {
    let mut to = beside(file, &format!(".damaged-{now}"));
    let mut more = 0;
    while to.exists() {
        more += 1;
        to = beside(file, &format!(".damaged-{now}-{more}"));
    }
    for end in ["-wal", "-shm", "-journal"] {
        let from = beside(file, end);
        if from.exists() {
            fs::rename(from, beside(&to, end))?;
        }
    }
    fs::rename(file, &to)?;
    Ok(to)
}
