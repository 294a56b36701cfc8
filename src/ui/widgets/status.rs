//! The last line: keys that help now, and what the engine does.

use ratatui::text::{Line, Span};

use crate::app::state::{Engine, Phase, Running};
use crate::app::{Action, CommandId, State};
use crate::domain::inference::rate;
use crate::ui::markdown::wrap::columns;
use crate::ui::theme::Role;
use crate::ui::view::Look;

use super::figures;

/// The line at this width.
pub(in crate::ui) fn line(state: &State, look: Look<'_>, width: u16) -> Line<'static> {
    let right = engine(state, look);
    let taken: usize = right.iter().map(|s| columns(&s.content)).sum();
    let room = usize::from(width).saturating_sub(taken + 2);
    let (key, dim) = (look.theme.style(Role::Key), look.theme.style(Role::Dim));
    let mut spans = Vec::new();
    let mut used = 0;
    for &(action, words) in hints(state) {
        let chord = look.keymap.hint(action);
        let size = columns(&chord) + columns(words) + 3;
        if chord.is_empty() || used + size > room {
            continue;
        }
        used += size;
        spans.push(Span::styled(format!(" {chord}"), key));
        spans.push(Span::styled(format!(" {words} "), dim));
    }
    spans.push(Span::styled(" ".repeat(room.saturating_sub(used) + 1), dim));
    spans.extend(right);
    spans.push(Span::styled(" ", dim));
    Line::from(spans)
}

/// The keys worth knowing now, the most useful first.
fn hints(state: &State) -> &'static [(Action, &'static str)] {
    if state.screen.overlay.is_some() {
        &[
            (Action::Escape, "close"),
            (Action::PageDown, "page down"),
            (Action::PageUp, "page up"),
        ]
    } else if state.running.is_some() {
        &[
            (Action::Escape, "stop"),
            (Action::PageUp, "scroll"),
            (Action::Run(CommandId::Help), "help"),
        ]
    } else {
        &[
            (Action::Send, "send"),
            (Action::Run(CommandId::Help), "help"),
            (Action::Newline, "newline"),
            (Action::Run(CommandId::Retry), "retry"),
            (Action::Run(CommandId::New), "new"),
        ]
    }
}

fn engine(state: &State, look: Look<'_>) -> Vec<Span<'static>> {
    let (dim, accent) = (look.theme.style(Role::Dim), look.theme.style(Role::Accent));
    let moving = |words: String| {
        vec![
            Span::styled(format!("{} ", spinner(state)), accent),
            Span::styled(words, dim),
        ]
    };
    if let Some(running) = &state.running {
        return moving(doing(state, running));
    }
    match &state.engine {
        Engine::Loading { done, total, .. } if *total > 0 => moving(format!("loading {} %", done * 100 / total)),
        Engine::Loading { .. } => moving("loading".to_owned()),
        Engine::Ready(_) => {
            let mut spans = Vec::new();
            if let Some(words) = last(state) {
                spans.push(Span::styled(format!("{words}  "), dim));
            }
            spans.extend([Span::styled("● ", accent), Span::styled("ready", dim)]);
            spans
        }
        Engine::Empty | Engine::Failed(_) => vec![Span::styled("no model", dim)],
        Engine::Dead(_) => vec![Span::styled("stopped", look.theme.style(Role::NoticeError))],
    }
}

fn doing(state: &State, running: &Running) -> String {
    match running.phase {
        Phase::Queued => "waiting".to_owned(),
        Phase::Prefill(progress) => format!("reading {}/{}", progress.done, progress.total),
        Phase::Decoding { tokens, first } => {
            let speed = rate(tokens.saturating_sub(1), state.now.saturating_sub(first));
            speed.map_or_else(
                || "writing".to_owned(),
                |speed| format!("writing {} tok/s", figures::rate(speed)),
            )
        }
        Phase::Stopping => "stopping".to_owned(),
    }
}

/// The speed of the answer that was given last.
fn last(state: &State) -> Option<String> {
    let mut latest = state.conversation.back_from(state.conversation.tip());
    let answer = latest.find_map(|message| message.answer.as_ref())?;
    answer.finish?;
    let speed = figures::rate(answer.stats.decode_rate()?);
    Some(format!(
        "{speed} tok/s · first {:.2} s",
        answer.stats.first_token.as_secs_f64()
    ))
}

/// A step of the animation, by the clock.
fn spinner(state: &State) -> char {
    const STEPS: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
    STEPS[(state.now.as_millis() / 100) as usize % STEPS.len()]
}
