//! The pure function from what happened to what we cause. Each noun has its file; this one only sends messages there.
//!
//! A file below takes the state and returns effects; one that may decline returns an [`Outcome`].

mod answer;
mod attach;
mod caught;
mod click;
mod commands;
mod compact;
mod compare;
mod composer;
mod copy;
pub mod describe;
mod doctor;
mod download;
mod drafts;
mod engine;
mod escape;
#[cfg(test)]
mod escape_tests;
mod find;
mod inspect;
mod listing;
mod model;
#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod opening_tests;
mod persona;
mod pick;
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
mod shelf;
mod stats;
mod talk;
#[cfg(test)]
mod talk_tests;
#[cfg(test)]
mod tests;
mod thinking;
mod tune;
mod warm;
mod window;

use super::action::Action;
use super::command::CommandId;
use super::effect::{Effect, Keepable};
use super::inspector::Walk;
use super::msg::Msg;
use super::notice::Level;
use super::sessions::Typed;
use super::state::{Overlay, State};
use crate::domain::sampling::Step;
use crate::text::nearest;
use sessions::Deed;

pub(in crate::app) use drafts::begin as begin_drafts;
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
    let_go(state, &mut effects);
    session::keep(state, &mut effects);
    drafts::keep(state, &mut effects);
    effects
}

/// Ends the work that only a panel waited for which is closed.
fn let_go(state: &mut State, effects: &mut Vec<Effect>) {
    let seen = state.screen.overlay.as_ref().and_then(Overlay::turn);
    for work in [&mut state.examining, &mut state.comparing] {
        effects.extend(work.take_if(|turn| Some(*turn) != seen).map(Effect::Cancel));
    }
    if !compare::is_shown(state) {
        effects.extend(compare::go_home(state));
    }
}

fn decide(state: &mut State, msg: Msg) -> Vec<Effect> {
    match msg {
        // Time never runs backwards here, whatever a clock says.
        Msg::Tick(now) => state.now = state.now.max(now),
        Msg::Edited(text) => composer::edited(state, text),
        Msg::Click(what) => {
            let outcome = click::clicked(state, what);
            return settle(state, outcome);
        }
        Msg::Drag(drag) => click::dragged(state, drag),
        Msg::Marked(text) => return click::marked(state, &text),
        Msg::ScrollBy(lines) => return scroll::by(state, i64::from(lines)),
        Msg::Viewed(info) => scroll::viewed(state, info),
        Msg::Notice(level, text) => state.tell(level, text),
        Msg::Action(action) => return act(state, action),
        Msg::Engine(event) => return engine::told(state, event),
        Msg::Store(event) => return session::told(state, event),
        Msg::Prospect(prospect) => tune::seen(state, prospect),
        Msg::TypedOver(typed) => return typed_over(state, &typed),
        Msg::Grammar(read) => return sampling::grammar_read(state, read),
        Msg::Saved(what, written) => saved(state, &what, written),
        Msg::Settled(looks, presets) => {
            state.looks = looks;
            state.tuning.presets = presets;
        }
        Msg::Shelf(shelf) => shelf::found(state, shelf),
        Msg::Found(name, found) => return model::found(state, name, found),
        Msg::Fetched(event) => download::told(state, event),
        Msg::Attached(read) => return attach::attached(state, read),
        Msg::EditedOutside(edited) => return composer::edited_outside(state, edited),
        Msg::Counted(revision, tokens) => state.draft.tokens = Some((revision, tokens)),
        Msg::Examined(turn, word) => doctor::told(state, turn, *word),
        Msg::Tokenized(pieces) => {
            let outcome = inspect::forced(state, &pieces);
            return settle(state, outcome);
        }
        Msg::Wrote(Ok(words)) => state.tell(Level::Info, words),
        Msg::Wrote(Err(words)) => state.tell(Level::Error, words),
        Msg::Copied(words) => copy::copied(state, words),
        Msg::Terminate(signal) => return escape::terminate(state, signal),
    }
    Vec::new()
}

fn run(state: &mut State, id: CommandId) -> Vec<Effect> {
    let outcome = commands::run(state, id, "");
    settle(state, outcome)
}

fn act(state: &mut State, action: Action) -> Vec<Effect> {
    match action {
        Action::Send => return send::send(state),
        Action::Run(id) => return run(state, id),
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
        Action::Fold => click::fold(state),
        Action::Take => return take(state, false),
        Action::KeepAll => return take(state, true),
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
        Action::LineUp => return scroll::by(state, -1),
        Action::LineDown => return scroll::by(state, 1),
        Action::PageUp => return scroll::page(state, scroll::Direction::Up),
        Action::PageDown => return scroll::page(state, scroll::Direction::Down),
        Action::Top => return scroll::top(state),
        Action::Follow => return scroll::follow(state),
        Action::Editor => return vec![Effect::EditOutside(state.draft.text.clone())],
        Action::Palette => pick::palette(state),
        Action::SearchHistory => {
            let outcome = pick::history(state);
            return settle(state, outcome);
        }
        Action::FindNext => find::step(state, 1),
        Action::FindPrevious => find::step(state, -1),
        Action::Walk(step) => walk(state, step),
        Action::Lower => return turn(state, Step::Down),
        Action::Raise => return turn(state, Step::Up),
        Action::LowerFar => return turn(state, Step::FarDown),
        Action::RaiseFar => return turn(state, Step::FarUp),
        Action::ResetSetting => return tune::reset(state),
        Action::ResetSettings => return tune::reset_all(state),
        Action::NamePreset => tune::name(state),
        Action::Unfocus => tune::leave(state),
        Action::Redraw => return vec![Effect::Redraw],
        Action::Suspend => return vec![Effect::Suspend],
        // The composer breaks its own lines and tells the text.
        Action::Newline => {}
    }
    Vec::new()
}

/// What to do about a name that is none of these: the one that is most like it, or all there are.
fn proposed<'a>(name: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    nearest(name, names.clone()).map_or_else(
        || format!("give one of {}", names.collect::<Vec<_>>().join(", ")),
        |near| format!("did you mean {near}?"),
    )
}

/// Something was typed where no message is written.
fn typed_over(state: &mut State, typed: &Typed) -> Vec<Effect> {
    match &state.screen.overlay {
        Some(Overlay::Picker(_)) => pick::typed(state, typed),
        Some(Overlay::Inspector(_)) => {
            inspect::typed(state, typed);
            Vec::new()
        }
        Some(_) => sessions::typed(state, typed),
        None => {
            let _ = tune::typed(state, typed) || find::typed(state, typed);
            Vec::new()
        }
    }
}

/// Goes to another token or column of the panel that is open.
fn walk(state: &mut State, step: Walk) {
    if !compare::step(state, step) {
        inspect::act(state, step);
    }
}

/// Takes what is selected in the panel that is open, or all there is.
fn take(state: &mut State, all: bool) -> Vec<Effect> {
    let outcome = match &state.screen.overlay {
        Some(Overlay::Picker(_)) => pick::take(state),
        Some(Overlay::Inspector(_)) => inspect::take(state),
        Some(Overlay::Compare(_)) => compare::keep(state, all),
        Some(_) => sessions::act(state, Deed::Open),
        None => tune::take(state),
    };
    settle(state, outcome)
}

/// Turns the setting that is selected in the panel.
fn turn(state: &mut State, step: Step) -> Vec<Effect> {
    let outcome = tune::go(state, step);
    settle(state, outcome)
}

/// Something was written to the configuration, or not.
fn saved(state: &mut State, what: &Keepable, written: Result<(), String>) {
    match (what, written) {
        (Keepable::Preset(preset), written) => sampling::preset_saved(state, &preset.name, written),
        (Keepable::Theme(_), Ok(())) => {}
        (Keepable::Theme(name), Err(why)) => state.tell(
            Level::Error,
            format!("the theme '{name}' holds until quipu ends, it could not be kept: {why}"),
        ),
    }
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
