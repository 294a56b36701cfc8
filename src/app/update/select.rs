//! The message that keys and commands are about: choosing it, and what is done to it.

use crate::app::effect::Effect;
use crate::app::notice::Level;
use crate::app::state::{Deleted, Scroll, Session, State};
use crate::domain::session::{StoreCommand, Which};
use crate::domain::{Message, MessageId, Role};

use super::{Outcome, Refusal, answer, composer, session, sessions};

/// Which way to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Towards the beginning.
    Up,
    /// Towards the end.
    Down,
}

/// Selects the message above or below; below the last, none.
pub(super) fn step(state: &mut State, direction: Direction) {
    let path: Vec<_> = state.conversation.path().iter().map(|message| message.id).collect();
    let at = state
        .screen
        .selected
        .and_then(|id| path.iter().position(|on| *on == id));
    let to = match (at, direction) {
        (None, Direction::Up) => path.len().checked_sub(1),
        (None, Direction::Down) => None,
        (Some(at), Direction::Up) => Some(at.saturating_sub(1)),
        (Some(at), Direction::Down) => Some(at + 1),
    };
    state.screen.selected = to.and_then(|to| path.get(to)).copied();
    state.screen.reveal = state.screen.selected;
    if state.screen.selected.is_none() {
        state.screen.scroll = Scroll::Follow;
    }
}

/// The selected message, else the last one of the path that fits.
pub(super) fn meant(state: &State, fits: impl Fn(&Message) -> bool) -> Option<&Message> {
    let talk = &state.conversation;
    match state.screen.selected.and_then(|id| talk.get(id)) {
        Some(message) => Some(message),
        None => talk.back_from(talk.tip()).find(|message| fits(message)),
    }
}

/// `/edit`: puts a message of the person's into the composer; what is sent then is another version of it.
pub(super) fn edit(state: &mut State) -> Outcome {
    answer::idle(state)?;
    session::may_write(state)?;
    let mine = |message: &Message| message.role == Role::User;
    let Some(message) = meant(state, mine) else {
        return Err(nothing("edit"));
    };
    // Of an answer, what is edited is the question.
    let parent = message.parent.and_then(|parent| state.conversation.get(parent));
    let Some(message) = Some(message).filter(|m| mine(m)).or(parent).filter(|m| mine(m)) else {
        return Err(nothing("edit"));
    };
    let (id, slash) = (message.id, if message.text.starts_with('/') { "/" } else { "" });
    let text = format!("{slash}{}", message.text);
    state.screen.editing = Some(id);
    state.screen.selected = Some(id);
    state.screen.reveal = Some(id);
    state.tell(
        Level::Info,
        "Enter sends it as another version, Esc leaves it as it was",
    );
    Ok(vec![composer::set(state, text)])
}

/// `/remove`: hides a message and all that was said on it.
pub(super) fn remove(state: &mut State) -> Outcome {
    answer::idle(state)?;
    session::may_write(state)?;
    let Some(id) = meant(state, |_| true).map(|message| message.id) else {
        return Err(nothing("remove"));
    };
    state.conversation.begin_step();
    state.conversation.hide(id);
    state.screen.selected = None;
    state.screen.editing = None;
    state.tell(
        Level::Info,
        "the message is removed with all that was said on it: /undo brings it back",
    );
    Ok(Vec::new())
}

/// `/undo`: undoes the last change of the conversation, or brings a deleted session back.
pub(super) fn undo(state: &mut State) -> Outcome {
    answer::idle(state)?;
    if let Some(deleted) = state.keeping.deleted.take() {
        return Ok(restore(state, &deleted));
    }
    session::may_write(state)?;
    if !state.conversation.undo() {
        return Err(Refusal::new(Level::Info, "there is nothing to undo in this session"));
    }
    state.screen.selected = None;
    state.screen.editing = None;
    Ok(Vec::new())
}

fn restore(state: &mut State, deleted: &Deleted) -> Vec<Effect> {
    let id = deleted.id;
    state.tell(Level::Info, format!("'{}' is back", deleted.title));
    let mut effects = vec![Effect::Store(StoreCommand::Restore { id })];
    if deleted.shown {
        effects.push(session::ask_for(state, Which::Id(id)));
    }
    effects.extend(sessions::refresh(state));
    effects
}

/// `/redo`: does again what was undone.
pub(super) fn redo(state: &mut State) -> Outcome {
    answer::idle(state)?;
    session::may_write(state)?;
    if !state.conversation.redo() {
        return Err(Refusal::new(Level::Info, "there is nothing to do again"));
    }
    Ok(Vec::new())
}

/// `/fork`: goes on in a new session that begins with the path to the message.
pub(super) fn fork(state: &mut State) -> Outcome {
    answer::idle(state)?;
    let Some(id) = meant(state, |_| true).map(|message| message.id) else {
        return Err(nothing("fork"));
    };
    let fork = state.conversation.fork(id);
    let mut details = state.session.details.clone();
    if !details.title.is_empty() {
        details.title = format!("{} (fork)", details.title.trim_end_matches(" (fork)"));
    }
    (details.pinned, details.archived) = (false, false);
    let mut effects = session::leave(state);
    // What the engine holds is good for the copy as well.
    effects.retain(|effect| !matches!(effect, Effect::Engine(_)));
    let used = state.context_used;
    session::enter(
        state,
        fork,
        Session {
            details,
            described: true,
            ..Session::default()
        },
    );
    state.context_used = used;
    state.tell(Level::Info, "this is a copy: the session before is as it was");
    Ok(effects)
}

/// The message whose versions the version keys go through: the selected one, else the last answer.
pub(super) fn versioned(state: &State) -> Option<MessageId> {
    meant(state, |message| message.role == Role::Assistant).map(|message| message.id)
}

fn nothing(what: &str) -> Refusal {
    Refusal::new(Level::Info, format!("there is nothing to {what} yet"))
}
