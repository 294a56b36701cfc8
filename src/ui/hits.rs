//! What a frame drew where, for the mouse: collected while it is drawn, asked until the next. What was drawn last lies on top.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::app::click::{Click, Drag};

/// The places of a frame that can be clicked.
#[derive(Default)]
pub(in crate::ui) struct Hits {
    places: Vec<(Rect, Option<Click>)>,
}

impl Hits {
    /// Forgets the frame before.
    pub(in crate::ui) fn clear(&mut self) {
        self.places.clear();
    }

    /// Something was drawn that can be clicked.
    pub(in crate::ui) fn add(&mut self, place: Rect, click: Click) {
        self.places.push((place, Some(click)));
    }

    /// Something was drawn that covers what lies beneath.
    pub(in crate::ui) fn cover(&mut self, place: Rect) {
        self.places.push((place, None));
    }

    /// What was drawn at a cell.
    pub(in crate::ui) fn at(&self, column: u16, row: u16) -> Option<Click> {
        let at = Position::new(column, row);
        let hit = self.places.iter().rev().find(|(place, _)| place.contains(at));
        hit.and_then(|(_, click)| *click)
    }
}

/// The cells that a drag marks, row by row: all between its ends, as text runs.
fn rows(drag: Drag, area: Rect) -> impl Iterator<Item = (u16, std::ops::Range<u16>)> {
    let key = |(column, row): (u16, u16)| (row, column);
    let (first, last) = if key(drag.from) <= key(drag.to) {
        (drag.from, drag.to)
    } else {
        (drag.to, drag.from)
    };
    let right = area.right();
    (first.1..=last.1.min(area.bottom().saturating_sub(1))).map(move |row| {
        let begin = if row == first.1 { first.0 } else { area.x };
        let end = if row == last.1 { last.0.saturating_add(1) } else { right };
        (row, begin.min(right)..end.min(right))
    })
}

/// Shows what is marked.
pub(in crate::ui) fn mark(buffer: &mut Buffer, drag: Drag) {
    let area = buffer.area;
    for (row, columns) in rows(drag, area) {
        for column in columns {
            if let Some(cell) = buffer.cell_mut(Position::new(column, row)) {
                cell.modifier.toggle(ratatui::style::Modifier::REVERSED);
            }
        }
    }
}

/// The text that is marked. What the screen filled up with blanks has none.
pub(in crate::ui) fn text(buffer: &Buffer, drag: Drag) -> String {
    let line = |(row, columns): (u16, std::ops::Range<u16>)| {
        let mut text = String::new();
        let mut column = columns.start;
        while column < columns.end {
            let symbol = buffer
                .cell(Position::new(column, row))
                .map_or(" ", ratatui::buffer::Cell::symbol);
            text.push_str(symbol);
            // A wide character takes the cell behind it, too.
            column += (crate::ui::markdown::wrap::columns(symbol) as u16).max(1);
        }
        text.trim_end().to_owned()
    };
    rows(drag, buffer.area).map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use ratatui::text::Line;
    use ratatui::widgets::Widget;

    #[test]
    fn what_lies_on_top_is_hit() {
        let mut hits = Hits::default();
        hits.add(Rect::new(0, 0, 10, 2), Click::More);
        hits.cover(Rect::new(2, 0, 3, 3));
        hits.add(Rect::new(3, 1, 1, 1), Click::Row(4));
        assert_eq!(
            [hits.at(0, 0), hits.at(2, 0), hits.at(3, 1), hits.at(9, 9)],
            [Some(Click::More), None, Some(Click::Row(4)), None]
        );
    }

    #[test]
    fn text_runs_from_one_end_to_the_other() {
        let area = Rect::new(0, 0, 12, 3);
        let mut buffer = Buffer::empty(area);
        for (row, line) in ["one 日本 two", "three", "four five"].iter().enumerate() {
            Line::raw(*line).render(
                Rect {
                    y: row as u16,
                    height: 1,
                    ..area
                },
                &mut buffer,
            );
        }
        let drag = |from, to| Drag { from, to };
        assert_eq!(text(&buffer, drag((4, 0), (3, 2))), "日本 two\nthree\nfour");
        assert_eq!(
            text(&buffer, drag((3, 2), (4, 0))),
            "日本 two\nthree\nfour",
            "from either end"
        );
        assert_eq!(text(&buffer, drag((0, 1), (200, 1))), "three");
        mark(&mut buffer, drag((0, 0), (2, 0)));
        assert!(buffer[(1, 0)].modifier.contains(ratatui::style::Modifier::REVERSED));
    }
}
