//! The whole program without a terminal: the real loop on a surface in memory, the scripted engine, and a clock that stands
//! still. A test types keys, lets it come to rest, and looks. Nothing here sleeps.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a harness that cannot go on has nothing to say but why"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use quipu::app::State;
use quipu::app::state::{Looks, Options};
use quipu::app::tuning::Tuning;
use quipu::domain::fetching::{FetchEvent, Sight};
use quipu::domain::inference::{Failure, ModelSource};
use quipu::domain::session::Which;
use quipu::domain::shelf::Shelf;
use quipu::engine::scripted::{self, Script};
use quipu::run::{Clock, Farewell, Fresh, Happening, Headless, Loader, Models, Parts, Route, Screen, Shell};
use quipu::store::{StoreHandle, StoreOptions};
use quipu::ui::{Keymap, theme};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::timeout;

/// Longest wait for the program to come to rest: far more than a loaded machine needs, so that only a real fault ends it.
const PATIENCE: Duration = Duration::from_mins(1);

/// More than the time after a paste in which keys are taken for a part of it.
const AFTER_PASTE: Duration = Duration::from_millis(60);

/// A running program.
pub(crate) struct Harness {
    /// The loop, to look into.
    pub(crate) shell: Shell<Headless>,
    runtime: Runtime,
    to: UnboundedSender<Happening>,
    now: Duration,
}

impl Harness {
    /// Starts on 80 by 24 with an engine that plays `script`, and waits until the model is there.
    pub(crate) fn new(script: &str) -> Self {
        let mut harness = Self::starting(script, Ok(()));
        harness.rest();
        harness
    }

    /// The same without waiting; `found` is what comes of looking for the model.
    pub(crate) fn starting(script: &str, found: Result<(), Failure>) -> Self {
        Self::assemble(script, found, None)
    }

    /// One that keeps its sessions in this folder, and begins with one of them where one is named.
    pub(crate) fn keeping(script: &str, folder: &Path, session: Option<Which>) -> Self {
        let options = StoreOptions {
            folder: folder.to_owned(),
            trace_days: 30,
            states: None,
        };
        let store = quipu::store::spawn(options).unwrap();
        let mut harness = Self::assemble(script, Ok(()), Some((store, session)));
        harness.rest();
        harness
    }

    /// One whose sessions this is to keep.
    pub(crate) fn with_store(script: &str, store: StoreHandle) -> Self {
        let mut harness = Self::assemble(script, Ok(()), Some((store, None)));
        harness.rest();
        harness
    }

    fn assemble(script: &str, found: Result<(), Failure>, kept: Option<(StoreHandle, Option<Which>)>) -> Self {
        let loader: Loader = Arc::new(move |_| {
            found.clone().map(|()| ModelSource {
                notice: None,
                path: PathBuf::from("script"),
                builtin: false,
            })
        });
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let (to, from) = unbounded_channel();
        let (mut state, mut effects) = State::start(
            Tuning::default(),
            Options {
                trace: 5,
                // Scripts repeat themselves, and a stop comes when it comes.
                loop_guard: quipu::domain::LoopGuard::Off,
                ..Options::default()
            },
            None,
            None,
        );
        "quipu".clone_into(&mut state.looks.theme);
        state.looks.themes = theme::names(None);
        let (store, session) = kept.unzip();
        if let Some(session) = session {
            effects.extend(state.keep(1_700_000_000_000, session));
        }
        let (theme, problems) = theme::load("quipu", None);
        assert!(problems.is_empty(), "{problems:?}");
        let mut shell = Shell::new(Parts {
            state,
            screen: Screen::new(theme, Keymap::default()),
            surface: Headless::new(80, 24),
            engine: scripted::spawn(Script::parse(script).unwrap()).unwrap(),
            models: Models {
                loader,
                lister: Arc::new(Shelf::default),
                fetcher: Arc::new(fetched),
            },
            keeper: Arc::new(|_| Ok(())),
            dresser: Arc::new(|name| theme::load(name, None)),
            settler: Arc::new(|| {
                Ok(Fresh {
                    theme: theme::load("night", None).0,
                    keymap: Keymap::default(),
                    looks: Looks {
                        theme: "night".to_owned(),
                        ..Looks::default()
                    },
                    presets: Vec::new(),
                    problems: vec!["a mistake on line 3".to_owned()],
                })
            }),
            copies: Route::Terminal,
            editor: Arc::new(|text| Ok(format!("{text} (edited)"))),
            store,
            happenings: (to.clone(), from),
            clock: Clock::Still(Duration::ZERO),
            frame: Duration::ZERO,
        });
        {
            let _inside = runtime.enter();
            shell.begin(effects);
        }
        Self {
            shell,
            runtime,
            to,
            now: Duration::ZERO,
        }
    }

    /// Has messages be edited as in vi.
    pub(crate) fn vi(&mut self) {
        let fresh = Fresh {
            theme: theme::load("quipu", None).0,
            keymap: Keymap::default(),
            looks: Looks {
                theme: "quipu".to_owned(),
                vi: true,
                ..Looks::default()
            },
            presets: self.state().tuning.presets.clone(),
            problems: Vec::new(),
        };
        self.happen(Happening::Settled(Ok(Box::new(fresh))));
        self.rest();
    }

    /// Types a script of keys, as `hello<enter>` or `<ctrl-c>`; `<lt>` is the sign itself. Then lets it come to rest.
    pub(crate) fn keys(&mut self, script: &str) -> &mut Self {
        self.press(script);
        self.rest()
    }

    /// Types without waiting.
    pub(crate) fn press(&mut self, script: &str) {
        let mut rest = script;
        while let Some(c) = rest.chars().next() {
            let name = rest.strip_prefix('<').and_then(|after| after.split_once('>'));
            let (key, after) = match name {
                Some((name, after)) => (named(name), after),
                None => (KeyEvent::from(KeyCode::Char(c)), &rest[c.len_utf8()..]),
            };
            self.happen(Happening::Input(Event::Key(key)));
            rest = after;
        }
    }

    /// Pastes, and lets it come to rest.
    pub(crate) fn paste(&mut self, text: &str) -> &mut Self {
        self.happen(Happening::Input(Event::Paste(text.to_owned())));
        self.rest();
        self.advance(AFTER_PASTE)
    }

    /// Changes the size of the surface.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) -> &mut Self {
        self.shell.surface_mut().resize(columns, rows);
        self.happen(Happening::Input(Event::Resize(columns, rows)));
        self.rest()
    }

    /// Has something happen.
    pub(crate) fn happen(&mut self, happening: Happening) {
        self.to.send(happening).unwrap();
    }

    /// Moves the clock.
    pub(crate) fn advance(&mut self, by: Duration) -> &mut Self {
        self.now += by;
        self.shell.set_time(self.now);
        // It only wakes the loop, which then sees what time it is.
        self.happen(Happening::Written);
        self.rest()
    }

    /// Lets the program run until nothing is under way.
    pub(crate) fn rest(&mut self) -> &mut Self {
        self.until(Shell::is_idle)
    }

    /// Lets the program run until this holds.
    pub(crate) fn until(&mut self, holds: impl Fn(&Shell<Headless>) -> bool) -> &mut Self {
        let shell = &mut self.shell;
        let run = async {
            while !holds(shell) && shell.exit().is_none() {
                shell.turn().await;
            }
        };
        let rested = self.runtime.block_on(async { timeout(PATIENCE, run).await });
        assert!(rested.is_ok(), "no rest; on the screen:\n{}", self.screen());
        self
    }

    /// Runs until this is on the screen.
    pub(crate) fn until_shown(&mut self, text: &str) -> &mut Self {
        self.until(|shell| words_of(shell.surface()).contains(text))
    }

    /// Runs until this is not on the screen any more.
    pub(crate) fn until_gone(&mut self, text: &str) -> &mut Self {
        self.until(|shell| !words_of(shell.surface()).contains(text))
    }

    /// Runs until this holds for the text of the last message.
    pub(crate) fn until_said(&mut self, holds: impl Fn(&str) -> bool) -> &mut Self {
        self.until(|shell| {
            let path = shell.state().conversation.path();
            path.last().is_some_and(|message| holds(&message.text))
        })
    }

    /// Lets go of the engine and the store; says whether their threads have ended and all is kept.
    pub(crate) fn farewell(self) -> bool {
        let Farewell { ended, unsaved } = self.part();
        ended && unsaved.is_none()
    }

    /// The same, in full.
    pub(crate) fn part(self) -> Farewell {
        self.runtime.block_on(self.shell.farewell(|| {}))
    }

    /// The text on the screen.
    pub(crate) fn screen(&self) -> String {
        words_of(self.shell.surface())
    }

    /// Fails unless this is on the screen.
    #[track_caller]
    pub(crate) fn shows(&self, text: &str) -> &Self {
        let screen = self.screen();
        assert!(screen.contains(text), "no '{text}' on the screen:\n{screen}");
        self
    }

    /// What there is.
    pub(crate) fn state(&self) -> &State {
        self.shell.state()
    }

    /// The words of the conversation on the screen, oldest first.
    pub(crate) fn said(&self) -> Vec<&str> {
        let path = self.state().conversation.path();
        path.into_iter().map(|message| message.text.as_str()).collect()
    }
}

/// Fetches nothing, but tells of it; one that is called endless until nobody wants it any more.
fn fetched(name: &str, tell: &(dyn Fn(Sight) -> bool + Sync)) -> FetchEvent {
    let sight = Sight {
        label: name.to_owned(),
        done: 1 << 20,
        total: 4 << 20,
        rate: 1 << 20,
    };
    // What is told comes a few times a second from a real one, and must not drown everything else here.
    let (_open, pace) = std::sync::mpsc::channel::<()>();
    while tell(sight.clone()) {
        if !name.ends_with("endless") {
            let (label, bytes) = (sight.label, sight.total);
            return FetchEvent::Here { label, bytes };
        }
        let _ = pace.recv_timeout(Duration::from_millis(5));
    }
    FetchEvent::Stopped
}

/// The text on a surface, without the blanks at the ends of lines.
fn words_of(surface: &Headless) -> String {
    let buffer = surface.buffer();
    let width = usize::from(buffer.area.width.max(1));
    let rows = buffer.content().chunks(width).map(|row| {
        let row: String = row.iter().map(ratatui::buffer::Cell::symbol).collect();
        row.trim_end().to_owned()
    });
    rows.collect::<Vec<_>>().join("\n")
}

/// A key by its name, as `ctrl-c`.
fn named(name: &str) -> KeyEvent {
    let (mut modifiers, mut key) = (KeyModifiers::NONE, name);
    for (prefix, modifier) in [
        ("ctrl-", KeyModifiers::CONTROL),
        ("alt-", KeyModifiers::ALT),
        ("shift-", KeyModifiers::SHIFT),
    ] {
        if let Some(rest) = key.strip_prefix(prefix) {
            (modifiers, key) = (modifiers | modifier, rest);
        }
    }
    let code = match key {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "delete" => KeyCode::Delete,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "pageup" => KeyCode::PageUp,
        "backspace" => KeyCode::Backspace,
        "f1" => KeyCode::F(1),
        "lt" => KeyCode::Char('<'),
        one if one.chars().count() == 1 => KeyCode::Char(one.chars().next().unwrap()),
        other => panic!("no key '{other}'"),
    };
    KeyEvent::new(code, modifiers)
}
