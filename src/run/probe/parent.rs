//! The parent's side of a trial: starts the child, follows it, ends it, and finds the reason of its death.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::engine::local::{self, Depth, Prober, Trial, Verdict};

use super::COMMAND;
use super::known::Known;
use super::word::Word;

/// How often a silent child is looked after: how long a cancel may take to be felt.
const LOOK: Duration = Duration::from_millis(50);
/// How much of its standard error is kept, in bytes: the end of it has the reason.
const ERRORS: usize = 16 * 1024;
/// The longest line that is listened to, in bytes.
const LINE: u64 = 64 * 1024;

/// Tries models in a child process, each once.
#[derive(Debug)]
pub struct ChildProber {
    program: PathBuf,
    known: Known,
}

impl ChildProber {
    /// A prober that starts `program`, which is quipu, and remembers sound models in the folder `cache`.
    pub fn new(program: &Path, cache: &Path) -> Self {
        Self {
            program: program.to_owned(),
            known: Known::new(cache, &local::version()),
        }
    }
}

impl Prober for ChildProber {
    fn probe(&self, trial: &Trial<'_>, progress: &mut dyn FnMut(f32) -> bool) -> Verdict {
        if self.known.has(trial.fingerprint) {
            return Verdict::Sound;
        }
        let verdict = match start(&self.program, trial) {
            Ok(child) => follow(child, progress),
            Err(error) => Verdict::Untried(format!("no child can be started: {error}")),
        };
        tracing::info!(?verdict, "a model was tried");
        if verdict == Verdict::Sound
            && let Err(error) = self.known.remember(trial.fingerprint)
        {
            tracing::info!(%error, "that the model is sound cannot be remembered");
        }
        verdict
    }
}

fn start(program: &Path, trial: &Trial<'_>) -> std::io::Result<Child> {
    let mut command = Command::new(program);
    command.arg(COMMAND).args(["--on-card", &trial.gpu_layers.to_string()]);
    if trial.depth == Depth::Load {
        command.arg("--load-only");
    }
    if !trial.overrides.is_empty() {
        command.args(["--with", trial.overrides]);
    }
    // A path may begin like a flag.
    command.arg("--").arg(trial.path);
    // Standard input is what tells the child that we live.
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn()
}

/// Waits for the child's verdict, or ends it.
fn follow(mut child: Child, progress: &mut dyn FnMut(f32) -> bool) -> Verdict {
    // Held until the child is gone: closing it ends the child.
    let _life = child.stdin.take();
    let (words, errors) = (listen(child.stdout.take()), tail(child.stderr.take()));
    let (mut part, mut greeted, mut end) = (0.0, false, None);
    loop {
        match words.recv_timeout(LOOK) {
            Ok(Word::Hello) => greeted = true,
            Ok(Word::At(percent)) => part = f32::from(percent) / 100.0,
            Ok(word) => end = Some(word),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if !progress(part) {
            // It fails only for a child that is gone already; its end is collected in either case.
            let _ = child.kill();
            let _ = child.wait();
            return Verdict::Stopped;
        }
    }
    let status = match child.wait() {
        Ok(status) => status,
        Err(error) => return Verdict::Untried(format!("the child's end cannot be seen: {error}")),
    };
    let errors = errors.and_then(|thread| thread.join().ok()).unwrap_or_default();
    match end {
        Some(Word::Sound) => Verdict::Sound,
        Some(Word::Refused(words)) => Verdict::Refused(words),
        Some(Word::LastWords(words)) => Verdict::GaveUp(without_folder(&words).to_owned()),
        _ if !greeted => Verdict::Untried(format!("the child did not understand ({status}): {}", errors.trim())),
        _ => Verdict::GaveUp(reason(status, &errors)),
    }
}

/// The child's words, from a thread of its own; the channel closes with the child's standard output.
fn listen(from: Option<impl Read + Send + 'static>) -> Receiver<Word> {
    let (to, words) = channel();
    let read = move || {
        let Some(from) = from else { return };
        let mut lines = BufReader::new(from);
        let mut line = Vec::new();
        while let Ok(1..) = lines.by_ref().take(LINE).read_until(b'\n', &mut line) {
            let word = Word::read(String::from_utf8_lossy(&line).trim_end_matches('\n'));
            if word.is_some_and(|word| to.send(word).is_err()) {
                return;
            }
            line.clear();
        }
    };
    // Without a thread the channel closes at once, and the child counts as one that did not understand.
    let _ = thread::Builder::new().name("quipu-trial".to_owned()).spawn(read);
    words
}

/// The end of what the child writes to standard error.
fn tail(from: Option<impl Read + Send + 'static>) -> Option<JoinHandle<String>> {
    let mut from = from?;
    let read = move || {
        let mut kept = Vec::new();
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            kept.extend_from_slice(buffer.get(..count).unwrap_or_default());
            kept.drain(..kept.len().saturating_sub(ERRORS));
        }
        String::from_utf8_lossy(&kept).into_owned()
    };
    thread::Builder::new()
        .name("quipu-trial-errors".to_owned())
        .spawn(read)
        .ok()
}

/// Why the child died without last words: what a C++ exception or a panic left on standard error, else the signal.
fn reason(status: ExitStatus, errors: &str) -> String {
    let lines = || errors.lines().map(str::trim).filter(|line| !line.is_empty());
    if let Some(what) = lines().find_map(|line| line.strip_prefix("what():")) {
        return without_folder(what.trim()).to_owned();
    }
    // The words of Rust's own runtime say less.
    if errors.contains("cannot catch foreign exceptions") {
        return "it met something that it had no answer to (a C++ exception)".to_owned();
    }
    match (status.signal(), lines().next_back()) {
        (Some(libc::SIGKILL), _) => "the system ended it, most likely for want of memory".to_owned(),
        (Some(libc::SIGABRT) | None, Some(line)) => without_folder(line).to_owned(),
        (Some(libc::SIGSEGV), _) => "it reached for memory that is not there (SIGSEGV)".to_owned(),
        (Some(libc::SIGBUS), _) => "the file is shorter than it was (SIGBUS)".to_owned(),
        (Some(libc::SIGFPE), _) => "it divided by zero (SIGFPE)".to_owned(),
        (Some(libc::SIGILL), _) => "it needs a processor that this one is not (SIGILL)".to_owned(),
        _ => format!("it ended with {status}"),
    }
}

/// Last words begin with the place in llama.cpp's source on the machine where it was built; the folder says nothing to anyone.
fn without_folder(words: &str) -> &str {
    let place = words.split_once(": ").map_or("", |(place, _)| place);
    match place.rfind('/') {
        Some(slash) if !place.contains(' ') => &words[slash + 1..],
        _ => words,
    }
}
