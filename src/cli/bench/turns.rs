//! Times what a person waits for in a conversation: the next turn against reading all of it anew, the way back to an old
//! branch, another token put in the place of one that was said, and a stop. All through the commands that the chat itself gives.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::domain::inference::{
    BenchRequest, ChatMessage, Command, Event, Finish, GenerateRequest, ModelInfo, Opening, PromptRequest, Stats,
    Token, TurnId,
};
use crate::domain::{Role, Sampling};
use crate::engine::EngineHandle;

use super::{median, wait};
use crate::cli::ask::{next, send};
use crate::cli::exit::{Exit, Stop};

/// What was waited for, in seconds; medians of all rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Turns {
    /// Tokens of the conversation so far.
    depth: u32,
    /// Tokens that the next turn brings.
    new: u32,
    /// To the first token of the next turn.
    next: f64,
    /// To compute as many tokens at that depth, and nothing else.
    floor: f64,
    /// To the first token with nothing in the KV cache.
    full: f64,
    /// To the first token of another version of an earlier answer.
    branch: f64,
    /// To the first token behind another in the place of one of an answer.
    other: f64,
    /// To compute that one token at that depth, and nothing else.
    one: f64,
    /// From a stop while a prompt is read to the engine's word that it stopped.
    cancel: f64,
}

/// Measures `rounds` times a conversation of about `depth` tokens.
///
/// # Errors
/// When the engine fails or is gone.
pub(super) async fn measure(
    engine: &mut EngineHandle,
    model: &ModelInfo,
    sampling: &Sampling,
    depth: u32,
    rounds: u32,
) -> Result<Turns, Stop> {
    let mut bench = Bench::new(engine, sampling, TurnId(1 << 32));
    fits(depth, model)?;
    let mut found = [const { Vec::new() }; 7];
    let mut turns = Turns::default();
    for _ in 0..rounds {
        let (seconds, counts) = bench.round(depth).await?;
        for (all, one) in found.iter_mut().zip(seconds) {
            all.push(one);
        }
        (turns.depth, turns.new) = counts;
    }
    let medians = found.map(|mut all| {
        all.sort_by(f64::total_cmp);
        median(&all).unwrap_or(0.0)
    });
    [
        turns.next,
        turns.floor,
        turns.full,
        turns.branch,
        turns.other,
        turns.one,
        turns.cancel,
    ] = medians;
    Ok(turns)
}

impl Turns {
    /// For machines.
    pub(super) fn json(&self) -> serde_json::Value {
        json!({
            "conversation_tokens": self.depth, "new_tokens": self.new, "next_turn_seconds": self.next,
            "decode_of_new_tokens_seconds": self.floor, "next_turn_against_decode": self.next / self.floor,
            "full_prefill_seconds": self.full, "branch_switch_seconds": self.branch, "other_token_seconds": self.other,
            "decode_of_one_token_seconds": self.one, "cancel_seconds": self.cancel,
        })
    }

    /// For people.
    pub(super) fn table(&self) -> String {
        let mut text = String::new();
        let ms = |seconds: f64| format!("{:.1} ms", seconds * 1000.0);
        let rows = [
            (
                "next turn",
                format!(
                    "{} to the first token after {} tokens, {} of them new; computing only those takes {} ({:.2} times)",
                    ms(self.next),
                    self.depth,
                    self.new,
                    ms(self.floor),
                    self.next / self.floor
                ),
            ),
            ("all anew", format!("{} to the first token", ms(self.full))),
            ("old branch", format!("{} to the first token", ms(self.branch))),
            (
                "branch",
                format!(
                    "{} from another token inside an answer to the next; computing that token takes {}",
                    ms(self.other),
                    ms(self.one)
                ),
            ),
            ("stop", format!("{} while a prompt is read", ms(self.cancel))),
        ];
        for (name, words) in rows {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{name:<10} {words}");
        }
        text
    }
}

/// Whether a conversation of so many tokens can be had.
///
/// # Errors
/// In words, where it cannot.
pub(super) fn fits(depth: u32, model: &ModelInfo) -> Result<(), Stop> {
    if depth <= model.context {
        return Ok(());
    }
    let message = format!(
        "a conversation of {depth} tokens does not fit the context of {}: give a larger '--context', or a smaller '--depth'",
        model.context
    );
    Err(Stop::new(Exit::Usage, message))
}

/// Conversations to be timed.
pub(super) struct Bench<'a> {
    pub(super) engine: &'a mut EngineHandle,
    sampling: &'a Sampling,
    turn: TurnId,
    round: u32,
}

impl<'a> Bench<'a> {
    /// One that asks this engine in turns after `turn`: far above those before it, which may have been stopped.
    pub(super) fn new(engine: &'a mut EngineHandle, sampling: &'a Sampling, turn: TurnId) -> Self {
        Self {
            engine,
            sampling,
            turn,
            round: 0,
        }
    }

    /// A question that begins as none before it.
    pub(super) async fn another(&mut self, depth: u32) -> Result<String, Stop> {
        self.round += 1;
        // Each begins with another word, so that it finds nothing of the one before.
        let opening = NUMBERS[self.round as usize % NUMBERS.len()];
        self.of_length(opening, depth).await
    }

    /// Empties the KV cache.
    pub(super) async fn forget(&mut self) -> Result<(), Stop> {
        self.decode(0, 1).await.map(|_| ())
    }

    /// One round: the seven times in the order of [`Turns`], and the tokens of the conversation and of the new turn.
    async fn round(&mut self, depth: u32) -> Result<([f64; 7], (u32, u32)), Stop> {
        let question = self.another(depth).await?;
        let first = [user(&question)];
        let full = self.ask(&first).await?;
        let (other, place) = self.other_token(&first).await?;
        let answer = ChatMessage::new(Role::Assistant, "It is so, and it was so before.");
        let talk = |more: &str| [first.to_vec(), vec![answer.clone(), user(more)]].concat();
        let begun = self
            .ask(&talk("And what about the sea, the hills and the wind of this land?"))
            .await?;
        self.ask(&talk("And what about the birds, the trees and the rain of this land?"))
            .await?;
        let branch = self
            .ask(&talk("And what about the sea, the hills and the wind of this land?"))
            .await?;
        let new = begun.prompt_tokens - begun.reused_tokens;
        let floor = self.decode(begun.reused_tokens, new).await?;
        let one = self.decode(place, 1).await?;
        let cancel = self.cancel(&question).await?;
        let [begun_at, full_at, branch_at] = [&begun, &full, &branch].map(|stats| stats.first_token);
        let seconds =
            [begun_at, floor, full_at, branch_at, other, one, cancel].map(|time: Duration| time.as_secs_f64());
        Ok((seconds, (begun.reused_tokens, new)))
    }

    pub(super) fn next_turn(&mut self) -> TurnId {
        self.turn = self.turn.next();
        self.turn
    }

    /// A text that makes a prompt of about `depth` tokens: counted by the model's own tokenizer.
    async fn of_length(&mut self, opening: &str, depth: u32) -> Result<String, Stop> {
        let mut text = opening.to_owned();
        let mut words = 0_usize;
        loop {
            let turn = self.next_turn();
            send(
                self.engine,
                Command::Render {
                    turn,
                    prompt: PromptRequest {
                        messages: vec![user(&text)],
                        ..PromptRequest::default()
                    },
                },
            )?;
            let tokens = wait(self.engine, |event| match event {
                Event::Rendered { prompt, .. } => Some(prompt.tokens.len()),
                _ => None,
            })
            .await?;
            // Room for the turns that follow.
            let wanted = (depth as usize).saturating_sub(ROOM);
            let Some(missing) = wanted.checked_sub(tokens).filter(|missing| *missing > 8) else {
                return Ok(text);
            };
            // A word is a token or more; half of what is missing never shoots over.
            for _ in 0..missing.div_ceil(2) {
                words += 1;
                text.push(' ');
                text.push_str(NUMBERS[words * 7 % NUMBERS.len()]);
            }
        }
    }

    /// Asks for one token.
    pub(super) async fn ask(&mut self, messages: &[ChatMessage]) -> Result<Stats, Stop> {
        self.begin(messages)?;
        wait(self.engine, |event| match event {
            Event::Finished { stats, .. } => Some(stats),
            _ => None,
        })
        .await
    }

    /// The time to the first token behind another that stands in an answer, and that one's place in the context.
    async fn other_token(&mut self, messages: &[ChatMessage]) -> Result<(Duration, u32), Stop> {
        self.begin_with(messages, Vec::new(), ANSWER)?;
        let mut said = Vec::new();
        let before = loop {
            match next(self.engine).await? {
                Event::Token { said: one, .. } => said.extend(one.token),
                Event::Finished { stats, .. } => break stats.prompt_tokens,
                Event::Failed { failure, .. } => return Err(failure.into()),
                _ => {}
            }
        };
        let half = said.len() / 2;
        let old = said.get(half).copied();
        // Any that was said elsewhere can be said here.
        let other = said.iter().copied().find(|token| Some(*token) != old);
        said.truncate(half);
        said.extend(other.or(old));
        let place = before + said.len().saturating_sub(1) as u32;
        self.begin_with(messages, said, 1)?;
        let stats = wait(self.engine, |event| match event {
            Event::Finished { stats, .. } => Some(stats),
            _ => None,
        });
        Ok((stats.await?.first_token, place))
    }

    fn begin(&mut self, messages: &[ChatMessage]) -> Result<TurnId, Stop> {
        self.begin_with(messages, Vec::new(), 1)
    }

    fn begin_with(&mut self, messages: &[ChatMessage], said: Vec<Token>, most: u32) -> Result<TurnId, Stop> {
        let turn = self.next_turn();
        let request = GenerateRequest {
            prompt: PromptRequest {
                messages: messages.to_vec(),
                max_tokens: Some(most),
                opening: Opening {
                    said,
                    ..Opening::default()
                },
                ..PromptRequest::default()
            },
            sampling: self.sampling.clone(),
            ..GenerateRequest::default()
        };
        send(self.engine, Command::Generate { turn, request })?;
        Ok(turn)
    }

    /// The time to compute `tokens` tokens behind `depth` and to draw one.
    async fn decode(&mut self, depth: u32, tokens: u32) -> Result<Duration, Stop> {
        let turn = self.next_turn();
        let request = BenchRequest {
            depth,
            prompt: tokens,
            generate: 0,
            sampling: self.sampling.clone(),
        };
        send(self.engine, Command::Bench { turn, request })?;
        let timed = wait(self.engine, |event| match event {
            Event::Benched { result, .. } => Some(result.prompt),
            _ => None,
        });
        timed.await
    }

    /// The time from a stop to the end of the turn, while the prompt of `question` is read.
    async fn cancel(&mut self, question: &str) -> Result<Duration, Stop> {
        let turn = self.begin(&[user(&format!("{question} again"))])?;
        let mut stopped = None;
        loop {
            match next(self.engine).await? {
                Event::Prefill { .. } if stopped.is_none() => {
                    self.engine.cancel.stop(turn);
                    stopped = Some(Instant::now());
                }
                Event::Failed { failure, .. } => return Err(failure.into()),
                Event::Finished { finish, .. } => {
                    // A prompt that was read before the stop came was not stopped.
                    let late = finish != Finish::Stopped;
                    return Ok(stopped.filter(|_| !late).map_or(Duration::ZERO, |at| at.elapsed()));
                }
                _ => {}
            }
        }
    }
}

/// Tokens of the answer in which another stands.
const ANSWER: u32 = 24;
/// Tokens kept free for the answer and the turns after the first.
const ROOM: usize = 96;

/// Words that any vocabulary knows.
const NUMBERS: [&str; 20] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "red", "blue", "green", "white",
    "black", "big", "small", "old", "new", "good",
];

pub(super) fn user(content: &str) -> ChatMessage {
    ChatMessage::new(Role::User, content)
}
