//! The help: read from the tables that act, so that it cannot lie.

use ratatui::text::{Line, Span};

use crate::app::COMMANDS;
use crate::app::command::Group;
use crate::ui::composer::EDITING;
use crate::ui::keymap::Context;
use crate::ui::markdown::wrap::{Piece, Prefix, columns, wrap};
use crate::ui::theme::Role;
use crate::ui::view::Look;

/// Widest column of keys or commands.
const WIDEST: usize = 30;

/// What stands in the left and in the right column.
type Row = (String, &'static str);

/// The lines of the help at this width.
pub(in crate::ui) fn lines(look: Look<'_>, width: usize) -> Vec<Line<'static>> {
    let keys = |context: &Context| (context.title(), bound(look, *context));
    let commands = Group::ALL.iter().map(|group| (group.title(), commands(*group)));
    // What is wanted most comes first: the keys that always count, the commands, then the rest.
    let sections: Vec<(&str, Vec<Row>)> = std::iter::once(keys(&Context::Chat))
        .chain(commands)
        .chain([("keys in the message", editing(look))])
        .chain(
            Context::ALL
                .iter()
                .map(|(context, _)| context)
                .filter(|c| **c != Context::Chat)
                .map(keys),
        )
        .filter(|(_, rows)| !rows.is_empty())
        .collect();
    // One column for all, so that the eye runs down a straight edge.
    let rows = sections.iter().flat_map(|(_, rows)| rows);
    let widest = rows.map(|(left, _)| columns(left)).max().unwrap_or(0);
    let column = widest.min(WIDEST) + 2;
    let mut lines = Vec::new();
    for (title, rows) in &sections {
        lines.push(Line::styled((*title).to_owned(), look.theme.style(Role::Heading)));
        lines.extend(table(rows, column, look, width));
        lines.push(Line::default());
    }
    lines.push(Line::styled(
        "//text sends a message that begins with a slash",
        look.theme.style(Role::Dim),
    ));
    lines
}

/// What keys ask for in a context.
fn bound(look: Look<'_>, context: Context) -> Vec<Row> {
    let rows = look.keymap.of(context).into_iter();
    rows.map(|(action, chords)| {
        let chords: Vec<_> = chords.iter().map(ToString::to_string).collect();
        (chords.join(" "), action.help())
    })
    .collect()
}

/// What the composer's own keys do, as far as they reach it.
fn editing(look: Look<'_>) -> Vec<Row> {
    let reaches = |chord: &str| {
        let bound = chord
            .parse()
            .ok()
            .and_then(|chord| look.keymap.lookup(&[Context::Chat], chord));
        bound.is_none()
    };
    let rows = EDITING.iter().filter(|(chord, _)| reaches(chord));
    rows.map(|(chord, help)| ((*chord).to_owned(), *help)).collect()
}

fn commands(group: Group) -> Vec<Row> {
    let commands = COMMANDS.iter().filter(|command| command.group == group);
    commands
        .map(|c| (format!("/{} {}", c.name, c.args).trim_end().to_owned(), c.help))
        .collect()
}

/// Two columns; where there is no room for two, the second goes under the first.
fn table(rows: &[Row], column: usize, look: Look<'_>, width: usize) -> Vec<Line<'static>> {
    let (key, text) = (look.theme.style(Role::Key), look.theme.style(Role::Overlay));
    let mut lines = Vec::new();
    for (left, right) in rows {
        let left = Span::styled(left.clone(), key);
        let size = columns(&left.content);
        let under = width < 2 * column || size + 2 > column;
        let (first, indent) = if under {
            lines.push(Line::from(left));
            (vec![Span::raw("  ")], 2)
        } else {
            (vec![left, Span::raw(" ".repeat(column - size))], column)
        };
        let prefix = Prefix {
            first,
            rest: vec![Span::raw(" ".repeat(indent))],
        };
        lines.extend(wrap(&[Piece::new(*right, text)], width, &prefix));
    }
    lines
}
