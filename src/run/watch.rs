//! The thread that sees the terminal disappear. A SIGHUP may not come (the parent ignores it), and then nothing else would
//! notice: crossterm 0.29 reads from the dead terminal in a circle, at full speed, for ever.

use std::io::{self, PipeReader, PipeWriter, pipe};
use std::thread;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::stdio::stdin;
use tokio::sync::mpsc::UnboundedSender;

use super::happening::Happening;
use super::signals;

/// How long the loop has to end by itself. It takes a second at most: that is what it gives the engine.
const PATIENCE: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };

/// The watching thread. Dropping it ends the thread.
pub(super) struct Watch {
    // Closing it is the word to end.
    _ours: PipeWriter,
}

impl Watch {
    /// Starts watching the terminal on standard input.
    ///
    /// # Errors
    /// When the system gives no thread or pipe.
    pub(super) fn start(to: UnboundedSender<Happening>) -> io::Result<Self> {
        let (theirs, ours) = pipe()?;
        thread::Builder::new().name("quipu-watch".to_owned()).spawn(move || {
            if is_gone(&theirs) {
                let _ = to.send(Happening::Terminate(libc::SIGHUP));
                if !ended(&theirs) {
                    tracing::error!("the terminal is gone and the loop does not end");
                    // The one way out that does not go through `main`: the loop hangs, so nothing would be dropped anyway,
                    // and a process without a terminal would spin until someone finds it.
                    signals::die(libc::SIGHUP);
                }
            }
        })?;
        Ok(Self { _ours: ours })
    }
}

/// Waits until the terminal disappears, or until nobody wants to know; says whether it did.
fn is_gone(word: &PipeReader) -> bool {
    loop {
        // No events are asked for: a hang-up and an error are always told.
        let mut both = [
            PollFd::from_borrowed_fd(stdin(), PollFlags::empty()),
            PollFd::new(word, PollFlags::empty()),
        ];
        match poll(&mut both, None) {
            Ok(_) if !both[1].revents().is_empty() => return false,
            Ok(_) if !both[0].revents().is_empty() => return true,
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Whether the loop ends in time.
fn ended(word: &PipeReader) -> bool {
    loop {
        match poll(&mut [PollFd::new(word, PollFlags::empty())], Some(&PATIENCE)) {
            Ok(0) => return false,
            Err(Errno::INTR) => {}
            Ok(_) | Err(_) => return true,
        }
    }
}
