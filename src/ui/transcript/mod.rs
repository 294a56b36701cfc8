//! The conversation: who spoke, what was said, how it ended. Only what is visible is drawn; where it stands and what it came
//! to is `layout`'s business.

mod body;
mod layout;
mod place;
mod words;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::app::state::ViewInfo;
use crate::app::{Action, State};
use crate::ui::markdown::wrap::columns;
use crate::ui::theme::Role;
use crate::ui::view::Look;

use super::widgets::welcome;
use layout::{BAR, Layout};

/// Columns left free on either side.
const MARGIN: u16 = 2;

/// What was laid out before.
#[derive(Default)]
pub(in crate::ui) struct Cache {
    layout: Layout,
}

impl Cache {
    /// Draws what is visible and says how much there is.
    pub(in crate::ui) fn draw(&mut self, state: &State, look: Look<'_>, frame: &mut Frame<'_>, area: Rect) -> ViewInfo {
        if state.conversation.tip().is_none() {
            *self = Self::default();
            welcome::draw(state, look, frame, area);
            return ViewInfo {
                viewport: u32::from(area.height),
                ..ViewInfo::default()
            };
        }
        let width = area.width.saturating_sub(2 * MARGIN).max(1);
        let asked = self.layout.update(state, look, width);
        let total = self.layout.total();
        let viewport = u32::from(area.height);
        let end = total.saturating_sub(viewport);
        let top = asked.map_or(end, |line| line.min(end));
        let text = Rect {
            x: area.x + MARGIN.min(area.width),
            width: width.min(area.width),
            ..area
        };
        self.draw_messages(state, look, frame, text, top);
        if top < end {
            more_below(look, frame, area);
        }
        ViewInfo {
            transcript: total,
            viewport,
            top,
            reveal: state.screen.reveal.and_then(|id| self.layout.lines_of(id)),
            ..ViewInfo::default()
        }
    }

    /// Draws the lines from `top` on, as many as there is room for.
    fn draw_messages(&mut self, state: &State, look: Look<'_>, frame: &mut Frame<'_>, area: Rect, top: u32) {
        let below = top + u32::from(area.height);
        let seen = self.layout.from(top).take_while(|(_, entry)| entry.start() < below);
        let seen: Vec<usize> = seen.map(|(at, _)| at).collect();
        for at in seen {
            self.draw_message(at, state, look, frame, area, top);
        }
    }

    /// Draws what is visible of a message.
    fn draw_message(&mut self, at: usize, state: &State, look: Look<'_>, frame: &mut Frame<'_>, area: Rect, top: u32) {
        let version = self.layout.version(at, &state.conversation);
        let Some(entry) = self.layout.entry(at) else { return };
        let Some(message) = state.conversation.get(entry.id) else {
            return;
        };
        let head = words::header(message, version, look, area.width);
        let note = words::note(message, state).map(|words| Line::styled(words, look.theme.style(Role::Dim)));
        let dim = look.theme.style(Role::Dim);
        let summary = words::thinking(message, state, look, area.width).map(|words| Line::styled(words, dim));
        let summary = summary.filter(|_| entry.has_thoughts());
        let blank = entry.has_thoughts().then(Line::default);
        let thoughts = entry.thoughts.lines();
        let lines = std::iter::once(&head)
            .chain(&summary)
            .chain(thoughts)
            .chain(&blank)
            .chain(entry.body.lines())
            .chain(&note);
        let above = top.saturating_sub(entry.start());
        let first = area.y + entry.start().saturating_sub(top) as u16;
        let left_out = at < state.window.left_out as usize;
        for (y, (number, line)) in (first..area.bottom()).zip(lines.enumerate().skip(above as usize)) {
            let row = Rect { y, height: 1, ..area };
            if (2..2 + thoughts.len()).contains(&number) {
                frame.render_widget(Line::raw("│"), row);
                let beside = Rect {
                    x: (row.x + BAR).min(row.right()),
                    width: row.width.saturating_sub(BAR),
                    ..row
                };
                frame.render_widget(line, beside);
                frame.buffer_mut().set_style(row, dim);
                continue;
            }
            frame.render_widget(line, row);
            if number == 0 && state.screen.selected == Some(message.id) {
                frame.buffer_mut().set_style(row, look.theme.style(Role::Selection));
            }
            if left_out {
                // The model does not see it any more, and so it should look.
                frame.buffer_mut().set_style(row, dim);
            }
        }
    }
}

/// A word at the bottom right that the transcript goes on.
fn more_below(look: Look<'_>, frame: &mut Frame<'_>, area: Rect) {
    let key = look.keymap.hint(Action::Follow);
    let words = format!(" ↓ more ({key}) ");
    let width = (columns(&words) as u16).min(area.width);
    let place = Rect {
        x: area.right() - width,
        y: area.bottom().saturating_sub(1),
        width,
        height: 1,
    };
    frame.render_widget(Line::styled(words, look.theme.style(Role::Accent)), place);
}
