//! The model: loading one, what came of it, and `/model`.

use crate::app::effect::Effect;
use crate::app::notice::Level;
use crate::app::state::{Engine, Overlay, State};
use crate::domain::inference::{Command, Failure, FailureKind, LoadStep, ModelInfo, TurnId, Window};

use crate::domain::Count;
use crate::domain::preset::PLAIN_PRESET;

use super::{Outcome, Refusal, answer, compare, listing, prompt, warm};

/// The model that can be talked to now.
///
/// # Errors
/// Why there is none and what to do.
pub(super) fn at_hand(state: &State) -> Result<&ModelInfo, Refusal> {
    let (level, words) = match &state.engine {
        Engine::Ready(model) => return Ok(model),
        Engine::Loading { .. } => (
            Level::Info,
            "the model is still being loaded: try again in a moment".to_owned(),
        ),
        Engine::Empty => (
            Level::Error,
            "no model is loaded: /model FILE loads one, /model cria the built-in one".to_owned(),
        ),
        Engine::Failed(failure) => (Level::Error, why(failure)),
        Engine::Dead(reason) => (Level::Error, dead(reason)),
    };
    Err(Refusal::new(level, words))
}

/// A failed load in words, with what to do next.
fn why(failure: &Failure) -> String {
    match failure.kind {
        // Our own words, see `cancel`: they say it already.
        FailureKind::Cancelled => failure.to_string(),
        _ => format!("{failure}; /model FILE loads another model"),
    }
}

/// A load in words that failed before it cost the model that is there.
fn unharmed(failure: &Failure, model: &ModelInfo) -> String {
    format!("{failure}; {} is still loaded", model.name)
}

/// A dead engine in words, with what to do next.
pub(super) fn dead(reason: &str) -> String {
    format!("the engine has stopped ({reason}): quit and start quipu again")
}

/// The load under way.
pub(super) fn loading(state: &State) -> Option<TurnId> {
    match state.engine {
        Engine::Loading { turn, .. } => Some(turn),
        _ => None,
    }
}

/// `/unload`: lets go of the model. The conversation stays.
pub(super) fn unload(state: &mut State) -> Outcome {
    answer::idle(state)?;
    let name = at_hand(state)?.name.clone();
    let mut effects: Vec<_> = warm::keep(state).into_iter().collect();
    effects.push(Effect::Engine(Command::Unload));
    state.engine = Engine::Empty;
    state.resident = None;
    state.context_used = 0;
    state.tell(
        Level::Info,
        format!("'{name}' is unloaded and its memory free again: /model FILE loads one"),
    );
    Ok(effects)
}

/// A load told how many bytes of how many it has.
pub(super) fn progressed(state: &mut State, of: TurnId, now: LoadStep, bytes: (u64, u64)) {
    if let Engine::Loading {
        turn,
        step,
        done,
        total,
        ..
    } = &mut state.engine
        && *turn == of
    {
        *step = now;
        (*done, *total) = bytes;
        state.resident = None;
    }
}

/// A load is done.
pub(super) fn ready(state: &mut State, turn: TurnId, model: Box<ModelInfo>) -> Vec<Effect> {
    if loading(state) != Some(turn) {
        return Vec::new();
    }
    if model.builtin && !state.introduced {
        state.introduced = true;
        state.tell(Level::Info, introduction(&model));
    }
    state.tuning.heed(model.recommended.clone());
    // While models are compared they come and go.
    if !model.recommended.is_empty() && state.home.is_none() {
        let words = format!(
            "this model recommends {}: used wherever you chose nothing else; /preset {PLAIN_PRESET} does without",
            listing::recommended(&model)
        );
        state.tell(Level::Info, words);
    }
    for warning in &model.warnings {
        state.tell(Level::Warn, warning.clone());
    }
    if state.options.thinking.is_some_and(|wish| !model.thinking.can(wish)) {
        state.tell(Level::Warn, NO_SWITCH);
    }
    state.engine = Engine::Ready(model);
    state.resident = None;
    state.context_used = 0;
    state.window = Window::default();
    if let Some(effects) = compare::loaded(state, turn) {
        return effects;
    }
    let mut effects = answer::resume(state);
    effects.extend(warm::resume(state));
    effects
}

/// A wish about thinking that the template knows nothing of.
pub(super) const NO_SWITCH: &str =
    "this model's template cannot set its thinking so; '/thinking TOKENS' limits it, 0 ends it where it begins";

fn introduction(model: &ModelInfo) -> String {
    format!(
        "this is {}, the built-in model: with about {} parameters it is tiny and often wrong; load a bigger one with \
         /model FILE or quipu --model FILE",
        model.name,
        Count(model.parameters)
    )
}

/// The load under way failed. The model before it stays where the engine still has it; a message that waits goes back.
pub(super) fn failed(state: &mut State, failure: Failure) -> Vec<Effect> {
    let (turn, reason) = (loading(state), failure.message.clone());
    let level = match failure.kind {
        FailureKind::Cancelled => Level::Info,
        _ => Level::Error,
    };
    let words = if let Some(model) = state.resident.take() {
        let words = unharmed(&failure, &model);
        state.engine = Engine::Ready(model);
        words
    } else {
        let words = why(&failure);
        state.engine = Engine::Failed(failure);
        words
    };
    if let Some(effects) = turn.and_then(|turn| compare::not_loaded(state, turn, &reason)) {
        return effects;
    }
    state.tell(level, words);
    answer::end(state, None)
}

/// Stops the load under way, if there is one.
pub(super) fn cancel(state: &mut State) -> Option<Vec<Effect>> {
    let turn = loading(state)?;
    // The engine may have let go of the model before by now.
    state.resident = None;
    let words = "loading was stopped: /model FILE loads a model, /model cria the built-in one";
    let mut effects = vec![Effect::Cancel(turn)];
    effects.extend(failed(state, Failure::new(FailureKind::Cancelled, words)));
    Some(effects)
}

/// `/model`: shows the model, or loads another. What is under way is stopped, once it is known that there is such a model; a message
/// that waits waits for the new one.
pub(super) fn command(state: &mut State, name: &str) -> Outcome {
    if name.is_empty() {
        let text = listing::facts(at_hand(state)?);
        state.screen.overlay = Some(Overlay::Text {
            title: "model".to_owned(),
            text,
            top: 0,
        });
        return Ok(Vec::new());
    }
    if matches!(state.engine, Engine::Dead(_)) {
        at_hand(state)?;
    }
    if answer::idle(state).is_err() || compare::is_shown(state) || loading(state).is_some() {
        state.sought = Some(name.to_owned());
        return Ok(vec![Effect::Seek(name.to_owned())]);
    }
    Ok(change(state, name.to_owned()))
}

/// The model that was asked for amid something else is there, or is not: then all goes on as it was.
pub(super) fn found(state: &mut State, name: String, found: Result<(), Failure>) -> Vec<Effect> {
    if state.sought.take_if(|sought| *sought == name).is_none() {
        return Vec::new();
    }
    match (found, &state.engine) {
        // That was told.
        (_, Engine::Dead(_)) => Vec::new(),
        (Ok(()), _) => change(state, name),
        (Err(failure), engine) => {
            let words = match engine {
                Engine::Ready(model) => unharmed(&failure, model),
                Engine::Loading { .. } => format!("{failure}; the model asked for before is still being loaded"),
                _ => why(&failure),
            };
            state.tell(Level::Error, words);
            Vec::new()
        }
    }
}

/// Stops what is under way and loads this model.
fn change(state: &mut State, name: String) -> Vec<Effect> {
    let mut effects = answer::abandon(state);
    effects.extend(loading(state).map(Effect::Cancel));
    prompt::withdraw_any(state);
    compare::close(state);
    state.sought = None;
    effects.push(state.load(Some(name)));
    effects
}
