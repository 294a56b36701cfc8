//! What frames are drawn on: the terminal, or a buffer in memory for tests and pictures. The loop knows only this.

use std::io;

use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use ratatui::{Frame, Terminal};

/// Something that frames are drawn on.
pub trait Surface {
    /// Whether the frame before is out, so that another may be drawn. A terminal that does not keep up holds back frames,
    /// and nothing else.
    fn is_ready(&self) -> bool;

    /// Draws a frame in the size that the surface has now.
    ///
    /// # Errors
    /// When the surface is gone.
    fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) -> io::Result<()>;

    /// Sends this beside the next frame: a sequence that copies, and nothing else.
    fn copy(&mut self, sequence: &str);

    /// Has the next frame drawn whole, as after something else wrote on the surface.
    fn refresh(&mut self);

    /// Gives the surface back and stops the process, so that a shell can have the terminal. It goes on by
    /// [`resume`](Self::resume) once it was continued. Says whether there is anyone to continue it.
    fn suspend(&mut self) -> bool;

    /// Gives the surface to another program that we wait for; [`resume`](Self::resume) takes it back.
    fn lend(&mut self);

    /// Stops the process with the program that has the surface, which was asked to stop.
    fn stop_lent(&mut self);

    /// Takes the surface into possession again, also where it was stopped without being asked.
    ///
    /// # Errors
    /// When the surface is gone.
    fn resume(&mut self) -> io::Result<()>;

    /// Gives the surface back as it was found. May be called more than once.
    fn leave(&mut self);
}

/// A surface in memory.
#[derive(Debug)]
pub struct Headless {
    terminal: Terminal<TestBackend>,
    held: bool,
    frames: usize,
    copied: Vec<String>,
}

impl Headless {
    /// A surface of this many columns and rows.
    pub fn new(columns: u16, rows: u16) -> Self {
        let Ok(terminal) = Terminal::new(TestBackend::new(columns, rows));
        Self {
            terminal,
            held: true,
            frames: 0,
            copied: Vec::new(),
        }
    }

    /// Changes the size.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.terminal.backend_mut().resize(columns, rows);
    }

    /// What is on it.
    pub fn buffer(&self) -> &Buffer {
        self.terminal.backend().buffer()
    }

    /// Where the cursor stands.
    pub fn cursor(&self) -> Position {
        self.terminal.backend().cursor_position()
    }

    /// How many frames were drawn.
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// What was copied through it.
    pub fn copied(&self) -> &[String] {
        &self.copied
    }

    /// Whether it is in possession of the program.
    pub fn is_held(&self) -> bool {
        self.held
    }
}

impl Surface for Headless {
    fn is_ready(&self) -> bool {
        true
    }

    fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.frames += 1;
        let Ok(_) = self.terminal.draw(render);
        Ok(())
    }

    fn copy(&mut self, sequence: &str) {
        self.copied.push(sequence.to_owned());
    }

    fn refresh(&mut self) {
        let Ok(()) = self.terminal.clear();
    }

    fn suspend(&mut self) -> bool {
        self.held = false;
        true
    }

    fn lend(&mut self) {
        self.held = false;
    }

    fn stop_lent(&mut self) {}

    fn resume(&mut self) -> io::Result<()> {
        self.held = true;
        Ok(())
    }

    fn leave(&mut self) {
        self.held = false;
    }
}
