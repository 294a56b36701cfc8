//! The help: read from the tables that act, so that it cannot lie.

use ratatui::text::{Line, Span};

use crate::app::command::Group;
use crate::app::{Action, COMMANDS};
use crate::ui::markdown::wrap::{Piece, Prefix, columns, wrap};
use crate::ui::theme::Role;
use crate::ui::view::Look;

/// Widest column of keys or commands.
const WIDEST: usize = 26;

/// The lines of the help at this width.
pub(in crate::ui) fn lines(look: Look<'_>, width: usize) -> Vec<Line<'static>> {
    let heading = |words: &str| Line::styled(words.to_owned(), look.theme.style(Role::Heading));
    let mut lines = vec![heading("keys")];
    let chords = |action: Action| {
        let chords: Vec<_> = look.keymap.chords(action).iter().map(ToString::to_string).collect();
        chords.join(" ")
    };
    let keys: Vec<_> = look
        .keymap
        .actions()
        .into_iter()
        .map(|action| (chords(action), action.help()))
        .collect();
    lines.extend(table(&keys, look, width));
    for group in Group::ALL {
        lines.push(Line::default());
        lines.push(heading(group.title()));
        let commands = COMMANDS.iter().filter(|command| command.group == group);
        let rows: Vec<_> = commands
            .map(|c| (format!("/{} {}", c.name, c.args).trim_end().to_owned(), c.help))
            .collect();
        lines.extend(table(&rows, look, width));
    }
    lines.push(Line::default());
    lines.push(Line::styled(
        "//text sends a message that begins with a slash",
        look.theme.style(Role::Dim),
    ));
    lines
}

/// Two columns; where there is no room for two, the second goes under the first.
fn table(rows: &[(String, &'static str)], look: Look<'_>, width: usize) -> Vec<Line<'static>> {
    let column = rows
        .iter()
        .map(|(left, _)| columns(left))
        .max()
        .unwrap_or(0)
        .min(WIDEST)
        + 2;
    let (key, text) = (look.theme.style(Role::Key), look.theme.style(Role::Overlay));
    let mut lines = Vec::new();
    for (left, right) in rows {
        let left = Span::styled(left.clone(), key);
        let size = columns(&left.content);
        if width < 2 * column || size + 2 > column {
            lines.push(Line::from(left));
            let indent = Prefix {
                first: vec![Span::raw("  ")],
                rest: vec![Span::raw("  ")],
            };
            lines.extend(wrap(&[Piece::new(*right, text)], width, &indent));
        } else {
            let first = vec![left, Span::raw(" ".repeat(column - size))];
            let prefix = Prefix {
                first,
                rest: vec![Span::raw(" ".repeat(column))],
            };
            lines.extend(wrap(&[Piece::new(*right, text)], width, &prefix));
        }
    }
    lines
}
