//! The last line: keys that help now, and what the engine does.

use std::time::Duration;

use ratatui::text::{Line, Span};

use crate::app::inspector::Walk;
use crate::app::state::{Engine, Overlay, Phase, Running};
use crate::app::{Action, CommandId, State};
use crate::domain::Bytes;
use crate::domain::fetching::Sight;
use crate::domain::inference::{LoadStep, rate};
use crate::ui::keymap::Context;
use crate::ui::markdown::wrap::columns;
use crate::ui::theme::Role;
use crate::ui::view::Look;

use super::figures;

/// The line at this width: the fullest word on the engine that leaves room for the most useful key, and as many keys as fit.
pub(in crate::ui) fn line(state: &State, look: Look<'_>, width: u16) -> Line<'static> {
    let (key, dim) = (look.theme.style(Role::Key), look.theme.style(Role::Dim));
    // On a selected message letters are keys, and the shortest.
    let context = if state.screen.selected.is_some() {
        Context::Selected
    } else {
        Context::Chat
    };
    let hints: Vec<_> = hints(state)
        .iter()
        .map(|&(action, words)| (look.keymap.hint_in(context, action), words))
        .filter(|(chord, _)| !chord.is_empty())
        .collect();
    let size = |(chord, words): &(String, &str)| columns(chord) + columns(words) + 3;
    let room = |right: &[Span<'_>]| {
        let taken: usize = right.iter().map(|span| columns(&span.content)).sum();
        usize::from(width).saturating_sub(taken + 2)
    };
    let first = hints.first().map_or(0, size);
    let right = [Detail::Full, Detail::Speed, Detail::Word]
        .into_iter()
        .map(|detail| doings(state, look, detail))
        .find(|right| room(right) >= first)
        .unwrap_or_else(|| doings(state, look, Detail::Word));
    let room = room(&right);
    let mut spans = Vec::new();
    let mut used = 0;
    for hint in hints {
        if used + size(&hint) > room {
            continue;
        }
        used += size(&hint);
        spans.push(Span::styled(format!(" {}", hint.0), key));
        spans.push(Span::styled(format!(" {} ", hint.1), dim));
    }
    spans.push(Span::styled(" ".repeat(room.saturating_sub(used) + 1), dim));
    spans.extend(right);
    spans.push(Span::styled(" ", dim));
    Line::from(spans)
}

/// How much is said of the engine.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Detail {
    /// What it does.
    Word,
    /// And how fast.
    Speed,
    /// And how long the wait was.
    Full,
}

/// The keys worth knowing while this lies over the conversation.
fn over(overlay: &Overlay) -> &'static [(Action, &'static str)] {
    match overlay {
        Overlay::Sessions(_) => &[(Action::Escape, "close"), (Action::Take, "open")],
        Overlay::Picker(_) => &[(Action::Escape, "close"), (Action::Take, "take")],
        Overlay::Compare(_) => &[
            (Action::Escape, "close"),
            (Action::Walk(Walk::Next), "column"),
            (Action::Take, "keep"),
            (Action::KeepAll, "keep all"),
        ],
        Overlay::Inspector(_) => &[
            (Action::Escape, "close"),
            (Action::Walk(Walk::Previous), "walk"),
            (Action::LineDown, "candidate"),
            (Action::Take, "go on from it"),
            (Action::Walk(Walk::Force), "type another"),
            (Action::Walk(Walk::Shade), "shade"),
        ],
        Overlay::Help { .. } | Overlay::Prompt { .. } | Overlay::Doctor(_) | Overlay::Text { .. } => &[
            (Action::Escape, "close"),
            (Action::PageDown, "page down"),
            (Action::PageUp, "page up"),
        ],
    }
}

/// The keys worth knowing now, the most useful first.
fn hints(state: &State) -> &'static [(Action, &'static str)] {
    if let Some(overlay) = &state.screen.overlay {
        over(overlay)
    } else if state.screen.find.is_some() {
        &[
            (Action::Escape, "close"),
            (Action::FindNext, "next"),
            (Action::FindPrevious, "before"),
        ]
    } else if state.screen.tune.as_ref().is_some_and(|panel| panel.focused) {
        &[
            (Action::Escape, "close"),
            (Action::Raise, "up"),
            (Action::RaiseFar, "far up"),
            (Action::ResetSetting, "reset"),
            (Action::ResetSettings, "reset all"),
            (Action::NamePreset, "save"),
            (Action::Unfocus, "message"),
        ]
    } else if state.screen.selected.is_some() {
        &[
            (Action::Escape, "back"),
            (Action::Run(CommandId::Copy), "copy"),
            (Action::Run(CommandId::Edit), "edit"),
            (Action::Run(CommandId::Fork), "fork"),
            (Action::Run(CommandId::Remove), "remove"),
            (Action::VersionPrevious, "version"),
        ]
    } else if state.running.is_some() {
        &[
            (Action::Escape, "stop"),
            (Action::PageUp, "scroll"),
            (Action::Run(CommandId::Help), "help"),
        ]
    } else {
        &[
            (Action::Run(CommandId::Help), "help"),
            (Action::Send, "send"),
            (Action::Newline, "newline"),
            (Action::Palette, "commands"),
            (Action::Run(CommandId::Tune), "tune"),
            (Action::Run(CommandId::Retry), "retry"),
            (Action::Run(CommandId::Sessions), "sessions"),
        ]
    }
}

/// What is fetched, and what the engine does.
fn doings(state: &State, look: Look<'_>, detail: Detail) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    if let Some(fetching) = &state.fetching {
        spans.push(Span::styled("↓ ", look.theme.style(Role::Accent)));
        let words = coming(fetching.sight.as_ref(), detail) + "  ";
        spans.push(Span::styled(words, look.theme.style(Role::Dim)));
    }
    spans.extend(engine(state, look, detail));
    spans
}

/// How far the model is that is being fetched.
fn coming(sight: Option<&Sight>, detail: Detail) -> String {
    let Some(sight) = sight else {
        return "asking".to_owned();
    };
    let mut words = if sight.is_checked() {
        "checking".to_owned()
    } else {
        format!("{:.0} %", sight.part() * 100.0)
    };
    if detail >= Detail::Full {
        words = format!("{} {words}", sight.label);
    }
    if let Some(left) = sight.left().filter(|_| detail >= Detail::Speed && !sight.is_checked()) {
        words = format!("{words} · {}/s · {left}", Bytes(sight.rate));
    }
    words
}

fn engine(state: &State, look: Look<'_>, detail: Detail) -> Vec<Span<'static>> {
    let (dim, accent) = (look.theme.style(Role::Dim), look.theme.style(Role::Accent));
    let moving = |words: String| {
        vec![
            Span::styled(format!("{} ", spinner(state)), accent),
            Span::styled(words, dim),
        ]
    };
    if let Some(running) = &state.running {
        return moving(doing(state, running, detail));
    }
    if let Some(words) = aside(state) {
        return moving(words);
    }
    match &state.engine {
        Engine::Loading {
            step,
            done,
            total,
            since,
            ..
        } => moving(loading(
            *step,
            (*done, *total),
            state.now.saturating_sub(*since),
            detail,
        )),
        Engine::Ready(_) => {
            let mut spans = Vec::new();
            if let Some(words) = last(state, detail) {
                spans.push(Span::styled(format!("{words}  "), dim));
            }
            if state.keeping.trouble {
                spans.push(Span::styled("not saved  ", look.theme.style(Role::NoticeError)));
            }
            spans.extend([Span::styled("● ", accent), Span::styled("ready", dim)]);
            spans
        }
        Engine::Empty | Engine::Failed(_) => vec![Span::styled("no model", dim)],
        Engine::Dead(_) => vec![Span::styled("stopped", look.theme.style(Role::NoticeError))],
    }
}

/// What is done beside the conversation.
fn aside(state: &State) -> Option<String> {
    if let Some((_, progress)) = state.resuming {
        // How much it is, the engine says once it has the prompt.
        let how_far = (progress.total > 0).then(|| format!(" {}/{}", progress.done, progress.total));
        return Some("reading the session".to_owned() + &how_far.unwrap_or_default());
    }
    let words = match state {
        s if s.replay.is_some() => "making it again",
        s if s.titling.is_some() => "making a title",
        s if s.keeping.opening.is_some() => "opening the session",
        _ => return None,
    };
    Some(words.to_owned())
}

fn loading(step: LoadStep, (done, total): (u64, u64), since: Duration, detail: Detail) -> String {
    let mut words = step.to_string();
    if let Some(percent) = (u128::from(done) * 100).checked_div(u128::from(total)) {
        words = format!("{words} {percent} %");
        if detail >= Detail::Full {
            words = format!("{words} of {}", figures::bytes(total));
        }
    }
    if detail >= Detail::Speed {
        words = format!("{words} · {} s", since.as_secs());
    }
    words
}

fn doing(state: &State, running: &Running, detail: Detail) -> String {
    match running.phase {
        Phase::Queued => "waiting".to_owned(),
        Phase::Prefill(progress) => format!("reading {}/{}", progress.done, progress.total),
        Phase::Decoding { tokens, first } => {
            let speed = rate(tokens.saturating_sub(1), state.now.saturating_sub(first));
            let speed = speed.map(figures::rate).filter(|_| detail >= Detail::Speed);
            let doing = if state.is_thinking() { "thinking" } else { "writing" };
            let mut words = speed.map_or_else(|| doing.to_owned(), |speed| format!("{doing} {speed} tok/s"));
            if detail >= Detail::Full {
                let waited = first.saturating_sub(running.since).as_secs_f64();
                words = format!("{words} · first {waited:.2} s");
            }
            words
        }
        Phase::Stopping => "stopping".to_owned(),
    }
}

/// The speed of the answer that was given last.
fn last(state: &State, detail: Detail) -> Option<String> {
    let mut latest = state.conversation.back_from(state.conversation.tip());
    let answer = latest.find_map(|message| message.answer.as_ref())?;
    answer.finish?;
    let speed = figures::rate(answer.stats.decode_rate()?);
    let waited = answer.stats.first_token.as_secs_f64();
    match detail {
        Detail::Word => None,
        Detail::Speed => Some(format!("{speed} tok/s")),
        Detail::Full => Some(format!("{speed} tok/s · first {waited:.2} s")),
    }
}

/// A step of the animation, by the clock.
fn spinner(state: &State) -> char {
    const STEPS: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
    if state.looks.still {
        return '·';
    }
    STEPS[(state.now.as_millis() / 100) as usize % STEPS.len()]
}
