//! The imperative shell: the loop, the terminal guard, effects, signals. The only room that touches terminal and clock together.

mod attach;
mod clipboard;
mod clock;
mod console;
mod editor;
mod effects;
mod event_loop;
mod examine;
mod grammar;
mod happening;
mod input;
pub mod logging;
mod modes;
mod output;
mod panics;
#[cfg(feature = "llama")]
pub mod probe;
mod reload;
mod screen;
mod signals;
mod stderr;
mod surface;
mod terminal;
mod token_file;
#[cfg(feature = "llama")]
pub mod vault;
mod watch;

use std::convert::Infallible;
use std::io::{self, IsTerminal, Write as _};
use std::path::PathBuf;

use thiserror::Error;
use tokio::runtime;
use tokio::sync::mpsc::unbounded_channel;

use crate::app::notice::Level;
use crate::app::state::{Looks, Options};
use crate::app::tuning::Tuning;
use crate::app::{Msg, State, update};
use crate::domain::session::Which;
use crate::engine::EngineHandle;
use crate::store::{self, StoreHandle};
use crate::text::sanitize_line;
use crate::ui::{Keymap, Theme};

pub use attach::read as read_attachment;
pub use clipboard::Route;
pub use clock::{Clock, FRAME};
pub use editor::{Editor, editor};
pub use effects::{
    Dresser, Fetcher, Fresh, Gate, Keeper, Lister, Loader, Models, Settler, at_home, store_gone, ticket_of,
};
pub use event_loop::{Farewell, Parts, Shell};
pub use examine::words as examine;
pub use grammar::read_grammar;
pub use happening::Happening;
pub use logging::Log;
pub use screen::Screen;
pub use signals::restore_terminal_now;
pub use surface::{Headless, Surface};
pub use token_file::write as write_tokens;

use console::Console;
use modes::Modes;
use reload::Reload;

/// Everything that a chat is started with, resolved.
pub struct ChatOptions {
    /// How tokens are drawn, and the presets there are.
    pub tuning: Tuning,
    /// Settings that `update` needs.
    pub options: Options,
    /// The system prompt of a new conversation.
    pub system: Option<String>,
    /// The model to load first, as the person named it.
    pub model: Option<String>,
    /// How it looks.
    pub theme: Theme,
    /// Which keys do what.
    pub keymap: Keymap,
    /// What makes tokens.
    pub engine: EngineHandle,
    /// How to come to models.
    pub models: Models,
    /// Writes to the configuration.
    pub keeper: Keeper,
    /// Reads themes.
    pub dresser: Dresser,
    /// How the screen looks, as far as it can be chosen.
    pub looks: Looks,
    /// Reads the settings again.
    pub settler: Settler,
    /// The files and folders that the settings come from.
    pub watched: Vec<PathBuf>,
    /// Keeps sessions; without one nothing is kept.
    pub store: Option<StoreHandle>,
    /// The session to begin with; a new one where none is named.
    pub session: Option<Which>,
    /// The log, where there is one.
    pub log: Option<Log>,
    /// Whether the wheel scrolls the transcript.
    pub mouse: bool,
    /// What the person should know from the start: mistakes in the settings, a log that cannot be written.
    pub notices: Vec<(Level, String)>,
}

/// Why there was no chat.
#[derive(Debug, Error)]
pub enum RunError {
    /// The terminal cannot be used.
    #[error("the terminal cannot be used ({0}): quipu \"QUESTION\" answers without one")]
    Terminal(#[source] io::Error),
    /// The system has no threads or descriptors left.
    #[error(
        "the system refuses what a chat needs ({0}): end other programs, or raise the limits on processes and files"
    )]
    System(#[source] io::Error),
}

/// Whether a chat can open here: keys come from a terminal, and frames go to one that can place a cursor. `term` is what
/// `TERM` says.
pub fn is_interactive(term: Option<&str>) -> bool {
    let can_place = term.is_none_or(|term| term != "dumb");
    can_place && io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Opens the chat and ends the process when it is over.
///
/// # Errors
/// When there is no chat to begin with. Everything later is told on the screen.
pub fn chat(chat: ChatOptions) -> Result<Infallible, RunError> {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(RunError::System)?;
    let code = runtime.block_on(converse(chat))?;
    // Everything is in order by now. A thread that still looks for a model on a slow disk, or counts the tokens of a long text, is not
    // waited for, and must not meet the exit handlers of llama.cpp: they take away what it works on.
    runtime.shutdown_background();
    signals::exit_now(code)
}

/// Says why the program has not ended yet.
fn slow() {
    // A terminal that is gone has nobody before it who could be told.
    let _ = writeln!(
        io::stderr(),
        "quipu: keeping the model's state for a quick return; Ctrl-C does without"
    );
}

/// The chat itself, to its exit code.
async fn converse(chat: ChatOptions) -> Result<u8, RunError> {
    let (to, from) = unbounded_channel();
    signals::listen(&to).map_err(RunError::System)?;
    let _hooked = panics::hook();
    let term = std::env::var("TERM").unwrap_or_default();
    let modes = Modes::new(chat.mouse, &term);
    let surface = Console::open(modes, chat.log.as_ref(), &to).map_err(RunError::Terminal)?;
    let (mut state, mut effects) = State::start(chat.tuning, chat.options, chat.system, chat.model);
    state.looks = chat.looks;
    if chat.store.is_some() {
        effects.extend(state.keep(store::now(), chat.session));
    }
    for (level, text) in chat.notices {
        effects.extend(update(&mut state, Msg::Notice(level, text)));
    }
    let _watching = Reload::watch(&chat.watched, to.clone());
    let mut screen = Screen::new(chat.theme, chat.keymap);
    screen.set_vi(state.looks.vi);
    let mut shell = Shell::new(Parts {
        state,
        screen,
        surface,
        engine: chat.engine,
        models: chat.models,
        keeper: chat.keeper,
        dresser: chat.dresser,
        settler: chat.settler,
        copies: Route::find(),
        editor: editor(),
        store: chat.store,
        happenings: (to, from),
        clock: Clock::start(),
        frame: FRAME,
    });
    shell.begin(effects);
    let code = shell.run().await;
    tracing::info!(code, "the chat is over");
    let Farewell { unsaved, .. } = shell.farewell(slow).await;
    if let Some(words) = unsaved {
        // A terminal that is gone has nobody before it who could be told.
        let _ = writeln!(
            io::stderr(),
            "quipu: the last of this session is not saved: {}",
            sanitize_line(&words)
        );
    }
    Ok(code)
}
