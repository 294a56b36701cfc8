//! Tables: columns as wide as their cells need and the line allows, cells broken within them.

use pulldown_cmark::Alignment;
use ratatui::text::{Line, Span};

use crate::ui::theme::{Role, Theme};

use super::wrap::{Piece, Prefix, columns, wrap};

/// A cell's content.
pub(super) type Cell = Vec<Piece>;

/// Columns between two cells: a space, a bar, a space.
const BETWEEN: usize = 3;

/// Columns of the narrowest cell: a wide character fits.
const NARROWEST: usize = 2;

/// Draws rows, the first of which is the head, into `room` columns.
pub(super) fn render(rows: &[Vec<Cell>], alignments: &[Alignment], room: usize, theme: &Theme) -> Vec<Line<'static>> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    if count == 0 {
        return Vec::new();
    }
    if room < NARROWEST * count + BETWEEN * (count - 1) {
        return squeezed(rows, room, theme);
    }
    let widths = widths(rows, count, room);
    let border = theme.style(Role::TableBorder);
    let mut lines = Vec::new();
    for (n, row) in rows.iter().enumerate() {
        lines.extend(draw(row, &widths, alignments, theme));
        if n == 0 {
            let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            lines.push(Line::from(Span::styled(rule.join("─┼─"), border)));
        }
    }
    lines
}

/// Rows without columns, for where there is no room for any.
fn squeezed(rows: &[Vec<Cell>], room: usize, theme: &Theme) -> Vec<Line<'static>> {
    let bar = Piece::new(" │ ", theme.style(Role::TableBorder));
    let row = |cells: &Vec<Cell>| wrap(&cells.join(&bar), room, &Prefix::default());
    rows.iter().flat_map(row).collect()
}

/// What each column gets: its widest cell where all fit, else less for the widest until they do.
fn widths(rows: &[Vec<Cell>], count: usize, room: usize) -> Vec<usize> {
    let size = |cell: &Cell| cell.iter().map(|piece| columns(&piece.text)).sum::<usize>();
    let widest = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(size)
            .max()
            .unwrap_or(0)
            .max(1)
    };
    let mut widths: Vec<usize> = (0..count).map(widest).collect();
    let room = room.saturating_sub(BETWEEN * (count - 1)).max(count);
    let mut total: usize = widths.iter().sum();
    while total > room {
        // Lowered to the next widest, or as far as needed: a step per column, not per character.
        let most = widths.iter().copied().max().unwrap_or(1);
        let next = widths.iter().copied().filter(|w| *w < most).max().unwrap_or(0);
        let tops = widths.iter().filter(|w| **w == most).count();
        let lower = (most - next).min((total - room).div_ceil(tops)).min(most - 1);
        if lower == 0 {
            break;
        }
        for width in widths.iter_mut().filter(|w| **w == most) {
            *width -= lower;
        }
        total = widths.iter().sum();
    }
    widths
}

fn draw(row: &[Cell], widths: &[usize], alignments: &[Alignment], theme: &Theme) -> Vec<Line<'static>> {
    let cells: Vec<Vec<Line<'static>>> = widths
        .iter()
        .enumerate()
        .map(|(n, width)| {
            row.get(n)
                .map_or_else(Vec::new, |cell| wrap(cell, *width, &Prefix::default()))
        })
        .collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let bar = Span::styled(" │ ", theme.style(Role::TableBorder));
    let line = |at: usize| {
        let mut spans = Vec::new();
        for (n, (cell, width)) in cells.iter().zip(widths).enumerate() {
            if n > 0 {
                spans.push(bar.clone());
            }
            let content = cell.get(at).cloned().unwrap_or_default();
            let taken: usize = content.spans.iter().map(|span| columns(&span.content)).sum();
            let free = width.saturating_sub(taken);
            let before = match alignments.get(n) {
                Some(Alignment::Right) => free,
                Some(Alignment::Center) => free / 2,
                _ => 0,
            };
            spans.push(Span::raw(" ".repeat(before)));
            spans.extend(content.spans);
            spans.push(Span::raw(" ".repeat(free - before)));
        }
        Line::from(spans)
    };
    (0..height).map(line).collect()
}
