//! A terminal for the real binary: a pty whose screen is kept by vt100. Waiting is waiting for output, never sleeping.

#![allow(dead_code, reason = "every including program uses another part")]
#![allow(unreachable_pub, reason = "included as a private module")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test support: a failure here fails the test"
)]

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

/// Longest wait for anything on the screen: far more than a loaded two-core machine needs, so that only a real fault ends it.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// The program under test.
pub const QUIPU: &str = env!("CARGO_BIN_EXE_quipu");

/// A running quipu and what its terminal shows.
pub struct Session {
    /// The screen.
    pub parser: vt100::Parser,
    /// Every byte it wrote.
    pub bytes: Vec<u8>,
    /// Our end of the terminal; `None` once it was closed.
    master: Option<Box<dyn MasterPty + Send>>,
    /// What is typed, for the thread that writes: a program that reads slowly must not hold up the test.
    typing: Option<(Sender<Vec<u8>>, JoinHandle<()>)>,
    output: Receiver<Vec<u8>>,
    /// Has the thread that reads let go of the terminal after the next piece.
    closing: Arc<AtomicBool>,
    /// Whether that thread reads at all.
    reading: Reading,
    /// The first process.
    pid: Pid,
    /// How it ended, once it has.
    ended: Receiver<ExitStatus>,
    /// The terminal's settings as they were before it started.
    before: Termios,
}

impl Session {
    /// Starts quipu with these arguments in a terminal of `columns` by `rows`, everything it keeps under `home`.
    pub fn start(home: &Path, args: &[&str], columns: u16, rows: u16) -> Self {
        Self::start_with(home, args, columns, rows, &[])
    }

    /// The same with more in the environment.
    pub fn start_with(home: &Path, args: &[&str], columns: u16, rows: u16, env: &[(&str, &str)]) -> Self {
        let mut command = command(home, QUIPU);
        command.args(args);
        for (name, value) in env {
            command.env(name, value);
        }
        Self::run(command, columns, rows)
    }

    /// Has a shell run a script, in which `"$@"` is quipu with these arguments.
    pub fn start_in_shell(home: &Path, script: &str, args: &[&str], columns: u16, rows: u16) -> Self {
        let mut command = command(home, "bash");
        command.args(["-c", script, "bash", QUIPU]);
        command.args(args);
        Self::run(command, columns, rows)
    }

    fn run(command: CommandBuilder, columns: u16, rows: u16) -> Self {
        let pair = native_pty_system().openpty(size(columns, rows)).unwrap();
        let before = tcgetattr(slave(&*pair.master)).unwrap();
        let child: Box<dyn portable_pty::Child> = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut child = child.downcast::<std::process::Child>().unwrap();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        let (status, ended) = channel();
        thread::spawn(move || status.send(child.wait().unwrap()));
        let closing = Arc::new(AtomicBool::new(false));
        let reading = Reading::default();
        let output = read(
            pair.master.try_clone_reader().unwrap(),
            Arc::clone(&closing),
            reading.clone(),
        );
        let typing = write(pair.master.take_writer().unwrap());
        Self {
            parser: vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), 0),
            bytes: Vec::new(),
            master: Some(pair.master),
            typing: Some(typing),
            output,
            closing,
            reading,
            pid,
            ended,
            before,
        }
    }

    /// Types.
    pub fn send(&mut self, text: &str) {
        let (typing, _) = self.typing.as_ref().unwrap();
        typing.send(text.as_bytes().to_vec()).unwrap();
    }

    /// What is on the screen, line by line, without the blanks at their ends: a cell that was written blank looks like one
    /// that never was.
    pub fn text(&self) -> String {
        let contents = self.parser.screen().contents();
        contents.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
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

    /// Waits until it wrote more than this.
    pub fn wait_more(&mut self, than: usize) {
        while self.bytes.len() <= than {
            let bytes = self.output.recv_timeout(PATIENCE).unwrap();
            self.take(&bytes);
        }
    }

    /// Waits for output that must not come: what was on its way is taken, then nothing follows for as long as this.
    pub fn hears_nothing(&mut self, so_long: Duration) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.output.recv_timeout(so_long) {
                Ok(bytes) => self.take(&bytes),
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => panic!("it ended; the screen:\n{}", self.text()),
            }
            assert!(
                Instant::now() < deadline,
                "it goes on writing; the screen:\n{}",
                self.text()
            );
        }
    }

    /// Takes what comes within this time.
    pub fn listen(&mut self, so_long: Duration) {
        let deadline = Instant::now() + so_long;
        while let Ok(bytes) = self
            .output
            .recv_timeout(deadline.saturating_duration_since(Instant::now()))
        {
            self.take(&bytes);
        }
    }

    /// Stops reading what it writes, as a terminal that hangs does, or goes on.
    pub fn read_on(&self, on: bool) {
        self.reading.set(on);
    }

    /// The first process.
    pub fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
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
        self.master.as_ref().unwrap().resize(size(columns, rows)).unwrap();
    }

    /// Says that the terminal has a size, which the screen kept here has not.
    pub fn claim(&self, (columns, rows): (u16, u16)) {
        self.master.as_ref().unwrap().resize(size(columns, rows)).unwrap();
    }

    /// The signal, sent to the process.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid, signal).unwrap();
    }

    /// The process that has the terminal: under a shell the leader of the job in front.
    pub fn in_front(&self) -> Pid {
        let leader = self.master.as_ref().unwrap().process_group_leader();
        Pid::from_raw(leader.unwrap()).unwrap()
    }

    /// Waits for the process to end and for the last of its output.
    pub fn end(&mut self) -> ExitStatus {
        self.drain();
        self.ended()
    }

    /// Waits for the process to end; what it writes meanwhile stays unread.
    pub fn ended(&mut self) -> ExitStatus {
        let ended = self.ended.recv_timeout(PATIENCE);
        ended.unwrap_or_else(|_| panic!("it did not end; the screen:\n{}", self.text()))
    }

    /// Takes output until there is nobody left who reads or writes.
    fn drain(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.take(&bytes),
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => panic!("it goes on writing; the screen:\n{}", self.text()),
            }
        }
    }

    /// Closes the terminal, as its window is closed: nobody holds our end any more.
    pub fn hang_up(&mut self) {
        let terminal = slave(self.master.as_deref().unwrap());
        // portable-pty's writer types an end of file where it is dropped, and that would be a way out of its own.
        let mut settings = tcgetattr(&terminal).unwrap();
        settings.special_codes[SpecialCodeIndex::VEOF] = 0;
        tcsetattr(&terminal, OptionalActions::Now, &settings).unwrap();
        drop(terminal);
        let (typing, writer) = self.typing.take().unwrap();
        drop(typing);
        writer.join().unwrap();
        // The reading thread waits for output; a new size has the program give some.
        self.closing.store(true, Ordering::Release);
        let (rows, columns) = self.parser.screen().size();
        self.resize(columns.get() + 1, rows.get());
        self.drain();
        self.master = None;
    }

    /// What of the terminal is not as a shell wants it, and as it was: main screen, cursor shown, no modes of ours.
    pub fn disorder(&self) -> Vec<&'static str> {
        let screen = self.parser.screen();
        let count = |sequence: &[u8]| self.bytes.windows(sequence.len()).filter(|w| *w == sequence).count();
        let now = tcgetattr(slave(self.master.as_deref().unwrap())).unwrap();
        let found = [
            (screen.alternate_screen(), "the alternate screen"),
            (screen.hide_cursor(), "a hidden cursor"),
            (screen.bracketed_paste(), "bracketed paste"),
            (
                screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None,
                "a captured mouse",
            ),
            (count(b"\x1b[>1u") != count(b"\x1b[<1u"), "another keyboard protocol"),
            (now.local_modes != self.before.local_modes, "other local modes"),
            (now.input_modes != self.before.input_modes, "other input modes"),
            (now.output_modes != self.before.output_modes, "other output modes"),
            (now.control_modes != self.before.control_modes, "other control modes"),
        ];
        found
            .into_iter()
            .filter_map(|(wrong, what)| wrong.then_some(what))
            .collect()
    }

    /// Asserts that the terminal was left as it was.
    #[track_caller]
    pub fn assert_sane(&self) {
        assert_eq!(
            self.disorder(),
            Vec::<&str>::new(),
            "left behind; the screen:\n{}",
            self.text()
        );
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.ended.try_recv() == Err(TryRecvError::Empty) {
            let _ = kill_process(self.pid, Signal::KILL);
        }
    }
}

/// Writes a script into the home folder; the name of the engine that plays it.
pub fn scripted(home: &Path, script: &str) -> String {
    let path = home.join("script.toml");
    std::fs::write(&path, script).unwrap();
    format!("scripted:{}", path.display())
}

/// What is to be seen of an end: the exit code, or the signal.
pub fn way_out(status: ExitStatus) -> (Option<i32>, Option<i32>) {
    (status.code(), status.signal())
}

/// A program in the environment of a usual terminal.
fn command(home: &Path, program: &str) -> CommandBuilder {
    let mut command = CommandBuilder::new(program);
    command.env_remove("NO_COLOR");
    command.env_remove("COLORTERM");
    command.env("TERM", "xterm-256color");
    command.env("QUIPU_HOME", home);
    // Scripts say the same words over and over, and are to end where they say.
    command.env("QUIPU_LOOP_GUARD", "off");
    // Where a fatal signal leaves a core dump.
    command.cwd(home);
    command
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize {
        rows,
        cols: columns,
        pixel_width: 0,
        pixel_height: 0,
    }
}

/// The program's end of the terminal, which does not become ours by opening it.
fn slave(master: &(dyn MasterPty + Send)) -> File {
    let path = master.tty_name().unwrap();
    let flags = libc::O_NOCTTY;
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(flags)
        .open(path)
        .unwrap()
}

/// Whether the terminal is read from.
#[derive(Clone, Default)]
struct Reading(Arc<(Mutex<bool>, Condvar)>);

impl Reading {
    fn set(&self, on: bool) {
        *self.0.0.lock().unwrap() = !on;
        self.0.1.notify_all();
    }

    /// Returns when it is.
    fn wait(&self) {
        let stopped = self.0.0.lock().unwrap();
        drop(self.0.1.wait_while(stopped, |stopped| *stopped).unwrap());
    }
}

/// Reads on a thread of its own, until the end or until it is to close.
fn read(mut from: Box<dyn Read + Send>, closing: Arc<AtomicBool>, reading: Reading) -> Receiver<Vec<u8>> {
    let (sender, output) = channel();
    thread::spawn(move || {
        let mut buffer = vec![0_u8; 65536];
        while let Ok(n @ 1..) = from.read(&mut buffer) {
            reading.wait();
            if sender.send(buffer[..n].to_vec()).is_err() || closing.load(Ordering::Acquire) {
                break;
            }
        }
        // In this order: who sees the channel closed may count on the terminal being closed.
        drop(from);
        drop(sender);
    });
    output
}

/// Writes on a thread of its own, until nobody types any more.
fn write(mut to: Box<dyn Write + Send>) -> (Sender<Vec<u8>>, JoinHandle<()>) {
    let (typing, typed) = channel::<Vec<u8>>();
    let thread = thread::spawn(move || {
        for text in typed {
            // It fails where the program has ended, and then its end is what the test is about.
            let _ = to.write_all(&text);
        }
    });
    (typing, thread)
}
