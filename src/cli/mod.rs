//! The command line: its grammar, and the commands that need no screen.

mod args;
mod ask;
mod bench;
mod compare;
#[cfg(feature = "llama")]
mod devices;
#[cfg(feature = "llama")]
mod doctor;
mod driver;
mod exit;
mod in_session;
mod input;
mod layer;
mod models;
mod oneshot;
mod plain;
mod processor;
mod prompt;
#[cfg(feature = "llama")]
mod pull;
mod sessions;
mod setup;
#[cfg(feature = "llama")]
mod tokens;

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

#[cfg(feature = "llama")]
use crate::engine::local::{Depth, Trial};
#[cfg(feature = "llama")]
use crate::run::probe;
use crate::text::sanitize;

#[cfg(feature = "llama")]
use self::args::TrialArgs;
use self::args::{Args, Task};
use self::exit::{Exit, Stop};
use self::setup::Setup;

pub use self::args::command;

/// Runs quipu with these arguments and returns what the process ends with.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let ready = fits_processor();
    #[cfg(feature = "llama")]
    if ready.is_ok() {
        crate::engine::local::prepare();
    }
    match ready.and_then(|()| args::parse(args)).and_then(|args| run(&args)) {
        Ok(exit) => exit.into(),
        Err(stop) => {
            say(&stop);
            stop.exit.into()
        }
    }
}

/// Fails where the processor lacks what the machine code is made of, before any of llama.cpp's is run.
fn fits_processor() -> Result<(), Stop> {
    match processor::missing().as_slice() {
        [] => Ok(()),
        missing => {
            let message = format!(
                "this quipu was built for a processor with {}, which this one lacks: build it anew on this machine with \
                 './scripts/run'",
                missing.join(", ")
            );
            Err(Stop::new(Exit::Failed, message))
        }
    }
}

fn run(args: &Args) -> Result<Exit, Stop> {
    match &args.command {
        Some(Task::Sessions(task)) => Setup::new(args)?.sessions(task),
        Some(Task::Models(task)) => Setup::new(args)?.models(task),
        #[cfg(feature = "llama")]
        Some(Task::Pull(task)) => Setup::new(args)?.pull(task),
        Some(Task::Compare(task)) => Setup::new(args)?.compare(task, args),
        Some(Task::Bench(task)) => Setup::new(args)?.bench(task),
        Some(Task::Prompt(task)) => Setup::new(args)?.prompt(task, args),
        #[cfg(feature = "llama")]
        Some(Task::Tokenize(task)) => Setup::new(args)?.tokenize(task),
        #[cfg(feature = "llama")]
        Some(Task::Devices(task)) => devices::run(*task, io::stdout()),
        #[cfg(feature = "llama")]
        Some(Task::Doctor(task)) => Setup::new(args)?.doctor(task),
        #[cfg(feature = "llama")]
        Some(Task::TryModel(task)) => Ok(try_model(task)),
        None => match input::question(&args.question)? {
            Some(question) => Setup::new(args)?.ask(question, args.json),
            None => chat(args),
        },
    }
}

/// Tries a model for the quipu that started this one. Reads no settings and keeps no log: those are the parent's.
#[cfg(feature = "llama")]
fn try_model(task: &TrialArgs) -> Exit {
    let depth = if task.load_only { Depth::Load } else { Depth::Compute };
    let sound = probe::serve(&Trial {
        path: &task.path,
        // The parent remembers.
        fingerprint: "",
        gpu_layers: task.on_card,
        overrides: &task.with,
        depth,
    });
    if sound { Exit::Success } else { Exit::Model }
}

/// Opens the chat, where there is a screen for it.
fn chat(args: &Args) -> Result<Exit, Stop> {
    if !io::stdout().is_terminal() {
        let message = "standard output is no terminal: give a question, as in quipu \"What is the capital of France?\"";
        return Err(Stop::new(Exit::Usage, message));
    }
    if args.json {
        return Err(Stop::new(Exit::Usage, "--json needs a question"));
    }
    let dumb = env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
    let setup = Setup::new(args)?;
    if dumb || setup.is_plain() {
        setup.plain()
    } else {
        setup.chat(args)
    }
}

/// Last words: help and version on standard output, everything else as an error.
fn say(stop: &Stop) {
    if stop.message.is_empty() {
        return;
    }
    // A closed pipe has nobody behind it who could be told.
    let _ = if stop.exit == Exit::Success {
        writeln!(io::stdout(), "{}", stop.message)
    } else {
        writeln!(io::stderr(), "quipu: {}", sanitize(&stop.message))
    };
}
