//! Scrolling: the open overlay where there is one, else the transcript. How much there is comes from the last frame.

use crate::app::effect::Effect;
use crate::app::state::{Overlay, Scroll, State, ViewInfo};

use super::{find, inspect, pick, sessions, tune};

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
pub(super) fn by(state: &mut State, lines: i64) -> Vec<Effect> {
    if let Some(effects) = pick::step(state, lines) {
        return effects;
    }
    if tune::step(state, lines) || inspect::step(state, lines) {
        return Vec::new();
    }
    let screen = &mut state.screen;
    let moved = |top: u32, end: u32| (i64::from(top) + lines).clamp(0, i64::from(end)) as u32;
    if let Some(overlay) = &mut screen.overlay {
        if let Some(top) = overlay.top_mut() {
            *top = moved(*top, screen.view.overlay_end());
        } else {
            sessions::step(state, lines);
        }
        return Vec::new();
    }
    let end = screen.view.end();
    let top = match screen.scroll {
        Scroll::Follow => end,
        Scroll::At(top) => top,
    };
    screen.scroll = at(moved(top, end), end);
    Vec::new()
}

/// Moves by a page.
pub(super) fn page(state: &mut State, direction: Direction) -> Vec<Effect> {
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
pub(super) fn top(state: &mut State) -> Vec<Effect> {
    by(state, -i64::from(u32::MAX))
}

/// Shows the end; the transcript then stays there.
pub(super) fn follow(state: &mut State) -> Vec<Effect> {
    by(state, i64::from(u32::MAX))
}

/// Takes in what a frame looked like. The same frame twice changes nothing.
pub(super) fn viewed(state: &mut State, info: ViewInfo) {
    let screen = &mut state.screen;
    if screen.view == info {
        // It taught all that it could.
        return;
    }
    screen.view = info;
    if let Scroll::At(_) = screen.scroll {
        screen.scroll = at(info.top, info.end());
    }
    if let Some(top) = screen.overlay.as_mut().and_then(Overlay::top_mut) {
        *top = (*top).min(info.overlay_end());
    }
    reveal(state, info);
    find::viewed(state, info);
}

/// Scrolls to the message that is to be seen, once the frame said where it is.
fn reveal(state: &mut State, info: ViewInfo) {
    let Some((start, end)) = info.reveal.filter(|_| state.screen.reveal.take().is_some()) else {
        return;
    };
    let bottom = info.top.saturating_add(info.viewport);
    // All of it where it fits, else its beginning.
    let top = if start < info.top || end.saturating_sub(start) > info.viewport {
        start
    } else if end > bottom {
        end.saturating_sub(info.viewport)
    } else {
        return;
    };
    state.screen.scroll = at(top, info.end());
}

/// The end is a place to stay at.
pub(super) fn at(top: u32, end: u32) -> Scroll {
    if top >= end { Scroll::Follow } else { Scroll::At(top) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::update::scene::{act, ready};
    use crate::app::{Action, Msg, update};

    /// A screen of ten lines over a transcript of a hundred and an overlay of thirty, whether or not it is open.
    fn screen() -> State {
        let mut state = ready();
        let view = ViewInfo {
            transcript: 100,
            viewport: 10,
            top: 90,
            overlay: 30,
            overlay_viewport: 10,
            reveal: None,
            found: None,
            unfinished: false,
        };
        assert_eq!(update(&mut state, Msg::Viewed(view)), []);
        state
    }

    #[test]
    fn the_transcript_scrolls_and_stays_at_its_end() {
        let mut state = screen();
        let steps = [
            (Msg::ScrollBy(-3), Scroll::At(87)),
            (Msg::Action(Action::PageUp), Scroll::At(79)),
            (Msg::ScrollBy(i32::MIN), Scroll::At(0)),
            (Msg::Action(Action::PageDown), Scroll::At(8)),
            (Msg::Action(Action::Follow), Scroll::Follow),
            (Msg::ScrollBy(1), Scroll::Follow),
            (Msg::Action(Action::Top), Scroll::At(0)),
            (Msg::ScrollBy(89), Scroll::At(89)),
            (Msg::ScrollBy(1), Scroll::Follow),
        ];
        for (msg, scroll) in steps {
            assert_eq!(update(&mut state, msg.clone()), []);
            assert_eq!(state.screen.scroll, scroll, "{msg:?}");
        }
    }

    #[test]
    fn an_open_overlay_scrolls_instead() {
        let mut state = screen();
        state.screen.overlay = Some(Overlay::Help { top: 0 });
        let steps = [
            (Action::PageDown, 8),
            (Action::PageUp, 0),
            (Action::Follow, 20),
            (Action::PageDown, 20),
            (Action::Top, 0),
        ];
        for (action, top) in steps {
            act(&mut state, action);
            assert_eq!(state.screen.overlay, Some(Overlay::Help { top }), "{action:?}");
        }
        assert_eq!(state.screen.scroll, Scroll::Follow);
    }

    #[test]
    fn a_page_is_never_nothing() {
        let mut state = screen();
        state.screen.view.viewport = 1;
        act(&mut state, Action::PageUp);
        assert_eq!(state.screen.scroll, Scroll::At(98));
    }

    #[test]
    fn what_is_read_stands_where_the_frame_says() {
        let mut state = screen();
        by(&mut state, -50);
        let narrow = ViewInfo {
            transcript: 200,
            viewport: 10,
            top: 81,
            ..ViewInfo::default()
        };
        update(&mut state, Msg::Viewed(narrow));
        assert_eq!(state.screen.scroll, Scroll::At(81));
        follow(&mut state);
        update(&mut state, Msg::Viewed(narrow));
        assert_eq!(state.screen.scroll, Scroll::Follow);
    }

    #[test]
    fn a_frame_that_shows_less_moves_what_stands_beyond_it() {
        let mut state = screen();
        act(&mut state, Action::Top);
        by(&mut state, 50);
        state.screen.overlay = Some(Overlay::Help { top: 20 });
        let small = ViewInfo {
            transcript: 55,
            viewport: 10,
            top: 45,
            overlay: 12,
            overlay_viewport: 10,
            reveal: None,
            found: None,
            unfinished: false,
        };
        update(&mut state, Msg::Viewed(small));
        assert_eq!(state.screen.scroll, Scroll::Follow);
        assert_eq!(state.screen.overlay, Some(Overlay::Help { top: 2 }));
        let before = state.clone();
        update(&mut state, Msg::Viewed(small));
        assert_eq!(state, before);
    }
}
