//! The life of an answer: may it begin, what the engine is asked, how it ends, and what becomes of one that said nothing.
//! The engine's words on the way arrive in `engine.rs`.

use crate::app::command::{self, Line};
use crate::app::effect::Effect;
use crate::app::notice::Level;
use crate::app::state::{Before, Engine, Phase, Running, Scroll, State};
use crate::domain::inference::{Command, Finish, GenerateRequest, Opening, PrefillProgress, PromptRequest, TurnId};
use crate::domain::{Answer, LoopGuard, Message, MessageId, Role};

use super::{Outcome, Refusal, compact, composer, model, prompt, record, session};

/// Whether an answer could be begun now, if only to wait for its model.
pub(super) fn may_begin(state: &State) -> Result<(), Refusal> {
    idle(state)?;
    session::may_write(state)?;
    if model::loading(state).is_none() {
        model::at_hand(state)?;
    }
    Ok(())
}

/// Whether no answer is under way.
pub(super) fn idle(state: &State) -> Result<(), Refusal> {
    if state.replay.is_some() || state.titling.is_some() {
        let what = if state.replay.is_some() { "an answer" } else { "a title" };
        let words = format!("{what} is being made: Esc stops it");
        return Err(Refusal::new(Level::Info, words));
    }
    match &state.running {
        None => Ok(()),
        Some(running) if running.phase == Phase::Stopping => Err(Refusal::new(
            Level::Info,
            "the answer is being stopped: try again in a moment",
        )),
        Some(_) => Err(Refusal::new(Level::Info, "still answering: Esc stops it")),
    }
}

/// Begins the answer that stands empty at the tip. `before` was the tip before it was asked for.
pub(super) fn begin(state: &mut State, answer: MessageId, before: Option<MessageId>) -> Vec<Effect> {
    let opening = std::mem::take(&mut state.options.prefill);
    // From here on there is something else to undo.
    state.keeping.deleted = None;
    if let Some(message) = state.conversation.get_mut(answer) {
        message.text.clone_from(&opening);
        message.answer = Some(Answer {
            opening,
            ..Answer::default()
        });
    }
    state.before = before;
    start(state, answer, None)
}

/// `/continue`: has the last answer go on where it ended, as if it had never stopped.
pub(super) fn go_on(state: &mut State) -> Outcome {
    may_begin(state)?;
    let last = state.conversation.tip();
    let tip = last.and_then(|tip| state.conversation.get(tip));
    let Some(message) = tip.filter(|message| message.role == Role::Assistant) else {
        return Err(Refusal::new(Level::Info, "there is no answer to go on with yet"));
    };
    let id = message.id;
    state.conversation.begin_step();
    state.conversation.keep_content(id);
    let Some(message) = state.conversation.get_mut(id) else {
        return Ok(Vec::new());
    };
    let answer = message.answer.get_or_insert_default();
    let before = Before {
        text: message.text.clone(),
        answer: answer.clone(),
        kept: 0,
    };
    answer.finish = None;
    Ok(start(state, id, Some(Box::new(before))))
}

/// Begins an answer; one that goes on does so behind the very tokens of what it was before.
pub(super) fn start(state: &mut State, answer: MessageId, continued: Option<Box<Before>>) -> Vec<Effect> {
    state.running = Some(Running {
        turn: state.next_turn(),
        answer,
        phase: Phase::Queued,
        since: state.now,
        continued,
        watch: (state.options.loop_guard != LoopGuard::Off).then(Box::default),
        shifted: false,
    });
    state.caught = None;
    state.screen.scroll = Scroll::Follow;
    state.screen.overlay = None;
    ask(state)
}

/// Asks the engine for the answer that waited for its model, if one did.
pub(super) fn resume(state: &mut State) -> Vec<Effect> {
    if state
        .running
        .as_ref()
        .is_none_or(|running| running.phase != Phase::Queued)
    {
        return Vec::new();
    }
    // It may have outlived cancelled loads, and a cancel reaches every turn given out before it: so it gets a new one.
    let turn = state.next_turn();
    if let Some(running) = &mut state.running {
        running.turn = turn;
    }
    ask(state)
}

/// Asks the engine for the answer under way, where there is a model to give it.
fn ask(state: &mut State) -> Vec<Effect> {
    let (Engine::Ready(model), Some(running)) = (&state.engine, &mut state.running) else {
        return Vec::new();
    };
    let turn = running.turn;
    running.phase = Phase::Prefill(PrefillProgress::default());
    let Some(message) = state.conversation.get_mut(running.answer) else {
        return Vec::new();
    };
    let opening = open(message, &model.fingerprint, running.continued.as_deref_mut());
    let (id, question, summary) = (message.id, message.parent, message.is_summary());
    let answer = message.answer.get_or_insert_default();
    answer.model.clone_from(&model.fingerprint);
    answer.model_name.clone_from(&model.name);
    let request = if summary {
        compact::request(state, id, opening, &model.fingerprint)
    } else {
        GenerateRequest {
            prompt: PromptRequest {
                opening,
                ..prompt::request(state, question, &model.fingerprint)
            },
            sampling: state.tuning.sampling.clone(),
            thinking_budget: state.options.thinking_budget,
            report: state.options.trace > 0,
            changes: Vec::new(),
        }
    };
    record::begin(state, &request);
    // What is still being read for a return is read with the prompt.
    let given_up = state.resuming.take().map(|(turn, _)| Effect::Cancel(turn));
    let ask = Effect::Engine(Command::Generate { turn, request });
    given_up.into_iter().chain([ask]).collect()
}

/// How an answer begins that the model with this fingerprint gives. One that it gave itself goes on behind its very tokens;
/// another behind its words.
fn open(message: &mut Message, fingerprint: &str, continued: Option<&mut Before>) -> Opening {
    let Message { text, answer, .. } = message;
    let answer = answer.get_or_insert_default();
    let Some(before) = continued else {
        return Opening {
            text: answer.opening.clone(),
            said: Vec::new(),
        };
    };
    // The ids spell the text that ended it, too, which is no part of the answer.
    let whole = before.answer.finish != Some(Finish::StopText) && !answer.tokens.is_empty();
    if !(whole && answer.model == fingerprint) {
        answer.opening.clone_from(text);
        answer.tokens.clear();
    }
    before.kept = answer.tokens.len();
    Opening {
        text: answer.opening.clone(),
        said: answer.tokens.clone(),
    }
}

/// `/answer`: ends the thinking of the answer under way.
pub(super) fn end_thinking(state: &State) -> Outcome {
    match asked(state).filter(|_| state.is_thinking()) {
        Some(turn) => Ok(vec![Effect::Engine(Command::EndThinking { turn })]),
        None => Err(Refusal::new(Level::Info, "no model is thinking now")),
    }
}

/// Stops the answer under way: one that waits at once, another as soon as the engine says so. `None` where there is none,
/// or where it is being stopped already.
pub(super) fn stop(state: &mut State) -> Option<Vec<Effect>> {
    let aside = drop_aside(state);
    if !aside.is_empty() {
        return Some(aside);
    }
    let running = state.running.as_mut()?;
    match running.phase {
        Phase::Stopping => None,
        Phase::Queued => Some(end(state, Some(Finish::Stopped))),
        Phase::Prefill(_) | Phase::Decoding { .. } => {
            running.phase = Phase::Stopping;
            Some(vec![Effect::Cancel(running.turn)])
        }
    }
}

/// Stops the answer and does not wait for the engine's word; what it still says is dropped. For when the conversation or
/// the model is about to go. One that waits for a model goes on waiting.
pub(super) fn abandon(state: &mut State) -> Vec<Effect> {
    let mut effects = drop_aside(state);
    if let Some(turn) = asked(state) {
        effects.push(Effect::Cancel(turn));
        effects.extend(end(state, Some(Finish::Stopped)));
    }
    effects
}

/// Gives up what the engine was asked beside the conversation: a title, an answer made again, the reading of a session.
pub(super) fn drop_aside(state: &mut State) -> Vec<Effect> {
    let turns = [
        state.titling.take().map(|titling| titling.turn),
        state.replay.take().map(|replay| replay.turn),
        state.resuming.take().map(|(turn, _)| turn),
    ];
    turns.into_iter().flatten().map(Effect::Cancel).collect()
}

/// The turn of the answer that the engine was asked for.
pub(super) fn asked(state: &State) -> Option<TurnId> {
    let asked = state.running.as_ref().filter(|running| running.phase != Phase::Queued);
    asked.map(|running| running.turn)
}

/// Ends the answer under way; `finish` is `None` where it was cut off. What was said is kept. Where nothing was, the
/// question goes back into the draft, unless the model itself had nothing to say.
pub(super) fn end(state: &mut State, finish: Option<Finish>) -> Vec<Effect> {
    let Some(Running { answer, continued, .. }) = state.running.take() else {
        return Vec::new();
    };
    let before = state.before.take();
    let Some(message) = state.conversation.get_mut(answer) else {
        return Vec::new();
    };
    let summary = message.is_summary();
    let how = message.answer.get_or_insert_default();
    how.finish = finish;
    let cut_off = matches!(finish, None | Some(Finish::Stopped));
    match continued {
        // It did not go on, and is what it was.
        Some(before) if cut_off && how.tokens.len() <= before.kept => {
            message.text = before.text;
            message.answer = Some(before.answer);
            state.conversation.drop_step();
            Vec::new()
        }
        // Half a summary stands for nothing.
        None if summary && cut_off => take_back(state, answer, before),
        None if cut_off && message.text == how.opening && how.thinking.text.is_empty() => {
            state.options.prefill = std::mem::take(&mut how.opening);
            take_back(state, answer, before)
        }
        _ => Vec::new(),
    }
}

/// Unsays an answer that said nothing: another version of one gives way to what was shown before, and a question that was
/// asked for it goes back into the draft.
fn take_back(state: &mut State, answer: MessageId, before: Option<MessageId>) -> Vec<Effect> {
    let talk = &mut state.conversation;
    let Some(question) = talk.take_back(answer).and_then(|message| message.parent) else {
        return Vec::new();
    };
    let shown_before = before.filter(|&id| id == question || talk.get(id).is_some_and(|m| m.parent == Some(question)));
    if let Some(id) = shown_before {
        talk.select(id);
        return Vec::new();
    }
    match talk.take_back(question) {
        Some(message) if message.role == Role::User => give_back(state, &message.text),
        _ => Vec::new(),
    }
}

/// Puts a question back into the draft, before what was typed since. A command being typed is left alone: the question is
/// in the history then.
fn give_back(state: &mut State, question: &str) -> Vec<Effect> {
    // A message that begins with a slash is typed with two.
    let slash = if question.starts_with('/') { "/" } else { "" };
    let question = format!("{slash}{question}");
    let typed = state.draft.text.trim_start();
    match command::parse(typed) {
        Line::Message("") => vec![composer::set(state, question)],
        Line::Message(_) => {
            let typed = if typed.starts_with("//") {
                typed.split_at(1).1
            } else {
                typed
            };
            let both = format!("{question}\n\n{typed}");
            vec![composer::set(state, both)]
        }
        Line::Command(..) | Line::Unknown(..) => {
            state.tell(Level::Info, "the message was not answered: it is kept in the history");
            Vec::new()
        }
    }
}
