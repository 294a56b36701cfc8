//! A terminal for the real binary: a pty whose screen is kept by vt100. Waiting is waiting for output, never sleeping.

#![allow(dead_code, reason = "every including program uses another part")]
#![allow(unreachable_pub, reason = "included as a private module")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test support: a failure here fails the test"
)]

use std::io::{Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use rustix::termios::LocalModes;

/// Longest wait for anything on the screen: far more than a loaded two-core machine needs, so that only a real fault ends it.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// A running quipu and what its terminal shows.
pub struct Session {
    /// The screen.
    pub parser: vt100::Parser,
    /// Every byte it wrote.
    pub bytes: Vec<u8>,
    /// The process.
    pub child: Box<dyn Child + Send + Sync>,
    /// Our end of the terminal; `None` once it was closed.
    pub master: Option<Box<dyn MasterPty + Send>>,
    writer: Option<Box<dyn Write + Send>>,
    output: Receiver<Vec<u8>>,
}

impl Session {
    /// Starts quipu with these arguments in a terminal of `columns` by `rows`, everything it keeps under `home`.
    pub fn start(home: &Path, args: &[&str], columns: u16, rows: u16) -> Self {
        Self::start_with(home, args, columns, rows, &[])
    }

    /// The same with more in the environment.
    pub fn start_with(home: &Path, args: &[&str], columns: u16, rows: u16, env: &[(&str, &str)]) -> Self {
        let size = PtySize {
            rows,
            cols: columns,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_quipu"));
        command.args(args);
        command.env_remove("NO_COLOR");
        command.env_remove("COLORTERM");
        for (name, value) in [("TERM", "xterm-256color"), ("QUIPU_HOME", home.to_str().unwrap())]
            .iter()
            .chain(env)
        {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let writer = pair.master.take_writer().unwrap();
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut buffer = vec![0_u8; 65536];
            while let Ok(n @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..n].to_vec()).is_err() {
                    break;
                }
            }
        });
        let parser = vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), 0);
        Self {
            parser,
            bytes: Vec::new(),
            child,
            master: Some(pair.master),
            writer: Some(writer),
            output,
        }
    }

    /// Types.
    pub fn send(&mut self, text: &str) {
        let writer = self.writer.as_mut().unwrap();
        writer.write_all(text.as_bytes()).unwrap();
        writer.flush().unwrap();
    }

    /// What is on the screen, line by line.
    pub fn text(&self) -> String {
        self.parser.screen().contents()
    }

    /// Waits until `found` holds for the screen.
    pub fn wait_for(&mut self, what: &str, found: impl Fn(&str) -> bool) {
        self.wait_within(PATIENCE, what, found);
    }

    /// Waits until the screen has this text.
    pub fn wait_text(&mut self, text: &str) {
        self.wait_for(text, |screen| screen.contains(text));
    }

    fn wait_within(&mut self, patience: Duration, what: &str, found: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + patience;
        while !found(&self.text()) {
            match self
                .output
                .recv_timeout(deadline.saturating_duration_since(Instant::now()))
            {
                Ok(bytes) => self.take(&bytes),
                Err(end) => {
                    let why = if end == RecvTimeoutError::Timeout {
                        "in time"
                    } else {
                        "before it ended"
                    };
                    panic!("'{what}' did not come {why}; the screen:\n{}", self.text());
                }
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
        self.bytes.extend_from_slice(bytes);
    }

    /// Changes the size of the terminal.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.parser
            .screen_mut()
            .set_size(rows.try_into().unwrap(), columns.try_into().unwrap());
        let size = PtySize {
            rows,
            cols: columns,
            pixel_width: 0,
            pixel_height: 0,
        };
        self.master.as_ref().unwrap().resize(size).unwrap();
    }

    /// The signal, sent to the process.
    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = self.child.process_id().unwrap();
        let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Waits for the process to end and for the last of its output.
    pub fn end(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self
                .output
                .recv_timeout(deadline.saturating_duration_since(Instant::now()))
            {
                Ok(bytes) => self.take(&bytes),
                Err(RecvTimeoutError::Disconnected) => return self.child.wait().unwrap(),
                Err(RecvTimeoutError::Timeout) => {
                    let _ = self.child.kill();
                    panic!("it did not end; the screen:\n{}", self.text());
                }
            }
        }
    }

    /// Asserts that the terminal was left as a shell wants it: main screen, cursor shown, no modes of ours.
    pub fn assert_sane(&self) {
        let screen = self.parser.screen();
        assert!(!screen.alternate_screen(), "still on the alternate screen");
        assert!(!screen.hide_cursor(), "the cursor is still hidden");
        assert!(!screen.bracketed_paste(), "bracketed paste is still on");
        assert_eq!(
            screen.mouse_protocol_mode(),
            vt100::MouseProtocolMode::None,
            "the mouse is still captured"
        );
        if let Some(name) = self.master.as_ref().and_then(|master| master.tty_name()) {
            let terminal = std::fs::File::open(name).unwrap();
            let modes = rustix::termios::tcgetattr(&terminal).unwrap().local_modes;
            assert!(
                modes.contains(LocalModes::ECHO | LocalModes::ICANON),
                "the terminal is still raw"
            );
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}
