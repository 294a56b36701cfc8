//! The first line: the program, the model with its preset, and how much of the context is in use. Says less where there is
//! less room.

use ratatui::text::{Line, Span};

use crate::app::State;
use crate::app::state::Engine;
use crate::text::sanitize_line;
use crate::ui::markdown::wrap::{columns, shorten};
use crate::ui::theme::Role;
use crate::ui::view::Look;

use super::figures::gauge;

/// Columns in which a model can still be told from others.
const NAME: usize = 12;
/// Most columns of a preset's name, which people may choose as they like.
const PRESET: usize = 16;
/// Most columns of a session's title.
const TITLE: usize = 48;
/// Cells of the gauge.
const CELLS: usize = 7;

/// The line at this width.
pub(in crate::ui) fn line(state: &State, look: Look<'_>, width: u16) -> Line<'static> {
    let (dim, text) = (look.theme.style(Role::Dim), look.theme.style(Role::Text));
    let name = Span::styled(" quipu", look.theme.style(Role::Title));
    let room = usize::from(width).saturating_sub(columns(&name.content) + 2);
    // From the fullest to the barest; the first in which the model's name can still be told is taken.
    let right = [Detail::Full, Detail::Gauge, Detail::Numbers, Detail::Name]
        .into_iter()
        .find_map(|detail| fitted(right(state, look, detail), room))
        .unwrap_or_default();
    let used: usize = right.iter().map(|s| columns(&s.content)).sum();
    let free = room.saturating_sub(used);
    let title = title(state, free);
    let fill = " ".repeat(free.saturating_sub(columns(&title)) + 1);
    let mut spans = vec![name, Span::styled(title, text), Span::styled(fill, dim)];
    spans.extend(right);
    spans.push(Span::styled(" ", text));
    Line::from(spans)
}

/// The title of the session, where there is room for one that can be told from others.
fn title(state: &State, room: usize) -> String {
    const APART: &str = "   ";
    let mark = if state.session.read_only { " (read only)" } else { "" };
    let title = sanitize_line(&state.session.details.title);
    let least = APART.len() + columns(mark) + NAME.min(columns(&title)) + 1;
    if title.is_empty() || room < least {
        return String::new();
    }
    let title = shorten(&title, (room - APART.len() - columns(mark) - 1).min(TITLE));
    format!("{APART}{title}{mark}")
}

/// The spans in `room` columns: the first one, a name, is shortened where it must be, but not beyond recognition.
fn fitted(mut spans: Vec<Span<'static>>, room: usize) -> Option<Vec<Span<'static>>> {
    let (name, rest) = spans.split_first_mut()?;
    let rest: usize = rest.iter().map(|span| columns(&span.content)).sum();
    let left = room.checked_sub(rest)?;
    if left < NAME.min(columns(&name.content)) {
        return None;
    }
    name.content = shorten(&name.content, left).into();
    Some(spans)
}

#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Detail {
    Name,
    Numbers,
    Gauge,
    Full,
}

fn right(state: &State, look: Look<'_>, detail: Detail) -> Vec<Span<'static>> {
    let (dim, text) = (look.theme.style(Role::Dim), look.theme.style(Role::Text));
    let preset = state.tuning.label();
    let model = match &state.engine {
        Engine::Ready(model) => model,
        Engine::Loading { step, .. } => return vec![Span::styled(format!("{step} the model"), dim)],
        Engine::Empty | Engine::Failed(_) => return vec![Span::styled("no model", dim)],
        Engine::Dead(_) => {
            return vec![Span::styled(
                "the engine has stopped",
                look.theme.style(Role::NoticeError),
            )];
        }
    };
    let mut spans = vec![Span::styled(sanitize_line(&model.name).into_owned(), text)];
    if detail >= Detail::Full && !model.quantization.is_empty() {
        spans.push(Span::styled(format!(" · {}", sanitize_line(&model.quantization)), dim));
    }
    if detail >= Detail::Gauge {
        spans.push(Span::styled(
            format!(" · {}", shorten(&sanitize_line(&preset), PRESET)),
            dim,
        ));
    }
    if detail >= Detail::Numbers {
        spans.push(Span::styled(
            format!("   {}/{}", state.context_used, model.context),
            dim,
        ));
    }
    if detail >= Detail::Gauge {
        let part = f64::from(state.context_used) / f64::from(model.context.max(1));
        let (full, empty) = gauge(part, CELLS);
        let full = if state.context_used == 0 {
            (String::new(), empty.clone() + &full.replace('▰', "▱"))
        } else {
            (full, empty)
        };
        spans.push(Span::styled(format!(" {}", full.0), look.theme.style(Role::GaugeFull)));
        spans.push(Span::styled(full.1, look.theme.style(Role::GaugeEmpty)));
    }
    spans
}
