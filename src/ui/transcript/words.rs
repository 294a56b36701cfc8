//! What stands above and beneath the text of a message: who spoke, what is known of the answer, what is being done for it or
//! how it ended. Made for every frame anew, for the few messages that are seen.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::app::click::Click;
use crate::app::state::{Phase, Running};
use crate::app::{Action, CommandId, State};
use crate::domain::inference::{Finish, rate};
use crate::domain::{Message, MessageId, Role as Speaker};
use crate::text::sanitize_line;
use crate::ui::hits::Hits;
use crate::ui::markdown::wrap::columns;
use crate::ui::theme::Role;
use crate::ui::view::Look;
use crate::ui::widgets::figures;

/// Which version of a message it is, from 1, and how many there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Version {
    pub(super) number: usize,
    pub(super) of: usize,
}

/// Who speaks, and at the right what is known of the answer.
pub(super) fn header(message: &Message, version: Version, look: Look<'_>, width: u16) -> Line<'static> {
    let (name, role) = match (&message.role, &message.answer) {
        (Speaker::User, _) => ("you".to_owned(), Role::UserName),
        (Speaker::System, Some(_)) => ("summary".to_owned(), Role::ModelName),
        (Speaker::System, None) => ("system".to_owned(), Role::Dim),
        (Speaker::Assistant, Some(answer)) if !answer.model_name.is_empty() => {
            (sanitize_line(&answer.model_name).into_owned(), Role::ModelName)
        }
        (Speaker::Assistant, _) => ("model".to_owned(), Role::ModelName),
    };
    let right = facts(message, version);
    let free = usize::from(width).saturating_sub(columns(&name) + columns(&right));
    let name = Span::styled(name, look.theme.style(role));
    if free < 2 {
        return Line::from(name);
    }
    Line::from(vec![
        name,
        Span::raw(" ".repeat(free)),
        Span::styled(right, look.theme.style(Role::Dim)),
    ])
}

/// What of the header can be clicked: the mark of its versions by halves, and the rest as the message.
pub(super) fn hits(id: MessageId, head: &Line<'_>, version: Version, row: Rect, hits: &mut Hits) {
    hits.add(row, Click::Message(id));
    let mark = mark(version);
    let text = head.to_string();
    let Some(at) = text.rfind(&mark).filter(|_| version.of > 1) else {
        return;
    };
    let (x, width) = (row.x + columns(&text[..at]) as u16, columns(&mark) as u16);
    let half = width / 2;
    let left = Rect { x, width: half, ..row };
    let right = Rect {
        x: x + half,
        width: width - half,
        ..row
    };
    hits.add(left, Click::VersionBefore(id));
    hits.add(right, Click::VersionAfter(id));
}

/// Which version it is, as it is shown.
fn mark(version: Version) -> String {
    format!("‹ {}/{} ›", version.number, version.of)
}

/// What stands for the lines of a folded message that are not shown.
pub(super) fn folded(more: usize) -> String {
    format!("▸ {more} more {}", if more == 1 { "line" } else { "lines" })
}

/// Version, tokens and speed of an answer.
fn facts(message: &Message, version: Version) -> String {
    let Some(answer) = &message.answer else {
        return String::new();
    };
    let mut facts = Vec::new();
    if version.of > 1 {
        facts.push(mark(version));
    }
    if !answer.tokens.is_empty() {
        facts.push(format!("{} tok", answer.tokens.len()));
    }
    if let Some(speed) = answer.stats.decode_rate() {
        facts.push(format!("{}/s", figures::rate(speed)));
    }
    facts.join("  ")
}

/// Whether what the model thought is shown.
pub(super) fn is_open(id: MessageId, state: &State) -> bool {
    state.screen.thoughts != state.screen.thought.contains(&id)
}

/// How long the model thought, or thinks already, and the key that shows it.
pub(super) fn thinking(message: &Message, state: &State, look: Look<'_>, width: u16) -> Option<String> {
    let answer = message.answer.as_ref()?;
    let thought = &answer.thinking;
    let under_way = running(message, state).is_some() && state.is_thinking();
    let mark = if is_open(message.id, state) { '▾' } else { '▸' };
    let seconds = thought.time.as_secs_f64();
    let budget = state.options.thinking_budget.filter(|_| under_way);
    let of = budget.map_or_else(String::new, |budget| format!(" of {budget}"));
    let did = if under_way { "thinking for" } else { "thought for" };
    let mut words = format!("{mark} {did} {seconds:.1} s ({}{of} tokens)", thought.tokens);
    if columns(&words) > usize::from(width) {
        words = format!("{mark} {seconds:.1} s, {}{of} tokens", thought.tokens);
    }
    let key = look.keymap.hint(Action::Run(CommandId::Answer));
    let hint = format!(" · {key} answers now");
    if under_way && !key.is_empty() && columns(&words) + columns(&hint) <= usize::from(width) {
        words.push_str(&hint);
    }
    Some(words)
}

/// Whether something stands under a message.
pub(super) fn is_noted(message: &Message, state: &State) -> bool {
    let Some(answer) = &message.answer else { return false };
    match running(message, state) {
        Some(running) => !matches!(running.phase, Phase::Decoding { .. }),
        None => answer.finish != Some(Finish::EndOfTurn),
    }
}

/// What stands under a message: what is being done for it, or how it ended where that is not the usual way.
pub(super) fn note(message: &Message, state: &State, look: Look<'_>) -> Option<String> {
    if !is_noted(message, state) {
        return None;
    }
    let finish = message.answer.as_ref()?.finish;
    let looped = state.caught.as_ref().filter(|caught| caught.answer == message.id);
    if let (None, Some(Finish::Stopped), Some(_)) = (running(message, state), finish, looped) {
        let key = look.keymap.hint(Action::Run(CommandId::Loop));
        let way = if key.is_empty() { "/loop" } else { &key };
        return Some(format!("— stopped in a loop · {way} ways out"));
    }
    Some(match (running(message, state), finish) {
        (Some(running), _) => doing(running, state),
        (None, Some(finish)) => format!("— {finish}"),
        (None, None) => "— interrupted".to_owned(),
    })
}

/// What is under way for this message.
fn running<'a>(message: &Message, state: &'a State) -> Option<&'a Running> {
    state.running.as_ref().filter(|running| running.answer == message.id)
}

fn doing(running: &Running, state: &State) -> String {
    match running.phase {
        Phase::Queued => "waiting for the model".to_owned(),
        Phase::Prefill(progress) => {
            let new = progress.done.saturating_sub(progress.reused);
            let speed = rate(new, state.now.saturating_sub(running.since));
            let speed = speed.map_or_else(String::new, |speed| format!(" · {} tok/s", figures::rate(speed)));
            format!("reading the prompt {}/{}{speed}", progress.done, progress.total)
        }
        Phase::Stopping => "stopping".to_owned(),
        Phase::Decoding { .. } => "writing".to_owned(),
    }
}
