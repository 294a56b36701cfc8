//! The log: a file in the state folder, readable by its owner alone, with the previous run beside it as `.old`. Never the
//! screen. What people type and models say is not logged at `info` or above.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;
use tracing_subscriber::EnvFilter;

/// The variable that says how much is logged, in the words of `tracing`: `debug`, or `quipu=trace,llama-cpp-2=warn`.
pub const LEVEL: &str = "QUIPU_LOG";

/// How much is logged where nobody says: one line per load and turn, and what goes wrong.
const USUAL: &str = "info";

const NAME: &str = "quipu.log";

/// An open log.
#[derive(Debug)]
pub struct Log {
    /// Where it is.
    pub path: PathBuf,
    file: Arc<File>,
}

impl Log {
    /// The file, for what native libraries write.
    pub fn file(&self) -> &File {
        &self.file
    }
}

/// Why there is no log. The program runs without one, and tells the person.
#[derive(Debug, Error)]
pub enum LogError {
    /// The file cannot be made.
    #[error("there is no log, as '{path}' cannot be written ({error}): check the folder and its permissions")]
    File {
        /// Where it was to be.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The words about how much to log are not understood.
    #[error("there is no log, as '{level}' is not understood: set QUIPU_LOG to error, warn, info, debug or trace")]
    Level {
        /// The words.
        level: String,
    },
    /// Something in this process logs already.
    #[error("there is no log of its own for this run: another one is in place already")]
    Taken,
}

/// Opens the log in `folder` and sends everything that is traced there. `level` is what [`LEVEL`] or a flag says.
///
/// # Errors
/// When there is to be no log; the program can run without.
pub fn start(folder: &Path, level: Option<&str>) -> Result<Log, LogError> {
    let level = level.map(str::trim).filter(|level| !level.is_empty()).unwrap_or(USUAL);
    let filter = EnvFilter::try_new(level).map_err(|_| LogError::Level {
        level: level.replace(char::is_control, " "),
    })?;
    let log = open(folder)?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(Arc::clone(&log.file))
        .try_init()
        .map_err(|_| LogError::Taken)?;
    Ok(log)
}

fn open(folder: &Path) -> Result<Log, LogError> {
    let path = folder.join(NAME);
    let failed = |error| LogError::File {
        path: path.clone(),
        error,
    };
    // 0700 and 0600: chats are nobody else's business, and a log at `debug` has parts of them.
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(failed)?;
    match fs::rename(&path, path.with_extension("log.old")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    let file = OpenOptions::new()
        .append(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)
        .map_err(failed)?;
    Ok(Log {
        path,
        file: Arc::new(file),
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_log_is_the_owners_and_the_run_before_is_kept() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("state/quipu");
        let first = open(&folder).unwrap();
        first.file().write_all(b"first run\n").unwrap();
        let second = open(&folder).unwrap();
        assert_eq!(second.file().metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(fs::read_to_string(folder.join("quipu.log.old")).unwrap(), "first run\n");
        assert_eq!(fs::read_to_string(&second.path).unwrap(), "");
    }

    #[test]
    fn what_prevents_a_log_is_told() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        let told = start(&file, None).unwrap_err().to_string();
        assert!(told.contains("quipu.log' cannot be written"), "{told}");
        let told = start(home.path(), Some("quipu=loud")).unwrap_err().to_string();
        assert!(told.contains("'quipu=loud' is not understood"), "{told}");
    }
}
