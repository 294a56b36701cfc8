//! The core without a screen: what happens goes in, and what it decides is carried out. Shared by the chat line by line and by a
//! question asked in a session.

use crate::app::ward::Word;
use crate::app::{Effect, Msg, State, update};
use crate::domain::fetching::FetchEvent;
use crate::domain::inference::{Command, Event, LoadOptions, TurnId};
use crate::domain::session::StoreEvent;
use crate::engine::EngineHandle;
use crate::run::{self, Clock, Gate, Keeper, Lister, Loader};
use crate::store::StoreHandle;

/// The core and all that its effects reach.
pub(super) struct Driver<'a> {
    pub(super) state: State,
    engine: EngineHandle,
    store: Option<StoreHandle>,
    gate: Gate,
    loader: &'a Loader,
    keeper: &'a Keeper,
    lister: &'a Lister,
    /// What was attached for the next message.
    pub(super) folded: String,
    /// The exit code, once the end was decided.
    pub(super) exit: Option<u8>,
    clock: Clock,
}

/// Something that happened outside.
pub(super) enum Outside {
    /// The engine told something.
    Engine(Event),
    /// The engine is gone.
    EngineGone,
    /// The store told something.
    Store(StoreEvent),
}

impl<'a> Driver<'a> {
    /// Joins the parts.
    pub(super) fn new(
        state: State,
        engine: EngineHandle,
        store: Option<StoreHandle>,
        (loader, keeper, lister): (&'a Loader, &'a Keeper, &'a Lister),
    ) -> Self {
        Self {
            state,
            engine,
            store,
            gate: Gate::default(),
            loader,
            keeper,
            lister,
            folded: String::new(),
            exit: None,
            clock: Clock::start(),
        }
    }

    /// Waits for the next thing to happen outside.
    pub(super) async fn outside(&mut self) -> Outside {
        let told = async {
            match &mut self.store {
                Some(store) => store.events.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            event = told => {
                if event.is_none() {
                    self.store = None;
                }
                Outside::Store(event.unwrap_or_else(run::store_gone))
            }
            event = self.engine.events.recv() => event.map_or(Outside::EngineGone, Outside::Engine),
        }
    }

    /// Takes in what the store told.
    pub(super) fn stored(&mut self, event: StoreEvent) {
        if let StoreEvent::Saved { ticket, .. } | StoreEvent::Unsaved { ticket, .. } = &event {
            for command in self.gate.settle(*ticket) {
                self.send(command);
            }
        }
        self.happened(Msg::Store(event));
    }

    /// Has the core decide, and carries out what it decides.
    pub(super) fn happened(&mut self, msg: Msg) {
        // What time it is decides when an answer is kept.
        let mut effects = update(&mut self.state, Msg::Tick(self.clock.now()));
        effects.extend(update(&mut self.state, msg));
        self.carry_out(effects);
    }

    /// Carries out effects, and those of what comes of them.
    pub(super) fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Load { turn, name, options } => match (self.loader)(name.as_deref()) {
                    Ok(source) => self.ask(Command::Load { turn, source, options }),
                    Err(failure) => self.happened(Msg::Engine(Event::Failed { turn, failure })),
                },
                Effect::Seek(name) => {
                    let found = (self.loader)(Some(&name)).map(drop);
                    self.happened(Msg::Found(name, found));
                }
                Effect::Engine(command) => self.ask(command),
                Effect::Store(command) => self.keep(command),
                Effect::Cancel(turn) => self.engine.cancel.stop(turn),
                Effect::Quit(code) => self.exit = Some(code),
                Effect::ReadGrammar { path, form } => self.happened(Msg::Grammar(run::read_grammar(&path, form))),
                Effect::Save(what) => {
                    let written = (self.keeper)(&what);
                    self.happened(Msg::Saved(what, written));
                }
                Effect::Copy(_) => {
                    let words = "there is no clipboard in this mode: select the text in your terminal";
                    self.happened(Msg::Copied(Err(words.to_owned())));
                }
                Effect::Fold(text) => self.folded.push_str(&text),
                Effect::ListModels => {
                    let found = (self.lister)();
                    self.happened(Msg::Shelf(Ok(found)));
                }
                Effect::Download(name) => {
                    let words = format!("in this mode nothing is fetched: quipu pull {name}");
                    self.happened(Msg::Fetched(FetchEvent::Failed(words)));
                }
                Effect::Tokenize(text) => {
                    let pieces = self.engine.counter.tokens(&text);
                    self.happened(Msg::Tokenized(pieces));
                }
                Effect::WriteTokens(path, record) => self.happened(Msg::Wrote(run::write_tokens(&path, &record))),
                Effect::Examine { turn, name, options } => self.examine(turn, name.as_deref(), &options),
                Effect::ReadFile(path) => {
                    let read = run::read_attachment(&path, &self.engine.counter);
                    self.happened(Msg::Attached(read));
                }
                Effect::EditOutside(_)
                | Effect::SetDraft(_)
                | Effect::Watch(_)
                | Effect::StopDownload
                | Effect::Theme(_)
                | Effect::Redraw
                | Effect::Suspend => {}
            }
        }
    }

    /// Has a model examined, and waits for what is found.
    fn examine(&mut self, turn: TurnId, name: Option<&str>, options: &LoadOptions) {
        let mut words = Vec::new();
        match (self.loader)(name) {
            Ok(source) => run::examine(&source, options, &mut |word| {
                words.push(word);
                true
            }),
            Err(failure) => words.push(Word::Failed(failure.message)),
        }
        for word in words {
            self.happened(Msg::Examined(turn, Box::new(word)));
        }
    }

    fn keep(&mut self, command: crate::domain::session::StoreCommand) {
        let Some(store) = &self.store else { return };
        let ticket = run::ticket_of(&command);
        self.gate.ask(ticket);
        if store.commands.send(run::at_home(command)).is_err() {
            self.stored(run::store_gone());
        }
    }

    fn ask(&mut self, command: Command) {
        if let Some(command) = self.gate.pass(command) {
            self.send(command);
        }
    }

    fn send(&self, command: Command) {
        // A dead engine says so by its closed channel, which is looked at next.
        let _ = self.engine.commands.send(command);
    }

    /// Lets go of everything, and waits until all that was said is kept.
    pub(super) async fn farewell(self) {
        let Self { engine, store, .. } = self;
        let EngineHandle {
            commands, mut events, ..
        } = engine;
        drop(commands);
        if let Some(StoreHandle {
            commands,
            events: mut kept,
        }) = store
        {
            drop(commands);
            while kept.recv().await.is_some() {}
        }
        while events.recv().await.is_some() {}
    }
}
