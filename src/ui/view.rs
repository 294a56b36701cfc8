//! A frame: what goes where. Reads the state and draws it; keeps nothing but what was rendered before and need not be
//! rendered again. What a frame teaches goes back as a value.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::Block;

use crate::app::State;
use crate::app::click::{Click, Drag};
use crate::app::state::{Overlay, ViewInfo};

use super::ascii;
use super::composer::Composer;
use super::hits::{self, Hits};
use super::keymap::Keymap;
use super::theme::{Role, Theme};
use super::transcript;
use super::widgets::{
    compare, completion, finding, header, inspector, notice, overlay, picker, sessions, status, tune, writing,
};

/// Lines of the conversation that a notice leaves to be seen.
const TRANSCRIPT: u16 = 3;
/// Smallest screen that anything can be read on.
const LEAST: (u16, u16) = (20, 6);

/// What a frame is drawn with besides the state.
#[derive(Clone, Copy)]
pub(in crate::ui) struct Look<'a> {
    /// The colours.
    pub(in crate::ui) theme: &'a Theme,
    /// The keys, for hints.
    pub(in crate::ui) keymap: &'a Keymap,
}

/// Draws frames.
#[derive(Default)]
pub struct View {
    transcript: transcript::Cache,
    overlay: overlay::Cache,
    tune: tune::Cache,
    hits: Hits,
    /// The last frame, while something of it is marked.
    frame: Option<Buffer>,
}

impl View {
    /// Draws the whole screen.
    pub fn draw(
        &mut self,
        state: &State,
        composer: &Composer,
        theme: &Theme,
        keymap: &Keymap,
        frame: &mut Frame<'_>,
    ) -> ViewInfo {
        let area = frame.area();
        let look = Look { theme, keymap };
        frame.buffer_mut().set_style(area, theme.style(Role::Text));
        self.hits.clear();
        if area.width < LEAST.0 || area.height < LEAST.1 {
            too_small(area, look, frame);
            // Nothing was learnt: what was read is found again when there is room.
            return state.screen.view;
        }
        let [top, body, foot] =
            Layout::vertical([Constraint::Length(1), Constraint::Min(1), Constraint::Length(1)]).areas(area);
        frame.render_widget(header::line(state, look, top.width), top);
        frame.render_widget(status::line(state, look, foot.width), foot);
        let beside = state.screen.tune.is_some() && area.width >= tune::BESIDE;
        let right = if beside { tune::WIDTH } else { 0 };
        let [left, right] = Layout::horizontal([Constraint::Min(1), Constraint::Length(right)]).areas(body);
        let (mut info, above) = self.talk(state, composer, look, frame, left);
        // Where it lies over the conversation, it does so while it has the keys.
        let tuned = state.screen.tune.as_ref().filter(|panel| beside || panel.focused);
        if let Some(panel) = tuned {
            let width = tune::WIDTH.min(area.width);
            let over = Rect {
                x: body.right() - width,
                width,
                height: above,
                ..body
            };
            let place = if beside { right } else { over };
            self.hits.cover(place);
            self.tune.draw(panel, state, look, frame, place, &mut self.hits);
        }
        let over = Rect {
            height: foot.y - area.y,
            ..area
        };
        (info.overlay, info.overlay_viewport) = self.over(state, look, frame, over);
        if state.looks.ascii {
            ascii::replace(frame.buffer_mut());
        }
        self.frame = state.screen.drag.map(|drag| {
            let unmarked = frame.buffer_mut().clone();
            hits::mark(frame.buffer_mut(), drag);
            unmarked
        });
        info
    }

    /// Draws what lies over the conversation; returns how much of it there is and how much of that fits.
    fn over(&mut self, state: &State, look: Look<'_>, frame: &mut Frame<'_>, area: Rect) -> (u32, u32) {
        let open = state.screen.overlay.as_ref();
        let text = self.overlay.draw(open, look, frame, area);
        if open.is_some() {
            self.hits.cover(area);
        }
        match open {
            Some(Overlay::Sessions(list)) => sessions::draw(list, state, look, frame, area, &mut self.hits),
            Some(Overlay::Inspector(open)) => {
                inspector::draw(open, state, look, frame, area);
                (0, 0)
            }
            Some(Overlay::Compare(open)) => compare::draw(open, look, frame, area),
            Some(Overlay::Picker(list)) => picker::draw(list, look, frame, area, &mut self.hits),
            _ => text,
        }
    }

    /// What the last frame drew at a cell.
    pub(in crate::ui) fn hit(&self, column: u16, row: u16) -> Option<Click> {
        self.hits.at(column, row)
    }

    /// The text that is marked in the last frame.
    pub(in crate::ui) fn marked(&self, drag: Drag) -> Option<String> {
        self.frame.as_ref().map(|frame| hits::text(frame, drag))
    }

    /// Draws the conversation and what is being written; also returns the lines above that.
    fn talk(
        &mut self,
        state: &State,
        composer: &Composer,
        look: Look<'_>,
        frame: &mut Frame<'_>,
        area: Rect,
    ) -> (ViewInfo, u16) {
        // The box grows with what is written, up to a third of the screen.
        let screen = area.height + 2;
        let rows = composer.height(area.width.saturating_sub(4), (screen / 3).max(1));
        // A notice may take a third as well, but leaves something of the conversation to see.
        let spare = area.height.saturating_sub(rows + 2 + TRANSCRIPT);
        let notice = notice::lines(state, look, area.width, spare.min(screen / 3));
        let finds = u16::from(state.screen.find.is_some());
        let [middle, word, bottom] = Layout::vertical([
            Constraint::Min(1),
            Constraint::Length((notice.len() as u16).max(finds)),
            Constraint::Length(rows + 2),
        ])
        .areas(area);
        let info = self.transcript.draw(state, look, frame, middle, &mut self.hits);
        match &state.screen.find {
            Some(find) => finding::draw(find, info.found, look, frame, Rect { height: 1, ..word }),
            None => frame.render_widget(ratatui::text::Text::from(notice), word),
        }
        writing::draw(state, composer, look, frame, bottom);
        self.hits.add(bottom, Click::Composer);
        // A notice may be the answer to the very command that the choices complete: it stays in sight.
        let above = Rect {
            y: 0,
            height: word.y,
            ..area
        };
        completion::draw(state, look, frame, above);
        (info, bottom.y - area.y)
    }
}

fn too_small(area: Rect, look: Look<'_>, frame: &mut Frame<'_>) {
    frame.render_widget(Block::new(), area);
    if !area.is_empty() {
        let middle = Rect {
            y: area.y + area.height / 2,
            height: 1,
            ..area
        };
        frame.render_widget(
            Line::styled("too small", look.theme.style(Role::Dim)).centered(),
            middle,
        );
    }
}
