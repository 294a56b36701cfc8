//! Times a return to a conversation: its state from the disk and the first token of the next turn, against reading all of it
//! anew and the same token. Both through the commands that the chat itself gives.

use std::fmt::Write as _;
use std::time::Instant;

use serde_json::json;

use crate::domain::inference::{ChatMessage, Command, Event, ModelInfo, PromptRequest, TurnId};
use crate::domain::{Role, Sampling};
use crate::engine::EngineHandle;

use super::turns::{Bench, fits, user};
use super::{median, wait};
use crate::cli::ask::send;
use crate::cli::exit::Stop;

/// The name under which the state is kept.
pub(in crate::cli) const NAME: &str = "bench";

/// What was waited for at one depth, in seconds; medians of all rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Return {
    /// Tokens of the conversation.
    tokens: u32,
    /// Those that came from the disk.
    restored: u32,
    /// From the wish to return to the first token of the next turn.
    warm: f64,
    /// To the first token of the same turn with nothing in the KV cache.
    cold: f64,
}

/// Measures `rounds` times at every depth that is not 0.
///
/// # Errors
/// When the engine fails or is gone.
pub(super) async fn measure(
    engine: &mut EngineHandle,
    model: &ModelInfo,
    sampling: &Sampling,
    depths: &[u32],
    rounds: u32,
) -> Result<Vec<Return>, Stop> {
    let mut bench = Bench::new(engine, sampling, TurnId(1 << 33));
    let mut all = Vec::new();
    for depth in depths.iter().copied().filter(|depth| *depth > 0) {
        fits(depth, model)?;
        let mut found = [Vec::new(), Vec::new()];
        let mut last = Return::default();
        for _ in 0..rounds {
            last = bench.come_back(depth).await?;
            found[0].push(last.warm);
            found[1].push(last.cold);
        }
        let [warm, cold] = found.map(|mut all| {
            all.sort_by(f64::total_cmp);
            median(&all).unwrap_or(0.0)
        });
        all.push(Return { warm, cold, ..last });
    }
    Ok(all)
}

impl Bench<'_> {
    /// Leaves a conversation and comes back to it, once by its state and once by reading it.
    async fn come_back(&mut self, depth: u32) -> Result<Return, Stop> {
        let question = self.another(depth).await?;
        let first = [user(&question)];
        self.ask(&first).await?;
        let name = NAME.to_owned();
        send(self.engine, Command::Keep { name: name.clone() })?;
        let talk = [
            user(&question),
            ChatMessage::new(Role::Assistant, "It is so, and it was so before."),
        ];
        let next = [&talk[..], &[user("And what about the sea?")]].concat();
        self.forget().await?;
        let began = Instant::now();
        let turn = self.next_turn();
        let prompt = PromptRequest {
            messages: talk.to_vec(),
            ..PromptRequest::default()
        };
        send(self.engine, Command::Resume { turn, name, prompt })?;
        let (tokens, restored) = wait(self.engine, |event| match event {
            Event::Resumable { tokens, restored, .. } => Some((tokens, restored)),
            _ => None,
        })
        .await?;
        self.ask(&next).await?;
        let warm = began.elapsed().as_secs_f64();
        self.forget().await?;
        let began = Instant::now();
        self.ask(&next).await?;
        Ok(Return {
            tokens,
            restored,
            warm,
            cold: began.elapsed().as_secs_f64(),
        })
    }
}

impl Return {
    /// For machines.
    pub(super) fn json(&self) -> serde_json::Value {
        json!({
            "conversation_tokens": self.tokens, "restored_tokens": self.restored, "restore_and_first_token_seconds": self.warm,
            "prefill_and_first_token_seconds": self.cold, "times_faster": self.cold / self.warm,
        })
    }

    /// For people.
    pub(super) fn line(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "return     {:.1} ms to the first token after {} tokens, {} of them from the disk; reading all takes {:.1} ms \
             ({:.1} times as long)",
            self.warm * 1000.0,
            self.tokens,
            self.restored,
            self.cold * 1000.0,
            self.cold / self.warm
        );
        text
    }
}
