//! Asking an engine and waiting for what it tells, for tasks without a screen: an engine that is gone ends the task.

use crate::domain::inference::{Command, Event};
use crate::engine::EngineHandle;

use super::exit::{Exit, Stop};

/// Asks the engine.
///
/// # Errors
/// When it is gone.
pub(super) fn send(engine: &EngineHandle, command: Command) -> Result<(), Stop> {
    engine.commands.send(command).map_err(|_| dead("it does not answer"))
}

/// Waits for the next thing that the engine tells.
///
/// # Errors
/// When it is gone, with its last words.
pub(super) async fn next(engine: &mut EngineHandle) -> Result<Event, Stop> {
    match engine.events.recv().await {
        Some(Event::Died { reason }) => Err(dead(&reason)),
        Some(event) => Ok(event),
        None => Err(dead("it does not answer")),
    }
}

fn dead(reason: &str) -> Stop {
    Stop::new(Exit::Failed, format!("the engine has stopped: {reason}"))
}
