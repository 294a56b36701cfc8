//! A conversation with an engine, as a test wants it: ask, get all events back.

#![allow(dead_code, reason = "every including program uses another part")]
#![allow(unreachable_pub, reason = "included as a private module")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test support: a failure here fails the test"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use quipu::domain::inference::{
    ChatMessage, Command, Event, Finish, GenerateRequest, LoadOptions, ModelInfo, ModelSource, Opening, Overflow, Part,
    PrefillProgress, PromptRequest, PromptView, Said, Stats, Thinking, Token, TurnId, Window,
};
use quipu::domain::{Role, Sampling};
use quipu::engine::EngineHandle;
use quipu::engine::local::Vault;

/// Longest wait for an event: far more than a loaded two-core machine needs.
const PATIENCE: Duration = Duration::from_mins(2);

/// An engine with a model, and the number of its last turn.
pub struct Talk {
    /// The engine.
    pub engine: EngineHandle,
    /// The model.
    pub model: ModelInfo,
    /// What to do when a conversation outgrows the context.
    pub overflow: Overflow,
    /// How the next answer begins; taken by the question.
    pub opening: Opening,
    /// Whether the model shall think.
    pub thinking: Option<Thinking>,
    /// Longest thinking in tokens.
    pub thinking_budget: Option<u32>,
    turn: TurnId,
}

/// A whole answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its text.
    pub text: String,
    /// What was thought before.
    pub thinking: String,
    /// Thinking and text that were there before, where it went on.
    pub resumed: Option<(String, String)>,
    /// Its ids.
    pub tokens: Vec<Token>,
    /// Which part of the conversation went in, where not all did.
    pub window: Option<Window>,
    /// What was kept and forgotten under way.
    pub shifts: Vec<(u32, u32)>,
    /// What the next turn would leave out.
    pub forecast: Option<Window>,
    /// The last word on the prompt.
    pub prefill: PrefillProgress,
    /// Why it ended.
    pub finish: Finish,
    /// Counts and times.
    pub stats: Stats,
}

/// Greedy sampling.
pub fn greedy() -> Sampling {
    Sampling {
        temperature: 0.0,
        ..Sampling::default()
    }
}

/// Something that a person says.
pub fn user(text: &str) -> ChatMessage {
    ChatMessage::new(Role::User, text)
}

impl Talk {
    /// Loads a model on CPU.
    pub fn load(path: &Path, options: LoadOptions) -> Self {
        Self::load_with(path, options, None)
    }

    /// The same with something that keeps states.
    pub fn load_with(path: &Path, options: LoadOptions, vault: Option<Box<dyn Vault>>) -> Self {
        let engine = quipu::engine::local::spawn(|_| {}, None, vault).unwrap();
        let source = ModelSource {
            notice: None,
            path: path.to_owned(),
            builtin: false,
        };
        let mut talk = Self {
            engine,
            model: ModelInfo::default(),
            overflow: Overflow::Stop,
            opening: Opening::default(),
            thinking: None,
            thinking_budget: None,
            turn: TurnId::default(),
        };
        let turn = talk.next_turn();
        talk.tell(Command::Load { turn, source, options });
        loop {
            match talk.event() {
                Event::Ready { model, .. } => {
                    talk.model = *model;
                    return talk;
                }
                Event::Loading { .. } => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// The built-in model.
    pub fn with_cria() -> Self {
        Self::load(&cria(), LoadOptions::default())
    }

    /// The number of a new turn.
    pub fn next_turn(&mut self) -> TurnId {
        self.turn = self.turn.next();
        self.turn
    }

    /// Sends a command.
    pub fn tell(&self, command: Command) {
        self.engine.commands.send(command).unwrap();
    }

    /// Begins an answer.
    pub fn begin(&mut self, messages: &[ChatMessage], sampling: Sampling, max_tokens: Option<u32>) -> TurnId {
        let turn = self.next_turn();
        let request = GenerateRequest {
            prompt: PromptRequest {
                messages: messages.to_vec(),
                opening: std::mem::take(&mut self.opening),
                thinking: self.thinking,
                overflow: self.overflow,
                max_tokens,
            },
            sampling,
            thinking_budget: self.thinking_budget,
            report: false,
            changes: Vec::new(),
        };
        self.tell(Command::Generate { turn, request });
        turn
    }

    /// Asks and takes the whole answer.
    pub fn ask(&mut self, messages: &[ChatMessage], sampling: Sampling, max_tokens: Option<u32>) -> Answer {
        self.begin(messages, sampling, max_tokens);
        self.rest(|_, _| {})
    }

    /// Takes the rest of an answer; `each` sees every token with the handle, to stop or tune.
    pub fn rest(&mut self, mut each: impl FnMut(&EngineHandle, &Said)) -> Answer {
        let (mut text, mut tokens, mut prefill) = (String::new(), Vec::new(), PrefillProgress::default());
        let (mut thinking, mut resumed) = (String::new(), None);
        let (mut window, mut shifts, mut forecast) = (None, Vec::new(), None);
        loop {
            match self.event() {
                Event::Window { window: told, .. } => window = Some(told),
                Event::Shift { keep, discard, .. } => shifts.push((keep, discard)),
                Event::Forecast { window: told, .. } => forecast = Some(told),
                Event::Prefill { progress, .. } => prefill = progress,
                Event::Prompted { .. } | Event::Changed { .. } => {}
                Event::Resumed { thinking, text, .. } => resumed = Some((thinking, text)),
                Event::Token { said, .. } => {
                    each(&self.engine, &said);
                    match said.part {
                        Part::Answer => text.push_str(&said.text),
                        Part::Thinking => thinking.push_str(&said.text),
                    }
                    tokens.extend(said.token);
                }
                Event::Finished { finish, stats, .. } => {
                    return Answer {
                        text,
                        thinking,
                        resumed,
                        tokens,
                        window,
                        shifts,
                        forecast,
                        prefill,
                        finish,
                        stats,
                    };
                }
                other => panic!("{other:?}"),
            }
        }
    }

    /// Renders a prompt.
    pub fn render(&mut self, messages: &[ChatMessage]) -> PromptView {
        let turn = self.next_turn();
        let prompt = PromptRequest {
            messages: messages.to_vec(),
            opening: std::mem::take(&mut self.opening),
            thinking: self.thinking,
            overflow: self.overflow,
            max_tokens: None,
        };
        self.tell(Command::Render { turn, prompt });
        match self.event() {
            Event::Rendered { prompt, .. } => prompt,
            other => panic!("{other:?}"),
        }
    }

    /// The next event.
    pub fn event(&mut self) -> Event {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let events = &mut self.engine.events;
        let began = Instant::now();
        runtime
            .block_on(async { tokio::time::timeout(PATIENCE, events.recv()).await })
            .unwrap_or_else(|_| panic!("no event within {:?}", began.elapsed()))
            .expect("the engine lives")
    }
}

/// The built-in model's file.
pub fn cria() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/cria/cria-q8_0.gguf")
}

/// Whether some run of up to 16 tokens is said at least four times in a row.
pub fn loops(tokens: &[Token]) -> bool {
    (1..=16_usize).any(|period| {
        let mut run = 0;
        tokens.windows(period + 1).any(|w| {
            run = if w[0] == w[period] { run + 1 } else { 0 };
            run >= period * 3
        })
    })
}
