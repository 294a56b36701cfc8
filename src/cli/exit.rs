//! Exit codes, and the errors that choose them.

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use crate::domain::inference::{Failure, FailureKind};

/// Why the program ends as it does. The numbers are documented in the README; scripts rely on them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Exit {
    /// All went well.
    Success,
    /// Something failed that is not the caller's fault.
    Failed,
    /// The command line, the configuration or the input cannot be used.
    Usage,
    /// The model cannot be used.
    Model,
    /// Stopped from outside.
    Interrupted,
}

impl Exit {
    fn code(self) -> ExitCode {
        match self {
            Self::Success => ExitCode::SUCCESS,
            Self::Failed => ExitCode::from(1),
            Self::Usage => ExitCode::from(2),
            Self::Model => ExitCode::from(3),
            Self::Interrupted => ExitCode::from(130),
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code()
    }
}

/// An error on its way to `main`: the code, and the words for standard error (none where nothing needs saying).
#[derive(Debug)]
pub(super) struct Stop {
    /// The code.
    pub(super) exit: Exit,
    /// The words.
    pub(super) message: String,
}

impl Stop {
    /// Ends with `exit` and these words.
    pub(super) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            exit,
            message: message.into(),
        }
    }

    /// Ends with `exit` and says nothing.
    pub(super) const fn quiet(exit: Exit) -> Self {
        Self {
            exit,
            message: String::new(),
        }
    }
}

/// Writes all that a task prints, and is done. A reader that went away is no error.
///
/// # Errors
/// When it cannot be written; `what` is what it is.
pub(super) fn print(what: &str, text: &str, mut out: impl Write) -> Result<Exit, Stop> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Stop::new(Exit::Failed, format!("cannot write {what}: {error}")))
        }
        _ => Ok(Exit::Success),
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        let exit = match failure.kind {
            FailureKind::Model | FailureKind::Template | FailureKind::NoModel => Exit::Model,
            FailureKind::Cancelled => Exit::Interrupted,
            FailureKind::TooLong | FailureKind::Grammar => Exit::Usage,
            FailureKind::Compute => Exit::Failed,
        };
        Self::new(exit, failure.message)
    }
}

impl From<anyhow::Error> for Stop {
    fn from(error: anyhow::Error) -> Self {
        Self::new(Exit::Failed, format!("{error:#}"))
    }
}
