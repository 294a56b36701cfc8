//! The engine's vocabulary: what can be asked of the thread that makes tokens, and what it tells.
//!
//! Plain data that both sides of the channel may see, free of llama.cpp. Every event names the turn it belongs to, so that
//! a late word of a cancelled turn can be told from news.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use super::loading::{GpuLayers, LoadOptions, Overflow};
pub use super::request::{ChatMessage, GenerateRequest, Opening, PromptRequest};
use super::sampling::{Sampling, Stage};
pub use super::thinking::{Part, Thinking, ThinkingControls};

/// A token id of a vocabulary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Token(pub i32);

/// One request to the engine and everything that comes back for it. Ids grow and are never used twice in a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TurnId(pub u64);

impl TurnId {
    /// The id after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// Cancels turns from any thread: a mark that only rises. A turn at or below the mark is cancelled, so a cancel can neither
/// hit a later turn nor need resetting.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicU64>);

impl Cancel {
    /// Cancels `turn` and all before it.
    pub fn stop(&self, turn: TurnId) {
        self.0.fetch_max(turn.0, Ordering::Relaxed);
    }

    /// Whether `turn` is cancelled. Turn 0 always is; the first real turn is 1.
    pub fn is_stopped(&self, turn: TurnId) -> bool {
        self.0.load(Ordering::Relaxed) >= turn.0
    }
}

/// A model file that was found and whose header was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelSource {
    /// A GGUF file; the first part where it is split.
    pub path: PathBuf,
    /// Whether it is the one that quipu brings along.
    pub builtin: bool,
    /// What the person should know of how it was found; it becomes one of [`ModelInfo::warnings`].
    pub notice: Option<String>,
}

/// What the engine can be asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Load a model, letting go of the one there is.
    Load {
        /// Names the events of this load.
        turn: TurnId,
        /// What to load.
        source: ModelSource,
        /// How.
        options: LoadOptions,
    },
    /// Answer a conversation.
    Generate {
        /// Names the events of this answer.
        turn: TurnId,
        /// What and how.
        request: GenerateRequest,
    },
    /// Replace the sampling settings of the running turn from its next token on. Of no effect between turns.
    Tune(Sampling),
    /// End the thinking of the running turn at its next token and have it answer. Of no effect where it does not think.
    EndThinking {
        /// The turn.
        turn: TurnId,
    },
    /// Render the exact prompt of a conversation without generating.
    Render {
        /// Names the event that answers.
        turn: TurnId,
        /// What it is made of.
        prompt: PromptRequest,
    },
    /// Answer a conversation under several settings at once.
    Compare {
        /// Names the events that answer.
        turn: TurnId,
        /// What to answer, and how.
        request: Box<CompareRequest>,
    },
    /// Leave in the lookout what a token of an answer was drawn from, computed anew.
    Look {
        /// Names the event that answers.
        turn: TurnId,
        /// The token.
        look: Box<LookRequest>,
    },
    /// Keep what the KV cache holds under this name, for [`Command::Resume`]. Of no effect where there is nowhere to keep it.
    Keep {
        /// The name.
        name: String,
    },
    /// Bring the KV cache to a conversation that goes on, from what was kept under this name where it fits, so that the next
    /// answer need not wait. Tells nothing but [`Event::Prefill`] and, at its end, [`Event::Resumable`].
    Resume {
        /// Names the events.
        turn: TurnId,
        /// The name.
        name: String,
        /// The conversation so far.
        prompt: PromptRequest,
    },
    /// Let go of the model.
    Unload,
    /// Time the engine: read `depth` tokens, then `prompt` tokens, then generate `generate` tokens.
    Bench {
        /// Names the event that answers.
        turn: TurnId,
        /// What to time.
        request: BenchRequest,
    },
}

/// What can change while an answer streams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// These settings are in force.
    Settings(Box<Sampling>),
    /// The thinking is ended.
    EndThinking,
}

/// What to time, in tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchRequest {
    /// Tokens in the context before timing starts.
    pub depth: u32,
    /// Prompt tokens to read under the clock; 0 skips.
    pub prompt: u32,
    /// Tokens to generate under the clock; 0 skips.
    pub generate: u32,
    /// Settings of the sampling that is part of generating.
    pub sampling: Sampling,
}

/// What a timing found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BenchResult {
    /// Time to read the prompt tokens.
    pub prompt: Duration,
    /// Time to generate the tokens, sampling included.
    pub generate: Duration,
}

/// What a load is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadStep {
    /// Trying a file that is new here, where its faults harm nobody.
    Trial,
    /// Reading the weights.
    #[default]
    Weights,
}

impl fmt::Display for LoadStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Trial => "trying",
            Self::Weights => "loading",
        })
    }
}

/// What the engine tells. Each event names its turn, except the last word of a dying engine.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A model is being loaded.
    Loading {
        /// The load.
        turn: TurnId,
        /// What is being done.
        step: LoadStep,
        /// Bytes so far.
        done: u64,
        /// Bytes in all.
        total: u64,
    },
    /// The model can be talked to.
    Ready {
        /// The load.
        turn: TurnId,
        /// What was loaded.
        model: Box<ModelInfo>,
    },
    /// The conversation outgrew the context: which part of it goes into the prompt. Told before anything is computed.
    Window {
        /// The turn.
        turn: TurnId,
        /// What is inside and what is left out.
        window: Window,
    },
    /// The context is full in the middle of an answer: `discard` tokens behind the first `keep` are about to be forgotten.
    Shift {
        /// The turn.
        turn: TurnId,
        /// Tokens at the beginning that stay.
        keep: u32,
        /// Tokens that go.
        discard: u32,
    },
    /// Something that the person should know of a turn that goes on.
    Noted {
        /// The turn.
        turn: TurnId,
        /// In words, as a [`Failure`] has them.
        words: String,
    },
    /// The answer that ended leaves so little room that the next turn will not fit whole.
    Forecast {
        /// The turn that ended.
        turn: TurnId,
        /// What the next prompt would be, before anything is said in it.
        window: Window,
    },
    /// The prompt was read and the answer begins: what is needed to make the same again, or to know that it is another.
    Prompted {
        /// The turn.
        turn: TurnId,
        /// How the template was applied, in words.
        path: String,
        /// Digest of its token ids.
        digest: String,
        /// The seed in force, the one drawn included.
        seed: u32,
    },
    /// A change that was asked for while the answer streamed holds from its next token on.
    Changed {
        /// The turn.
        turn: TurnId,
        /// Tokens that were said in this turn before.
        at: u32,
        /// What changed.
        change: Change,
    },
    /// The prompt is being read.
    Prefill {
        /// The turn.
        turn: TurnId,
        /// How far.
        progress: PrefillProgress,
    },
    /// An answer goes on: what its tokens so far come to, which what is shown of it may differ from at its very end.
    Resumed {
        /// The turn.
        turn: TurnId,
        /// Its thinking so far.
        thinking: String,
        /// What it has said so far, without the text that it was made to start with.
        text: String,
    },
    /// A token was said.
    Token {
        /// The turn.
        turn: TurnId,
        /// The token.
        said: Said,
    },
    /// The answer is over; text still held back comes as a last [`Event::Token`] before this.
    Finished {
        /// The turn.
        turn: TurnId,
        /// Why.
        finish: Finish,
        /// Counts and times.
        stats: Stats,
    },
    /// The prompt that was asked for.
    Rendered {
        /// The request.
        turn: TurnId,
        /// The prompt, token by token.
        prompt: PromptView,
    },
    /// A token was said in one of the columns that are compared.
    Column {
        /// The turn.
        turn: TurnId,
        /// The column, from 0.
        column: usize,
        /// The token.
        said: Said,
    },
    /// A column is over.
    ColumnFinished {
        /// The turn.
        turn: TurnId,
        /// The column, from 0.
        column: usize,
        /// Why.
        finish: Finish,
        /// Counts and times; the reading of the prompt is all columns'.
        stats: Stats,
    },
    /// All columns are over.
    Compared {
        /// The turn.
        turn: TurnId,
    },
    /// What was to be looked at lies in the lookout.
    Looked {
        /// The request.
        turn: TurnId,
    },
    /// The KV cache holds as much of the conversation so far as it could be brought to.
    Resumable {
        /// The request.
        turn: TurnId,
        /// Tokens in it.
        tokens: u32,
        /// Those of them that were kept and not read anew.
        restored: u32,
    },
    /// The timing that was asked for.
    Benched {
        /// The request.
        turn: TurnId,
        /// What it found.
        result: BenchResult,
    },
    /// The turn could not be carried out; the engine lives.
    Failed {
        /// The turn.
        turn: TurnId,
        /// What went wrong.
        failure: Failure,
    },
    /// The engine thread is gone.
    Died {
        /// Its last words.
        reason: String,
    },
}

/// A conversation to be answered under several settings at once.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareRequest {
    /// The prompt, which all of them share.
    pub prompt: PromptRequest,
    /// The settings, one for each column; at most [`Self::MOST`].
    pub columns: Vec<Sampling>,
    /// Longest thinking in tokens.
    pub thinking_budget: Option<u32>,
    /// Whether to tell with every token what there was to draw from.
    pub report: bool,
}

impl CompareRequest {
    /// Most columns.
    pub const MOST: usize = 4;
}

/// A token of an answer that is to be looked at again.
#[derive(Clone, Debug, PartialEq)]
pub struct LookRequest {
    /// The prompt, opened with all tokens of the answer before it.
    pub prompt: PromptRequest,
    /// The token.
    pub said: Token,
    /// Its place in the answer, from 0.
    pub place: u32,
    /// The settings whose biases count.
    pub sampling: Sampling,
}

/// Which part of a conversation the model sees, in messages and tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Messages left out: the oldest behind the system prompt.
    pub left_out: u32,
    /// Tokens that the whole conversation would take.
    pub whole: u32,
    /// Tokens that the part inside takes.
    pub inside: u32,
    /// Tokens that the context holds.
    pub context: u32,
}

/// How far the reading of a prompt is, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrefillProgress {
    /// Tokens in the KV cache by now, the reused ones included.
    pub done: u32,
    /// Tokens of the prompt.
    pub total: u32,
    /// Tokens that were in the KV cache already.
    pub reused: u32,
}

/// A token that was said, and the text that became complete with it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// The id; `None` for text that was held back and became clear without a token of its own.
    pub token: Option<Token>,
    /// Which part of the answer it belongs to; the tags around thinking belong to it.
    pub part: Part,
    /// The token's own bytes, which may be a part of a character; none for a control token.
    pub bytes: Vec<u8>,
    /// Whole characters only; empty while one is incomplete.
    pub text: String,
    /// What there was to draw from; when asked for.
    pub report: Option<Box<Report>>,
}

impl Said {
    /// A token and the text that became clear with it, by part: the token with the text of its own part where that comes first, and
    /// the rest without a token.
    pub fn in_parts(
        (token, part): (Token, Part),
        bytes: Vec<u8>,
        parts: Vec<(Part, String)>,
        report: Option<Box<Report>>,
    ) -> impl Iterator<Item = Self> {
        let mut parts = parts.into_iter().peekable();
        let own = parts.next_if(|(of, _)| *of == part);
        let first = Self {
            token: Some(token),
            part,
            bytes,
            text: own.map_or_else(String::new, |(_, text)| text),
            report,
        };
        std::iter::once(first).chain(Self::without_token(parts))
    }

    /// Texts that became clear without a token of their own.
    pub fn without_token(parts: impl IntoIterator<Item = (Part, String)>) -> impl Iterator<Item = Self> {
        parts.into_iter().map(|(part, text)| Self {
            part,
            text,
            ..Self::default()
        })
    }
}

/// What a token was drawn from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Its probability under the model's own distribution, before any stage and without biases.
    pub probability: f32,
    /// Its probability after all stages.
    pub after: f32,
    /// How many tokens were likelier before any stage; 0 for the likeliest.
    pub rank: u32,
    /// Entropy of the distribution before any stage, in bits.
    pub entropy: f32,
    /// Which settings were in force: 0 for those of the request, one more with every change that the answer took on.
    pub generation: u32,
    /// The token's own bytes, which may be a part of a character; none for a control token.
    pub bytes: Vec<u8>,
    /// Whether it was put in and not drawn: then nothing else of it is known.
    #[serde(default)]
    pub put_in: bool,
    /// How many candidates each stage left, in the order in which they ran.
    pub kept: Vec<(Stage, u32)>,
    /// The likeliest before any stage, and the token itself where it is not among them.
    pub candidates: Vec<Candidate>,
}

impl Report {
    /// The place of a token that was put in.
    pub fn put_in(token: Token, text: impl Into<String>) -> Self {
        let candidate = Candidate {
            token,
            text: text.into(),
            ..Candidate::default()
        };
        Self {
            put_in: true,
            candidates: vec![candidate],
            ..Self::default()
        }
    }
}

/// A token that could have been said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The id.
    pub token: Token,
    /// Its text, lossy where it is part of a character.
    pub text: String,
    /// Its logit before any stage.
    pub logit: f32,
    /// Its probability before any stage.
    pub before: f32,
    /// Its probability after all stages; `None` where one removed it, or where a bias or the grammar banned it.
    pub after: Option<f32>,
    /// The stage that removed it.
    pub removed: Option<Stage>,
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    /// The model said an end-of-generation token.
    EndOfTurn,
    /// The limit that was asked for.
    MaxTokens,
    /// A text that was to end it.
    StopText,
    /// No room is left in the context.
    ContextFull,
    /// Someone stopped it.
    Stopped,
}

impl fmt::Display for Finish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EndOfTurn => "end of turn",
            Self::MaxTokens => "token limit reached",
            Self::StopText => "stop text",
            Self::ContextFull => "context full",
            Self::Stopped => "stopped",
        })
    }
}

/// Counts and times of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Tokens of the prompt.
    pub prompt_tokens: u32,
    /// Tokens of the prompt that were in the KV cache already.
    pub reused_tokens: u32,
    /// Tokens said, those of the thinking included.
    pub generated: u32,
    /// Tokens of the thinking.
    pub thinking_tokens: u32,
    /// Tokens in the context at the end.
    pub context_used: u32,
    /// The seed in force, the one drawn included.
    pub seed: u32,
    /// From the request to the end of the prompt.
    pub prefill: Duration,
    /// From the request to the first token.
    pub first_token: Duration,
    /// From the first token to the last.
    pub decode: Duration,
    /// Time spent thinking.
    pub thinking: Duration,
}

impl Stats {
    /// What an answer took that went on: of the prompt what it began with, of its making both together.
    #[must_use]
    pub fn and(&self, more: &Self) -> Self {
        Self {
            generated: self.generated + more.generated,
            thinking_tokens: self.thinking_tokens + more.thinking_tokens,
            context_used: more.context_used,
            seed: more.seed,
            decode: self.decode + more.decode,
            thinking: self.thinking + more.thinking,
            ..*self
        }
    }

    /// Prompt tokens read per second, or `None` where nothing was timed.
    pub fn prompt_rate(&self) -> Option<f64> {
        rate(self.prompt_tokens.saturating_sub(self.reused_tokens), self.prefill)
    }

    /// Tokens said per second after the first, or `None` where nothing was timed.
    pub fn decode_rate(&self) -> Option<f64> {
        rate(self.generated.saturating_sub(1), self.decode)
    }
}

/// Things per second, or `None` where there were none or no time passed.
pub fn rate(count: u32, time: Duration) -> Option<f64> {
    (count > 0 && !time.is_zero()).then(|| f64::from(count) / time.as_secs_f64())
}

/// What is known of a loaded model. Names come from the file and are sanitised.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelInfo {
    /// Name for people.
    pub name: String,
    /// Where its file lies.
    pub path: PathBuf,
    /// Tells this file from others; tokens generated by one model are not put into another's prompt.
    pub fingerprint: String,
    /// llama.cpp's word for the architecture.
    pub architecture: String,
    /// The quantization's name, as `Q8_0`.
    pub quantization: String,
    /// Weights.
    pub parameters: u64,
    /// Bytes of the weights.
    pub bytes: u64,
    /// Entries of the vocabulary, padding included.
    pub vocabulary: u32,
    /// Context in use, in tokens.
    pub context: u32,
    /// Context the model was trained on, in tokens.
    pub context_trained: u32,
    /// Threads while generating.
    pub threads: u32,
    /// Layers on a graphics card.
    pub gpu_layers: u32,
    /// What computes: the version of llama.cpp, and what of the loading bears on the numbers.
    pub build: String,
    /// Which chat template is used, in words.
    pub template: String,
    /// Its digest.
    pub template_digest: String,
    /// How the template ends an answer.
    pub turn_end: TurnEnd,
    /// What of the thinking the template lets a person decide.
    pub thinking: ThinkingControls,
    /// Sampling values that the model's makers recommend: parameters, and values as they are written.
    pub recommended: Vec<(&'static str, String)>,
    /// What the person should know, such as a smaller context than asked for.
    pub warnings: Vec<String>,
    /// Whether this is the built-in model.
    pub builtin: bool,
}

/// How a template ends an answer, against what the model stops at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TurnEnd {
    /// The template would not show it.
    #[default]
    Unknown,
    /// With this end-of-generation token.
    Reached(Token),
    /// With this text, at which nothing stops; empty where it writes nothing.
    Elsewhere(String),
    /// The vocabulary has no end-of-generation token.
    Missing,
}

/// The exact prompt, token by token.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptView {
    /// The tokens in order; their texts joined are the prompt.
    pub tokens: Vec<PromptToken>,
    /// How the template was applied, in words.
    pub template: String,
    /// How many of the first tokens are in the KV cache.
    pub cached: u32,
    /// Which part of the conversation it is.
    pub window: Window,
}

/// One token of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptToken {
    /// The id.
    pub token: Token,
    /// Its text, lossy where it is part of a character.
    pub text: String,
    /// Whether it is a control token, which only the template can write.
    pub control: bool,
}

/// What kind of thing went wrong: as much as anyone needs to act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The model cannot be loaded.
    Model,
    /// The load or the request was cancelled before anything was said.
    Cancelled,
    /// The prompt does not fit the context.
    TooLong,
    /// The chat template refuses the conversation.
    Template,
    /// No model is loaded.
    NoModel,
    /// What the settings ask of an answer cannot be followed: a grammar, a biased token.
    Grammar,
    /// llama.cpp failed while computing.
    Compute,
}

/// Something that went wrong, in words for the person: what failed, the value, what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// The words, lower case, no full stop.
    pub message: String,
}

impl Failure {
    /// A failure of `kind` in these words.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancel_never_hits_a_later_turn() {
        let cancel = Cancel::default();
        assert!(!cancel.is_stopped(TurnId(1)));
        cancel.stop(TurnId(2));
        cancel.stop(TurnId(1));
        assert!(cancel.is_stopped(TurnId(1)) && cancel.is_stopped(TurnId(2)));
        assert!(!cancel.is_stopped(TurnId(3)));
    }

    #[test]
    fn rates_are_told_only_where_something_was_timed() {
        let stats = Stats {
            generated: 11,
            decode: Duration::from_secs(2),
            ..Stats::default()
        };
        assert_eq!(stats.decode_rate(), Some(5.0));
        assert_eq!(stats.prompt_rate(), None);
    }
}
