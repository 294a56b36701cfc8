//! The whole state of the program as plain data. It is changed by `update` alone and read by the view.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::domain::fetching::Sight;
use crate::domain::inference::{
    Failure, LoadOptions, LoadStep, ModelInfo, Overflow, PrefillProgress, PromptView, Thinking, TurnId, Window,
};
use crate::domain::prospect::Prospect;
use crate::domain::session::{Details, SessionId, SessionKey, Which};
use crate::domain::{Answer, Conversation, LoopGuard, MessageId};
use crate::text::Watch;

use super::caught::Caught;
use super::click::Drag;
use super::compare::Comparing;
use super::draft::Draft;
use super::effect::Effect;
use super::find::{Find, Found};
use super::inspector::Inspector;
use super::notice::{Level, Notices};
use super::picker::Picker;
use super::sessions::SessionList;
use super::tune::TunePanel;
use super::tuning::Tuning;
use super::update::{self, describe::Titling, replay::Replay};
use super::ward::Ward;

/// Everything there is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// What was said.
    pub conversation: Conversation,
    /// Which conversation of this process it is: message ids begin anew with each.
    pub begun: u32,
    /// The last of these numbers that was given out.
    pub keys: u32,
    /// What the engine is with.
    pub engine: Engine,
    /// The model that the engine still has while another is looked for. It lets go of it with the first word on the load.
    pub resident: Option<Box<ModelInfo>>,
    /// Whether the built-in model was introduced.
    pub introduced: bool,
    /// The answer under way.
    pub running: Option<Running>,
    /// The answer that is being made again.
    pub replay: Option<Replay>,
    /// The reading of the conversation that was asked for when it was entered, and how far it is.
    pub resuming: Option<(TurnId, PrefillProgress)>,
    /// Whether old turns are to be summed up when the answer under way is there.
    pub compacting: bool,
    /// The last answer that went round in circles.
    pub caught: Option<Caught>,
    /// The title that the model is asked for.
    pub titling: Option<Titling>,
    /// The tip before the answer under way was asked for: where to return to if nothing comes of it.
    pub before: Option<MessageId>,
    /// What is being written.
    pub draft: Draft,
    /// How tokens are drawn.
    pub tuning: Tuning,
    /// What of it all is on the screen.
    pub screen: Screen,
    /// How it looks.
    pub looks: Looks,
    /// What the newest token was drawn from, while someone looks.
    pub prospect: Option<Arc<Prospect>>,
    /// Words to the person.
    pub notices: Notices,
    /// What the settings said.
    pub options: Options,
    /// The name of the model that was asked for last; `None` is the one that the settings name.
    pub loaded: Option<String>,
    /// The model that is looked for before what is under way is stopped for it.
    pub sought: Option<String>,
    /// The answer whose trace is being read, and what `/inspect` was given.
    pub tracing: Option<(MessageId, String)>,
    /// The comparison under way.
    pub comparing: Option<TurnId>,
    /// The model to go back to, while another is loaded to be compared.
    pub home: Option<Home>,
    /// The examination under way.
    pub examining: Option<TurnId>,
    /// The model that is being fetched.
    pub fetching: Option<Fetching>,
    /// Which part of the conversation the model saw last.
    pub window: Window,
    /// The context in use, in tokens, as last told.
    pub context_used: u32,
    /// The last turn given out.
    pub turn: TurnId,
    /// When an interrupt was last asked for with nothing to stop.
    pub interrupted: Option<Duration>,
    /// The session that the conversation is.
    pub session: Session,
    /// What is between it and the store.
    pub keeping: Keeping,
    /// The time since start, as last told.
    pub now: Duration,
    /// What time it was at start, in milliseconds since 1970.
    pub started: i64,
}

/// A model that is being fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetching {
    /// What was asked for.
    pub name: String,
    /// How far it is, once that is known.
    pub sight: Option<Sight>,
}

/// How the screen looks, as far as it can be chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    /// The theme's name.
    pub theme: String,
    /// The names of all themes there are.
    pub themes: Vec<String>,
    /// Whether lines and marks are drawn in ASCII.
    pub ascii: bool,
    /// Whether nothing turns while one waits.
    pub still: bool,
    /// Whether messages are edited as in vi.
    pub vi: bool,
    /// The personas: names and system prompts.
    pub personas: Vec<(String, String)>,
}

/// The session that the conversation is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    /// Its number, once it is kept.
    pub id: Option<SessionId>,
    /// What people decided about it.
    pub details: Details,
    /// Whether that changed since it was last kept.
    pub described: bool,
    /// Whether another quipu has it open: nothing may be said here.
    pub read_only: bool,
    /// Whether anything of it was given to the store.
    pub begun: bool,
}

/// The name of the model that was loaded before others were compared; `None` is the one that the settings name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home(pub Option<String>);

/// What is between the conversations of this process and the store.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Keeping {
    /// Whether there is a store at all.
    pub on: bool,
    /// Whether the store could not keep what it was given last.
    pub trouble: bool,
    /// The last ticket given out.
    pub ticket: u64,
    /// The ticket of the last save that was asked for.
    pub asked: u64,
    /// When an answer under way was last kept.
    pub checkpoint: Duration,
    /// The session that is being opened, and the title that it has where it must be begun.
    pub opening: Option<(SessionKey, Option<String>)>,
    /// The message to show in it.
    pub jump: Option<(SessionId, MessageId)>,
    /// The session that was deleted last, until something else is said.
    pub deleted: Option<Deleted>,
    /// What of the draft the store has.
    pub drafting: Drafting,
}

/// What of the draft the store has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drafting {
    /// The conversation that the draft is of.
    pub key: Option<SessionKey>,
    /// The session that it is kept with.
    pub session: Option<SessionId>,
    /// The revision that is kept.
    pub kept: u64,
    /// The revision that is not, and since when one is not.
    pub since: Option<(u64, Duration)>,
}

/// A session that was deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deleted {
    /// Its number.
    pub id: SessionId,
    /// Its title.
    pub title: String,
    /// Whether it was the one on the screen.
    pub shown: bool,
}

/// Settings that `update` needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Longest answer in tokens; `None` is until the model ends or the context is full.
    pub max_tokens: Option<u32>,
    /// What to do when a conversation outgrows the context.
    pub overflow: Overflow,
    /// What to do about a loop.
    pub loop_guard: LoopGuard,
    /// Whether nobody is there who could give a command.
    pub unattended: bool,
    /// How to load models.
    pub load: LoadOptions,
    /// Whether models that can think shall; `None` leaves it to their templates.
    pub thinking: Option<Thinking>,
    /// Tokens of thinking after which a model is made to answer; `None` is without limit.
    pub thinking_budget: Option<u32>,
    /// What the next answer starts with; empty for none.
    pub prefill: String,
    /// How many of the likeliest candidates of every token are kept with an answer; 0 keeps nothing of what there was to draw
    /// from.
    pub trace: u32,
}

/// What the engine is with.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Engine {
    /// No model was asked for.
    #[default]
    Empty,
    /// A model is being loaded.
    Loading {
        /// The load.
        turn: TurnId,
        /// What is being done.
        step: LoadStep,
        /// Bytes so far.
        done: u64,
        /// Bytes in all; 0 while unknown.
        total: u64,
        /// When it began.
        since: Duration,
    },
    /// A model can be talked to.
    Ready(Box<ModelInfo>),
    /// The model could not be loaded.
    Failed(Failure),
    /// The engine thread is gone.
    Dead(String),
}

impl Engine {
    /// The model, once it can be talked to.
    pub fn model(&self) -> Option<&ModelInfo> {
        match self {
            Self::Ready(model) => Some(model),
            _ => None,
        }
    }
}

/// An answer under way.
#[derive(Clone, Debug, PartialEq)]
pub struct Running {
    /// Its turn.
    pub turn: TurnId,
    /// The message that grows.
    pub answer: MessageId,
    /// How far it is.
    pub phase: Phase,
    /// When it was asked for.
    pub since: Duration,
    /// What the answer was before, where it goes on.
    pub continued: Option<Box<Before>>,
    /// Looks out for loops in it, where anything does.
    pub watch: Option<Box<Watch>>,
    /// Whether the context was full under way, and some of it was forgotten.
    pub shifted: bool,
}

/// An answer before it went on: to go back to where nothing comes of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Before {
    /// Its text.
    pub text: String,
    /// How it had come to be.
    pub answer: Answer,
    /// How many of its ids it goes on behind.
    pub kept: usize,
}

/// How far an answer is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Phase {
    /// It waits for the model to be loaded.
    Queued,
    /// The prompt is being read.
    Prefill(PrefillProgress),
    /// Tokens come.
    Decoding {
        /// Tokens so far.
        tokens: u32,
        /// When the first came.
        first: Duration,
    },
    /// It was stopped and the engine has not said so yet.
    Stopping,
}

/// What is on the screen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Screen {
    /// Where the transcript stands.
    pub scroll: Scroll,
    /// What lies over it.
    pub overlay: Option<Overlay>,
    /// What is typed to stand in the place of the token that is inspected.
    pub forced: Option<String>,
    /// The panel in which sampling is tuned.
    pub tune: Option<TunePanel>,
    /// Whether thinking is shown, and not only told of.
    pub thoughts: bool,
    /// Whether answers are shown as they were written.
    pub raw: bool,
    /// The messages that are folded although they would not be, or the other way round.
    pub folds: BTreeSet<MessageId>,
    /// The same of what was thought about them.
    pub thought: BTreeSet<MessageId>,
    /// What is marked with the mouse.
    pub drag: Option<Drag>,
    /// What is looked for in the transcript.
    pub find: Option<Find>,
    /// The message that keys and commands are about.
    pub selected: Option<MessageId>,
    /// The message that is to be seen in the next frame.
    pub reveal: Option<MessageId>,
    /// The message of which the next one sent is another version.
    pub editing: Option<MessageId>,
    /// What the last frame looked like.
    pub view: ViewInfo,
}

/// Where the transcript stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scroll {
    /// At the end, and staying there.
    #[default]
    Follow,
    /// With this line at the top, counted from 0.
    At(u32),
}

/// What lies over the transcript; each is a text that scrolls.
#[derive(Clone, Debug, PartialEq)]
pub enum Overlay {
    /// Keys and commands.
    Help {
        /// First line shown.
        top: u32,
    },
    /// The exact prompt.
    Prompt {
        /// The request; `prompt` is there once the engine answered it.
        turn: TurnId,
        /// The prompt.
        prompt: Option<PromptView>,
        /// First line shown.
        top: u32,
    },
    /// The sessions there are.
    Sessions(Box<SessionList>),
    /// A list to choose from.
    Picker(Box<Picker>),
    /// The tokens of an answer.
    Inspector(Box<Inspector>),
    /// What a doctor finds.
    Doctor(Box<Ward>),
    /// Several answers side by side.
    Compare(Box<Comparing>),
    /// Plain text under a title.
    Text {
        /// The title.
        title: String,
        /// The lines.
        text: String,
        /// First line shown.
        top: u32,
    },
}

impl Overlay {
    /// The first line shown.
    pub fn top(&self) -> u32 {
        match self {
            Self::Help { top } | Self::Prompt { top, .. } | Self::Text { top, .. } => *top,
            Self::Doctor(ward) => ward.top,
            Self::Compare(open) => open.top,
            // They follow their selection.
            Self::Sessions(_) | Self::Picker(_) | Self::Inspector(_) => 0,
        }
    }

    /// The first line shown, to change, where it is the overlay's own.
    pub fn top_mut(&mut self) -> Option<&mut u32> {
        match self {
            Self::Help { top } | Self::Prompt { top, .. } | Self::Text { top, .. } => Some(top),
            Self::Doctor(ward) => Some(&mut ward.top),
            Self::Compare(open) => Some(&mut open.top),
            Self::Sessions(_) | Self::Picker(_) | Self::Inspector(_) => None,
        }
    }

    /// The work under way or over that it shows, and nobody else does.
    pub fn turn(&self) -> Option<TurnId> {
        match self {
            Self::Doctor(ward) => Some(ward.turn),
            Self::Compare(open) => Some(open.turn),
            _ => None,
        }
    }

    /// Whether it is a text that scrolls, and no panel.
    pub fn is_text(&self) -> bool {
        !matches!(
            self,
            Self::Sessions(_) | Self::Picker(_) | Self::Inspector(_) | Self::Compare(_)
        )
    }
}

/// What a frame looked like: how much there is, how much fits, and where it stands, in lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ViewInfo {
    /// Lines of the whole transcript.
    pub transcript: u32,
    /// Lines of it that fit.
    pub viewport: u32,
    /// The first line of it shown. Not always the one asked for: at another width, the same words stand on another line.
    pub top: u32,
    /// Lines of the whole open overlay; 0 where none is open.
    pub overlay: u32,
    /// Lines of it that fit.
    pub overlay_viewport: u32,
    /// The first line of the message that was to be seen, and the one after its last.
    pub reveal: Option<(u32, u32)>,
    /// What was found of what is looked for.
    pub found: Option<Found>,
    /// Whether messages out of sight are still to be laid out: another frame goes on with them.
    pub unfinished: bool,
}

impl ViewInfo {
    /// The first line shown when the transcript is at its end.
    pub fn end(&self) -> u32 {
        self.transcript.saturating_sub(self.viewport)
    }

    /// The same for the overlay.
    pub fn overlay_end(&self) -> u32 {
        self.overlay.saturating_sub(self.overlay_viewport)
    }
}

/// How often something that moves is drawn: quick enough to look alive, slow enough to cost nothing.
const ANIMATION: Duration = Duration::from_millis(100);
/// The same where nothing is to turn: only figures change.
const STILL: Duration = Duration::from_secs(1);

impl State {
    /// The state at start with what the settings say, and what to do first: load `model`.
    pub fn start(
        tuning: Tuning,
        options: Options,
        system: Option<String>,
        model: Option<String>,
    ) -> (Self, Vec<Effect>) {
        let mut state = Self {
            tuning,
            options,
            ..Self::default()
        };
        state.conversation = Conversation::under(system);
        let load = state.load(model);
        (state, vec![load])
    }

    /// Has the conversation be kept from now on. `started` is the time, in milliseconds since 1970; `first` is the session to
    /// open.
    pub fn keep(&mut self, started: i64, first: Option<Which>) -> Vec<Effect> {
        self.started = started;
        self.keeping.on = true;
        let drafts = update::begin_drafts(self);
        let opening = first.map(|which| update::ask_for(self, which));
        opening.into_iter().chain([drafts]).collect()
    }

    /// Begins a load and returns the effect that does it.
    pub(super) fn load(&mut self, name: Option<String>) -> Effect {
        let turn = self.next_turn();
        let loading = Engine::Loading {
            turn,
            step: LoadStep::default(),
            done: 0,
            total: 0,
            since: self.now,
        };
        self.resident = match std::mem::replace(&mut self.engine, loading) {
            Engine::Ready(model) => Some(model),
            _ => None,
        };
        self.loaded.clone_from(&name);
        Effect::Load {
            turn,
            name,
            options: self.options.load.clone(),
        }
    }

    /// Tells the person something.
    pub(super) fn tell(&mut self, level: Level, text: impl Into<String>) {
        self.notices.push(level, text, self.now);
    }

    /// What time it is, in milliseconds since 1970; 0 where nobody knows.
    pub fn clock(&self) -> i64 {
        match self.started {
            0 => 0,
            started => started.saturating_add(self.now.as_millis() as i64),
        }
    }

    /// The conversation, for the store.
    pub(super) fn key(&self) -> SessionKey {
        SessionKey(self.begun)
    }

    /// Gives out a new number for a conversation.
    pub(super) fn next_key(&mut self) -> SessionKey {
        self.keys += 1;
        SessionKey(self.keys)
    }

    /// Gives out a new turn.
    pub(super) fn next_turn(&mut self) -> TurnId {
        self.turn = self.turn.next();
        self.turn
    }

    /// Whether the model thinks about the answer under way and has not begun to give it.
    pub fn is_thinking(&self) -> bool {
        let running = self
            .running
            .as_ref()
            .filter(|r| matches!(r.phase, Phase::Decoding { .. }));
        let message = running.and_then(|running| self.conversation.get(running.answer));
        let answer = message.and_then(|message| Some((message, message.answer.as_ref()?)));
        answer.is_some_and(|(message, answer)| answer.thinking.tokens > 0 && message.text == answer.opening)
    }

    /// When the screen would change although nothing happens: the next step of an animation, or a notice going away.
    pub fn wakes_at(&self) -> Option<Duration> {
        let aside = self.replay.is_some()
            || self.titling.is_some()
            || self.resuming.is_some()
            || self.keeping.opening.is_some();
        let moves = matches!(self.engine, Engine::Loading { .. }) || self.running.is_some() || aside;
        let pace = if self.looks.still { STILL } else { ANIMATION };
        let animation = moves.then(|| self.now + pace);
        [animation, self.notices.changes_at(self.now), update::due(self)]
            .into_iter()
            .flatten()
            .min()
    }
}
