//! `/stats`: what was said here and how fast, added up over every version of every answer.

use std::time::Duration;

use crate::app::notice::Level;
use crate::app::state::{Overlay, State};
use crate::domain::Message;
use crate::domain::inference::{Stats, rate};

use super::{Outcome, Refusal};

/// What answers came to.
#[derive(Default)]
struct Sum {
    answers: u32,
    stats: Stats,
    slowest: Duration,
}

impl Sum {
    fn of<'a>(messages: impl Iterator<Item = &'a Message>) -> Self {
        let answers = messages.filter_map(|message| message.answer.as_ref());
        answers.fold(Self::default(), |sum, answer| {
            let (one, stats) = (&answer.stats, sum.stats);
            Self {
                answers: sum.answers + 1,
                slowest: sum.slowest.max(one.first_token),
                stats: Stats {
                    prompt_tokens: stats.prompt_tokens.saturating_add(one.prompt_tokens),
                    reused_tokens: stats.reused_tokens.saturating_add(one.reused_tokens),
                    generated: stats.generated.saturating_add(one.generated),
                    thinking_tokens: stats.thinking_tokens.saturating_add(one.thinking_tokens),
                    prefill: stats.prefill + one.prefill,
                    decode: stats.decode + one.decode,
                    ..stats
                },
            }
        })
    }
}

/// Shows the figures of this session.
pub(super) fn show(state: &mut State) -> Outcome {
    let Sum {
        answers,
        stats,
        slowest,
    } = Sum::of(state.conversation.messages().iter());
    if answers == 0 {
        return Err(Refusal::new(Level::Info, "nothing was said in this session yet"));
    }
    let read = stats.prompt_tokens.saturating_sub(stats.reused_tokens);
    let speed = |tokens, time| rate(tokens, time).map_or_else(|| "–".to_owned(), |rate| format!("{rate:.1} tok/s"));
    let share = f64::from(stats.reused_tokens) * 100.0 / f64::from(stats.prompt_tokens.max(1));
    let rows = [
        ("answers", answers.to_string()),
        ("tokens said", stats.generated.to_string()),
        ("tokens thought", stats.thinking_tokens.to_string()),
        ("writing", speed(stats.generated, stats.decode)),
        ("prompt tokens", stats.prompt_tokens.to_string()),
        ("not read again", format!("{} ({share:.0} %)", stats.reused_tokens)),
        ("reading", speed(read, stats.prefill)),
        (
            "longest wait",
            format!("{:.2} s to the first token", slowest.as_secs_f64()),
        ),
        ("context in use", format!("{} tokens", state.context_used)),
    ];
    let line = |(name, value): (&str, String)| format!("{name:<16}{value}\n");
    state.screen.overlay = Some(Overlay::Text {
        title: "figures of this session".to_owned(),
        text: rows.into_iter().map(line).collect(),
        top: 0,
    });
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::update::scene::{answered, last_notice, ready, send};

    #[test]
    fn what_was_said_is_added_up() {
        let mut state = ready();
        send(&mut state, "/stats");
        assert_eq!(last_notice(&state).1, "nothing was said in this session yet");
        let mut state = answered();
        send(&mut state, "/stats");
        let Some(Overlay::Text { text, .. }) = &state.screen.overlay else {
            panic!()
        };
        assert!(
            text.contains("answers         1\n") && text.contains("tokens said     3\n"),
            "{text}"
        );
    }
}
