//! The panel of sessions: a line to type in, the sessions and the messages that it finds, and what is known of the selected one.

use std::fmt::Write as _;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use crate::app::click::Click;
use crate::app::sessions::{Row, SessionList};
use crate::app::{Action, State};
use crate::domain::Bytes;
use crate::domain::session::{Hit, Summary};
use crate::text::sanitize_line;
use crate::ui::hits::Hits;
use crate::ui::markdown::wrap::{columns, shorten};
use crate::ui::theme::Role;
use crate::ui::view::Look;

use super::field;
use super::figures::ago;
use super::overlay::boxed;

/// Widest that the panel gets.
const WIDEST: u16 = 110;
/// Narrower screens are covered whole.
const NARROW: u16 = 60;
/// Lines of the panel besides its rows.
const AROUND: u16 = 7;
/// Lines of a panel with few rows.
const LEAST: u16 = 16;
/// Columns from which on a row says what model spoke and how much was said.
const ROOMY: usize = 64;

/// Draws it over `area`; returns how many rows there are and how many fit.
pub(in crate::ui) fn draw(
    list: &SessionList,
    state: &State,
    look: Look<'_>,
    frame: &mut Frame<'_>,
    area: Rect,
    hits: &mut Hits,
) -> (u32, u32) {
    let margin = if area.width < NARROW { 0 } else { 2 };
    let width = area.width.saturating_sub(2 * margin).min(WIDEST);
    // As high as it needs to be, but not so low that it jumps while one types.
    let rows = u16::try_from(list.rows().count()).unwrap_or(u16::MAX);
    let height = rows
        .saturating_add(AROUND)
        .clamp(LEAST, area.height.max(LEAST))
        .min(area.height);
    let place = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    let title = if list.archived { "all sessions" } else { "sessions" };
    let foot = hints(look, usize::from(width));
    let inside = boxed(title, Some(foot), look, frame, place);
    // What is known of the selected one goes first where there is little room.
    let known = if inside.height >= 8 { 2 } else { 0 };
    let [line, rows, foot] =
        Layout::vertical([Constraint::Length(2), Constraint::Min(1), Constraint::Length(known)]).areas(inside);
    typed(list, look, frame, line);
    draw_rows(list, state, look, frame, rows, hits);
    if known > 0 {
        selected(list, look, frame, foot);
    }
    (list.rows().count() as u32, u32::from(rows.height))
}

/// What keys do here, as many as there is room for.
fn hints(look: Look<'_>, width: usize) -> Line<'static> {
    let all = [
        (Action::Take, "open"),
        (Action::Rename, "rename"),
        (Action::Pin, "pin"),
        (Action::Archive, "archive"),
        (Action::Delete, "delete"),
        (Action::ShowArchived, "all"),
    ];
    let mut words = String::new();
    for (action, does) in all {
        let key = look.keymap.hint(action);
        let more = format!(" {key} {does} ");
        if !key.is_empty() && columns(&words) + columns(&more) + 4 <= width {
            words.push_str(&more);
        }
    }
    Line::styled(words, look.theme.style(Role::Dim))
}

/// The line that is typed.
fn typed(list: &SessionList, look: Look<'_>, frame: &mut Frame<'_>, area: Rect) {
    let (label, text) = match &list.renaming {
        Some(title) => ("title: ", title),
        None => ("search: ", &list.query),
    };
    field::draw(label, text, look, frame, Rect { height: 1, ..area });
}

fn draw_rows(list: &SessionList, state: &State, look: Look<'_>, frame: &mut Frame<'_>, area: Rect, hits: &mut Hits) {
    let rows: Vec<_> = list.rows().collect();
    if rows.is_empty() {
        let words = match (list.there, list.searching, list.query.is_empty()) {
            (false, ..) => "reading",
            (_, true, _) => "searching",
            (_, _, true) => "nothing is kept yet: what is said is kept as it is said",
            (..) => "nothing found",
        };
        frame.render_widget(
            Line::styled(words, look.theme.style(Role::Dim)),
            Rect { height: 1, ..area },
        );
        return;
    }
    let height = usize::from(area.height).max(1);
    // The selected row is kept away from the edge where it can be.
    let top = list
        .selected
        .saturating_sub(height / 2)
        .min(rows.len().saturating_sub(height));
    for (y, (at, row)) in (area.y..area.bottom()).zip(rows.iter().enumerate().skip(top)) {
        let place = Rect { y, height: 1, ..area };
        hits.add(place, Click::Row(at));
        let width = usize::from(area.width);
        let line = match row {
            Row::Session(session) => of_session(session, state, look, width),
            Row::Hit(hit) => of_hit(hit, look, width),
        };
        frame.render_widget(line, place);
        if at == list.selected {
            frame.buffer_mut().set_style(place, look.theme.style(Role::Selection));
        }
    }
}

fn of_session(session: &Summary, state: &State, look: Look<'_>, width: usize) -> Line<'static> {
    let (text, dim) = (look.theme.style(Role::Text), look.theme.style(Role::Dim));
    let mark = match session {
        s if s.deleted => "✗ ",
        s if s.details.pinned => "▲ ",
        s if s.details.archived => "▽ ",
        s if state.session.id == Some(s.id) => "● ",
        _ => "  ",
    };
    let mut facts = ago(state.clock(), session.used);
    if width >= ROOMY {
        let model = shorten(&sanitize_line(&session.model), 18);
        facts = format!(
            "{model}  {:>4} msg  {:>9}  {facts:>10}",
            session.messages,
            Bytes(session.bytes).to_string()
        );
    }
    let title = match session.details.title.as_str() {
        "" => "(no title)".into(),
        title => sanitize_line(title),
    };
    let room = width.saturating_sub(columns(mark) + columns(&facts) + 2);
    let title = shorten(&title, room);
    let fill = room.saturating_sub(columns(&title)) + 2;
    Line::from(vec![
        Span::styled(mark, look.theme.style(Role::Accent)),
        Span::styled(title, text),
        Span::raw(" ".repeat(fill)),
        Span::styled(facts, dim),
    ])
}

fn of_hit(hit: &Hit, look: Look<'_>, width: usize) -> Line<'static> {
    let (text, dim) = (look.theme.style(Role::Text), look.theme.style(Role::Dim));
    let found = look.theme.style(Role::Accent).add_modifier(Modifier::BOLD);
    let title = shorten(&sanitize_line(&hit.title), width / 3);
    let mut spans = vec![Span::styled("  ", dim), Span::styled(format!("{title} · "), dim)];
    let mut room = width.saturating_sub(columns(&title) + 5);
    for (is_found, piece) in &hit.snippet {
        let piece = sanitize_line(piece);
        let piece = shorten(&piece, room);
        room = room.saturating_sub(columns(&piece));
        spans.push(Span::styled(piece, if *is_found { found } else { text }));
    }
    Line::from(spans)
}

/// The beginning of what was said last in the selected session, and its tags.
fn selected(list: &SessionList, look: Look<'_>, frame: &mut Frame<'_>, area: Rect) {
    let Some(session) = list.session() else { return };
    let (dim, accent): (Style, Style) = (look.theme.style(Role::Dim), look.theme.style(Role::Accent));
    let width = usize::from(area.width);
    let mut tags = String::new();
    for tag in &session.details.tags {
        let _ = write!(tags, "#{} ", sanitize_line(tag));
    }
    let preview = session.preview.split_whitespace().collect::<Vec<_>>().join(" ");
    let room = width.saturating_sub(columns(&tags));
    let line = Line::from(vec![
        Span::styled(tags, accent),
        Span::styled(shorten(&sanitize_line(&preview), room), dim),
    ]);
    let bottom = Rect {
        y: area.bottom().saturating_sub(1),
        height: 1,
        ..area
    };
    frame.render_widget(line, bottom);
}
