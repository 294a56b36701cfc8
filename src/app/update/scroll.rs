//! Scrolling: the open overlay where there is one, else the transcript. How much there is comes from the last frame.

use crate::app::state::{Scroll, State, ViewInfo};

/// Which way a page goes.
#[derive(Clone, Copy)]
pub(super) enum Direction {
    /// Towards the beginning.
    Up,
    /// Towards the end.
    Down,
}

/// Lines of the page before that a page still shows, so that the eye finds its place.
const OVERLAP: u32 = 2;

/// Moves by lines; down is positive.
pub(super) fn by(state: &mut State, lines: i64) {
    let screen = &mut state.screen;
    let moved = |top: u32, end: u32| (i64::from(top) + lines).clamp(0, i64::from(end)) as u32;
    if let Some(overlay) = &mut screen.overlay {
        let top = overlay.top_mut();
        *top = moved(*top, screen.view.overlay_end());
        return;
    }
    let end = screen.view.end();
    let top = match screen.scroll {
        Scroll::Follow => end,
        Scroll::At(top) => top,
    };
    screen.scroll = at(moved(top, end), end);
}

/// Moves by a page.
pub(super) fn page(state: &mut State, direction: Direction) {
    let view = &state.screen.view;
    let height = if state.screen.overlay.is_some() {
        view.overlay_viewport
    } else {
        view.viewport
    };
    let lines = i64::from(height.saturating_sub(OVERLAP).max(1));
    match direction {
        Direction::Up => by(state, -lines),
        Direction::Down => by(state, lines),
    }
}

/// Shows the beginning.
pub(super) fn top(state: &mut State) {
    by(state, -i64::from(u32::MAX));
}

/// Shows the end; the transcript then stays there.
pub(super) fn follow(state: &mut State) {
    by(state, i64::from(u32::MAX));
}

/// Takes in what a frame looked like. The same frame twice changes nothing.
pub(super) fn viewed(state: &mut State, info: ViewInfo) {
    let screen = &mut state.screen;
    screen.view = info;
    if let Scroll::At(top) = screen.scroll {
        screen.scroll = at(top, info.end());
    }
    if let Some(overlay) = &mut screen.overlay {
        let top = overlay.top_mut();
        *top = (*top).min(info.overlay_end());
    }
}

/// The end is a place to stay at.
fn at(top: u32, end: u32) -> Scroll {
    if top >= end { Scroll::Follow } else { Scroll::At(top) }
}
