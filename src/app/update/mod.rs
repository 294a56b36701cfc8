//! The pure function from what happened to what we cause. Each noun has its file; this one only sends messages there.
//!
//! A file below takes the state and returns effects; one that may decline returns an [`Outcome`].

mod answer;
mod commands;
mod composer;
pub mod describe;
mod engine;
mod escape;
#[cfg(test)]
mod escape_tests;
mod listing;
mod model;
#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod opening_tests;
mod prompt;
#[cfg(test)]
mod random;
mod record;
pub mod replay;
mod sampling;
#[cfg(test)]
mod scene;
mod scroll;
mod select;
mod send;
mod session;
#[cfg(test)]
mod session_tests;
mod sessions;
mod talk;
#[cfg(test)]
mod talk_tests;
#[cfg(test)]
mod tests;
mod thinking;
mod warm;
mod window;

use super::action::Action;
use super::effect::Effect;
use super::msg::Msg;
use super::notice::Level;
use super::state::State;
use sessions::Deed;

pub(in crate::app) use session::{ask_for, due};

/// What came of something that was asked for: what is to be done, or why it is not.
type Outcome = Result<Vec<Effect>, Refusal>;

/// Why nothing was done, in words for the person. A refusal leaves everything as it was.
struct Refusal {
    level: Level,
    text: String,
}

impl Refusal {
    fn new(level: Level, text: impl Into<String>) -> Self {
        Self {
            level,
            text: text.into(),
        }
    }
}

/// Takes in what happened, changes the state, and returns what is to be done. Equal inputs give equal outputs.
#[cfg_attr(
    not(test),
    must_use = "an effect that is not carried out is lost, and with it perhaps what somebody said"
)]
pub fn update(state: &mut State, msg: Msg) -> Vec<Effect> {
    let mut effects = decide(state, msg);
    session::keep(state, &mut effects);
    effects
}

fn decide(state: &mut State, msg: Msg) -> Vec<Effect> {
    match msg {
        // Time never runs backwards here, whatever a clock says.
        Msg::Tick(now) => state.now = state.now.max(now),
        Msg::Edited(text) => composer::edited(state, text),
        Msg::ScrollBy(lines) => scroll::by(state, i64::from(lines)),
        Msg::Viewed(info) => scroll::viewed(state, info),
        Msg::Notice(level, text) => state.tell(level, text),
        Msg::Action(action) => return act(state, action),
        Msg::Engine(event) => return engine::told(state, event),
        Msg::Store(event) => return session::told(state, event),
        Msg::TypedOver(typed) => return sessions::typed(state, typed),
        Msg::Grammar(read) => return sampling::grammar_read(state, read),
        Msg::PresetSaved(name, written) => sampling::preset_saved(state, &name, written),
        Msg::Terminate(signal) => return escape::terminate(state, signal),
    }
    Vec::new()
}

fn act(state: &mut State, action: Action) -> Vec<Effect> {
    match action {
        Action::Send => return send::send(state),
        Action::Run(id) => {
            let outcome = commands::run(state, id, "");
            return settle(state, outcome);
        }
        Action::VersionPrevious => {
            let outcome = talk::previous_version(state);
            return settle(state, outcome);
        }
        Action::VersionNext => {
            let outcome = talk::next_version(state);
            return settle(state, outcome);
        }
        Action::SelectPrevious => select::step(state, select::Direction::Up),
        Action::SelectNext => select::step(state, select::Direction::Down),
        Action::Take => return deed(state, Deed::Open),
        Action::Pin => return deed(state, Deed::Pin),
        Action::Archive => return deed(state, Deed::Archive),
        Action::Rename => return deed(state, Deed::Rename),
        Action::Delete => return deed(state, Deed::Delete),
        Action::ShowArchived => return deed(state, Deed::ShowArchived),
        Action::Escape => return escape::escape(state),
        Action::Interrupt => return escape::interrupt(state),
        Action::QuitIfEmpty => return escape::quit_if_empty(state),
        Action::HistoryPrevious => return composer::older(state),
        Action::HistoryNext => return composer::newer(state),
        Action::Complete => return composer::complete(state),
        Action::CompletionNext => composer::choose(state, 1),
        Action::CompletionPrevious => composer::choose(state, -1),
        Action::LineUp => scroll::by(state, -1),
        Action::LineDown => scroll::by(state, 1),
        Action::PageUp => scroll::page(state, scroll::Direction::Up),
        Action::PageDown => scroll::page(state, scroll::Direction::Down),
        Action::Top => scroll::top(state),
        Action::Follow => scroll::follow(state),
        Action::Redraw => return vec![Effect::Redraw],
        Action::Suspend => return vec![Effect::Suspend],
        // The composer breaks its own lines and tells the text.
        Action::Newline => {}
    }
    Vec::new()
}

/// Does something in the panel of sessions.
fn deed(state: &mut State, deed: Deed) -> Vec<Effect> {
    let outcome = sessions::act(state, deed);
    settle(state, outcome)
}

/// Does what was decided, or says why not.
fn settle(state: &mut State, outcome: Outcome) -> Vec<Effect> {
    outcome.unwrap_or_else(|refusal| {
        state.tell(refusal.level, refusal.text);
        Vec::new()
    })
}
