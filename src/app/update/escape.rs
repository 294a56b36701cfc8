//! The ways out: Escape, the interrupt key, end of input, and signals. What each closes first is decided here.

use std::time::Duration;

use crate::app::effect::Effect;
use crate::app::notice::Level;
use crate::app::state::State;
use crate::domain::inference::Command;

use super::{answer, composer, drafts, inspect, model, pick, session, sessions, tune};

/// Two interrupts this close are meant to end quipu.
const TWICE: Duration = Duration::from_secs(2);

/// Closes what lies on top, else stops what is under way: completion, overlay, notice, answer, load.
///
/// A notice that is only good to know goes away by itself; it does not take the stroke that is meant for an answer.
pub(super) fn escape(state: &mut State) -> Vec<Effect> {
    if let Some(effects) = pick::escape(state) {
        return effects;
    }
    if sessions::escape(state)
        || inspect::escape(state)
        || state.draft.completion.take().is_some()
        || state.screen.overlay.take().is_some()
    {
        return Vec::new();
    }
    if let Some(effects) = tune::escape(state) {
        return effects;
    }
    if state.screen.find.take().is_some() {
        return Vec::new();
    }
    if state.screen.editing.take().is_some() {
        state.screen.selected = None;
        state.draft.sent();
        return vec![composer::set(state, String::new())];
    }
    if state.screen.selected.take().is_some() {
        return Vec::new();
    }
    let notice = state.notices.current(state.now).map(|notice| notice.level);
    if notice.is_some_and(|level| level > Level::Info || state.running.is_none()) {
        state.notices.dismiss(state.now);
        return Vec::new();
    }
    answer::stop(state).or_else(|| model::cancel(state)).unwrap_or_default()
}

/// Stops the answer; else empties the draft; else stops the load; else, asked twice, ends quipu.
pub(super) fn interrupt(state: &mut State) -> Vec<Effect> {
    let since = state.interrupted.take();
    if let Some(effects) = answer::stop(state) {
        return effects;
    }
    if !state.draft.text.is_empty() {
        state.draft.sent();
        return vec![composer::set(state, String::new())];
    }
    if let Some(effects) = model::cancel(state) {
        return effects;
    }
    if since.is_some_and(|since| state.now.saturating_sub(since) <= TWICE) {
        return quit(state, 0);
    }
    state.interrupted = Some(state.now);
    state.tell(Level::Info, "Ctrl-C again quits");
    Vec::new()
}

/// Ends quipu where nothing is being written.
pub(super) fn quit_if_empty(state: &mut State) -> Vec<Effect> {
    if state.draft.text.is_empty() {
        quit(state, 0)
    } else {
        Vec::new()
    }
}

/// Ends quipu as a signal asks: with the exit code that shells give to it.
pub(super) fn terminate(state: &mut State, signal: i32) -> Vec<Effect> {
    let code = u8::try_from(signal.saturating_add(128)).unwrap_or(1);
    let mut effects = quit(state, code);
    // Whoever sends a signal does not wait for what can be made again.
    effects.retain(|effect| !matches!(effect, Effect::Engine(Command::Keep { .. })));
    effects
}

/// Ends quipu with this exit code. What the engine is busy with is cancelled, so that it lets go at once.
pub(super) fn quit(state: &mut State, code: u8) -> Vec<Effect> {
    let loading = model::loading(state).map(Effect::Cancel);
    let mut effects: Vec<_> = loading.into_iter().chain(session::leave(state)).collect();
    if state.keeping.on {
        drafts::write(state, &mut effects);
    }
    effects.push(Effect::Quit(code));
    effects
}
