//! llama.cpp's log lines: on to `tracing`, and the errors kept for a moment, because they hold the only reason that
//! llama.cpp gives for refusing a model. Never prints.

use std::sync::{Mutex, PoisonError};

/// llama.cpp's severity of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Severity {
    /// Chatter.
    Debug,
    /// Facts.
    Info,
    /// Something odd.
    Warn,
    /// Something failed.
    Error,
    /// The rest of the line before.
    Continued,
}

/// The error lines since [`begin`].
static ERRORS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Error lines kept: llama.cpp repeats itself, and only the first few say something.
const KEPT: usize = 8;

/// Forgets the errors so far.
pub(super) fn begin() {
    ERRORS.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// The first error line since [`begin`], which is the nearest to the cause.
pub(super) fn first_error() -> Option<String> {
    ERRORS.lock().unwrap_or_else(PoisonError::into_inner).first().cloned()
}

/// Takes one line, or the rest of one.
pub(super) fn sink(severity: Severity, text: &str) {
    let text = text.trim_end();
    if text.is_empty() {
        return;
    }
    match severity {
        Severity::Debug | Severity::Continued => tracing::trace!(target: "llama.cpp", "{text}"),
        Severity::Info => tracing::debug!(target: "llama.cpp", "{text}"),
        Severity::Warn => tracing::warn!(target: "llama.cpp", "{text}"),
        Severity::Error => {
            tracing::error!(target: "llama.cpp", "{text}");
            let mut errors = ERRORS.lock().unwrap_or_else(PoisonError::into_inner);
            if errors.len() < KEPT {
                errors.push(text.to_owned());
            }
        }
    }
}
