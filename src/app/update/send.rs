//! Sending what stands in the composer: a message to the model, or a command.

use crate::app::command::{self, Line};
use crate::app::effect::Effect;
use crate::app::notice::Level;
use crate::app::state::State;
use crate::domain::Role;

use super::composer::Meant;
use super::{Outcome, Refusal, answer, attach, commands, composer, session};

/// Sends the draft, or first takes the completion that is meant. A refused draft stays as it is.
pub(super) fn send(state: &mut State) -> Vec<Effect> {
    let text = match composer::meant(&state.draft) {
        Meant::Unfinished(text) => return vec![composer::set(state, text)],
        Meant::Line(text) => text,
    };
    if text.trim().is_empty() {
        return Vec::new();
    }
    // The draft is emptied first, because what is done may put text back into it.
    let kept = state.draft.clone();
    state.draft.text.clone_from(&text);
    state.draft.sent();
    match line(state, &text) {
        Ok(mut effects) => {
            effects.insert(0, Effect::SetDraft(String::new()));
            effects
        }
        Err(refusal) => {
            state.draft = kept;
            state.tell(refusal.level, refusal.text);
            Vec::new()
        }
    }
}

fn line(state: &mut State, text: &str) -> Outcome {
    match command::parse(text) {
        Line::Message(text) => match attach::named(text) {
            Some((file, rest)) => {
                let mut effects = attach::attach(file)?;
                effects.insert(0, composer::set(state, rest.to_owned()));
                Ok(effects)
            }
            None => message(state, text),
        },
        Line::Command(id, args) => commands::run(state, id, args),
        Line::Unknown(name, near) => Err(unknown(name, near)),
    }
}

fn message(state: &mut State, text: &str) -> Outcome {
    answer::may_begin(state)?;
    let (before, now) = (state.conversation.tip(), state.clock());
    state.conversation.begin_step();
    match state.screen.editing.take() {
        Some(edited) => {
            state.conversation.push_version(edited, text, now);
        }
        None => {
            state.conversation.push(Role::User, text, now);
        }
    }
    session::entitle(state, text);
    let answer = state.conversation.push(Role::Assistant, "", now);
    Ok(answer::begin(state, answer, before))
}

fn unknown(name: &str, near: Option<&str>) -> Refusal {
    let remedy = match near {
        Some(near) => format!("did you mean /{near}?"),
        None => "/help lists them, and // begins a message with a slash".to_owned(),
    };
    Refusal::new(Level::Warn, format!("there is no command '/{name}': {remedy}"))
}
