//! What lies over the transcript: a titled text that scrolls. What the text says is the business of `help`, `prompt`, or of who
//! opened it.

use std::collections::HashMap;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear};

use crate::app::state::Overlay;
use crate::domain::examination::Check;
use crate::domain::inference::TurnId;
use crate::text::{sanitize, sanitize_line};
use crate::ui::keymap::Keymap;
use crate::ui::markdown::wrap::{Piece, Prefix, columns, wrap};
use crate::ui::theme::{Role, Theme};
use crate::ui::view::Look;

use super::{doctor, help, prompt};

/// Widest that an overlay gets: longer lines are hard to read.
const WIDEST: u16 = 100;
/// Narrower screens are covered whole.
const NARROW: u16 = 60;

/// The lines of the overlay that was drawn last: a prompt may have a hundred thousand characters, of which few are seen.
#[derive(Default)]
pub(in crate::ui) struct Cache {
    laid: Option<Laid>,
}

/// An overlay's lines.
struct Laid {
    content: Content,
    room: usize,
    theme: Theme,
    lines: Vec<Line<'static>>,
}

/// What an overlay's lines are made of, as far as it takes to see that it is the same.
#[derive(PartialEq)]
enum Content {
    Help(Keymap),
    /// A request for a prompt, which is answered once or not yet.
    Prompt(TurnId, bool),
    Text(String),
    /// An examination, what is checked now, how much was found, and whether it is over.
    Doctor(TurnId, Option<(Check, Option<f32>)>, usize, bool),
}

impl Content {
    fn of(overlay: &Overlay, look: Look<'_>) -> Self {
        match overlay {
            Overlay::Help { .. } => Self::Help(look.keymap.clone()),
            Overlay::Prompt { turn, prompt, .. } => Self::Prompt(*turn, prompt.is_some()),
            Overlay::Text { text, .. } => Self::Text(text.clone()),
            Overlay::Doctor(ward) => Self::Doctor(ward.turn, ward.now, ward.findings.len(), ward.end.is_some()),
            // Drawn by itself.
            Overlay::Sessions(_) | Overlay::Picker(_) | Overlay::Inspector(_) | Overlay::Compare(_) => {
                Self::Text(String::new())
            }
        }
    }

    /// Whether it is this overlay's; copies nothing.
    fn is_of(&self, overlay: &Overlay, look: Look<'_>) -> bool {
        match (self, overlay) {
            (Self::Help(keymap), Overlay::Help { .. }) => keymap == look.keymap,
            (Self::Prompt(request, there), Overlay::Prompt { turn, prompt, .. }) => {
                (*request, *there) == (*turn, prompt.is_some())
            }
            (Self::Text(laid), Overlay::Text { text, .. }) => laid == text,
            (Self::Doctor(..), Overlay::Doctor(_)) => *self == Self::of(overlay, look),
            _ => false,
        }
    }
}

impl Cache {
    /// Draws the open overlay over `area`; returns how many lines it has and how many of them fit, nothing where none is open.
    pub(in crate::ui) fn draw(
        &mut self,
        overlay: Option<&Overlay>,
        look: Look<'_>,
        frame: &mut Frame<'_>,
        area: Rect,
    ) -> (u32, u32) {
        let Some(overlay) = overlay.filter(|overlay| overlay.is_text()) else {
            self.laid = None;
            return (0, 0);
        };
        let margin = if area.width < NARROW { 0 } else { 2 };
        let width = area.width.saturating_sub(2 * margin).min(WIDEST);
        let room = usize::from(width.saturating_sub(4)).max(1);
        let title = match overlay {
            Overlay::Help { .. } => "keys and commands".into(),
            Overlay::Prompt { .. } => "the exact prompt".into(),
            Overlay::Text { title, .. } => sanitize_line(title),
            Overlay::Doctor(ward) => format!("examining {}", sanitize_line(&ward.model)).into(),
            Overlay::Sessions(_) | Overlay::Picker(_) | Overlay::Inspector(_) | Overlay::Compare(_) => "".into(),
        };
        let lines = self.lines(overlay, look, room);
        frame_text(&title, lines, overlay.top(), look, frame, Rect { width, ..area })
    }

    fn lines(&mut self, overlay: &Overlay, look: Look<'_>, room: usize) -> &[Line<'static>] {
        let same = |laid: &Laid| laid.room == room && laid.theme == *look.theme && laid.content.is_of(overlay, look);
        let laid = self.laid.take().filter(same).unwrap_or_else(|| Laid {
            content: Content::of(overlay, look),
            room,
            theme: look.theme.clone(),
            lines: lay_out(overlay, look, room),
        });
        &self.laid.insert(laid).lines
    }
}

fn lay_out(overlay: &Overlay, look: Look<'_>, room: usize) -> Vec<Line<'static>> {
    match overlay {
        Overlay::Help { .. } => help::lines(look, room),
        Overlay::Prompt { prompt, .. } => prompt::lines(prompt.as_ref(), look, room),
        Overlay::Text { text, .. } => plain(&sanitize(text), look.theme.style(Role::Overlay), room),
        Overlay::Doctor(ward) => doctor::lines(ward, look, room),
        Overlay::Sessions(_) | Overlay::Picker(_) | Overlay::Inspector(_) | Overlay::Compare(_) => Vec::new(),
    }
}

/// A text whose tables stay tables: where a line's last column does not fit, it goes on below its own beginning, or where that
/// leaves too little room below the line.
fn plain(text: &str, style: Style, room: usize) -> Vec<Line<'static>> {
    /// Fewer aligned lines are no table.
    const ROWS: usize = 3;
    /// Columns that words need to be read in.
    const READABLE: usize = 24;
    /// Indent of what stands below its line.
    const INDENT: usize = 4;
    let starts: Vec<Option<usize>> = text.lines().map(last_column).collect();
    let mut rows = HashMap::new();
    for start in &starts {
        *rows.entry(start).or_insert(0_usize) += 1;
    }
    let mut lines = Vec::new();
    for (line, start) in text.lines().zip(&starts) {
        let aligned = rows.get(start).is_some_and(|rows| *rows >= ROWS);
        let table = start.filter(|_| aligned && columns(line) > room);
        let Some((left, right)) = table.and_then(|start| line.split_at_checked(start)) else {
            lines.extend(wrap(&[Piece::new(line, style)], room, &Prefix::default()));
            continue;
        };
        let indent = columns(left);
        if indent + READABLE <= room {
            let prefix = Prefix {
                first: vec![Span::styled(left.to_owned(), style)],
                rest: vec![Span::styled(" ".repeat(indent), style)],
            };
            lines.extend(wrap(&[Piece::new(right, style)], room, &prefix));
        } else {
            let blank = vec![Span::styled(" ".repeat(INDENT), style)];
            let prefix = Prefix {
                first: blank.clone(),
                rest: blank,
            };
            lines.extend(wrap(&[Piece::new(left.trim_end(), style)], room, &Prefix::default()));
            lines.extend(wrap(&[Piece::new(right, style)], room, &prefix));
        }
    }
    lines
}

/// Where the last column of a line begins, in bytes: behind its last run of two blanks or more.
fn last_column(line: &str) -> Option<usize> {
    let start = line.rfind("  ")? + 2;
    let before = line.get(..start)?;
    (!before.trim().is_empty()).then_some(start)
}

/// Draws a titled box as high as its lines need, in the middle of `area` in height and of the screen in width.
fn frame_text(
    title: &str,
    lines: &[Line<'static>],
    top: u32,
    look: Look<'_>,
    frame: &mut Frame<'_>,
    area: Rect,
) -> (u32, u32) {
    let width = area.width;
    let screen = frame.area().width;
    let height = u16::try_from(lines.len())
        .unwrap_or(u16::MAX)
        .saturating_add(2)
        .min(area.height);
    let place = Rect {
        x: area.x + (screen - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    let viewport = u32::from(height.saturating_sub(2));
    let total = lines.len() as u32;
    let top = top.min(total.saturating_sub(viewport));
    let foot = (total > viewport).then(|| {
        let words = format!(" lines {}–{} of {total} ", top + 1, top + viewport);
        Line::styled(words, look.theme.style(Role::Dim))
    });
    let inside = boxed(title, foot, look, frame, place);
    for (row, line) in lines
        .iter()
        .skip(top as usize)
        .take(usize::from(inside.height))
        .enumerate()
    {
        frame.render_widget(
            line,
            Rect {
                y: inside.y + row as u16,
                height: 1,
                ..inside
            },
        );
    }
    (total, viewport)
}

/// Draws a box with a title, and a line at the right of its foot; returns the room inside.
pub(super) fn boxed(
    title: &str,
    foot: Option<Line<'static>>,
    look: Look<'_>,
    frame: &mut Frame<'_>,
    place: Rect,
) -> Rect {
    let mut block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(look.theme.style(Role::BorderFocus))
        .style(look.theme.style(Role::Overlay))
        .title(Span::styled(format!(" {title} "), look.theme.style(Role::Title)));
    if let Some(foot) = foot {
        block = block.title_bottom(foot.right_aligned());
    }
    let inner = block.inner(place);
    frame.render_widget(Clear, place);
    frame.render_widget(block, place);
    Rect {
        x: inner.x + 1,
        width: inner.width.saturating_sub(2),
        ..inner
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    const TABLE: &str = "  name         value  what it does\n* temperature  0.8    divides the logits before the draw\n  \
                         top-k        40     keeps the likeliest few\n\nIt says.  And says on for longer than there is room.";

    fn shown(room: usize) -> Vec<String> {
        let lines = plain(TABLE, Style::new(), room);
        lines.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_column_that_does_not_fit_goes_on_below_itself() {
        assert_eq!(
            shown(48),
            [
                "  name         value  what it does",
                "* temperature  0.8    divides the logits before",
                "                      the draw",
                "  top-k        40     keeps the likeliest few",
                "",
                "It says.  And says on for longer than there is",
                "room.",
            ]
        );
    }

    #[test]
    fn where_that_leaves_too_little_room_it_stands_below_its_line() {
        assert_eq!(
            shown(36)[1..4],
            ["* temperature  0.8", "    divides the logits before the", "    draw",]
        );
    }
}
