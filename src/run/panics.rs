//! What a panic says, and where. On the loop's own thread it is the end: the terminal is given back before the words are
//! printed, or nobody could read them. On any other thread it is caught further up (an engine's panic becomes an event), and
//! the screen stays as it is.

use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::sync::Arc;
use std::thread;

use super::signals;

type Hook = Arc<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

/// Our hook is in force until this is dropped.
pub(super) struct Hooked {
    before: Hook,
}

/// Puts our hook before the one in force.
pub(super) fn hook() -> Hooked {
    let screen = thread::current().id();
    let before: Hook = Arc::from(take_hook());
    let then = Arc::clone(&before);
    set_hook(Box::new(move |panic| {
        // The words of a panic may quote what someone said: they are for a log that was asked for.
        let at = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(at, thread = thread::current().name(), "panic");
        tracing::debug!(%panic, "panic");
        if thread::current().id() == screen {
            signals::restore_terminal_now("");
            then(panic);
        }
    }));
    Hooked { before }
}

impl Drop for Hooked {
    fn drop(&mut self) {
        // A panicking thread may not change the hook; it is on its way out anyway.
        if !thread::panicking() {
            let before = Arc::clone(&self.before);
            set_hook(Box::new(move |panic| before(panic)));
        }
    }
}
