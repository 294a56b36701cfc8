//! The terminal while it is ours: raw mode, the other screen and the rest, each given back on every way out. Frames are put
//! together here and written by `output.rs`.

use std::cell::RefCell;
use std::io::{self, Write};
use std::os::fd::RawFd;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};
use rustix::stdio::stdout;
use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};
use tokio::sync::mpsc::UnboundedSender;

use super::happening::Happening;
use super::modes::{CLEAR, FRAME_BEGIN, FRAME_END, Modes};
use super::output::Output;
use super::signals;

/// How long a terminal has to take what is on its way before it is given back. One that takes nothing loses it.
const PATIENCE: Duration = Duration::from_millis(300);

/// What a terminal that does not know its size is taken for.
const UNKNOWN: (u16, u16) = (80, 24);

/// More cells than any screen has; two buffers of as many take some 50 MB.
const LARGEST: (u16, u16) = (1000, 500);

/// The bytes of a frame being put together.
#[derive(Clone, Default)]
struct Bytes(Rc<RefCell<Vec<u8>>>);

impl Bytes {
    fn push(&self, text: &str) {
        self.0.borrow_mut().extend_from_slice(text.as_bytes());
    }

    fn take(&self) -> Vec<u8> {
        self.0.take()
    }
}

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The terminal on standard input and output. Dropping it gives it back.
pub(super) struct Tty {
    modes: Modes,
    errors: RawFd,
    log: Option<PathBuf>,
    bytes: Bytes,
    size: (u16, u16),
    /// Whether the next frame is drawn whole.
    whole: bool,
    terminal: Terminal<CrosstermBackend<Bytes>>,
    output: Output,
}

impl Tty {
    /// The terminal, not yet ours. `errors` is where standard error really leads.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(super) fn new(
        modes: Modes,
        errors: RawFd,
        log: Option<PathBuf>,
        to: UnboundedSender<Happening>,
    ) -> io::Result<Self> {
        let output = Output::start(signals::is_armed, move |result| {
            // A terminal that cannot be written to is as good as gone.
            let happening = result.map_or(Happening::Terminate(libc::SIGHUP), |()| Happening::Written);
            let _ = to.send(happening);
        })?;
        let (bytes, size) = (Bytes::default(), size());
        Ok(Self {
            modes,
            errors,
            log,
            terminal: blank(&bytes, size)?,
            bytes,
            size,
            whole: true,
            output,
        })
    }
}

/// The size in columns and rows.
fn size() -> (u16, u16) {
    let known = tcgetwinsize(stdout()).map(|size| (size.ws_col, size.ws_row));
    let (columns, rows) = known.ok().filter(|size| *size != (0, 0)).unwrap_or(UNKNOWN);
    (columns.min(LARGEST.0), rows.min(LARGEST.1))
}

/// A terminal of which nothing is drawn yet. Its viewport is fixed, so that it never asks for the size on its own.
fn blank(bytes: &Bytes, (columns, rows): (u16, u16)) -> io::Result<Terminal<CrosstermBackend<Bytes>>> {
    let viewport = Viewport::Fixed(Rect::new(0, 0, columns, rows));
    Terminal::with_options(CrosstermBackend::new(bytes.clone()), TerminalOptions { viewport })
}

impl Tty {
    /// Whether the frame before is out.
    pub(super) fn is_ready(&self) -> bool {
        self.output.is_idle()
    }

    /// Draws a frame in the size that the terminal has now.
    ///
    /// # Errors
    /// Never on writing: that is told to the loop.
    pub(super) fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        let size = size();
        if size != self.size || self.whole {
            self.size = size;
            self.terminal = blank(&self.bytes, size)?;
            self.whole = true;
        }
        self.bytes.push(FRAME_BEGIN);
        if std::mem::take(&mut self.whole) {
            self.bytes.push(CLEAR);
        }
        self.terminal.draw(render)?;
        self.bytes.push(FRAME_END);
        self.output.send(self.bytes.take());
        Ok(())
    }

    /// Sends this with the next frame.
    pub(super) fn copy(&mut self, sequence: &str) {
        self.bytes.push(sequence);
    }

    /// Has the next frame drawn whole.
    pub(super) fn refresh(&mut self) {
        self.whole = true;
    }

    /// Makes the terminal ours; again, where something else had it meanwhile. What it is sent goes out with the next frame.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(super) fn enter(&mut self) -> io::Result<()> {
        // Where a shell had the terminal meanwhile, its settings are the ones to come back to.
        disable_raw_mode()?;
        signals::arm(self.modes.leave(), self.errors, self.log.as_deref());
        enable_raw_mode()?;
        self.bytes.push(&self.modes.enter());
        self.refresh();
        Ok(())
    }

    /// Gives the terminal back. May be called more than once.
    pub(super) fn leave(&mut self) {
        self.bytes.take();
        if !signals::is_armed() {
            return;
        }
        if !self.output.wait(PATIENCE) {
            // It does not read. What it was sent is thrown away, so that it can be told the rest once it reads again.
            self.output.give_up();
            self.output.wait(PATIENCE);
            let _ = tcflush(stdout(), QueueSelector::OFlush);
        }
        self.output.send(self.modes.leave().as_bytes().to_vec());
        self.output.wait(PATIENCE);
        signals::disarm();
        // It fails only where the terminal is gone.
        let _ = disable_raw_mode();
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        self.leave();
    }
}
