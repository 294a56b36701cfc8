//! Asking an engine and waiting for what it tells, for tasks without a screen: an engine that is gone ends the task.

use std::io::{self, Write};

use crate::domain::inference::{Command, Event, LoadOptions, ModelInfo, ModelSource, TurnId};
use crate::engine::EngineHandle;
use crate::text::sanitize;

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

/// Loads a model and waits until it can be talked to; what the person should know of it goes to standard error.
///
/// # Errors
/// When it cannot be loaded, or the engine is gone.
pub(super) async fn load(
    engine: &mut EngineHandle,
    turn: TurnId,
    source: ModelSource,
    options: LoadOptions,
) -> Result<Box<ModelInfo>, Stop> {
    send(engine, Command::Load { turn, source, options })?;
    loop {
        match next(engine).await? {
            Event::Ready { model, .. } => {
                for warning in &model.warnings {
                    // A closed pipe has nobody behind it who could be told.
                    let _ = writeln!(io::stderr(), "quipu: {}", sanitize(warning));
                }
                return Ok(model);
            }
            Event::Failed { failure, .. } => return Err(failure.into()),
            _ => {}
        }
    }
}

fn dead(reason: &str) -> Stop {
    Stop::new(Exit::Failed, format!("the engine has stopped: {reason}"))
}
