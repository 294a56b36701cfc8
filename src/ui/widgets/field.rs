//! A line that is typed, with the cursor behind it, as panels have them.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

use crate::text::sanitize_line;
use crate::ui::markdown::wrap::columns;
use crate::ui::theme::Role;
use crate::ui::view::Look;

/// Draws the label and as much of the text's end as there is room for, and puts the terminal's cursor behind it.
pub(in crate::ui) fn draw(label: &str, text: &str, look: Look<'_>, frame: &mut Frame<'_>, area: Rect) {
    if area.is_empty() {
        return;
    }
    let room = usize::from(area.width).saturating_sub(columns(label) + 1);
    let text = sanitize_line(text);
    let mut shown: Vec<&str> = Vec::new();
    let mut used = 0;
    for grapheme in text.graphemes(true).rev() {
        used += columns(grapheme);
        if used > room {
            break;
        }
        shown.push(grapheme);
    }
    let shown: String = shown.into_iter().rev().collect();
    let cursor = area.x + (columns(label) + columns(&shown)) as u16;
    let line = Line::from(vec![
        Span::styled(label.to_owned(), look.theme.style(Role::Dim)),
        Span::styled(shown, look.theme.style(Role::Text)),
    ]);
    frame.render_widget(line, Rect { height: 1, ..area });
    if cursor < area.right() {
        frame.set_cursor_position((cursor, area.y));
    }
}
