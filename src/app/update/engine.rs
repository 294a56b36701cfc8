//! What the engine tells. An event of a turn that is not current changes nothing.

use std::time::Duration;

use crate::app::effect::Effect;
use crate::app::notice::Level;
use crate::app::state::{Engine, Phase, Running, State};
use crate::domain::inference::{Event, Failure, FailureKind, Finish, Part, PrefillProgress, Said, Stats, TurnId};

use super::{answer, caught, compact, compare, describe, model, prompt, record, replay, window};

/// Takes in an event.
pub(super) fn told(state: &mut State, event: Event) -> Vec<Effect> {
    match event {
        Event::Prompted { turn, digest, .. } if replay::is_of(state, turn) => replay::prompted(state, digest),
        Event::Prompted { turn, path, digest, .. } if state.comparing == Some(turn) => {
            compare::prompted(state, turn, &path, &digest);
        }
        Event::Token { turn, said } if describe::is_titling(state, turn) && said.part == Part::Answer => {
            describe::said(state, &said.text);
        }
        Event::Finished { turn, .. } if describe::is_titling(state, turn) => return describe::finished(state),
        Event::Token { turn, said } if replay::is_of(state, turn) => replay::said(state, said.token),
        Event::Finished { turn, .. } if replay::is_of(state, turn) => return replay::finished(state),
        Event::Loading {
            turn,
            step,
            done,
            total,
        } => model::progressed(state, turn, step, (done, total)),
        Event::Ready { turn, model } => return model::ready(state, turn, model),
        Event::Window { turn, window } => window::moved(state, turn, window),
        Event::Shift { turn, keep, discard } => window::shifted(state, turn, keep, discard),
        Event::Forecast { turn, window } => window::forecast(state, turn, window),
        Event::Noted { turn, words } => noted(state, turn, words),
        Event::Prefill { turn, progress } => prefilled(state, turn, progress),
        Event::Prompted {
            turn,
            path,
            digest,
            seed,
        } => record::prompted(state, turn, (path, digest), seed),
        Event::Changed { turn, at, change } => record::changed(state, turn, at, change),
        Event::Resumable { turn, tokens, .. } => resumable(state, turn, tokens),
        Event::Resumed { turn, thinking, text } => resumed(state, turn, thinking, &text),
        Event::Token { turn, said } => return token(state, turn, said),
        Event::Finished { turn, finish, stats } => return finished(state, turn, finish, stats),
        Event::Rendered { turn, prompt } => prompt::rendered(state, turn, prompt),
        Event::Column { turn, column, said } => compare::said(state, turn, column, said),
        Event::ColumnFinished {
            turn,
            column,
            finish,
            stats,
        } => compare::finished(state, turn, column, (finish, stats)),
        Event::Compared { turn } => return compare::over(state, turn),
        Event::Failed { turn, failure } => return failed(state, turn, failure),
        Event::Died { reason } => return died(state, reason),
        // Only `quipu bench` asks for timings, and it has no state.
        // What was looked at is picked up where it lies.
        Event::Looked { .. } | Event::Benched { .. } => {}
    }
    Vec::new()
}

/// The answer under way, where the engine was asked for it as `turn`.
fn current(running: &mut Option<Running>, turn: TurnId) -> Option<&mut Running> {
    running.as_mut().filter(|r| r.turn == turn && r.phase != Phase::Queued)
}

fn prefilled(state: &mut State, turn: TurnId, progress: PrefillProgress) {
    if let Some((_, known)) = state.resuming.as_mut().filter(|(resuming, _)| *resuming == turn) {
        *known = progress;
    }
    let Some(running) = current(&mut state.running, turn) else {
        return;
    };
    state.context_used = progress.done;
    if let Phase::Prefill(known) = &mut running.phase {
        *known = progress;
    }
}

fn token(state: &mut State, turn: TurnId, said: Said) -> Vec<Effect> {
    let Some(running) = current(&mut state.running, turn) else {
        return Vec::new();
    };
    running.phase = decoding(running.phase, said.token.is_some(), state.now);
    let Some(message) = state.conversation.get_mut(running.answer) else {
        return Vec::new();
    };
    let answer = message.answer.get_or_insert_default();
    if let (Part::Thinking, Phase::Decoding { first, .. }) = (said.part, running.phase) {
        let before = running.continued.as_ref();
        let before = before.map_or(Duration::ZERO, |before| before.answer.stats.thinking);
        answer.thinking.time = before + state.now.saturating_sub(first);
    }
    let (token, part, text) = (said.token, said.part, said.text.clone());
    record::said(&mut message.text, answer, said, state.options.trace as usize);
    state.context_used = state.context_used.saturating_add(u32::from(token.is_some()));
    caught::watch(state, token, part, &text)
}

/// An answer goes on: the engine's word on what its tokens come to counts.
fn resumed(state: &mut State, turn: TurnId, thinking: String, text: &str) {
    let Some(running) = current(&mut state.running, turn) else {
        return;
    };
    if let Some(message) = state.conversation.get_mut(running.answer) {
        let answer = message.answer.get_or_insert_default();
        answer.thinking.text = thinking;
        message.text = format!("{}{text}", answer.opening);
    }
}

/// The phase after a word: `counts` where it was a token and not held-back text.
fn decoding(phase: Phase, counts: bool, now: Duration) -> Phase {
    let (tokens, first) = match phase {
        Phase::Decoding { tokens, first } => (tokens, first),
        Phase::Prefill(_) => (0, now),
        Phase::Queued | Phase::Stopping => return phase,
    };
    Phase::Decoding {
        tokens: tokens.saturating_add(u32::from(counts)),
        first,
    }
}

fn finished(state: &mut State, turn: TurnId, finish: Finish, counts: Stats) -> Vec<Effect> {
    let Some(running) = current(&mut state.running, turn) else {
        return Vec::new();
    };
    let id = running.answer;
    let before = running.continued.as_ref().map(|before| before.answer.stats);
    state.context_used = counts.context_used;
    let mut silent = false;
    let summary = compact::under_way(state);
    if let Some(message) = state.conversation.get_mut(id) {
        let answer = message.answer.get_or_insert_default();
        answer.stats = before.map_or(counts, |before| before.and(&counts));
        if answer.stats.thinking_tokens > 0 {
            answer.thinking.time = answer.stats.thinking;
        }
        record::settle_bytes(answer, &message.text);
        silent = counts.generated == 0 || message.text == answer.opening;
    }
    match finish {
        Finish::EndOfTurn if silent && before.is_some() => {
            state.tell(Level::Info, "the model has nothing to add: /retry asks it again");
        }
        Finish::EndOfTurn if silent => state.tell(
            Level::Info,
            "the model ended its turn without a word: /retry asks it again",
        ),
        Finish::EndOfTurn | Finish::Stopped | Finish::StopText => {}
        Finish::MaxTokens if summary => {}
        Finish::MaxTokens => state.tell(Level::Warn, cut(counts.generated)),
        Finish::ContextFull => {
            let context = state.engine.model().map_or(counts.context_used, |model| model.context);
            state.tell(Level::Warn, full(context));
        }
    }
    let mut effects = answer::end(state, Some(finish));
    if summary && finish != Finish::Stopped {
        let words = "this goes to the model in place of what it sums up: /undo takes it back, /retry makes another";
        state.tell(Level::Info, words);
    }
    effects.extend(compact::due(state, finish));
    effects
}

/// The conversation is in the KV cache, and nothing was asked since.
fn resumable(state: &mut State, turn: TurnId, tokens: u32) {
    if state.resuming.take_if(|(resuming, _)| *resuming == turn).is_some() {
        state.context_used = tokens;
    }
}

fn noted(state: &mut State, turn: TurnId, words: String) {
    if current(&mut state.running, turn).is_some() {
        state.tell(Level::Warn, words);
    }
}

fn cut(tokens: u32) -> String {
    format!("the answer was cut at the limit of {tokens} tokens: --max-tokens N sets another")
}

fn full(context: u32) -> String {
    format!(
        "the context of {context} tokens is full: /new begins an empty one, /context N takes a larger one, /overflow lets go of \
         old turns"
    )
}

fn failed(state: &mut State, turn: TurnId, failure: Failure) -> Vec<Effect> {
    if model::loading(state) == Some(turn) {
        return model::failed(state, failure);
    }
    if replay::is_of(state, turn) || describe::is_titling(state, turn) {
        (state.replay, state.titling) = (None, None);
        state.tell(Level::Error, failure.message);
        return Vec::new();
    }
    let answering = current(&mut state.running, turn).is_some();
    if !answering && !prompt::withdraw(state, turn) && !compare::withdraw(state, turn) {
        return Vec::new();
    }
    // Whoever stopped it knows.
    if failure.kind != FailureKind::Cancelled {
        state.tell(Level::Error, failure.message.clone());
    }
    if failure.kind == FailureKind::NoModel {
        state.engine = Engine::Failed(failure);
    }
    if answering {
        answer::end(state, None)
    } else {
        Vec::new()
    }
}

fn died(state: &mut State, reason: String) -> Vec<Effect> {
    if matches!(state.engine, Engine::Dead(_)) {
        return Vec::new();
    }
    state.tell(Level::Error, model::dead(&reason));
    state.engine = Engine::Dead(reason);
    state.resident = None;
    (state.replay, state.titling) = (None, None);
    prompt::withdraw_any(state);
    if let Some(turn) = state.comparing {
        compare::withdraw(state, turn);
    }
    answer::end(state, None)
}
