//! One question in a session that is kept: the answer on standard output, and both in the session. The same core decides that
//! decides in the chat.

use std::io::{self, Write};

use crate::app::notice::Level;
use crate::app::state::Engine;
use crate::app::{Action, Effect, Msg};
use crate::domain::inference::Event;
use crate::text::sanitize;

use super::driver::{Driver, Outside};
use super::exit::{Exit, Stop};
use super::oneshot::{Format, Printer, closed};

/// Opens the session, asks, prints, and waits until all is kept.
///
/// # Errors
/// With the exit code for each way in which it can fail.
pub(super) async fn run(
    mut driver: Driver<'_>,
    effects: Vec<Effect>,
    question: &str,
    format: Format,
    out: impl Write,
) -> Result<Exit, Stop> {
    driver.carry_out(effects);
    let asked = tokio::select! {
        asked = ask(&mut driver, question, format, out) => asked,
        _ = tokio::signal::ctrl_c() => Err(Stop::quiet(Exit::Interrupted)),
    };
    // An answer that was broken off is kept as far as it came.
    driver.happened(Msg::Action(Action::Run(crate::app::CommandId::Quit)));
    tell(&driver);
    driver.farewell().await;
    asked
}

async fn ask(driver: &mut Driver<'_>, question: &str, format: Format, out: impl Write) -> Result<Exit, Stop> {
    ready(driver).await?;
    if driver.state.session.read_only {
        let words = "another quipu has this session open: ask there, or fork it there with '/fork'";
        return Err(Stop::new(Exit::Failed, words));
    }
    let mut printer = Printer::new(out, format);
    printer
        .open(&driver.state.options.prefill)
        .map_err(|error| closed(&error))?;
    // A message that begins with a slash is typed with two.
    let slash = if question.starts_with('/') { "/" } else { "" };
    driver.happened(Msg::Edited(format!("{slash}{question}")));
    driver.state.draft.completion = None;
    driver.happened(Msg::Action(Action::Send));
    let Some(turn) = driver.state.running.as_ref().map(|running| running.turn) else {
        return Err(Stop::new(Exit::Failed, last_words(driver)));
    };
    let model = driver.state.engine.model().cloned().unwrap_or_default();
    let sampling = driver.state.tuning.sampling.clone();
    loop {
        match driver.outside().await {
            Outside::Store(event) => driver.stored(event),
            Outside::EngineGone => return Err(Stop::new(Exit::Failed, "the engine has stopped")),
            Outside::Engine(event) => {
                let shown = match &event {
                    Event::Token { turn: of, said } if *of == turn => printer.said(said.clone()),
                    _ => Ok(()),
                };
                let over = match &event {
                    Event::Finished {
                        turn: of,
                        finish,
                        stats,
                    } if *of == turn => Some(Ok((*finish, *stats))),
                    Event::Failed { turn: of, failure } if *of == turn => Some(Err(failure.clone())),
                    Event::Died { reason } => {
                        let words = format!("the engine has stopped: {reason}");
                        return Err(Stop::new(Exit::Failed, words));
                    }
                    _ => None,
                };
                driver.happened(Msg::Engine(event));
                shown.map_err(|error| closed(&error))?;
                if let Some(over) = over {
                    let (finish, stats) = over?;
                    printer
                        .finish(&model, &sampling, finish, &stats)
                        .map_err(|error| closed(&error))?;
                    return Ok(Exit::Success);
                }
            }
        }
    }
}

/// Waits until the model is loaded and the session is open.
async fn ready(driver: &mut Driver<'_>) -> Result<(), Stop> {
    loop {
        match &driver.state.engine {
            Engine::Failed(failure) => return Err(failure.clone().into()),
            Engine::Dead(reason) => {
                return Err(Stop::new(Exit::Failed, format!("the engine has stopped: {reason}")));
            }
            Engine::Ready(_) if driver.state.keeping.opening.is_none() => break,
            Engine::Ready(_) | Engine::Empty | Engine::Loading { .. } => {}
        }
        match driver.outside().await {
            Outside::Store(event) => {
                let refused = matches!(
                    &event,
                    crate::domain::session::StoreEvent::Opened { opened: Err(_), .. }
                );
                driver.stored(event);
                // One that was to be begun where it is not there is no error.
                if refused && driver.state.session.details.title.is_empty() {
                    return Err(Stop::new(Exit::Failed, last_words(driver)));
                }
            }
            Outside::Engine(event) => driver.happened(Msg::Engine(event)),
            Outside::EngineGone => return Err(Stop::new(Exit::Failed, "the engine has stopped")),
        }
    }
    Ok(())
}

fn last_words(driver: &Driver<'_>) -> String {
    let last = driver.state.notices.all().last();
    last.map_or_else(
        || "the question cannot be asked".to_owned(),
        |notice| notice.text.clone(),
    )
}

/// Tells on standard error what went wrong on the way.
fn tell(driver: &Driver<'_>) {
    for notice in driver
        .state
        .notices
        .all()
        .iter()
        .filter(|notice| notice.level > Level::Info)
    {
        // A closed pipe has nobody behind it who could be told.
        let _ = writeln!(io::stderr(), "quipu: {}", sanitize(&notice.text));
    }
}
