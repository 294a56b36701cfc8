//! Signals. Those that kill give the terminal back first, from a handler that does only what a handler may (write, tcsetattr,
//! dup2); those that ask are told to the loop; and the stop signal, which needs its default action back for a moment.
//!
//! Beside the engine's bindings this is the one file with `unsafe`: the safe interfaces know no fatal signals.
#![allow(
    unsafe_code,
    reason = "sigaction, tcsetattr and raise in a signal handler have no safe interface"
)]

use std::mem::{MaybeUninit, zeroed};
use std::os::fd::RawFd;
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

use libc::{c_int, c_void, sigaction, siginfo_t};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::UnboundedSender;

use super::happening::Happening;

/// Signals that kill, and what they are called.
const FATAL: [(c_int, &str); 5] = [
    (libc::SIGSEGV, "SIGSEGV, a fault in native code"),
    (
        libc::SIGBUS,
        "SIGBUS: a file in memory was cut short, or the memory is bad",
    ),
    (libc::SIGILL, "SIGILL, an instruction that this processor does not know"),
    (libc::SIGFPE, "SIGFPE, a fault in native arithmetic"),
    (libc::SIGABRT, "SIGABRT, as native code gave up"),
];

/// What was in force for each of [`FATAL`] before. Rust's own handlers, which tell a stack overflow from other faults, are
/// among them, and come after ours.
static BEFORE: [OnceLock<sigaction>; FATAL.len()] = [const { OnceLock::new() }; FATAL.len()];

/// How to give the terminal back.
struct Rescue {
    terminal: RawFd,
    output: RawFd,
    errors: RawFd,
    settings: Option<libc::termios>,
    reset: &'static [u8],
    /// Ends the line of last words.
    log: Box<[u8]>,
}

/// Leaked, never freed and never changed: a handler may be reading it.
static RESCUE: AtomicPtr<Rescue> = AtomicPtr::new(null_mut());

/// Whose the terminal is: [`FREE`], [`OURS`] or [`RESCUED`].
static HOLD: AtomicU8 = AtomicU8::new(FREE);
/// There is nothing to give back.
const FREE: u8 = 0;
/// It is to be given back.
const OURS: u8 = 1;
/// A thread is giving it back at this moment.
const RESCUED: u8 = 2;

/// Remembers the terminal as it is now, and from now on gives it back where a fatal signal ends the process: with the bytes of
/// `reset`, and with last words on `errors`, which is standard error wherever it was led meanwhile.
pub(super) fn arm(reset: &'static str, errors: RawFd, log: Option<&Path>) {
    let mut settings = MaybeUninit::uninit();
    // SAFETY: tcgetattr fills the struct where it returns 0, and only then it is read.
    let settings =
        unsafe { (libc::tcgetattr(libc::STDIN_FILENO, settings.as_mut_ptr()) == 0).then(|| settings.assume_init()) };
    let log = log.map(|path| format!("; what led to it may be in '{}'", path.display()));
    let rescue = Box::new(Rescue {
        terminal: libc::STDIN_FILENO,
        output: libc::STDOUT_FILENO,
        errors,
        settings,
        reset: reset.as_bytes(),
        log: log.unwrap_or_default().into_bytes().into_boxed_slice(),
    });
    // The one before stays where it is: once per start or suspension, a few hundred bytes.
    RESCUE.store(Box::into_raw(rescue), Ordering::Release);
    HOLD.store(OURS, Ordering::Release);
    install();
}

/// From now on the terminal is not ours.
pub(super) fn disarm() {
    // Where a thread is giving it back, that thread's word comes last.
    let _ = HOLD.compare_exchange(OURS, FREE, Ordering::AcqRel, Ordering::Acquire);
}

/// Whether the terminal is ours.
pub(super) fn is_armed() -> bool {
    HOLD.load(Ordering::Acquire) == OURS
}

/// Gives the terminal back at once, if it is ours, and says `message` on the real standard error. For code that is about to
/// abort the process; it allocates nothing and takes no lock. The words may be anyone's: control characters become blanks.
pub fn restore_terminal_now(message: &str) {
    rescue(|rescue| {
        if !message.is_empty() {
            rescue.say(&[b"quipu: "]);
            let mut bytes = [0; 4];
            for c in message.trim_end().chars() {
                let c = if c.is_control() { ' ' } else { c };
                rescue.say(&[c.encode_utf8(&mut bytes).as_bytes()]);
            }
            rescue.say(&[&rescue.log, b"\n"]);
        }
    });
}

/// Gives the terminal back and says the last words, for whoever comes first. The others wait until that is done: a fault
/// rarely strikes one computing thread alone, and the second would end the process under the first.
fn rescue(last_words: impl FnOnce(&Rescue)) {
    match HOLD.compare_exchange(OURS, RESCUED, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {
            // SAFETY: the pointer is null or comes from `Box::into_raw` in `arm`, and what it points to is never freed or
            // changed.
            if let Some(rescue) = unsafe { RESCUE.load(Ordering::Acquire).as_ref() } {
                rescue.restore();
                last_words(rescue);
            }
            HOLD.store(FREE, Ordering::Release);
        }
        Err(RESCUED) => wait_for_rescue(),
        Err(_) => {}
    }
}

/// Waits while another thread gives the terminal back, but not for ever: it may be this very thread, struck again.
fn wait_for_rescue() {
    const LOOKS: u32 = 100;
    const LOOK_MS: c_int = 10;
    for _ in 0..LOOKS {
        if HOLD.load(Ordering::Acquire) != RESCUED {
            return;
        }
        // SAFETY: poll of nothing touches no memory, only waits, and may be called in a signal handler.
        unsafe { libc::poll(null_mut(), 0, LOOK_MS) };
    }
}

impl Rescue {
    fn restore(&self) {
        write_all(self.output, self.reset);
        if let Some(settings) = &self.settings {
            // SAFETY: the settings were filled by tcgetattr, and tcsetattr may be called in a signal handler.
            unsafe { libc::tcsetattr(self.terminal, libc::TCSANOW, settings) };
        }
        if self.errors != libc::STDERR_FILENO {
            // SAFETY: dup2 of two numbers touches no memory and may be called in a signal handler.
            unsafe { libc::dup2(self.errors, libc::STDERR_FILENO) };
        }
    }

    fn say(&self, parts: &[&[u8]]) {
        for part in parts {
            write_all(self.errors, part);
        }
    }
}

/// Writes as much as goes. A terminal that does not take it within this time does not get it: a dying process must not hang.
fn write_all(to: RawFd, mut bytes: &[u8]) {
    const PATIENCE_MS: c_int = 200;
    while !bytes.is_empty() {
        let mut ready = libc::pollfd {
            fd: to,
            events: libc::POLLOUT,
            revents: 0,
        };
        // SAFETY: one pollfd is handed over and its count is 1; poll may be called in a signal handler.
        if unsafe { libc::poll(&raw mut ready, 1, PATIENCE_MS) } < 1 {
            return;
        }
        // SAFETY: pointer and length are those of a live slice; write may be called in a signal handler.
        let count = unsafe { libc::write(to, bytes.as_ptr().cast::<c_void>(), bytes.len()) };
        match usize::try_from(count) {
            Ok(count) if count > 0 => bytes = bytes.get(count..).unwrap_or_default(),
            _ => return,
        }
    }
}

/// Sets the handlers, once, and has writing beyond a limit on file sizes be an error instead of an end.
fn install() {
    for (&(number, _), before) in FATAL.iter().zip(&BEFORE) {
        before.get_or_init(|| {
            // SAFETY: a zeroed sigaction is a valid one without flags, mask or handler.
            let (mut action, mut old): (sigaction, sigaction) = unsafe { (zeroed(), zeroed()) };
            action.sa_sigaction = on_fatal as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
            // On the alternate stack that Rust gives to each of its threads: a stack that overflowed has no room left.
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            // SAFETY: both structs live through the call, and the handler does only what a handler may.
            unsafe { libc::sigaction(number, &raw const action, &raw mut old) };
            old
        });
    }
    // SAFETY: ignoring a signal runs no code of ours.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

extern "C" fn on_fatal(number: c_int, info: *mut siginfo_t, _context: *mut c_void) {
    let which = FATAL.iter().position(|(known, _)| *known == number);
    rescue(|rescue| {
        let name = which.map_or("a signal", |which| FATAL[which].1);
        rescue.say(&[b"quipu was ended by ", name.as_bytes(), &rescue.log, b"\n"]);
    });
    // SAFETY: the kernel hands over a valid siginfo_t, or none.
    let code = unsafe { info.as_ref() }.map_or(0, |info| info.si_code);
    let before = which.and_then(|which| BEFORE[which].get());
    match before {
        // A true fault: the instruction runs again when we return, under whatever was in force before.
        // SAFETY: the struct was filled by sigaction; sigaction may be called in a handler.
        Some(before) if code > 0 && code != libc::SI_USER => unsafe {
            libc::sigaction(number, before, null_mut());
        },
        // Someone sent it: it has to be sent again, and reaches us when we return.
        _ => die(number),
    }
}

/// Ends the process by this signal's default action, so that whoever waits for it sees the true reason. From a handler of
/// the same signal it takes effect on return.
pub(super) fn die(number: c_int) {
    // SAFETY: the default action runs no code of ours; signal and raise may be called in a handler.
    unsafe {
        libc::signal(number, libc::SIG_DFL);
        libc::raise(number);
    }
}

/// Ends the process without running exit handlers. For when threads may still work with native libraries: tearing those down under
/// them would be a crash.
pub(super) fn exit_now(code: u8) -> ! {
    // SAFETY: _exit returns to nobody and touches no memory of ours.
    unsafe { libc::_exit(code.into()) }
}

/// The default action of the stop signal is in force; dropping it puts back what was.
pub(super) struct Stopping {
    before: sigaction,
}

/// Stops this process and those it runs with, as the terminal's own Ctrl-Z would. It returns before or after the stop: that
/// we go on is told by [`libc::SIGCONT`]. A group that nobody could continue is not stopped; the kernel sees to that. `None`
/// where we were started so that stopping is ignored.
pub(super) fn stop() -> Option<Stopping> {
    if *STOP_IGNORED.get_or_init(stop_is_ignored) {
        return None;
    }
    // SAFETY: a zeroed sigaction is valid and means the default action; the structs live through the calls; kill with 0
    // reaches our own group only.
    unsafe {
        let action: sigaction = zeroed();
        let mut before: sigaction = zeroed();
        libc::sigaction(libc::SIGTSTP, &raw const action, &raw mut before);
        libc::kill(0, libc::SIGTSTP);
        Some(Stopping { before })
    }
}

impl Drop for Stopping {
    fn drop(&mut self) {
        // SAFETY: the struct was filled by sigaction.
        unsafe { libc::sigaction(libc::SIGTSTP, &raw const self.before, null_mut()) };
    }
}

/// Whether we were started so that the stop signal is ignored. Asked before our own handler is in force.
static STOP_IGNORED: OnceLock<bool> = OnceLock::new();

fn stop_is_ignored() -> bool {
    // SAFETY: with no new action sigaction only fills the old one, which is zeroed before.
    unsafe {
        let mut action: sigaction = zeroed();
        libc::sigaction(libc::SIGTSTP, null(), &raw mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Tells the loop about every signal that asks for something. To be called in its runtime.
///
/// # Errors
/// When the system refuses a handler.
pub(super) fn listen(to: &UnboundedSender<Happening>) -> std::io::Result<()> {
    STOP_IGNORED.get_or_init(stop_is_ignored);
    let ends = [libc::SIGTERM, libc::SIGHUP, libc::SIGINT, libc::SIGQUIT];
    let told = ends.map(|number| (number, Happening::Terminate(number)));
    let others = [
        (libc::SIGTSTP, Happening::Suspend),
        (libc::SIGCONT, Happening::Continue),
    ];
    for (number, happening) in told.into_iter().chain(others) {
        let mut signals = signal(SignalKind::from_raw(number))?;
        let to = to.clone();
        tokio::spawn(async move { while signals.recv().await.is_some() && to.send(happening.clone()).is_ok() {} });
    }
    Ok(())
}
