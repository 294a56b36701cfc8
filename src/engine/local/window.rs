//! Which part of a conversation goes into the prompt when all of it does not fit the context: whole turns are left out, oldest
//! first, never the system prompt. Decides from token counts; computes nothing.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::domain::Role;
use crate::domain::inference::{ChatMessage, Failure, FailureKind, PromptRequest, Token, Window};
use crate::domain::loading::Overflow;

use super::load::Loaded;
use super::prompt::Prompt;

/// A conversation as it goes into the model.
pub(super) struct Fitted {
    /// The prompt.
    pub(super) prompt: Prompt,
    /// What of the conversation is in it.
    pub(super) window: Window,
}

/// Where the window of a conversation begins. It stays there from turn to turn while it can: moving it changes the beginning of
/// the prompt, and then nothing behind it can be reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// The first message inside, behind the system prompt.
    from: usize,
    /// Tells the messages before it from those of another conversation.
    before: u64,
}

impl Loaded {
    /// The prompt of a conversation, as much of it as fits together with an answer.
    ///
    /// # Errors
    /// When the template refuses, or the conversation (with [`Overflow::Stop`]) or its last turn alone does not fit.
    pub(super) fn fit(&mut self, request: &PromptRequest) -> Result<Fitted, Failure> {
        let context = self.sequence.context().n_ctx() as usize;
        let (messages, overflow) = (&request.messages, request.overflow);
        let prompt = self.prompter.prompt(messages, request)?;
        if prompt.tokens.is_empty() {
            // llama.cpp computes nothing from nothing.
            let message = "the chat template makes of this conversation nothing that the model has tokens for: say it otherwise, \
                           or choose another with '--template'";
            return Err(Failure::new(FailureKind::Template, message));
        }
        let whole = prompt.tokens.len();
        let fits = |tokens: usize, room: usize| tokens.saturating_add(room) <= context;
        let room = room_for_answer(context, request.max_tokens);
        if overflow.refuses() || fits(whole, room) {
            if !fits(whole, 1) {
                return Err(too_long(messages, whole, context, overflow));
            }
            self.cut = None;
            return Ok(fitted(prompt, whole, 0, context));
        }
        let system = messages.iter().take_while(|m| m.role == Role::System).count();
        let starts = turn_starts(messages, system);
        if let Some(from) = self.cut_of(messages, system) {
            let prompt = self.prompter.prompt(&inside(messages, system, from), request)?;
            if fits(prompt.tokens.len(), room) {
                return Ok(fitted(prompt, whole, from - system, context));
            }
        }
        // Half of the context is made free at once, so that the window need not move again with the next turn.
        let at = self.first_below(request, system, &starts, context / 2)?;
        let from = starts.get(at).copied().unwrap_or(system);
        let prompt = self.prompter.prompt(&inside(messages, system, from), request)?;
        if !fits(prompt.tokens.len(), 1) {
            return Err(too_long(messages, prompt.tokens.len(), context, overflow));
        }
        self.cut = Some(Cut {
            from,
            before: fingerprint(&messages[..from]),
        });
        Ok(fitted(prompt, whole, from - system, context))
    }

    /// Where the window began before, if this is the same conversation.
    fn cut_of(&self, messages: &[ChatMessage], system: usize) -> Option<usize> {
        let cut = self.cut.filter(|cut| cut.from >= system)?;
        let before = messages.get(..cut.from).filter(|_| cut.from < messages.len())?;
        (fingerprint(before) == cut.before).then_some(cut.from)
    }

    /// The first of the turns from which on the prompt has at most `limit` tokens, else the last.
    fn first_below(
        &self,
        request: &PromptRequest,
        system: usize,
        starts: &[usize],
        limit: usize,
    ) -> Result<usize, Failure> {
        // The later the start, the shorter the prompt: halving finds the border in a few renderings.
        let (mut low, mut high) = (0, starts.len().saturating_sub(1));
        while low < high {
            let middle = usize::midpoint(low, high);
            let prompt = self
                .prompter
                .prompt(&inside(&request.messages, system, starts[middle]), request)?;
            if prompt.tokens.len() <= limit {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(low)
    }

    /// How many of the first tokens of `prompt` a context shift keeps: all up to the first message that is not the system's.
    pub(super) fn kept_by_shift(&self, request: &PromptRequest, prompt: &[Token]) -> usize {
        let system = request.messages.iter().take_while(|m| m.role == Role::System);
        let bare = PromptRequest {
            messages: system.cloned().chain([ChatMessage::new(Role::User, "x")]).collect(),
            thinking: request.thinking,
            ..PromptRequest::default()
        };
        // Where even that does not render, nothing but a leading token is sure to be scaffolding.
        self.prompter.prompt(&bare.messages, &bare).map_or(1, |bare| {
            bare.tokens
                .iter()
                .zip(prompt)
                .take_while(|(a, b)| a == b)
                .count()
                .max(1)
        })
    }
}

/// Tokens kept free for an answer: as many as it may have, at most a quarter of the context.
fn room_for_answer(context: usize, max_tokens: Option<u32>) -> usize {
    let asked = max_tokens.map_or(usize::MAX, |tokens| tokens as usize);
    asked.min(context / 4).max(1)
}

/// The messages that begin a turn: what a person says.
fn turn_starts(messages: &[ChatMessage], system: usize) -> Vec<usize> {
    let said = messages.iter().enumerate().skip(system);
    said.filter(|(_, m)| m.role == Role::User).map(|(at, _)| at).collect()
}

/// The system prompt and the messages from `from` on.
fn inside(messages: &[ChatMessage], system: usize, from: usize) -> Vec<ChatMessage> {
    messages[..system].iter().chain(&messages[from..]).cloned().collect()
}

fn fitted(prompt: Prompt, whole: usize, left_out: usize, context: usize) -> Fitted {
    let window = Window {
        left_out: left_out as u32,
        whole: whole as u32,
        inside: prompt.tokens.len() as u32,
        context: context as u32,
    };
    Fitted { prompt, window }
}

fn fingerprint(messages: &[ChatMessage]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for message in messages {
        (message.role.as_str(), &message.content).hash(&mut hasher);
    }
    hasher.finish()
}

fn too_long(messages: &[ChatMessage], tokens: usize, context: usize, overflow: Overflow) -> Failure {
    let turns = messages.iter().filter(|m| m.role == Role::User).count();
    let message = if overflow.refuses() && turns > 1 {
        format!(
            "the conversation has {tokens} tokens and the context holds {context}: shorten the message, have old turns summed \
             up with '/compact', let them go with '/overflow drop-oldest', begin anew with '/new', or take a larger context with '/context'"
        )
    } else {
        format!(
            "this message alone has {tokens} tokens with what stands around it and the context holds {context}: shorten it, or \
             take a larger context with '/context' or '--context'"
        )
    };
    Failure::new(FailureKind::TooLong, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_begin_with_what_a_person_says() {
        let talk = [
            ChatMessage::new(Role::System, "s"),
            ChatMessage::new(Role::User, "a"),
            ChatMessage::new(Role::Assistant, "b"),
            ChatMessage::new(Role::User, "c"),
        ];
        assert_eq!(turn_starts(&talk, 1), [1, 3]);
        let left: Vec<_> = inside(&talk, 1, 3).iter().map(|m| m.content.clone()).collect();
        assert_eq!(left, ["s", "c"]);
    }

    #[test]
    fn an_answer_gets_what_it_asks_for_up_to_a_quarter() {
        assert_eq!(room_for_answer(1024, None), 256);
        assert_eq!(room_for_answer(1024, Some(100)), 100);
        assert_eq!(room_for_answer(1024, Some(0)), 1);
    }
}
