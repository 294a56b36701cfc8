//! The conversation as a whole: a new one, another version of the last answer, the versions there are, the system prompt.

use crate::app::effect::Effect;
use crate::app::notice::Level;
use crate::app::state::{Overlay, Session, State};
use crate::domain::{Conversation, Message, MessageId, Role};

use super::{Outcome, Refusal, answer, compact, select, session};

/// Begins a new conversation under the same system prompt. An answer under way is stopped.
pub(super) fn renew(state: &mut State) -> Vec<Effect> {
    let system = state.conversation.system().map(str::to_owned);
    let effects = session::leave(state);
    session::enter(state, Conversation::under(system), Session::default());
    effects
}

/// Answers the last question again, as another version; a question without an answer is answered.
pub(super) fn retry(state: &mut State) -> Outcome {
    answer::may_begin(state)?;
    let (before, now) = (state.conversation.tip(), state.clock());
    let last = before.and_then(|tip| state.conversation.get(tip));
    let answer = match last.map(|message| (message.role, message.id)) {
        Some((Role::Assistant, id)) => {
            state.conversation.begin_step();
            state.conversation.push_version(id, "", now)
        }
        Some((Role::User, _)) => {
            state.conversation.begin_step();
            Some(state.conversation.push(Role::Assistant, "", now))
        }
        Some((Role::System, id)) if last.is_some_and(Message::is_summary) => {
            state.conversation.begin_step();
            let summary = state.conversation.push_version(id, "", now);
            return Ok(summary.map_or_else(Vec::new, |summary| compact::again(state, summary, before)));
        }
        Some((Role::System, _)) | None => None,
    };
    match answer {
        Some(answer) => Ok(answer::begin(state, answer, before)),
        None => Err(Refusal::new(Level::Info, "there is nothing to answer again yet")),
    }
}

/// Shows the version of the last answer before the one shown.
pub(super) fn previous_version(state: &mut State) -> Outcome {
    turn_to(state, |versions, at| versions.get(at.checked_sub(1)?).copied())
}

/// Shows the version of the last answer after the one shown.
pub(super) fn next_version(state: &mut State) -> Outcome {
    turn_to(state, |versions, at| versions.get(at + 1).copied())
}

fn turn_to(state: &mut State, other: impl FnOnce(&[MessageId], usize) -> Option<MessageId>) -> Outcome {
    answer::idle(state)?;
    if let Some(shown) = select::versioned(state) {
        let versions = state.conversation.versions(shown);
        let at = versions.iter().position(|id| *id == shown).unwrap_or(0);
        if let Some(id) = other(&versions, at) {
            state.conversation.begin_step();
            state.conversation.select(id);
            if state.screen.selected.is_some() {
                state.screen.selected = Some(id);
                state.screen.reveal = Some(id);
            }
        }
    }
    Ok(Vec::new())
}

/// `/prefill`: shows, sets or removes what the next answer starts with.
pub(super) fn prefill(state: &mut State, text: &str) -> Vec<Effect> {
    let words = match text {
        "" if state.options.prefill.is_empty() => {
            "answers start as the model wants: /prefill TEXT starts the next one".to_owned()
        }
        "" => format!("the next answer starts with '{}'", state.options.prefill),
        off if off.eq_ignore_ascii_case("off") => {
            state.options.prefill.clear();
            "the next answer starts as the model wants".to_owned()
        }
        text => {
            text.clone_into(&mut state.options.prefill);
            format!("the next answer starts with '{text}': send a message, or /retry")
        }
    };
    state.tell(Level::Info, words);
    Vec::new()
}

/// `/system`: shows, sets or removes the system prompt.
pub(super) fn system(state: &mut State, text: &str) {
    match (text, state.conversation.system()) {
        ("", Some(system)) => {
            let text = system.to_owned();
            state.screen.overlay = Some(Overlay::Text {
                title: "system prompt".to_owned(),
                text,
                top: 0,
            });
        }
        ("", None) => state.tell(Level::Info, "there is no system prompt: /system TEXT sets one"),
        (off, _) if off.eq_ignore_ascii_case("off") => {
            state.conversation.set_system(None);
            state.tell(Level::Info, "the system prompt is gone from the next message on");
        }
        (text, _) => {
            state.conversation.set_system(Some(text.to_owned()));
            state.tell(Level::Info, "the system prompt holds from the next message on");
        }
    }
}
