//! The threads that make tokens, all behind one seam: an [`EngineHandle`] of commands in, events out, and a cancel mark.
//! What speaks behind it (llama.cpp, a script) is nobody's business but this room's.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::domain::counter::Counter;
use crate::domain::inference::{Cancel, Command, Event};
use crate::domain::prospect::Lookout;

mod digest;
#[cfg(feature = "llama")]
pub mod local;
mod memory;
pub mod scripted;

pub use self::memory::available_memory;

/// The ends of a running engine. Dropping `commands` ends its thread after the turn at hand.
#[derive(Debug)]
pub struct EngineHandle {
    /// What it is asked. Taken in order; [`Command::Tune`] is looked for between two tokens.
    pub commands: mpsc::Sender<Command>,
    /// What it tells. Unbounded: a slow screen must not slow the model.
    pub events: UnboundedReceiver<Event>,
    /// Stops turns at once.
    pub cancel: Cancel,
    /// Where it leaves what the newest token was drawn from.
    pub lookout: Lookout,
    /// Counts tokens without asking it.
    pub counter: Counter,
}

/// What an engine's thread is given.
struct Ends {
    commands: mpsc::Receiver<Command>,
    events: UnboundedSender<Event>,
    cancel: Cancel,
    lookout: Lookout,
    counter: Counter,
}

/// Starts `engine` on a thread of its own. A panic there becomes [`Event::Died`]: the conversation outlives its engine.
///
/// # Errors
/// When the system gives no thread.
fn spawn(name: &str, engine: impl FnOnce(&Ends) + Send + 'static) -> io::Result<EngineHandle> {
    let (commands, commands_in) = mpsc::channel();
    let (events_out, events) = unbounded_channel();
    let (cancel, lookout, counter) = (Cancel::default(), Lookout::default(), Counter::default());
    let ends = Ends {
        commands: commands_in,
        events: events_out,
        cancel: cancel.clone(),
        lookout: lookout.clone(),
        counter: counter.clone(),
    };
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| engine(&ends))) {
            // Nobody listens any more where the send fails, and then nobody needs to know.
            let _ = ends.events.send(Event::Died {
                reason: words(panic.as_ref()),
            });
        }
    })?;
    Ok(EngineHandle {
        commands,
        events,
        cancel,
        lookout,
        counter,
    })
}

/// The words of a panic.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "unknown panic".to_owned())
}
