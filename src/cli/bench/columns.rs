//! Times what a step costs when several columns are decoded in one batch, against one column alone.

use std::fmt::Write as _;

use serde_json::json;

use crate::domain::inference::{ChatMessage, Command, CompareRequest, Event, PromptRequest, TurnId};
use crate::domain::{Role, Sampling};
use crate::engine::EngineHandle;

use super::median;
use crate::cli::ask::{next, send};
use crate::cli::exit::Stop;

/// Seconds a step takes with one column, two, three and four; medians of all rounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Columns(Vec<f64>);

/// Tokens of a context in which all columns take so many steps behind a short question.
pub(super) fn room(steps: u32) -> u32 {
    /// More than the question takes in any template.
    const QUESTION: u32 = 128;
    steps
        .saturating_mul(CompareRequest::MOST as u32)
        .saturating_add(QUESTION)
}

/// Times so many steps so many times, the numbers of columns by turns.
///
/// # Errors
/// When the engine fails or is gone.
pub(super) async fn measure(
    engine: &mut EngineHandle,
    sampling: &Sampling,
    steps: u32,
    rounds: u32,
) -> Result<Columns, Stop> {
    let settings = Sampling {
        // Every column is to go on to the end.
        ignore_eos: true,
        ..sampling.clone()
    };
    let mut turn = TurnId(1 << 33);
    let mut found = vec![Vec::new(); CompareRequest::MOST];
    for _ in 0..rounds {
        for (at, all) in found.iter_mut().enumerate() {
            turn = turn.next();
            let request = CompareRequest {
                prompt: PromptRequest {
                    messages: vec![ChatMessage::new(Role::User, "Tell me a story.")],
                    max_tokens: Some(steps.max(2)),
                    ..PromptRequest::default()
                },
                columns: vec![settings.clone(); at + 1],
                thinking_budget: None,
                report: false,
            };
            let request = Box::new(request);
            send(engine, Command::Compare { turn, request })?;
            all.push(step(engine).await?);
        }
    }
    let medians = found.into_iter().map(|mut all| {
        all.sort_by(f64::total_cmp);
        median(&all).unwrap_or_default()
    });
    Ok(Columns(medians.collect()))
}

/// Waits for the columns; what a step took.
async fn step(engine: &mut EngineHandle) -> Result<f64, Stop> {
    let mut longest = 0.0_f64;
    loop {
        match next(engine).await? {
            Event::ColumnFinished { stats, .. } => {
                let steps = f64::from(stats.generated.saturating_sub(1).max(1));
                longest = longest.max(stats.decode.as_secs_f64() / steps);
            }
            Event::Compared { .. } => return Ok(longest),
            Event::Failed { failure, .. } => return Err(failure.into()),
            _ => {}
        }
    }
}

impl Columns {
    /// How many times as long a step takes as with one column.
    fn ratios(&self) -> impl Iterator<Item = (f64, f64)> {
        let one = self.0.first().copied().unwrap_or_default().max(f64::MIN_POSITIVE);
        self.0.iter().map(move |seconds| (*seconds, seconds / one))
    }

    pub(super) fn table(&self) -> String {
        let mut text = String::new();
        for (at, (seconds, ratio)) in self.ratios().enumerate() {
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "columns {:>2} {:>12.2} ms a step  ({ratio:.2} of one)",
                at + 1,
                seconds * 1e3
            );
        }
        text
    }

    pub(super) fn json(&self) -> serde_json::Value {
        let one = |(seconds, ratio): (f64, f64)| json!({ "seconds_per_step": seconds, "of_one": ratio });
        self.ratios().map(one).collect()
    }
}
