//! The thread that writes frames. A terminal may stop reading at any time; then this thread waits and the loop does not.
//! One piece is on its way at a time, so a slow terminal costs frames and no memory; and what is on its way can be given up,
//! so that even a terminal that does not read can be told that it is free again.

use std::fs::{self, File, OpenOptions};
use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, write};
use rustix::stdio::stdout;

/// Writes to the terminal, one piece at a time.
pub(super) struct Output {
    pieces: Sender<Vec<u8>>,
    shared: Arc<Shared>,
    // One byte wakes the thread where it waits for the terminal.
    wake: PipeWriter,
}

#[derive(Default)]
struct Shared {
    busy: Mutex<bool>,
    idle: Condvar,
    /// Whether the piece on its way is to be given up.
    given_up: AtomicBool,
}

impl Shared {
    fn set_busy(&self, busy: bool) {
        *self.busy.lock().unwrap_or_else(PoisonError::into_inner) = busy;
        self.idle.notify_all();
    }
}

impl Output {
    /// Starts the thread. `wanted` is asked before every piece; `written` is told after every piece how it went.
    ///
    /// # Errors
    /// When the system gives no thread or pipe.
    pub(super) fn start(
        wanted: impl Fn() -> bool + Send + 'static,
        written: impl Fn(io::Result<()>) + Send + 'static,
    ) -> io::Result<Self> {
        let (pieces, queue) = channel::<Vec<u8>>();
        let (woken, wake) = pipe()?;
        let shared = Arc::new(Shared::default());
        let mut writer = Writer {
            terminal: terminal()?,
            woken,
            shared: Arc::clone(&shared),
        };
        thread::Builder::new().name("quipu-output".to_owned()).spawn(move || {
            for piece in queue {
                let result = if wanted() { writer.write(&piece) } else { Ok(()) };
                writer.shared.set_busy(false);
                written(result);
            }
        })?;
        Ok(Self { pieces, shared, wake })
    }

    /// Whether the piece before is out.
    pub(super) fn is_idle(&self) -> bool {
        !*self.shared.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands over a piece.
    pub(super) fn send(&self, piece: Vec<u8>) {
        self.shared.given_up.store(false, Ordering::Release);
        self.shared.set_busy(true);
        // The thread lives as long as the sender.
        let _ = self.pieces.send(piece);
    }

    /// Waits until the piece before is out, for `most` at most. Says whether it is.
    pub(super) fn wait(&self, most: Duration) -> bool {
        let busy = self.shared.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.shared.idle.wait_timeout_while(busy, most, |busy| *busy);
        let (busy, _) = waited.unwrap_or_else(PoisonError::into_inner);
        !*busy
    }

    /// Gives up what is left of the piece on its way.
    pub(super) fn give_up(&mut self) {
        self.shared.given_up.store(true, Ordering::Release);
        // A full pipe wakes just as well.
        let _ = self.wake.write(&[0]);
    }
}

/// The terminal of standard output as an open file of our own: not waiting is a property of an open file, and the one that
/// standard output came with is shared with whoever started us.
fn terminal() -> io::Result<OwnedFd> {
    let path = fs::read_link("/proc/self/fd/1").unwrap_or_else(|_| PathBuf::from("/dev/tty"));
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let own = OpenOptions::new().write(true).custom_flags(flags).open(path);
    match own.map(File::into) {
        Ok(own) if rustix::termios::isatty(&own) => Ok(own),
        // It works too, and waits where it must not only where the terminal stops reading.
        _ => stdout().try_clone_to_owned(),
    }
}

/// The thread's own.
struct Writer {
    terminal: OwnedFd,
    woken: PipeReader,
    shared: Arc<Shared>,
}

impl Writer {
    /// One system call for a frame, unless the terminal takes less.
    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() && !self.shared.given_up.load(Ordering::Acquire) {
            match write(&self.terminal, bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => bytes = &bytes[count..],
                Err(Errno::AGAIN) => self.wait_for_room()?,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn wait_for_room(&mut self) -> io::Result<()> {
        let (terminal, woken) = (self.terminal.as_fd(), self.woken.as_fd());
        let mut both = [
            PollFd::from_borrowed_fd(terminal, PollFlags::OUT),
            PollFd::from_borrowed_fd(woken, PollFlags::IN),
        ];
        match poll(&mut both, None) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        if !both[1].revents().is_empty() {
            self.woken.read_exact(&mut [0])?;
        }
        Ok(())
    }
}
