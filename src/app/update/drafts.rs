//! What is being written, as far as the store has it: given to it a second after the last key, and asked for when a conversation is
//! entered. What was sent goes there at once.

use std::time::Duration;

use crate::app::effect::Effect;
use crate::app::state::State;
use crate::domain::session::{SessionKey, StoreCommand};

use super::composer;

/// How long after the last key a draft is kept: a crash costs no more.
const PAUSE: Duration = Duration::from_secs(1);

/// Gives to the store what it does not have yet and is due.
pub(super) fn keep(state: &mut State, effects: &mut Vec<Effect>) {
    let Some(before) = state.keeping.drafting.key.filter(|_| state.keeping.on) else {
        return;
    };
    let sent = state.draft.take_news();
    effects.extend(sent.into_iter().map(|text| Effect::Store(StoreCommand::Sent { text })));
    if before != state.key() {
        moved(state, effects);
    }
    let revision = state.draft.revision();
    let drafting = &mut state.keeping.drafting;
    if drafting.kept == revision {
        drafting.since = None;
    } else if drafting.since.is_none_or(|(of, _)| of != revision) {
        // Every key puts it off, but not for ever.
        let first = drafting.since.map_or(state.now, |(_, first)| first);
        drafting.since = Some((revision, first));
    }
    // What became a session leaves no draft without one behind.
    let begun = state.session.id.is_some() && drafting.session.is_none();
    let is_due = due(state).is_some_and(|due| due <= state.now);
    if begun || is_due {
        write(state, effects);
    }
}

/// When the draft is due to be kept.
pub(super) fn due(state: &State) -> Option<Duration> {
    let (_, since) = state.keeping.drafting.since.filter(|_| state.keeping.on)?;
    Some(since + PAUSE)
}

/// Gives the draft to the store now.
pub(super) fn write(state: &mut State, effects: &mut Vec<Effect>) {
    let revision = state.draft.revision();
    let (id, text) = (state.session.id, state.draft.text.clone());
    let drafting = &mut state.keeping.drafting;
    if drafting.session != id {
        effects.push(of(drafting.session, String::new()));
        drafting.session = id;
    }
    (drafting.kept, drafting.since) = (revision, None);
    effects.push(of(id, text));
}

fn of(session: Option<crate::domain::session::SessionId>, text: String) -> Effect {
    Effect::Store(StoreCommand::Draft { session, text })
}

/// Another conversation is on the screen: the draft stays with the one before, or comes along into a new one.
fn moved(state: &mut State, effects: &mut Vec<Effect>) {
    let (key, id) = (state.key(), state.session.id);
    state.keeping.drafting.key = Some(key);
    let before = std::mem::replace(&mut state.keeping.drafting.session, id);
    if id.is_none() {
        effects.push(of(before, String::new()));
        return;
    }
    effects.push(of(before, state.draft.text.clone()));
    if !state.draft.text.is_empty() {
        effects.push(composer::set(state, String::new()));
    }
    let drafting = &mut state.keeping.drafting;
    (drafting.kept, drafting.since) = (state.draft.revision(), None);
    effects.push(Effect::Store(StoreCommand::Recall { key, session: id }));
}

/// Has drafts be kept from now on, and asks for the one that there may be.
pub(in crate::app) fn begin(state: &mut State) -> Effect {
    let key = state.key();
    state.keeping.drafting.key = Some(key);
    Effect::Store(StoreCommand::Recall { key, session: None })
}

/// The draft came, and what was sent in other chats.
pub(super) fn recalled(state: &mut State, key: SessionKey, draft: String, sent: Vec<String>) -> Vec<Effect> {
    state.draft.recall(sent);
    if key != state.key() || draft.is_empty() || !state.draft.text.is_empty() {
        return Vec::new();
    }
    let shown = composer::set(state, draft);
    state.draft.completion = None;
    state.keeping.drafting.kept = state.draft.revision();
    vec![shown]
}
