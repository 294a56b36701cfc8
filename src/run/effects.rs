//! Carries out what concerns the engine and the disk: asking, cancelling, finding models. What concerns the screen is the
//! loop's own business. Nothing here waits.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::spawn_blocking;

use crate::app::Msg;
use crate::domain::Preset;
use crate::domain::inference::{Cancel, Command, Event, Failure, FailureKind, LoadOptions, ModelSource, TurnId};
use crate::domain::sampling::GrammarForm;

use super::grammar::read_grammar;
use super::happening::Happening;

/// Finds the model of this name (`None` is the one in the settings, or the built-in one) and checks its file. May take its
/// time: it is called on a thread of its own.
pub type Loader = Arc<dyn Fn(Option<&str>) -> Result<ModelSource, Failure> + Send + Sync>;

/// Writes a preset to the configuration. May take its time.
pub type Keeper = Arc<dyn Fn(&Preset) -> Result<(), String> + Send + Sync>;

/// What effects reach.
pub(super) struct Reach {
    pub(super) commands: Sender<Command>,
    pub(super) cancel: Cancel,
    pub(super) loader: Loader,
    pub(super) keeper: Keeper,
    pub(super) to: UnboundedSender<Happening>,
}

impl Reach {
    /// Asks the engine. What comes back at once is that it is gone.
    pub(super) fn ask(&self, command: Command) -> Option<Msg> {
        self.commands.send(command).is_err().then(gone)
    }

    /// Looks for a model; it is told as [`Happening::Found`].
    pub(super) fn find(&self, turn: TurnId, name: Option<String>, options: LoadOptions) {
        let (loader, to) = (Arc::clone(&self.loader), self.to.clone());
        tokio::spawn(async move {
            let found = spawn_blocking(move || loader(name.as_deref())).await;
            let source = found.unwrap_or_else(|_| {
                let words = "looking for the model came to an unexpected end: the log says more";
                Err(Failure::new(FailureKind::Model, words))
            });
            // Nobody wants to know where the loop has ended.
            let _ = to.send(Happening::Found {
                turn,
                options: Box::new(options),
                source,
            });
        });
    }

    /// Reads the file of a grammar; it is told as [`Happening::Read`].
    pub(super) fn read_grammar(&self, path: String, form: GrammarForm) {
        let to = self.to.clone();
        tokio::spawn(async move {
            let read = spawn_blocking(move || read_grammar(&path, form)).await;
            let grammar = read.unwrap_or_else(|_| Err("reading the grammar came to an unexpected end".to_owned()));
            // Nobody wants to know where the loop has ended.
            let _ = to.send(Happening::Read(grammar));
        });
    }

    /// Writes a preset; it is told as [`Happening::Saved`].
    pub(super) fn save(&self, preset: Preset) {
        let (keeper, to) = (Arc::clone(&self.keeper), self.to.clone());
        tokio::spawn(async move {
            let name = preset.name.clone();
            let written = spawn_blocking(move || keeper(&preset)).await;
            let written = written.unwrap_or_else(|_| Err("writing came to an unexpected end".to_owned()));
            // Nobody wants to know where the loop has ended.
            let _ = to.send(Happening::Saved(name, written));
        });
    }

    /// Has the model that was found loaded, or tells why there is none.
    pub(super) fn found(
        &self,
        turn: TurnId,
        options: LoadOptions,
        source: Result<ModelSource, Failure>,
    ) -> Option<Msg> {
        match source {
            Ok(source) => self.ask(Command::Load { turn, source, options }),
            Err(failure) => Some(Msg::Engine(Event::Failed { turn, failure })),
        }
    }
}

/// The last word of an engine that could not say it.
pub(super) fn gone() -> Msg {
    Msg::Engine(Event::Died {
        reason: "it ended without a word".to_owned(),
    })
}
