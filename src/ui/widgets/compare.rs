//! Several answers side by side: each with its preset and its figures, and what is other than in the first column in another colour.
//! Where there is no room for all, the selected one alone.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span, Text};

use crate::app::compare::{Column, Comparing};
use crate::text::{sanitize, sanitize_line};
use crate::ui::markdown::wrap::{Piece, Prefix, shorten, wrap};
use crate::ui::theme::Role;
use crate::ui::view::Look;

use super::overlay::boxed;

/// Columns of the screen that an answer needs to be read in.
const READABLE: u16 = 24;
/// Columns between two answers.
const GAP: u16 = 2;

/// Draws it over `area`; returns how many lines it has and how many fit.
pub(in crate::ui) fn draw(open: &Comparing, look: Look<'_>, frame: &mut Frame<'_>, area: Rect) -> (u32, u32) {
    let place = Rect {
        y: area.y + 1,
        height: area.height.saturating_sub(1),
        ..area
    };
    let inside = boxed("compare", None, look, frame, place);
    let count = open.columns.len().max(1) as u16;
    let together = inside.width >= count * READABLE + (count - 1) * GAP;
    let Some(first) = open.columns.first() else {
        return (0, 0);
    };
    let shown: Vec<(usize, &Column)> = if together {
        open.columns.iter().enumerate().collect()
    } else {
        open.columns
            .iter()
            .enumerate()
            .filter(|(at, _)| *at == open.selected)
            .collect()
    };
    let parts = Layout::horizontal(vec![Constraint::Fill(1); shown.len()])
        .spacing(GAP)
        .split(inside);
    let (mut total, mut room) = (0, 0);
    for ((at, column), part) in shown.into_iter().zip(parts.iter()) {
        let [head, body] = Layout::vertical([Constraint::Length(2), Constraint::Min(1)]).areas(*part);
        frame.render_widget(heading(open, at, column, look, usize::from(head.width)), head);
        let lines = lines(column, first, look, usize::from(body.width));
        let fits = usize::from(body.height);
        (total, room) = (total.max(lines.len()), fits);
        // The newest is what one waits for; afterwards one reads from the beginning.
        let end = lines.len().saturating_sub(fits);
        let top = if open.over { (open.top as usize).min(end) } else { end };
        let visible: Vec<Line<'static>> = lines.into_iter().skip(top).take(fits).collect();
        frame.render_widget(Text::from(visible), body);
    }
    (total as u32, room as u32)
}

/// The preset, and how far the answer is.
fn heading(open: &Comparing, at: usize, column: &Column, look: Look<'_>, width: usize) -> Text<'static> {
    let style = if at == open.selected {
        look.theme.style(Role::Selection).add_modifier(Modifier::BOLD)
    } else {
        look.theme.style(Role::Title)
    };
    let name = format!(" {}/{} {} ", at + 1, open.columns.len(), sanitize_line(&column.name));
    let tokens = column.answer.tokens.len();
    let mut facts = vec![format!("{tokens} tok")];
    facts.extend(column.answer.stats.decode_rate().map(|rate| format!("{rate:.0}/s")));
    facts.push(match (column.answer.finish, &column.failed) {
        (Some(finish), _) => finish.to_string(),
        (None, Some(_)) => "not loaded".to_owned(),
        (None, None) if at >= open.asked.end => "waits".to_owned(),
        (None, None) if column.answer.takes.is_empty() => "loading".to_owned(),
        (None, None) => "writing".to_owned(),
    });
    let facts = shorten(&facts.join(" · "), width);
    Text::from(vec![
        Line::from(Span::styled(shorten(&name, width), style)),
        Line::styled(facts, look.theme.style(Role::Dim)),
    ])
}

/// What it says, as plain text: what the first column says too, and what it does not.
fn lines(column: &Column, first: &Column, look: Look<'_>, width: usize) -> Vec<Line<'static>> {
    if let Some(reason) = &column.failed {
        let reason = Piece::new(sanitize_line(reason).into_owned(), look.theme.style(Role::NoticeWarn));
        return wrap(&[reason], width, &Prefix::default());
    }
    let (same, other) = column
        .text
        .split_at_checked(column.leaves(first))
        .unwrap_or((&column.text, ""));
    let plain = look.theme.style(Role::Overlay);
    let marked = look.theme.style(Role::Accent);
    let mut lines: Vec<Line<'static>> = Vec::new();
    let mut pieces: Vec<Piece> = Vec::new();
    for (text, style) in [(same, plain), (other, marked)] {
        for (n, line) in sanitize(text).split('\n').enumerate() {
            if n > 0 {
                lines.extend(wrap(&std::mem::take(&mut pieces), width, &Prefix::default()));
            }
            if !line.is_empty() {
                pieces.push(Piece::new(line.to_owned(), style));
            }
        }
    }
    lines.extend(wrap(&pieces, width, &Prefix::default()));
    lines
}
