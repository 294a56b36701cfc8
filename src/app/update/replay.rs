//! `/replay`: the same answer again from its record, or the reason why not. Nothing of it enters the conversation.

use crate::app::effect::Effect;
use crate::app::notice::Level;
use crate::app::state::State;
use crate::domain::Role;
use crate::domain::inference::{Command, Token, TurnId};
use crate::domain::replay::{Again, Outcome as Came, again};

use super::{Outcome, Refusal, answer, model, select};

/// An answer that is being made again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replay {
    /// The request under way.
    pub turn: TurnId,
    /// Requests to be made, the one under way first.
    waiting: Vec<Again>,
    /// Digest of the prompt that was made.
    prompt: String,
    /// Ids that came of the request under way.
    came: Vec<Token>,
    /// What came of those before.
    outcome: Option<Came>,
}

/// Begins it for the selected answer, else the last one.
pub(super) fn begin(state: &mut State) -> Outcome {
    answer::idle(state)?;
    model::at_hand(state)?;
    let meant = select::meant(state, |message| message.role == Role::Assistant).map(|message| message.id);
    let Some(id) = meant else {
        return Err(Refusal::new(Level::Info, "there is no answer to make again yet"));
    };
    let waiting = again(&state.conversation, id).map_err(|words| Refusal::new(Level::Warn, words))?;
    let replay = Replay {
        waiting,
        ..Replay::default()
    };
    state.tell(Level::Info, "the same answer is being made again: Esc stops it");
    Ok(next(state, replay))
}

fn next(state: &mut State, mut replay: Replay) -> Vec<Effect> {
    let turn = state.next_turn();
    let Some(request) = replay.waiting.first().map(|again| again.request.clone()) else {
        return Vec::new();
    };
    replay.turn = turn;
    replay.came.clear();
    state.replay = Some(replay);
    vec![Effect::Engine(Command::Generate { turn, request })]
}

/// Whether this turn is one of it.
pub(super) fn is_of(state: &State, turn: TurnId) -> bool {
    state.replay.as_ref().is_some_and(|replay| replay.turn == turn)
}

/// The prompt was made.
pub(super) fn prompted(state: &mut State, digest: String) {
    if let Some(replay) = &mut state.replay {
        replay.prompt = digest;
    }
}

/// A token came.
pub(super) fn said(state: &mut State, token: Option<Token>) {
    if let Some(replay) = &mut state.replay {
        replay.came.extend(token);
    }
}

/// The request under way is over.
pub(super) fn finished(state: &mut State) -> Vec<Effect> {
    let Some(mut replay) = state.replay.take() else {
        return Vec::new();
    };
    let Some(model) = state.engine.model().filter(|_| !replay.waiting.is_empty()) else {
        return Vec::new();
    };
    let outcome = Came::of(&replay.waiting.remove(0), &replay.came, &replay.prompt, model);
    let outcome = match replay.outcome.take() {
        Some(before) => before.and(outcome),
        None => outcome,
    };
    if outcome.is_same() && !replay.waiting.is_empty() {
        replay.outcome = Some(outcome);
        return next(state, replay);
    }
    let level = if outcome.is_same() { Level::Info } else { Level::Warn };
    state.tell(level, outcome.words());
    Vec::new()
}
