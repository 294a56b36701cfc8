//! What lies over the transcript: a titled text that scrolls. What the text says is the business of `help`, `prompt`, or of who
//! opened it.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear};

use crate::app::state::Overlay;
use crate::text::{sanitize, sanitize_line};
use crate::ui::markdown::wrap::{Piece, Prefix, wrap};
use crate::ui::theme::Role;
use crate::ui::view::Look;

use super::{help, prompt};

/// Widest that an overlay gets: longer lines are hard to read.
const WIDEST: u16 = 100;
/// Narrower screens are covered whole.
const NARROW: u16 = 60;

/// Draws an overlay over `area`; returns how many lines it has and how many of them fit.
pub(in crate::ui) fn draw(overlay: &Overlay, look: Look<'_>, frame: &mut Frame<'_>, area: Rect) -> (u32, u32) {
    let margin = if area.width < NARROW { 0 } else { 2 };
    let width = area.width.saturating_sub(2 * margin).min(WIDEST);
    let room = usize::from(width.saturating_sub(4)).max(1);
    let (title, lines, top) = match overlay {
        Overlay::Help { top } => ("keys and commands".to_owned(), help::lines(look, room), *top),
        Overlay::Prompt { prompt, top, .. } => (
            "the exact prompt".to_owned(),
            prompt::lines(prompt.as_ref(), look, room),
            *top,
        ),
        Overlay::Text { title, text, top } => {
            let piece = Piece::new(sanitize(text), look.theme.style(Role::Overlay));
            (
                sanitize_line(title).into_owned(),
                wrap(&[piece], room, &Prefix::default()),
                *top,
            )
        }
    };
    frame_text(&title, &lines, top, look, frame, Rect { width, ..area })
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
    let height = (lines.len() as u16).saturating_add(2).min(area.height);
    let place = Rect {
        x: area.x + (screen - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    let viewport = u32::from(height.saturating_sub(2));
    let total = lines.len() as u32;
    let top = top.min(total.saturating_sub(viewport));
    let mut block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(look.theme.style(Role::BorderFocus))
        .style(look.theme.style(Role::Overlay))
        .title(Span::styled(format!(" {title} "), look.theme.style(Role::Title)));
    if total > viewport {
        let words = format!(" lines {}–{} of {total} ", top + 1, top + viewport);
        block = block.title_bottom(Line::styled(words, look.theme.style(Role::Dim)).right_aligned());
    }
    let inner = block.inner(place);
    frame.render_widget(Clear, place);
    frame.render_widget(block, place);
    let inside = Rect {
        x: inner.x + 1,
        width: inner.width.saturating_sub(2),
        ..inner
    };
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
