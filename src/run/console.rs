//! Everything that the program holds of its terminal, taken and given back together: the screen, the keyboard, standard
//! error, and the watch over it all.

use std::io;

use ratatui::Frame;
use tokio::sync::mpsc::UnboundedSender;

use super::happening::Happening;
use super::input::Input;
use super::logging::Log;
use super::modes::Modes;
use super::signals::{self, Stopping};
use super::stderr::Diverted;
use super::surface::Surface;
use super::terminal::Tty;
use super::watch::Watch;

/// The terminal that the program runs in. Dropping it gives everything back.
pub(super) struct Console {
    // Fields are dropped in this order: the screen goes first, so that nothing is said on it when standard error is back.
    tty: Tty,
    errors: Option<Diverted>,
    input: Input,
    stopping: Option<Stopping>,
    _watch: Watch,
}

impl Console {
    /// Takes the terminal.
    ///
    /// # Errors
    /// When there is none, or the system has no threads or descriptors left. Everything is given back then.
    pub(super) fn open(modes: Modes, log: Option<&Log>, to: &UnboundedSender<Happening>) -> io::Result<Self> {
        let input = Input::start(to.clone())?;
        let watch = Watch::start(to.clone())?;
        let errors = Diverted::into(log.map(Log::file))?;
        let real = errors.as_ref().map_or(libc::STDERR_FILENO, Diverted::real);
        let mut tty = Tty::new(modes, real, log.map(|log| log.path.clone()), to.clone())?;
        tty.enter()?;
        Ok(Self {
            tty,
            errors,
            input,
            stopping: None,
            _watch: watch,
        })
    }
}

impl Surface for Console {
    fn is_ready(&self) -> bool {
        self.tty.is_ready()
    }

    fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.tty.draw(render)
    }

    fn copy(&mut self, sequence: &str) {
        self.tty.copy(sequence);
    }

    fn refresh(&mut self) {
        self.tty.refresh();
    }

    fn lend(&mut self) {
        self.input.pause();
        self.tty.leave();
        if let Some(errors) = &self.errors {
            errors.pause();
        }
    }

    fn stop_lent(&mut self) {
        // It goes on by the signal that continues the other program, too.
        drop(signals::stop());
    }

    fn suspend(&mut self) -> bool {
        self.lend();
        self.stopping = signals::stop();
        self.stopping.is_some()
    }

    fn resume(&mut self) -> io::Result<()> {
        self.stopping = None;
        if let Some(errors) = &self.errors {
            errors.resume();
        }
        self.tty.enter()?;
        self.input.resume();
        Ok(())
    }

    fn leave(&mut self) {
        self.tty.leave();
    }
}
