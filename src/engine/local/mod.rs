//! The engine that runs llama.cpp in this process. Every llama.cpp object is made, used and dropped on the engine thread,
//! in this room; what leaves it is the plain data of `domain::inference`.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;

use crate::domain::Sampling;
use crate::domain::inference::{Command, Event, Failure, FailureKind, TurnId};

pub use self::devices::{Device, DeviceKind, devices, usual_threads};
pub use self::drawing::Drawing;
pub use self::inside::{Inside, LayerSeen};
pub use self::lexicon::{Lexicon, Piece, Specials};
use self::load::Loaded;
pub use self::patient::{Patient, Run};
pub use self::quantize::quantize;
pub use self::trial::{Depth, Prober, Trial, Verdict, attempt};
pub use self::vault::{KvState, Vault};
use super::{Ends, EngineHandle, spawn as spawn_engine};

mod adapters;
mod backend;
mod bench;
mod columns;
mod conflicts;
mod devices;
mod drawing;
mod ffi;
mod generate;
mod inside;
mod lexicon;
mod load;
mod logs;
mod overrides;
mod packed;
mod patient;
mod plan;
mod prompt;
mod quantize;
mod raw;
mod sampler;
mod sequence;
mod shape;
mod trial;
mod turn;
mod vault;
mod vocabulary;
mod window;

#[cfg(test)]
mod tests;

/// What the process must know before any thread runs; call it first in `main`.
pub fn prepare() {
    ffi::no_backtrace();
}

/// Starts the engine. `last_words` is told what llama.cpp says before it aborts the process over a broken invariant; it must
/// do little and return. `prober` tries files before they are loaded here; without one they are loaded at once. `vault` keeps
/// states; without one every conversation is read anew.
///
/// # Errors
/// When the system gives no thread.
pub fn spawn(
    last_words: fn(&str),
    prober: Option<Box<dyn Prober>>,
    vault: Option<Box<dyn Vault>>,
) -> io::Result<EngineHandle> {
    ffi::on_abort(last_words);
    spawn_engine("quipu-engine", |ends| {
        let mut local = Local {
            ends,
            prober,
            vault,
            waiting: RefCell::default(),
        };
        local.run();
    })
}

/// The engine thread's own.
struct Local<'a> {
    ends: &'a Ends,
    /// Tries unknown files where llama.cpp's death harms nobody.
    prober: Option<Box<dyn Prober>>,
    /// Keeps states.
    vault: Option<Box<dyn Vault>>,
    /// Commands that came while a turn ran and are no business of it.
    waiting: RefCell<VecDeque<Command>>,
}

impl Local<'_> {
    /// Takes commands until nobody is left to give one.
    fn run(&mut self) {
        let mut loaded: Option<Loaded> = None;
        while let Some(command) = self.next() {
            match (command, &mut loaded) {
                (Command::Load { turn, source, options }, loaded) => {
                    // The old model goes first: two rarely fit.
                    self.ends.counter.set(None);
                    *loaded = None;
                    *loaded = self.load(turn, &source, &options);
                    self.ends
                        .counter
                        .set(loaded.as_ref().map(|loaded| loaded.prompter.vocabulary.lend()));
                }
                (Command::Unload, loaded) => {
                    self.ends.counter.set(None);
                    *loaded = None;
                }
                // Of no effect between turns; and without a model there is nothing to keep.
                (Command::Tune(_) | Command::EndThinking { .. }, _) | (Command::Keep { .. }, None) => {}
                (Command::Keep { name }, Some(loaded)) => self.keep(loaded, &name),
                (Command::Resume { turn, name, prompt }, Some(loaded)) => self.resume(loaded, turn, &name, &prompt),
                (Command::Resume { turn, .. }, None) => self.tell(Event::Resumable {
                    turn,
                    tokens: 0,
                    restored: 0,
                }),
                (Command::Generate { turn, request }, Some(loaded)) => self.generate(loaded, turn, &request),
                (Command::Compare { turn, request }, Some(loaded)) => self.compare(loaded, turn, &request),
                (Command::Look { turn, look }, Some(loaded)) => self.look_back(loaded, turn, &look),
                (Command::Render { turn, prompt }, Some(loaded)) => self.render(loaded, turn, &prompt),
                (Command::Bench { turn, request }, Some(loaded)) => self.bench(loaded, turn, &request),
                (
                    Command::Generate { turn, .. }
                    | Command::Compare { turn, .. }
                    | Command::Look { turn, .. }
                    | Command::Render { turn, .. }
                    | Command::Bench { turn, .. },
                    None,
                ) => {
                    self.no_model(turn);
                }
            }
        }
    }

    fn no_model(&self, turn: TurnId) {
        let failure = Failure::new(FailureKind::NoModel, "no model is loaded: load one with '/model FILE'");
        self.tell(Event::Failed { turn, failure });
    }

    fn next(&self) -> Option<Command> {
        let waiting = self.waiting.borrow_mut().pop_front();
        waiting.or_else(|| self.ends.commands.recv().ok())
    }

    /// What was asked of the running turn since the last look; other commands wait for it to end.
    fn wishes(&self, running: TurnId) -> Wishes {
        let mut wishes = Wishes::default();
        for command in self.ends.commands.try_iter() {
            match command {
                Command::Tune(settings) => wishes.tune = Some(settings),
                Command::EndThinking { turn } => wishes.end_thinking |= turn == running,
                other => self.waiting.borrow_mut().push_back(other),
            }
        }
        wishes
    }

    fn tell(&self, event: Event) {
        // Nobody listens any more: the next command will not come either, and the thread ends.
        let _ = self.ends.events.send(event);
    }
}

/// What can be asked of a turn under way.
#[derive(Default)]
struct Wishes {
    /// The newest settings.
    tune: Option<Sampling>,
    /// To end the thinking.
    end_thinking: bool,
}

/// The version of the llama.cpp in this program.
pub fn version() -> String {
    ffi::version()
}
