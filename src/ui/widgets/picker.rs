//! A list to choose from: a line to type in, and the rows that fit. Beside a command stands the key that does the same.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};

use crate::app::Action;
use crate::app::click::Click;
use crate::app::picker::{Choice, Pick, Picker};
use crate::text::sanitize_line;
use crate::ui::hits::Hits;
use crate::ui::markdown::wrap::{Piece, Prefix, columns, shorten, wrap};
use crate::ui::theme::Role;
use crate::ui::view::Look;

use super::field;
use super::overlay::boxed;

/// Widest that the list gets.
const WIDEST: u16 = 80;
/// Narrower screens are covered from side to side.
const NARROW: u16 = 60;
/// Lines besides the rows: the box and the line that is typed, with a blank one.
const AROUND: u16 = 4;
/// Lines in which the selected row is told of, with a blank one before them.
const TOLD: u16 = 3;
/// Widest column of names.
const NAMES: usize = 28;

/// Draws it over `area`; returns how many rows there are and how many fit.
pub(in crate::ui) fn draw(
    picker: &Picker,
    look: Look<'_>,
    frame: &mut Frame<'_>,
    area: Rect,
    hits: &mut Hits,
) -> (u32, u32) {
    let margin = if area.width < NARROW { 0 } else { 4 };
    let width = area.width.saturating_sub(2 * margin).min(WIDEST);
    // As high as all rows need, so that it does not jump while one types.
    let height = u16::try_from(picker.rows.len().max(1)).unwrap_or(u16::MAX);
    let noted = picker.rows.iter().any(|row| !row.note.is_empty());
    let height = height
        .saturating_add(AROUND + if noted { TOLD } else { 0 })
        .min(area.height.saturating_sub(1).max(1));
    // Themes are looked at while one chooses: what they dress must not be covered.
    let beside = picker.before.is_some() && area.width > 2 * NARROW;
    let place = Rect {
        x: if beside {
            area.right() - width / 2
        } else {
            area.x + (area.width - width) / 2
        },
        y: area.y + ((area.height - height) / 3).max(area.height.saturating_sub(height).min(1)),
        width: if beside { width / 2 } else { width },
        height,
    };
    let foot = format!(" {} takes it ", look.keymap.hint(Action::Take));
    let foot = Line::styled(foot, look.theme.style(Role::Dim));
    let inside = boxed(picker.title, Some(foot), look, frame, place);
    let [line, rows] = Layout::vertical([Constraint::Length(2), Constraint::Min(0)]).areas(inside);
    field::draw("", &picker.query, look, frame, Rect { height: 1, ..line });
    let names = names(picker, rows.width);
    let told = told(picker, names, look, rows);
    let [rows, below] = Layout::vertical([Constraint::Min(0), Constraint::Length(told.1)]).areas(rows);
    draw_rows(picker, names, look, frame, rows, hits);
    for (row, line) in below.rows().zip(told.0) {
        frame.render_widget(line, row);
    }
    (picker.fitting().len() as u32, u32::from(rows.height))
}

/// Columns of the names.
fn names(picker: &Picker, width: u16) -> usize {
    let longest = picker.rows.iter().map(|row| columns(&row.label)).max().unwrap_or(0);
    longest.min(NAMES).min(usize::from(width) * 3 / 5)
}

/// What is said of the selected row, whole, where a row has no room for that; and how many lines are kept for it, so that
/// the list stays where it is from row to row.
fn told(picker: &Picker, names: usize, look: Look<'_>, area: Rect) -> (Vec<Line<'static>>, u16) {
    let width = usize::from(area.width);
    let whole = |row: &Pick| {
        let label = sanitize_line(&row.label).into_owned();
        let note = sanitize_line(&row.note).into_owned();
        let cut = columns(&label) > names || columns(&note) + names + 2 > width;
        (cut && !note.is_empty()).then(|| {
            let words = if columns(&label) > names {
                format!("{label}: {note}")
            } else {
                note
            };
            let words = Piece::new(words, look.theme.style(Role::Dim));
            wrap(&[words], width, &Prefix::default())
        })
    };
    let longest = picker.rows.iter().filter_map(whole).map(|lines| lines.len()).max();
    // With a blank line before it, and never more than a third of the list.
    let height = longest.map_or(0, |lines| lines + 1).min(usize::from(area.height) / 3);
    let lines = picker.row().and_then(whole).unwrap_or_default();
    (std::iter::once(Line::default()).chain(lines).collect(), height as u16)
}

fn draw_rows(picker: &Picker, names: usize, look: Look<'_>, frame: &mut Frame<'_>, area: Rect, hits: &mut Hits) {
    let all = picker.fitting();
    if all.len() == 0 {
        let words = picker
            .waiting
            .map_or("nothing like it".to_owned(), |what| format!("{what}…"));
        let words = Line::styled(words, look.theme.style(Role::Dim));
        frame.render_widget(
            words,
            Rect {
                height: 1.min(area.height),
                ..area
            },
        );
        return;
    }
    let height = usize::from(area.height).max(1);
    let top = picker
        .selected
        .saturating_sub(height / 2)
        .min(all.len().saturating_sub(height));
    let shown: Vec<&Pick> = picker.fitting().skip(top).take(height).collect();
    for (y, (at, row)) in (area.y..area.bottom()).zip(shown.into_iter().enumerate()) {
        let place = Rect { y, height: 1, ..area };
        hits.add(place, Click::Row(top + at));
        frame.render_widget(line(row, names, look, usize::from(area.width)), place);
        if top + at == picker.selected {
            frame.buffer_mut().set_style(place, look.theme.style(Role::Selection));
        }
    }
}

fn line(row: &Pick, names: usize, look: Look<'_>, width: usize) -> Line<'static> {
    let (text, dim, key) = (
        look.theme.style(Role::Overlay),
        look.theme.style(Role::Dim),
        look.theme.style(Role::Key),
    );
    let label = sanitize_line(&row.label);
    if row.note.is_empty() {
        return Line::styled(shorten(&label, width), text);
    }
    let chord = match row.what {
        Choice::Command(id) => look.keymap.hint(Action::Run(id)),
        _ => String::new(),
    };
    let label = shorten(&label, names);
    let pad = " ".repeat(names.saturating_sub(columns(&label)) + 2);
    let room = width.saturating_sub(names + 2);
    let of_chord = if chord.is_empty() { 0 } else { columns(&chord) + 1 };
    let note = shorten(&sanitize_line(&row.note), room.saturating_sub(of_chord));
    let fill = " ".repeat(room.saturating_sub(columns(&note) + columns(&chord)));
    Line::from(vec![
        Span::styled(label + &pad, text),
        Span::styled(note + &fill, dim),
        Span::styled(chord, key),
    ])
}
