//! Standard error while the screen is ours: native libraries write to file descriptor 2 whenever they like, and it would tear
//! the screen. It goes to the log meanwhile.

use std::fs::OpenOptions;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use rustix::io::fcntl_dupfd_cloexec;
use rustix::stdio::{dup2_stderr, stderr};

/// Standard error led elsewhere; dropping it leads it back.
#[derive(Debug)]
pub(super) struct Diverted {
    real: OwnedFd,
    elsewhere: OwnedFd,
}

impl Diverted {
    /// Leads standard error into `log`, or nowhere without one. `None` where it is no terminal: what the person redirected
    /// stays redirected.
    ///
    /// # Errors
    /// When the system has no descriptor left.
    pub(super) fn into(log: Option<&impl AsFd>) -> io::Result<Option<Self>> {
        if !io::stderr().is_terminal() {
            return Ok(None);
        }
        let elsewhere = match log {
            Some(log) => log.as_fd().try_clone_to_owned()?,
            None => OpenOptions::new().write(true).open("/dev/null")?.into(),
        };
        // Above the standard three, so that a closed one is not taken for it.
        let real = fcntl_dupfd_cloexec(stderr(), 3)?;
        dup2_stderr(&elsewhere)?;
        Ok(Some(Self { real, elsewhere }))
    }

    /// Where standard error really leads: for last words.
    pub(super) fn real(&self) -> RawFd {
        self.real.as_raw_fd()
    }

    /// Leads it back while the terminal is lent.
    pub(super) fn pause(&self) {
        // It fails only for a descriptor that is not open, and this one is ours.
        let _ = dup2_stderr(&self.real);
    }

    /// Leads it away again.
    pub(super) fn resume(&self) {
        let _ = dup2_stderr(&self.elsewhere);
    }
}

impl Drop for Diverted {
    fn drop(&mut self) {
        self.pause();
    }
}
