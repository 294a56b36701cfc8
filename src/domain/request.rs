//! What an answer is asked for with: the conversation, how the answer begins, and how it is to be made. Plain data.

use super::loading::Overflow;
use super::role::Role;
use super::sampling::Sampling;
use super::thinking::Thinking;

use super::inference::{Change, Token};

/// A message as it goes into a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessage {
    /// Who speaks.
    pub role: Role,
    /// What was said, exactly; without the thinking.
    pub content: String,
    /// What the model thought before; whether it goes into the prompt is the template's decision.
    pub thinking: String,
    /// The ids it was generated as, when this very model said it: they go back into the prompt as they were, because the
    /// same text may tokenize differently. Those of the thinking may stand before.
    pub tokens: Option<Vec<Token>>,
}

impl ChatMessage {
    /// A message that no model made.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self {
            role,
            content: content.into(),
            thinking: String::new(),
            tokens: None,
        }
    }
}

/// Has `messages` end with a request of quipu's own.
pub fn ask(messages: &mut Vec<ChatMessage>, words: &str) {
    match messages.last_mut().filter(|last| last.role == Role::User) {
        // Templates want the turns to alternate.
        Some(last) => last.content = format!("{}\n\n{words}", last.content),
        None => messages.push(ChatMessage::new(Role::User, words)),
    }
}

/// What stands of an answer before its first token is drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// A text that the answer starts with, as if the model had said it; empty for none.
    pub text: String,
    /// What the model said behind it already: the answer goes on after these tokens, the thinking among them.
    pub said: Vec<Token>,
}

/// What a prompt is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptRequest {
    /// The conversation so far, oldest first, ending with what is to be answered.
    pub messages: Vec<ChatMessage>,
    /// How the answer begins.
    pub opening: Opening,
    /// Whether the model shall think; `None` leaves it to the template.
    pub thinking: Option<Thinking>,
    /// What to do when all of it does not fit the context.
    pub overflow: Overflow,
    /// Tokens after which the answer stops and for which room is kept; `None` is until the model ends or the context is full.
    pub max_tokens: Option<u32>,
}

/// What to generate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GenerateRequest {
    /// What is to be answered.
    pub prompt: PromptRequest,
    /// Settings for the first token; [`Command::Tune`](super::inference::Command::Tune) may change them under way.
    pub sampling: Sampling,
    /// Tokens of thinking after which the model is made to answer; `None` is without limit.
    pub thinking_budget: Option<u32>,
    /// Whether to tell of every token what there was to draw from (a few more passes over the logits).
    pub report: bool,
    /// What is to change under way, for an answer that is made again: tokens said before, and what; in that order.
    pub changes: Vec<(u32, Change)>,
}
