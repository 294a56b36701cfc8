//! Carries out what concerns the engine and the disk: asking, cancelling, finding models. What concerns the screen is the
//! loop's own business. Nothing here waits.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::spawn_blocking;

use crate::app::state::Looks;
use crate::app::ward::Word;
use crate::app::{Keepable, Msg};
use crate::config::from_home;
use crate::domain::Preset;
use crate::domain::counter::Counter;
use crate::domain::fetching::{FetchEvent, Sight};
use crate::domain::inference::{Cancel, Command, Event, Failure, FailureKind, LoadOptions, ModelSource, TurnId};
use crate::domain::inspection::Record;
use crate::domain::sampling::GrammarForm;
use crate::domain::session::{StoreCommand, StoreEvent};
use crate::domain::shelf::Shelf;

use crate::ui::{Keymap, Theme};

use super::attach;
use super::editor::Editor;
use super::examine;
use super::grammar::read_grammar;
use super::happening::Happening;
use super::token_file;

/// Finds the model of this name (`None` is the one in the settings, or the built-in one) and checks its file. May take its
/// time: it is called on a thread of its own.
pub type Loader = Arc<dyn Fn(Option<&str>) -> Result<ModelSource, Failure> + Send + Sync>;

/// Looks for the models on this machine. May take its time.
pub type Lister = Arc<dyn Fn() -> Shelf + Send + Sync>;

/// Fetches the model of this name from the hub. Tells how far it is several times a second, goes on as long as the answer to that is
/// yes, and returns what came of it. Takes its time.
pub type Fetcher = Arc<dyn Fn(&str, &(dyn Fn(Sight) -> bool + Sync)) -> FetchEvent + Send + Sync>;

/// How the shell comes to models.
#[derive(Clone)]
pub struct Models {
    /// Finds the one that a name means.
    pub loader: Loader,
    /// Looks for those there are.
    pub lister: Lister,
    /// Fetches one.
    pub fetcher: Fetcher,
}

/// Writes to the configuration. May take its time.
pub type Keeper = Arc<dyn Fn(&Keepable) -> Result<(), String> + Send + Sync>;

/// Reads the theme of this name, complete in any case, with words on what is wrong with it. May take its time.
pub type Dresser = Arc<dyn Fn(&str) -> (Theme, Vec<String>) + Send + Sync>;

/// Settings that were read again.
#[derive(Clone, Debug, PartialEq)]
pub struct Fresh {
    /// The colours.
    pub theme: Theme,
    /// The keys.
    pub keymap: Keymap,
    /// The rest of how it looks.
    pub looks: Looks,
    /// The presets there are.
    pub presets: Vec<Preset>,
    /// What is wrong with them, in words.
    pub problems: Vec<String>,
}

/// Reads the settings again, or says what is wrong with them. May take its time.
pub type Settler = Arc<dyn Fn() -> Result<Fresh, String> + Send + Sync>;

/// What effects reach.
pub(super) struct Reach {
    pub(super) commands: Sender<Command>,
    pub(super) cancel: Cancel,
    pub(super) counter: Counter,
    pub(super) models: Models,
    /// Whether the fetching under way is to end.
    pub(super) stopped: Arc<AtomicBool>,
    pub(super) keeper: Keeper,
    pub(super) dresser: Dresser,
    pub(super) settler: Settler,
    pub(super) to: UnboundedSender<Happening>,
    /// Keeps sessions, where they are kept.
    pub(super) store: Option<Sender<StoreCommand>>,
    pub(super) gate: Gate,
}

/// Holds an answer back until what it answers is kept: what a person said outlives whatever comes of it.
#[derive(Debug, Default)]
pub struct Gate {
    /// The ticket of the last save that was asked for.
    asked: u64,
    /// The ticket up to which nothing is waited for.
    settled: u64,
    held: VecDeque<Command>,
}

impl Gate {
    /// Whether something is waited for.
    pub fn waits(&self) -> bool {
        self.settled < self.asked
    }

    /// Something was asked for that is told back with this ticket.
    pub fn ask(&mut self, ticket: u64) {
        self.asked = self.asked.max(ticket);
    }

    /// The command, where it need not wait.
    pub fn pass(&mut self, command: Command) -> Option<Command> {
        let begins = matches!(command, Command::Generate { .. });
        // What is asked behind an answer is about it.
        if !self.held.is_empty() || (begins && self.waits()) {
            self.held.push_back(command);
            return None;
        }
        Some(command)
    }

    /// All that need not wait any more.
    pub fn settle(&mut self, ticket: u64) -> VecDeque<Command> {
        self.settled = self.settled.max(ticket);
        if self.waits() {
            VecDeque::new()
        } else {
            std::mem::take(&mut self.held)
        }
    }
}

impl Reach {
    /// Asks the engine, now or as soon as what is said is kept. What comes back at once is that it is gone.
    pub(super) fn ask(&mut self, command: Command) -> Option<Msg> {
        let passed = self.gate.pass(command)?;
        self.commands.send(passed).is_err().then(gone)
    }

    /// Asks the store. What comes back at once is that it is gone.
    pub(super) fn keep(&mut self, command: StoreCommand) -> Option<Msg> {
        let store = self.store.as_ref()?;
        let ticket = ticket_of(&command);
        self.gate.ask(ticket);
        let lost = store.send(at_home(command)).is_err();
        lost.then(|| {
            // Nothing waits for what will never come.
            self.gate.settle(u64::MAX);
            Msg::Store(store_gone())
        })
    }

    /// Lets go of what waited for this event. What comes back is that the engine is gone.
    pub(super) fn kept(&mut self, event: &StoreEvent) -> Option<Msg> {
        let (StoreEvent::Saved { ticket, .. } | StoreEvent::Unsaved { ticket, .. }) = event else {
            return None;
        };
        let free = self.gate.settle(*ticket);
        let mut lost = free
            .into_iter()
            .filter(|command| self.commands.send(command.clone()).is_err());
        lost.next().map(|_| gone())
    }

    /// Looks for a model; it is told as [`Happening::Found`].
    pub(super) fn find(&self, turn: TurnId, name: Option<String>, options: LoadOptions) {
        let (loader, options) = (Arc::clone(&self.models.loader), Box::new(options));
        let told = move |options, source| Happening::Found { turn, options, source };
        let otherwise = told(options.clone(), Err(unexpected()));
        self.apart(move || told(options, loader(name.as_deref())), otherwise);
    }

    /// Finds a model and checks its file, no more; it is told as [`Msg::Found`].
    pub(super) fn seek(&self, name: String) {
        let loader = Arc::clone(&self.models.loader);
        let told = |name, found| Happening::Message(Box::new(Msg::Found(name, found)));
        let otherwise = told(name.clone(), Err(unexpected()));
        let work = move || {
            let found = loader(Some(&name)).map(drop);
            told(name, found)
        };
        self.apart(work, otherwise);
    }

    /// Does something that takes its time; what came of it is told.
    fn apart(&self, work: impl FnOnce() -> Happening + Send + 'static, otherwise: Happening) {
        let to = self.to.clone();
        tokio::spawn(async move {
            let done = spawn_blocking(work).await;
            // Nobody wants to know where the loop has ended.
            let _ = to.send(done.unwrap_or(otherwise));
        });
    }

    /// Reads the file of a grammar; it is told as [`Msg::Grammar`].
    pub(super) fn read_grammar(&self, path: String, form: GrammarForm) {
        let told = |read| Happening::Message(Box::new(Msg::Grammar(read)));
        let failed = Err("reading the grammar came to an unexpected end".to_owned());
        self.apart(move || told(read_grammar(&path, form)), told(failed));
    }

    /// Writes to the configuration; it is told as [`Msg::Saved`].
    pub(super) fn save(&self, what: Keepable) {
        let keeper = Arc::clone(&self.keeper);
        let failed = Err("writing came to an unexpected end".to_owned());
        let otherwise = Happening::Message(Box::new(Msg::Saved(what.clone(), failed)));
        let work = move || {
            let written = keeper(&what);
            Happening::Message(Box::new(Msg::Saved(what, written)))
        };
        self.apart(work, otherwise);
    }

    /// Reads the settings again; it is told as [`Happening::Settled`].
    pub(super) fn settle(&self) {
        let settler = Arc::clone(&self.settler);
        self.apart(move || Happening::Settled(settler().map(Box::new)), Happening::Written);
    }

    /// Cuts a text into tokens; they are told as [`Msg::Tokenized`].
    pub(super) fn tokenize(&self, text: String) {
        let counter = self.counter.clone();
        let told = |pieces| Happening::Message(Box::new(Msg::Tokenized(pieces)));
        self.apart(move || told(counter.tokens(&text)), told(Vec::new()));
    }

    /// Writes tokens to a file; it is told as [`Msg::Wrote`].
    pub(super) fn write_tokens(&self, path: String, record: Box<Record>) {
        let told = |wrote| Happening::Message(Box::new(Msg::Wrote(wrote)));
        let failed = Err("writing came to an unexpected end".to_owned());
        self.apart(move || told(token_file::write(&path, &record)), told(failed));
    }

    /// Looks for models; they are told as [`Msg::Shelf`].
    pub(super) fn list(&self) {
        let lister = Arc::clone(&self.models.lister);
        let told = |shelf| Happening::Message(Box::new(Msg::Shelf(shelf)));
        let failed = Err("looking for models came to an unexpected end: the log says more".to_owned());
        self.apart(move || told(Ok(lister())), told(failed));
    }

    /// Fetches a model; what is told of it comes as [`Msg::Fetched`].
    pub(super) fn download(&mut self, name: String) {
        // One that was stopped keeps its own, and never hears of this one.
        self.stopped = Arc::default();
        let (fetcher, stopped, to) = (
            Arc::clone(&self.models.fetcher),
            Arc::clone(&self.stopped),
            self.to.clone(),
        );
        let told = |event| Happening::Message(Box::new(Msg::Fetched(event)));
        let failed = FetchEvent::Failed("fetching came to an unexpected end: the log says more".to_owned());
        let work = move || {
            told(fetcher(&name, &|sight| {
                let heard = to.send(told(FetchEvent::Under(sight))).is_ok();
                heard && !stopped.load(Ordering::Relaxed)
            }))
        };
        self.apart(work, told(failed));
    }

    /// Has what is fetched stop; it says itself when it has.
    pub(super) fn stop_download(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Reads a theme; it is told as [`Happening::Dressed`].
    pub(super) fn dress(&self, name: String) {
        let dresser = Arc::clone(&self.dresser);
        let work = move || {
            let (theme, words) = dresser(&name);
            Happening::Dressed(Box::new(theme), words)
        };
        self.apart(work, Happening::Written);
    }

    /// Reads a file for the message; it is told as [`Msg::Attached`].
    pub(super) fn attach(&self, path: String) {
        let counter = self.counter.clone();
        let told = |read| Happening::Message(Box::new(Msg::Attached(read)));
        let failed = Err("reading the file came to an unexpected end".to_owned());
        self.apart(move || told(attach::read(&path, &counter)), told(failed));
    }

    /// Has a person edit a text; it is told as [`Happening::EditedOutside`].
    pub(super) fn edit(&self, editor: Editor, text: String) {
        let failed = Err("the editor came to an unexpected end".to_owned());
        let work = move || Happening::EditedOutside(editor(&text));
        self.apart(work, Happening::EditedOutside(failed));
    }

    /// Counts the tokens of a draft; it is told as [`Happening::Counted`].
    pub(super) fn count(&self, revision: u64, text: String) {
        let counter = self.counter.clone();
        let work = move || Happening::Counted(counter.count(&text).map(|tokens| (revision, tokens)));
        self.apart(work, Happening::Counted(None));
    }

    /// Has a model found and examined; what comes of it is told as [`Msg::Examined`].
    pub(super) fn examine(&self, turn: TurnId, name: Option<String>, options: LoadOptions) {
        let (loader, cancel, to) = (Arc::clone(&self.models.loader), self.cancel.clone(), self.to.clone());
        let failed = move |words| examine::told(turn, Word::Failed(words));
        let otherwise = failed("the examination came to an unexpected end: the log says more".to_owned());
        let work = move || match loader(name.as_deref()) {
            Ok(source) => {
                examine::examine(&source, &options, (turn, &cancel), &to);
                // All was told.
                Happening::Written
            }
            Err(failure) => failed(failure.message),
        };
        self.apart(work, otherwise);
    }

    /// Has the model that was found loaded, or tells why there is none.
    pub(super) fn found(
        &mut self,
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

/// The search for a model broke off.
fn unexpected() -> Failure {
    let words = "looking for the model came to an unexpected end: the log says more";
    Failure::new(FailureKind::Model, words)
}

/// The ticket that is told back when a command is carried out; 0 where none is.
pub fn ticket_of(command: &StoreCommand) -> u64 {
    match command {
        StoreCommand::Save { ticket, .. } => *ticket,
        _ => 0,
    }
}

/// The command with `~/` in its path standing for the home folder.
pub fn at_home(command: StoreCommand) -> StoreCommand {
    match command {
        StoreCommand::Import { path } => StoreCommand::Import { path: from_home(&path) },
        StoreCommand::Export {
            key,
            session,
            path,
            format,
        } => StoreCommand::Export {
            key,
            session,
            path: from_home(&path),
            format,
        },
        other => other,
    }
}

/// The last word of a store that could not say it: nothing is waited for any more.
pub fn store_gone() -> StoreEvent {
    StoreEvent::Unsaved {
        ticket: u64::MAX,
        words: "what keeps the sessions has stopped, and the log says why; quit and start quipu again".to_owned(),
    }
}

/// The last word of an engine that could not say it.
pub(super) fn gone() -> Msg {
    Msg::Engine(Event::Died {
        reason: "it ended without a word".to_owned(),
    })
}
