//! Everything that a task is started with: settings in force, folders, log, engine, and how a model is found. Says what is wrong
//! with the settings; shows nothing itself but that.

mod finding;
mod tasks;

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::runtime::Runtime;

use crate::app::notice::Level;
use crate::app::state::{Looks, Options};
use crate::app::tuning::Tuning;
use crate::app::{Effect, Keepable, State};
use crate::config::{self, Origin, Paths, Place, Problem, Settings};
use crate::domain::inference::ModelSource;
use crate::domain::sampling::{Grammar, GrammarForm};
use crate::domain::session::Which;
use crate::engine::scripted::{self, Script};
use crate::engine::{self, EngineHandle};
use crate::run::{self, ChatOptions, Dresser, Fresh, Keeper, Log, Models, Settler};
use crate::store::{self, Archive, Checkpoints, StoreHandle, StoreOptions};
use crate::text::{sanitize, sanitize_line};
use crate::ui::keymap::{Change, Keymap};
use crate::ui::theme::{self, ColorDepth, Theme};

use super::args::{Args, EngineChoice};
use super::driver::Driver;
use super::exit::{Exit, Stop};
use super::in_session;
use super::oneshot::{self, Format, OneShot};
use super::sessions::{self, Deed, SessionsArgs};
use super::{layer, plain};

/// What a task is started with.
pub(super) struct Setup {
    settings: Settings,
    paths: Option<Paths>,
    /// The configuration file, whether it is there or not.
    config: Option<PathBuf>,
    engine: EngineChoice,
    /// What the first answer starts with; empty for none.
    prefill: String,
    /// The session to go on in.
    session: Option<Which>,
    log: Option<Log>,
    /// What the person should know.
    notices: Vec<(Level, String)>,
}

impl Setup {
    /// Reads the settings and opens the log.
    ///
    /// # Errors
    /// A usage error for a flag that cannot be used, and for a named configuration file that has a mistake.
    pub(super) fn new(args: &Args) -> Result<Self, Stop> {
        let paths = Paths::find(|name| env::var_os(name));
        let usual = paths.as_ref().map(Paths::config_file);
        let origin = match (&args.flags.config, &usual) {
            (Some(named), _) => Origin::Named(named),
            (None, Some(usual)) => Origin::Usual(usual),
            (None, None) => Origin::Nowhere,
        };
        let (mut settings, problems) = config::load(origin, |name| env::var(name).ok(), layer::of(args)?);
        let named = args.flags.config.is_some();
        let grave = |problem: &Problem| match problem.place {
            Place::Flag(_) => true,
            Place::Line(..) | Place::File(_) => named,
            Place::Variable(_) => false,
        };
        let words = |problems: &[&Problem]| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        let fatal: Vec<_> = problems.iter().filter(|problem| grave(problem)).collect();
        if !fatal.is_empty() {
            return Err(Stop::new(Exit::Usage, words(&fatal)));
        }
        settings.sampling.grammar = grammar(args)?;
        let mut notices: Vec<_> = problems
            .iter()
            .map(|problem| (Level::Warn, problem.to_string()))
            .collect();
        let level = env::var(run::logging::LEVEL).ok();
        let log = match paths
            .as_ref()
            .map(|paths| run::logging::start(paths.state(), level.as_deref()))
        {
            Some(Ok(log)) => Some(log),
            Some(Err(error)) => {
                notices.push((Level::Warn, error.to_string()));
                None
            }
            None => None,
        };
        Ok(Self {
            settings,
            paths,
            config: args.flags.config.clone().or(usual),
            engine: args.flags.engine.clone(),
            prefill: args.flags.prefill.clone().unwrap_or_default(),
            session: match (&args.flags.session, args.flags.latest) {
                (Some(name), _) => Some(Which::Named(name.clone())),
                (None, true) => Some(Which::Latest),
                (None, false) => None,
            },
            log,
            notices,
        })
    }

    /// Answers one question on standard output.
    pub(super) fn ask(self, question: String, json: bool) -> Result<Exit, Stop> {
        self.tell_on_stderr();
        let format = if json { Format::Json } else { Format::Text };
        if self.session.is_some() {
            return self.ask_in_session(&question, format);
        }
        let mut engine = self.start_engine()?;
        let loader = self.loader();
        let source = loader(None)?;
        self.introduce(&source);
        let ask = OneShot {
            question,
            system: self.settings.system.clone(),
            sampling: self.settings.sampling.clone(),
            preset: self.settings.preset.clone(),
            chosen: self.settings.chosen.clone(),
            max_tokens: self.settings.max_tokens,
            overflow: self.settings.overflow,
            thinking: self.settings.thinking,
            thinking_budget: self.settings.thinking_budget,
            prefill: self.prefill.clone(),
            guard: self.settings.loop_guard,
            format,
        };
        let load = self.settings.load.clone();
        runtime()?.block_on(oneshot::run(&mut engine, source, load, ask, io::stdout()))
    }

    /// Answers one question in a session that is kept.
    fn ask_in_session(self, question: &str, format: Format) -> Result<Exit, Stop> {
        let engine = self.start_engine()?;
        let (loader, keeper, lister) = (self.loader(), self.keeper(), self.lister());
        self.introduce(&loader(None)?);
        let Some(store) = self.start_store()? else {
            let words = "sessions are not kept: there is no home folder, or the setting 'keep' is off";
            return Err(Stop::new(Exit::Usage, words));
        };
        let (mut state, effects) = self.begin(true);
        state.options.unattended = true;
        let driver = Driver::new(state, engine, Some(store), (&loader, &keeper, &lister));
        runtime()?.block_on(in_session::run(driver, effects, question, format, io::stdout()))
    }

    /// The state at start, and what to do first.
    fn begin(&self, kept: bool) -> (State, Vec<Effect>) {
        let (tuning, options) = self.tuning();
        let (mut state, mut effects) = State::start(tuning, options, self.settings.system.clone(), None);
        state.looks = looks(&self.settings, self.paths.as_ref());
        if kept {
            effects.extend(state.keep(store::now(), self.session.clone()));
        }
        (state, effects)
    }

    /// Does something with the sessions that are kept.
    pub(super) fn sessions(self, task: &SessionsArgs) -> Result<Exit, Stop> {
        self.tell_on_stderr();
        let Some(options) = self.store_options() else {
            return Err(Stop::new(
                Exit::Usage,
                "there is no home folder to keep sessions in: set QUIPU_HOME",
            ));
        };
        let mut archive = Archive::open(&options)?;
        if let Some(notice) = &archive.notice {
            // A closed pipe has nobody behind it who could be told.
            let _ = writeln!(io::stderr(), "quipu: {}", sanitize(notice));
        }
        match &task.deed {
            Some(Deed::Replay { which, message }) => {
                let (_, conversation) = archive.read(&Which::Named(which.clone()))?;
                let mut engine = self.start_engine()?;
                let loader = self.loader();
                let with = (loader(None)?, self.settings.load.clone());
                let replay = sessions::replay(&mut engine, with, &conversation, *message, task.json, io::stdout());
                runtime()?.block_on(replay)
            }
            Some(deed) => sessions::run(&mut archive, deed, task.json, io::stdout()),
            None => sessions::run(&mut archive, &Deed::List { all: false }, task.json, io::stdout()),
        }
    }

    /// Where and how sessions are kept; `None` where they are not.
    fn store_options(&self) -> Option<StoreOptions> {
        let paths = self.paths.as_ref()?;
        Some(StoreOptions {
            folder: paths.data().to_owned(),
            trace_days: self.settings.trace_days,
            states: self.states().map(|(folder, budget)| Checkpoints::new(folder, budget)),
        })
    }

    /// Where the states of models are kept, and how many bytes of them; `None` where they are not.
    fn states(&self) -> Option<(PathBuf, u64)> {
        let budget = u64::from(self.settings.states) << 20;
        (budget > 0 && self.settings.keep && self.paths.is_some()).then(|| (self.cache().join("states"), budget))
    }

    /// Starts what keeps sessions, where they are kept.
    fn start_store(&self) -> Result<Option<StoreHandle>, Stop> {
        let options = self.store_options().filter(|_| self.settings.keep);
        let store = options.map(store::spawn).transpose();
        store.map_err(|error| {
            Stop::new(
                Exit::Failed,
                format!("the system gives no thread to keep sessions: {error}"),
            )
        })
    }

    /// The folder for what can be made again.
    fn cache(&self) -> PathBuf {
        self.paths
            .as_ref()
            .map_or_else(|| env::temp_dir().join("quipu"), |paths| paths.cache().to_owned())
    }

    /// Whether the chat is to go line by line.
    pub(super) fn is_plain(&self) -> bool {
        self.settings.plain
    }

    /// Talks line by line, where the terminal cannot do more.
    pub(super) fn plain(self) -> Result<Exit, Stop> {
        self.tell_on_stderr();
        let engine = self.start_engine()?;
        let loader = self.loader();
        let (store, keeper, lister) = (self.start_store()?, self.keeper(), self.lister());
        let (state, effects) = self.begin(store.is_some());
        let driver = Driver::new(state, engine, store, (&loader, &keeper, &lister));
        runtime()?.block_on(plain::run(driver, effects))
    }

    /// Opens the full-screen chat.
    pub(super) fn chat(mut self, args: &Args) -> Result<Exit, Stop> {
        let engine = self.start_engine()?;
        let store = self.start_store()?;
        let (tuning, options) = self.tuning();
        let theme = self.theme();
        let keymap = self.keymap();
        let chat = ChatOptions {
            tuning,
            options,
            system: self.settings.system.clone(),
            model: None,
            theme,
            keymap,
            engine,
            models: Models {
                loader: self.loader(),
                lister: self.lister(),
                fetcher: self.fetcher(),
            },
            keeper: self.keeper(),
            dresser: self.dresser(),
            looks: looks(&self.settings, self.paths.as_ref()),
            settler: self.settler(args),
            watched: self
                .config
                .iter()
                .cloned()
                .chain(self.paths.as_ref().map(Paths::themes))
                .collect(),
            store,
            session: self.session.clone(),
            log: self.log.take(),
            mouse: self.settings.mouse,
            notices: self
                .notices
                .into_iter()
                .map(|(level, text)| (level, sanitize_line(&text).into_owned()))
                .collect(),
        };
        match run::chat(chat) {
            Ok(never) => match never {},
            Err(error) => Err(Stop::new(Exit::Failed, error.to_string())),
        }
    }

    fn tuning(&self) -> (Tuning, Options) {
        let Settings {
            presets,
            preset,
            sampling,
            chosen,
            load,
            max_tokens,
            overflow,
            loop_guard,
            thinking,
            thinking_budget,
            trace,
            ..
        } = self.settings.clone();
        (
            Tuning {
                presets,
                preset,
                sampling,
                recommended: Vec::new(),
                chosen,
            },
            Options {
                max_tokens,
                overflow,
                loop_guard,
                unattended: false,
                load,
                thinking,
                thinking_budget,
                prefill: self.prefill.clone(),
                trace: if self.settings.keep { trace } else { 0 },
            },
        )
    }

    fn theme(&mut self) -> Theme {
        let (theme, warnings) = self.dresser()(&self.settings.theme);
        self.notices
            .extend(warnings.into_iter().map(|warning| (Level::Warn, warning)));
        theme
    }

    /// How a name becomes a theme for this terminal.
    fn dresser(&self) -> Dresser {
        let folder = self.paths.as_ref().map(Paths::themes);
        let variable = |name| env::var(name).ok();
        let (no_color, term, colorterm) = (variable("NO_COLOR"), variable("TERM"), variable("COLORTERM"));
        let depth = ColorDepth::from_env(no_color.as_deref(), term.as_deref(), colorterm.as_deref());
        Arc::new(move |name| {
            let (theme, warnings) = theme::load(name, folder.as_deref());
            (theme.degrade(depth), warnings)
        })
    }

    fn keymap(&mut self) -> Keymap {
        let (keymap, problems) = keymap(&self.settings);
        self.notices
            .extend(problems.into_iter().map(|problem| (Level::Warn, problem)));
        keymap
    }

    /// How settings that were saved are read again.
    fn settler(&self, args: &Args) -> Settler {
        let (file, paths, dresser) = (self.config.clone(), self.paths.clone(), self.dresser());
        // The flags were read once without a fault.
        let flags = layer::of(args).unwrap_or_default();
        Arc::new(move || {
            let origin = file.as_deref().map_or(Origin::Nowhere, Origin::Usual);
            let (settings, problems) = config::load(origin, |name| env::var(name).ok(), flags.clone());
            if let Some(problem) = problems.first() {
                return Err(sanitize_line(&problem.to_string()).into_owned());
            }
            let (theme, warnings) = dresser(&settings.theme);
            let (keymap, more) = keymap(&settings);
            let problems = warnings.iter().chain(&more);
            Ok(Fresh {
                looks: looks(&settings, paths.as_ref()),
                problems: problems.map(|words| sanitize_line(words).into_owned()).collect(),
                presets: settings.presets,
                keymap,
                theme,
            })
        })
    }

    fn start_engine(&self) -> Result<EngineHandle, Stop> {
        let refused = |error: io::Error| {
            Stop::new(
                Exit::Failed,
                format!("the system gives no thread for the engine: {error}"),
            )
        };
        match &self.engine {
            #[cfg(feature = "llama")]
            EngineChoice::Local => {
                engine::local::spawn(run::restore_terminal_now, self.prober(), self.vault()).map_err(refused)
            }
            #[cfg(not(feature = "llama"))]
            EngineChoice::Local => engine::scripted::spawn(Script::default()).map_err(refused),
            EngineChoice::Scripted(None) => scripted::spawn(Script::default()).map_err(refused),
            EngineChoice::Scripted(Some(file)) => scripted::spawn(script(file)?).map_err(refused),
        }
    }

    /// What tries files that are new here, unless that is not wanted.
    #[cfg(feature = "llama")]
    fn prober(&self) -> Option<Box<dyn engine::local::Prober>> {
        if !self.settings.probe {
            return None;
        }
        match env::current_exe() {
            Ok(program) => Some(Box::new(run::probe::ChildProber::new(&program, &self.cache()))),
            Err(error) => {
                tracing::warn!(%error, "the system does not say what program this is: models are loaded without a trial");
                None
            }
        }
    }

    /// What keeps the states of models.
    #[cfg(feature = "llama")]
    fn vault(&self) -> Option<Box<dyn engine::local::Vault>> {
        let (folder, budget) = self.states()?;
        match run::vault::FileVault::new(folder, budget) {
            Ok(vault) => Some(Box::new(vault)),
            Err(error) => {
                tracing::warn!(%error, "states of models are not kept");
                None
            }
        }
    }

    /// Writes to the file that the settings were read from.
    fn keeper(&self) -> Keeper {
        let file = self.config.clone();
        Arc::new(move |what| match (&file, what) {
            (Some(file), Keepable::Preset(preset)) => config::save_preset(file, preset),
            (Some(file), Keepable::Theme(name)) => config::save_value(file, "ui", "theme", name),
            (None, _) => Err("there is no home folder for a configuration: name one with '--config'".to_owned()),
        })
    }

    /// Says once ever, to a person, that the built-in model is small. Scripts and pipes are not told.
    fn introduce(&self, source: &ModelSource) {
        let Some(state) = self.paths.as_ref().map(Paths::state).filter(|_| source.builtin) else {
            return;
        };
        let told = state.join("introduced");
        if io::IsTerminal::is_terminal(&io::stderr()) && !told.exists() {
            let words = "quipu: this is cria, the tiny model that is built in; for real answers: quipu --model FILE";
            let _ = writeln!(io::stderr(), "{words}");
            let _ = fs::write(told, "");
        }
    }

    /// Where there is no screen, standard error takes what the person should know.
    fn tell_on_stderr(&self) {
        for (_, text) in &self.notices {
            // A closed pipe has nobody behind it who could be told.
            let _ = writeln!(io::stderr(), "quipu: {}", sanitize(text));
        }
    }
}

/// How the screen looks under these settings.
fn looks(settings: &Settings, paths: Option<&Paths>) -> Looks {
    let variable = |name| env::var(name).ok().filter(|value| !value.is_empty());
    // The first that is set counts (POSIX, 8.2); none set is the C locale, in which terminals are UTF-8 today all the same.
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(variable);
    let plain = locale.is_some_and(|locale| {
        let locale = locale.to_lowercase();
        !(locale.contains("utf-8") || locale.contains("utf8"))
    });
    Looks {
        theme: settings.theme.clone(),
        themes: theme::names(paths.map(Paths::themes).as_deref()),
        ascii: settings.ascii.unwrap_or(plain),
        still: !settings.motion,
        vi: settings.vi,
        personas: settings.personas.clone(),
    }
}

/// The keys under these settings, and what is wrong with them.
fn keymap(settings: &Settings) -> (Keymap, Vec<String>) {
    let changes = settings.bindings.iter().map(|binding| Change {
        context: binding.context.clone(),
        action: binding.action.clone(),
        chords: binding.chords.clone(),
        place: binding.place.to_string(),
    });
    Keymap::with(&changes.collect::<Vec<_>>())
}

/// The form that the flags give to answers.
fn grammar(args: &Args) -> Result<Option<Grammar>, Stop> {
    let named = match (&args.flags.grammar, &args.flags.json_schema) {
        (Some(path), _) => Some((path, GrammarForm::Gbnf)),
        (None, Some(path)) => Some((path, GrammarForm::JsonSchema)),
        (None, None) => None,
    };
    let read = named.map(|(path, form)| run::read_grammar(path, form).map_err(|words| Stop::new(Exit::Usage, words)));
    read.transpose()
}

/// Reads a script for the scripted engine.
fn script(file: &Path) -> Result<Script, Stop> {
    let shown = file.display();
    let text = fs::read_to_string(file)
        .map_err(|error| Stop::new(Exit::Usage, format!("cannot read the script '{shown}': {error}")))?;
    Script::parse(&text)
        .map_err(|error| Stop::new(Exit::Usage, format!("the script '{shown}' cannot be played: {error}")))
}

fn runtime() -> Result<Runtime, Stop> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Stop::new(Exit::Failed, format!("the system refuses what quipu needs: {error}")))
}
