//! Warm resume: when the engine is asked to keep its state for a session, and to come back to it. How it does that is the
//! engine's business; that it cannot changes nothing but the time to the next answer.

use crate::app::effect::Effect;
use crate::app::state::{Engine, State};
use crate::domain::inference::{Command, PrefillProgress};

use super::prompt;

/// Has the engine keep its state, where it belongs to a session.
pub(super) fn keep(state: &State) -> Option<Effect> {
    let id = state.session.id.filter(|_| !state.session.read_only)?;
    let said = state.conversation.tip().is_some() && state.context_used > 0;
    let ready = matches!(state.engine, Engine::Ready(_)) && said;
    ready.then(|| Effect::Engine(Command::Keep { name: id.state_name() }))
}

/// Has the engine come back to the state of the session, and read what it lacks, before anything is asked.
pub(super) fn resume(state: &mut State) -> Vec<Effect> {
    let (Engine::Ready(model), Some(id), Some(tip)) = (&state.engine, state.session.id, state.conversation.tip())
    else {
        return Vec::new();
    };
    if state.running.is_some() {
        return Vec::new();
    }
    let prompt = prompt::request(state, Some(tip), &model.fingerprint);
    let turn = state.next_turn();
    state.resuming = Some((turn, PrefillProgress::default()));
    vec![Effect::Engine(Command::Resume {
        turn,
        name: id.state_name(),
        prompt,
    })]
}
