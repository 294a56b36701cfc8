//! `/find`: the words that are looked for in the transcript, and going from one line with them to the next.

use crate::app::find::Find;
use crate::app::sessions::Typed;
use crate::app::state::{Scroll, State, ViewInfo};

use super::scroll;

/// Begins to look for these words; looking for none begins to type some.
pub(super) fn begin(state: &mut State, query: &str) {
    state.screen.overlay = None;
    state.screen.find = Some(Find {
        query: query.to_owned(),
        at: None,
        reveal: true,
    });
}

/// Goes on to the next line with the words, or back to the one before; round and round.
pub(super) fn step(state: &mut State, by: i64) {
    let found = state.screen.view.found;
    if let (Some(find), Some(found)) = (&mut state.screen.find, found) {
        let count = i64::from(found.count).max(1);
        find.at = u32::try_from((i64::from(found.at) + by).rem_euclid(count)).ok();
        find.reveal = true;
    }
}

/// The person types. Says whether anything is looked for at all.
pub(super) fn typed(state: &mut State, typed: &Typed) -> bool {
    let Some(find) = &mut state.screen.find else {
        return false;
    };
    typed.to(&mut find.query);
    (find.at, find.reveal) = (None, true);
    true
}

/// Brings the line that is meant into sight, once the frame said where it is.
pub(super) fn viewed(state: &mut State, info: ViewInfo) {
    let Some(find) = state.screen.find.as_mut().filter(|find| find.reveal) else {
        return;
    };
    find.reveal = false;
    let Some(found) = info.found else { return };
    find.at = Some(found.at);
    let seen = info.top..info.top.saturating_add(info.viewport);
    if !seen.contains(&found.line) {
        // In the middle, so that what stands around it is seen as well.
        let top = found.line.saturating_sub(info.viewport / 2);
        state.screen.scroll = scroll::at(top, info.end());
    } else if state.screen.scroll == Scroll::Follow {
        // What is written meanwhile is not to push it out of sight.
        state.screen.scroll = Scroll::At(info.top);
    }
}
