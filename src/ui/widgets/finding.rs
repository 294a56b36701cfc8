//! The line in which words are typed that are looked for in the transcript, with how many lines have them.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::app::Action;
use crate::app::find::{Find, Found};
use crate::ui::markdown::wrap::columns;
use crate::ui::theme::Role;
use crate::ui::view::Look;

use super::field;

/// Draws it.
pub(in crate::ui) fn draw(find: &Find, found: Option<Found>, look: Look<'_>, frame: &mut Frame<'_>, area: Rect) {
    let words = match found {
        Some(found) => format!(" {}/{} ", found.at + 1, found.count),
        None if find.query.is_empty() => String::new(),
        None => " nothing ".to_owned(),
    };
    let hints = format!(
        "{} next · {} before ",
        look.keymap.hint(Action::FindNext),
        look.keymap.hint(Action::FindPrevious)
    );
    let narrow = usize::from(area.width) < columns(&words) + columns(&hints) + 30;
    let right = if narrow { words } else { words + &hints };
    let size = (columns(&right) as u16).min(area.width);
    let left = Rect {
        width: area.width - size,
        ..area
    };
    field::draw(" find: ", &find.query, look, frame, left);
    let right_area = Rect {
        x: left.right(),
        width: size,
        ..area
    };
    frame.render_widget(Line::styled(right, look.theme.style(Role::Dim)), right_area);
}
