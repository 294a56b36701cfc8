//! The loop: takes what happened, has `update` decide, carries out the effects, draws. It waits for channels and deadlines
//! only, so a program in which nothing moves does not wake up at all.
//!
//! One turn of it takes everything that is pending, then draws at most one frame. Tests drive the same turns by hand.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{Event as Input, KeyCode, MouseEventKind};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::timeout;

use crate::app::notice::Level;
use crate::app::state::{self, Engine, Overlay, ViewInfo};
use crate::app::{Action, Effect, Msg, State, update};
use crate::domain::inference::{Event, TurnId};
use crate::domain::prospect::Lookout;
use crate::domain::session::StoreEvent;
use crate::engine::EngineHandle;
use crate::store::StoreHandle;

use super::clipboard::{self, Desktop, Route};
use super::clock::{Clock, Pace};
use super::editor::Editor;
use super::effects::{Dresser, Fresh, Gate, Keeper, Models, Reach, Settler, gone, store_gone};
use super::happening::Happening;
use super::screen::Screen;
use super::surface::Surface;

/// Events of the engine taken before a frame gets its turn: a fast engine must not starve the screen, and a batch must not
/// hold only a token or two.
const BATCH: usize = 512;

/// How long the engine has to let go of its model in order. A token takes less, on any machine that one would chat on.
const FAREWELL: Duration = Duration::from_secs(1);

/// How long it has, and the store, where nobody is in a hurry: the state of a model may be large, and a disk slow.
const SAVING: Duration = Duration::from_secs(20);
/// A wait that people notice.
const NOTICED: Duration = Duration::from_millis(300);
/// Exit codes from here on are those of signals.
const SIGNALLED: u8 = 128;

/// Bytes of a draft whose tokens are counted: more is a file, and counting it at every key would take a core.
const COUNTED: usize = 1 << 20;

/// How long after asking to be stopped we look whether we were: a process that nobody can continue is not.
const STOPPED: Duration = Duration::from_millis(100);

/// Keys so soon after a paste come out of it: no hand is as quick, and text with an end-of-paste inside must not press Enter.
const AFTER_PASTE: Duration = Duration::from_millis(50);

/// Why the terminal is not ours at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lent {
    /// We asked to be stopped, and look at this time whether we were.
    Stopping(Duration),
    /// A person edits the message in an editor of their own.
    Editor,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Farewell {
    /// Whether the engine and the store have ended.
    pub ended: bool,
    /// Why something of what was said could not be kept, in words.
    pub unsaved: Option<String>,
}

/// Everything that runs while there is a screen.
pub struct Shell<S> {
    state: State,
    screen: Screen,
    surface: S,
    happenings: UnboundedReceiver<Happening>,
    events: UnboundedReceiver<Event>,
    /// What the store tells, while it can.
    kept: Option<UnboundedReceiver<StoreEvent>>,
    reach: Reach,
    clock: Clock,
    pace: Pace,
    /// Whether the engine's thread may still say something.
    engine_lives: bool,
    lent: Option<Lent>,
    pasted: Option<Duration>,
    /// Where the engine leaves what tokens are drawn from.
    lookout: Lookout,
    counting: bool,
    counted: u64,
    editor: Editor,
    /// The desktop's clipboard, where there is one.
    desktop: Option<Desktop>,
    exit: Option<u8>,
}

/// What a [`Shell`] is made of.
pub struct Parts<S> {
    /// The state at start.
    pub state: State,
    /// What draws it and reads keys.
    pub screen: Screen,
    /// What it is drawn on.
    pub surface: S,
    /// What makes tokens.
    pub engine: EngineHandle,
    /// How to come to models.
    pub models: Models,
    /// Writes to the configuration.
    pub keeper: Keeper,
    /// Reads themes.
    pub dresser: Dresser,
    /// Reads the settings again.
    pub settler: Settler,
    /// Where copies go.
    pub copies: Route,
    /// Has a person edit a text.
    pub editor: Editor,
    /// Keeps sessions; without one nothing is kept.
    pub store: Option<StoreHandle>,
    /// Where happenings come from, and how to send some.
    pub happenings: (UnboundedSender<Happening>, UnboundedReceiver<Happening>),
    /// The time.
    pub clock: Clock,
    /// The least time between two frames.
    pub frame: Duration,
}

impl<S: Surface> Shell<S> {
    /// Joins the parts. Nothing happens yet.
    pub fn new(parts: Parts<S>) -> Self {
        let (to, happenings) = parts.happenings;
        let desktop = match parts.copies {
            // Without a thread copies go the other way.
            Route::Desktop => Desktop::start(to.clone()).ok(),
            Route::Terminal => None,
        };
        let (store, kept) = parts.store.map(|store| (store.commands, store.events)).unzip();
        Self {
            state: parts.state,
            screen: parts.screen,
            surface: parts.surface,
            happenings,
            events: parts.engine.events,
            kept,
            reach: Reach {
                commands: parts.engine.commands,
                cancel: parts.engine.cancel,
                counter: parts.engine.counter,
                models: parts.models,
                stopped: Arc::default(),
                keeper: parts.keeper,
                dresser: parts.dresser,
                settler: parts.settler,
                to,
                store,
                gate: Gate::default(),
            },
            clock: parts.clock,
            pace: Pace::new(parts.frame),
            engine_lives: true,
            lent: None,
            pasted: None,
            lookout: parts.engine.lookout,
            counting: false,
            counted: 0,
            editor: parts.editor,
            desktop,
            exit: None,
        }
    }

    /// Draws the first frame, then carries out what is to be done at start. To be called in a runtime.
    pub fn begin(&mut self, effects: Vec<Effect>) {
        self.tick();
        self.draw();
        let mut queue = VecDeque::new();
        self.carry_out(effects, &mut queue);
        self.take(queue);
    }

    /// Runs until the end; gives the surface back and returns the exit code.
    pub async fn run(&mut self) -> u8 {
        loop {
            if let Some(code) = self.exit {
                self.surface.leave();
                return code;
            }
            self.turn().await;
        }
    }

    /// Waits for something, takes everything that is pending, draws if a frame is due.
    pub async fn turn(&mut self) {
        let deadline = self.deadline();
        let clock = self.clock;
        tokio::select! {
            // Keys before tokens: a stop is worth more than what it stops.
            biased;
            Some(happening) = self.happenings.recv() => {
                self.tick();
                self.happened(happening);
            }
            event = next(&mut self.kept) => {
                self.tick();
                self.stored(event);
            }
            event = self.events.recv(), if self.engine_lives => {
                self.tick();
                self.told(event);
            }
            () = clock.reach(deadline.unwrap_or_default()), if deadline.is_some() => self.tick(),
        }
        self.drain();
        if self.frame_due().is_some_and(|due| due <= self.clock.now()) {
            self.draw();
        }
    }

    /// Lets go of the engine: cancels what it does and waits for its thread to end, and the store's. Where
    /// that takes long enough to be noticed, `slow` is called; a signal ends the waiting.
    pub async fn farewell(self, slow: impl FnOnce()) -> Farewell {
        let patience = if self.exit.is_some_and(|code| code >= SIGNALLED) {
            FAREWELL
        } else {
            SAVING
        };
        let Self {
            mut events,
            mut kept,
            mut happenings,
            reach,
            ..
        } = self;
        // Above every turn there is.
        reach.cancel.stop(TurnId(u64::MAX));
        drop(reach);
        let unsaved = RefCell::new(None);
        let ends = async {
            if let Some(kept) = &mut kept {
                while let Some(event) = kept.recv().await {
                    match event {
                        StoreEvent::Unsaved { words, .. } => *unsaved.borrow_mut() = Some(words),
                        StoreEvent::Saved { .. } => *unsaved.borrow_mut() = None,
                        _ => {}
                    }
                }
            }
            while events.recv().await.is_some() {}
        };
        tokio::pin!(ends);
        let mut ended = timeout(NOTICED, &mut ends).await.is_ok();
        if !ended {
            slow();
            let signal = async {
                while let Some(happening) = happenings.recv().await {
                    if matches!(happening, Happening::Terminate(_)) {
                        return;
                    }
                }
                std::future::pending::<()>().await;
            };
            ended = tokio::select! {
                ended = timeout(patience, &mut ends) => ended.is_ok(),
                () = signal => false,
            };
        }
        let unsaved = unsaved.borrow_mut().take();
        Farewell { ended, unsaved }
    }

    /// What there is.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What it is drawn on.
    pub fn surface(&self) -> &S {
        &self.surface
    }

    /// The same, to change.
    pub fn surface_mut(&mut self) -> &mut S {
        &mut self.surface
    }

    /// What stands in the composer.
    pub fn composed(&self) -> String {
        self.screen.draft()
    }

    /// The exit code, once the end was decided.
    pub fn exit(&self) -> Option<u8> {
        self.exit
    }

    /// Sets a clock that stands still. For tests.
    pub fn set_time(&mut self, now: Duration) {
        self.clock = Clock::Still(now);
    }

    /// Whether nothing is under way: no happening pending, no frame owed, the engine at rest.
    pub fn is_idle(&self) -> bool {
        let asked = matches!(self.state.screen.overlay, Some(Overlay::Prompt { prompt: None, .. }));
        let loading = matches!(self.state.engine, Engine::Loading { .. });
        let state = &self.state;
        let aside = state.replay.is_some() || state.titling.is_some() || state.resuming.is_some();
        let opening = state.keeping.opening.is_some() || state.examining.is_some() || state.comparing.is_some();
        let listing = match &state.screen.overlay {
            Some(Overlay::Sessions(list)) => !list.there || list.searching,
            Some(Overlay::Picker(list)) => list.waiting.is_some(),
            _ => false,
        };
        let busy = asked
            || self.counting
            || self.lent == Some(Lent::Editor)
            || loading
            || aside
            || opening
            || listing
            || self.state.running.is_some();
        let stored = self.kept.as_ref().is_none_or(UnboundedReceiver::is_empty) && !self.reach.gate.waits();
        !busy && stored && self.happenings.is_empty() && self.events.is_empty() && self.frame_due().is_none()
    }

    /// When to wake up although nothing happens.
    fn deadline(&self) -> Option<Duration> {
        match self.lent {
            Some(Lent::Stopping(until)) => return Some(until),
            // What is said meanwhile is kept.
            Some(Lent::Editor) => return self.state.wakes_at(),
            None => {}
        }
        let changes = self.state.wakes_at();
        self.frame_due().into_iter().chain(changes).min()
    }

    /// When a frame is to be drawn, where one can be.
    fn frame_due(&self) -> Option<Duration> {
        let can = self.lent.is_none() && self.exit.is_none() && self.surface.is_ready();
        self.pace.due().filter(|_| can)
    }

    /// Tells the time. The screen changes by it where the state said so.
    fn tick(&mut self) {
        let now = self.clock.now();
        if self.state.wakes_at().is_some_and(|at| at <= now) {
            self.pace.changed();
        }
        self.take(VecDeque::from([Msg::Tick(now)]));
        if matches!(self.lent, Some(Lent::Stopping(until)) if until <= now) {
            self.resume();
        }
    }

    fn drain(&mut self) {
        while let Ok(happening) = self.happenings.try_recv() {
            self.happened(happening);
        }
        while let Some(Ok(event)) = self.kept.as_mut().map(UnboundedReceiver::try_recv) {
            self.stored(Some(event));
        }
        for _ in 0..BATCH {
            match self.events.try_recv() {
                Ok(event) => self.told(Some(event)),
                Err(_) => break,
            }
        }
        self.look();
        self.count();
    }

    /// Has the tokens of the draft counted, where they are not, one text at a time.
    fn count(&mut self) {
        let draft = &self.state.draft;
        let countable = (1..=COUNTED).contains(&draft.text.len()) && self.state.engine.model().is_some();
        // Once for each text, whatever comes of it.
        if draft.revision() != self.counted && countable && !self.counting {
            self.counting = true;
            self.counted = draft.revision();
            self.reach.count(draft.revision(), draft.text.clone());
        }
    }

    /// Takes in what the newest token was drawn from, where someone looks and it is another.
    fn look(&mut self) {
        if self.state.screen.tune.is_none() {
            return;
        }
        let newest = self.lookout.newest();
        let known = self.state.prospect.as_ref();
        if let Some(prospect) = newest.filter(|newest| known.is_none_or(|known| !Arc::ptr_eq(known, newest))) {
            self.message(Msg::Prospect(prospect));
        }
    }

    fn happened(&mut self, happening: Happening) {
        match happening {
            Happening::Input(event) => self.typed(&event),
            // Keys that an editor does not take as such go to us, too.
            Happening::Terminate(libc::SIGINT) | Happening::Continue if self.lent == Some(Lent::Editor) => {}
            Happening::Suspend if self.lent == Some(Lent::Editor) => self.surface.stop_lent(),
            Happening::Terminate(number) => self.message(Msg::Terminate(number)),
            Happening::Suspend => self.message(Msg::Action(Action::Suspend)),
            Happening::Continue => self.resume(),
            Happening::EditedOutside(edited) => {
                self.resume();
                self.message(Msg::EditedOutside(edited));
            }
            Happening::Counted(counted) => {
                self.counting = false;
                if let Some((revision, tokens)) = counted {
                    self.message(Msg::Counted(revision, tokens));
                }
            }
            // It only wakes the loop: a frame may be owed.
            Happening::Written => {}
            Happening::Message(msg) => self.message(*msg),
            // Of two that were asked for, the one that was wanted first may come last.
            Happening::Dressed(theme, _) if theme.name != self.state.looks.theme => {}
            Happening::Dressed(theme, words) => {
                self.screen.set_theme(*theme);
                for words in words {
                    self.message(Msg::Notice(Level::Warn, words));
                }
                self.pace.changed();
            }
            Happening::SettingsSaved => self.reach.settle(),
            Happening::Settled(Ok(fresh)) => self.settled(*fresh),
            // Whoever writes a file may save it half done.
            Happening::Settled(Err(words)) => {
                let words = format!("{words}; what held before holds on");
                self.message(Msg::Notice(Level::Warn, words));
            }
            Happening::NotCopied(text) => {
                let msg = self.copy_by_terminal(&text);
                self.message(msg);
            }
            Happening::Found { turn, options, source } => {
                if let Some(msg) = self.reach.found(turn, *options, source) {
                    self.message(msg);
                }
            }
        }
    }

    fn typed(&mut self, event: &Input) {
        let now = self.clock.now();
        let out_of_paste = self.pasted.is_some_and(|at| now.saturating_sub(at) < AFTER_PASTE);
        match event {
            Input::Paste(_) => self.pasted = Some(now),
            Input::Key(key) if out_of_paste && !matches!(key.code, KeyCode::Char(_)) => return,
            Input::Mouse(mouse) if matches!(mouse.kind, MouseEventKind::Moved) => return,
            _ => {}
        }
        // A key may move the cursor and nothing else, so every one is worth a frame.
        self.pace.changed();
        let messages = self.screen.read(event, &self.state);
        self.take(messages.into());
    }

    fn told(&mut self, event: Option<Event>) {
        self.engine_lives = event.is_some();
        self.message(event.map_or_else(gone, Msg::Engine));
    }

    /// What the store tells; `None` where it is gone.
    fn stored(&mut self, event: Option<StoreEvent>) {
        if event.is_none() {
            self.kept = None;
        }
        let event = event.unwrap_or_else(store_gone);
        let lost = self.reach.kept(&event);
        self.message(Msg::Store(event));
        if let Some(msg) = lost {
            self.message(msg);
        }
    }

    fn message(&mut self, msg: Msg) {
        self.pace.changed();
        self.take(VecDeque::from([msg]));
    }

    /// Has `update` decide on each message, and carries out what it decides before the next.
    fn take(&mut self, mut queue: VecDeque<Msg>) {
        while let Some(msg) = queue.pop_front() {
            let effects = update(&mut self.state, msg);
            self.carry_out(effects, &mut queue);
        }
    }

    fn carry_out(&mut self, effects: Vec<Effect>, queue: &mut VecDeque<Msg>) {
        for effect in effects {
            match effect {
                Effect::Load { turn, name, options } => self.reach.find(turn, name, options),
                Effect::Seek(name) => self.reach.seek(name),
                Effect::Engine(command) => queue.extend(self.reach.ask(command)),
                Effect::Store(command) => queue.extend(self.reach.keep(command)),
                Effect::Cancel(turn) => self.reach.cancel.stop(turn),
                Effect::SetDraft(text) => self.screen.set_draft(&text),
                Effect::Fold(text) => {
                    self.screen.fold(&text);
                    queue.push_back(Msg::Edited(self.screen.draft()));
                }
                Effect::ListModels => self.reach.list(),
                Effect::Download(name) => self.reach.download(name),
                Effect::StopDownload => self.reach.stop_download(),
                Effect::Tokenize(text) => self.reach.tokenize(text),
                Effect::WriteTokens(path, record) => self.reach.write_tokens(path, record),
                Effect::Examine { turn, name, options } => self.reach.examine(turn, name, options),
                Effect::ReadFile(path) => self.reach.attach(path),
                Effect::EditOutside(text) => self.lend(text),
                Effect::ReadGrammar { path, form } => self.reach.read_grammar(path, form),
                Effect::Save(what) => self.reach.save(what),
                Effect::Theme(name) => self.reach.dress(name),
                Effect::Watch(watch) => {
                    self.lookout.watch(watch);
                    queue.extend(self.lookout.newest().filter(|_| watch).map(Msg::Prospect));
                }
                Effect::Copy(text) => queue.extend(self.copy(text)),
                Effect::Redraw => {
                    self.surface.refresh();
                    self.pace.changed();
                }
                Effect::Suspend => self.suspend(),
                Effect::Quit(code) => self.exit = Some(code),
            }
        }
    }

    /// Takes settings that were read again.
    fn settled(&mut self, fresh: Fresh) {
        // A theme that is only looked at stays until it is taken or left.
        if !matches!(self.state.screen.overlay, Some(Overlay::Picker(_))) {
            self.screen.set_theme(fresh.theme);
        }
        self.screen.set_keymap(fresh.keymap);
        self.screen.set_vi(fresh.looks.vi);
        for words in fresh.problems {
            self.message(Msg::Notice(Level::Warn, words));
        }
        self.message(Msg::Settled(fresh.looks, fresh.presets));
    }

    /// Copies to the desktop's clipboard, or where there is none to the terminal's.
    fn copy(&mut self, text: String) -> Option<Msg> {
        let text = match &self.desktop {
            Some(desktop) => desktop.copy(text).err()?,
            None => text,
        };
        Some(self.copy_by_terminal(&text))
    }

    fn copy_by_terminal(&mut self, text: &str) -> Msg {
        let told = clipboard::sequence(text).map(|sequence| {
            self.surface.copy(&sequence);
            self.pace.changed();
            format!("{}, through the terminal", clipboard::words(text))
        });
        Msg::Copied(told)
    }

    /// Lends the terminal to the person's editor.
    fn lend(&mut self, text: String) {
        if self.lent.is_none() {
            self.surface.lend();
            self.lent = Some(Lent::Editor);
            self.reach.edit(Arc::clone(&self.editor), text);
        }
    }

    fn suspend(&mut self) {
        if self.lent.is_some() {
            return;
        }
        self.lent = Some(Lent::Stopping(self.clock.now() + STOPPED));
        if !self.surface.suspend() {
            self.resume();
        }
    }

    /// Takes the terminal back. Also after a stop that nobody asked us for: the shell has left its own settings on it.
    fn resume(&mut self) {
        self.lent = None;
        self.pace.changed();
        self.surface.refresh();
        if let Err(error) = self.surface.resume() {
            // It is gone: a hang-up wakes with a SIGCONT whoever may have been stopped.
            tracing::error!(%error, "the terminal cannot be taken back");
            self.message(Msg::Terminate(libc::SIGHUP));
        }
    }

    fn draw(&mut self) {
        self.pace.drawn(self.state.now);
        let (screen, state) = (&mut self.screen, &self.state);
        let mut info = ViewInfo::default();
        if let Err(error) = self.surface.draw(|frame| info = screen.draw(state, frame)) {
            tracing::error!(%error, "cannot draw");
            self.exit = Some(1);
            return;
        }
        let place = |screen: &state::Screen| (screen.scroll, screen.overlay.as_ref().map(Overlay::top));
        let before = place(&self.state.screen);
        if info != self.state.screen.view {
            self.take(VecDeque::from([Msg::Viewed(info)]));
        }
        // What the frame taught may have moved what it showed, and it may have left something for the next.
        if info.unfinished || before != place(&self.state.screen) {
            self.pace.changed();
        }
    }
}

/// The next event of a store that may not be there; none ever comes then.
async fn next(kept: &mut Option<UnboundedReceiver<StoreEvent>>) -> Option<StoreEvent> {
    match kept {
        Some(events) => events.recv().await,
        None => std::future::pending().await,
    }
}
