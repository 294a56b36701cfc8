//! The conversation: who spoke, what was said, how it ended. Only what is visible is drawn; where it stands and what it came
//! to is `layout`'s business.

mod body;
mod entry;
mod find;
mod layout;
mod place;
mod words;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::app::click::Click;
use crate::app::find::{Find, Found};
use crate::app::state::ViewInfo;
use crate::app::{Action, State};
use crate::domain::compaction::Fold;
use crate::ui::hits::Hits;
use crate::ui::markdown::wrap::columns;
use crate::ui::theme::Role;
use crate::ui::view::Look;

use super::widgets::welcome;
use entry::BAR;
use find::Finder;
use layout::Layout;

/// Columns left free on either side.
const MARGIN: u16 = 2;

/// What was laid out before.
#[derive(Default)]
pub(in crate::ui) struct Cache {
    layout: Layout,
    finder: Finder,
}

impl Cache {
    /// Draws what is visible and says how much there is.
    pub(in crate::ui) fn draw(
        &mut self,
        state: &State,
        look: Look<'_>,
        frame: &mut Frame<'_>,
        area: Rect,
        hits: &mut Hits,
    ) -> ViewInfo {
        if state.conversation.tip().is_none() {
            *self = Self::default();
            welcome::draw(state, look, frame, area);
            return ViewInfo {
                viewport: u32::from(area.height),
                ..ViewInfo::default()
            };
        }
        let width = area.width.saturating_sub(2 * MARGIN).max(1);
        let viewport = u32::from(area.height);
        let top = self.layout.update(state, look, width, viewport);
        let total = self.layout.total();
        let end = total.saturating_sub(viewport);
        let text = Rect {
            x: area.x + MARGIN.min(area.width),
            width: width.min(area.width),
            ..area
        };
        let found = state.screen.find.as_ref().and_then(|find| {
            let (revision, layout) = (self.layout.revision(), &self.layout);
            self.finder.update(find, revision, top + viewport, layout.texts())
        });
        self.draw_messages(state, look, frame, text, (top, found), hits);
        if top < end {
            more_below(look, frame, area, hits);
        }
        ViewInfo {
            transcript: total,
            viewport,
            top,
            found,
            reveal: state.screen.reveal.and_then(|id| self.layout.lines_of(id)),
            unfinished: self.layout.is_unfinished(),
            ..ViewInfo::default()
        }
    }

    /// Draws the lines from `top` on, as many as there is room for.
    fn draw_messages(
        &mut self,
        state: &State,
        look: Look<'_>,
        frame: &mut Frame<'_>,
        area: Rect,
        (top, found): (u32, Option<Found>),
        hits: &mut Hits,
    ) {
        let below = top + u32::from(area.height);
        let seen = self.layout.from(top).take_while(|(_, entry)| entry.start() < below);
        let seen: Vec<usize> = seen.map(|(at, _)| at).collect();
        for at in seen {
            self.draw_message(at, state, look, frame, area, top, hits);
        }
        if let Some(find) = &state.screen.find {
            self.draw_found(find, found, look, frame, area, top);
        }
    }

    /// Dresses the words that are looked for, and the line that is meant.
    fn draw_found(
        &self,
        find: &Find,
        found: Option<Found>,
        look: Look<'_>,
        frame: &mut Frame<'_>,
        area: Rect,
        top: u32,
    ) {
        let style = look.theme.style(Role::Found);
        let below = top + u32::from(area.height);
        for (number, line) in self.layout.texts_from(top).take_while(|(number, _)| *number < below) {
            if number < top {
                continue;
            }
            let row = Rect {
                y: area.y + (number - top) as u16,
                height: 1,
                ..area
            };
            let meant = found.is_some_and(|found| found.line == number);
            let style = if meant {
                style.patch(look.theme.style(Role::Selection))
            } else {
                style
            };
            find::dress(frame.buffer_mut(), row, line, &find.query, style);
        }
    }

    /// Draws what is visible of a message.
    #[allow(clippy::too_many_arguments, reason = "all that a frame draws with, and where")]
    fn draw_message(
        &mut self,
        at: usize,
        state: &State,
        look: Look<'_>,
        frame: &mut Frame<'_>,
        area: Rect,
        top: u32,
        hits: &mut Hits,
    ) {
        let version = self.layout.version(at, &state.conversation);
        let Some(entry) = self.layout.entry(at) else { return };
        let Some(message) = state.conversation.get(entry.id) else {
            return;
        };
        let dim = look.theme.style(Role::Dim);
        let head = words::header(message, version, look, area.width);
        let note = words::note(message, state, look).map(|words| Line::styled(words, dim));
        let summary = words::thinking(message, state, look, area.width).map(|words| Line::styled(words, dim));
        let summary = summary.filter(|_| entry.has_thoughts());
        let blank = entry.has_thoughts().then(Line::default);
        let folded = entry.folded().map(|more| Line::styled(words::folded(more), dim));
        let thoughts = entry.thoughts.lines();
        let lines = std::iter::once(&head)
            .chain(&summary)
            .chain(thoughts)
            .chain(&blank)
            .chain(entry.shown())
            .chain(&folded)
            .chain(&note);
        let above = top.saturating_sub(entry.start());
        let first = area.y + entry.start().saturating_sub(top) as u16;
        let left_out = Fold::hides(self.layout.fold(), state.window.left_out as usize, at);
        for (y, (number, line)) in (first..area.bottom()).zip(lines.enumerate().skip(above as usize)) {
            let row = Rect { y, height: 1, ..area };
            if number == 0 {
                words::hits(message.id, &head, version, row, hits);
            } else if let Some(click) = entry.click(number) {
                hits.add(row, click);
            }
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
fn more_below(look: Look<'_>, frame: &mut Frame<'_>, area: Rect, hits: &mut Hits) {
    let key = look.keymap.hint(Action::Follow);
    let words = format!(" ↓ more ({key}) ");
    let width = (columns(&words) as u16).min(area.width);
    let place = Rect {
        x: area.right() - width,
        y: area.bottom().saturating_sub(1),
        width,
        height: 1,
    };
    hits.add(place, Click::More);
    frame.render_widget(Line::styled(words, look.theme.style(Role::Accent)), place);
}
