//! The panel of sessions: listing, searching as one types, and what is done to the selected one. Entering a session is
//! `session.rs`'s business.

use crate::app::effect::Effect;
use crate::app::notice::Level;
use crate::app::sessions::{Row, SessionList, Typed};
use crate::app::state::{Deleted, Overlay, State};
use crate::domain::MessageId;
use crate::domain::session::{Details, Hit, SessionId, StoreCommand, Summary, Titled, Which};

use super::{Outcome, session};

/// What can be done to the selected session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// Enter it, or the one with the message that was found; while a title is typed, give it.
    Open,
    /// Put it above the others, or back.
    Pin,
    /// Put it out of sight, or back.
    Archive,
    /// Delete it, or bring it back.
    Delete,
    /// Begin to type its new title.
    Rename,
    /// Show those out of sight, too, or not.
    ShowArchived,
}

/// `/sessions` and `/search`: opens the panel.
pub(super) fn show(state: &mut State, query: &str) -> Outcome {
    session::has_store(state)?;
    state.screen.overlay = Some(Overlay::Sessions(Box::new(SessionList {
        query: query.to_owned(),
        ..SessionList::default()
    })));
    let mut effects = refresh(state);
    effects.extend(search(state));
    Ok(effects)
}

fn panel(state: &mut State) -> Option<&mut SessionList> {
    match &mut state.screen.overlay {
        Some(Overlay::Sessions(panel)) => Some(panel),
        _ => None,
    }
}

/// Asks for the list again, where it is shown.
pub(super) fn refresh(state: &mut State) -> Vec<Effect> {
    state.keeping.ticket += 1;
    let request = state.keeping.ticket;
    let Some(panel) = panel(state) else { return Vec::new() };
    panel.requests.0 = request;
    let archived = panel.archived;
    vec![Effect::Store(StoreCommand::List { request, archived })]
}

/// Asks for the messages with the words that are looked for.
fn search(state: &mut State) -> Vec<Effect> {
    state.keeping.ticket += 1;
    let request = state.keeping.ticket;
    let Some(panel) = panel(state) else { return Vec::new() };
    panel.requests.1 = request;
    let text = panel.query.trim().to_owned();
    panel.searching = !text.is_empty();
    if text.is_empty() {
        panel.hits.clear();
        return Vec::new();
    }
    vec![Effect::Store(StoreCommand::Search { request, text })]
}

/// The list came.
pub(super) fn listed(state: &mut State, request: u64, sessions: Result<Vec<Summary>, String>) {
    let Some(panel) = panel(state).filter(|panel| panel.requests.0 == request) else {
        return;
    };
    panel.there = true;
    match sessions {
        Ok(sessions) => {
            panel.sessions = sessions;
            settle(panel);
        }
        Err(words) => state.tell(Level::Error, words),
    }
}

/// What was looked for came.
pub(super) fn found(state: &mut State, request: u64, hits: Result<Vec<Hit>, String>) {
    let Some(panel) = panel(state).filter(|panel| panel.requests.1 == request) else {
        return;
    };
    panel.searching = false;
    match hits {
        Ok(hits) => {
            panel.hits = hits;
            settle(panel);
        }
        Err(words) => state.tell(Level::Error, words),
    }
}

/// Keeps the selection on a row that is there.
fn settle(panel: &mut SessionList) {
    let rows = panel.rows().count();
    panel.selected = panel.selected.min(rows.saturating_sub(1));
}

/// The person types in the panel.
pub(super) fn typed(state: &mut State, typed: &Typed) -> Vec<Effect> {
    let Some(panel) = panel(state) else { return Vec::new() };
    let renames = panel.renaming.is_some();
    let line = panel.renaming.as_mut().unwrap_or(&mut panel.query);
    typed.to(line);
    if renames {
        return Vec::new();
    }
    panel.selected = 0;
    search(state)
}

/// Moves the selection by rows.
pub(super) fn step(state: &mut State, rows: i64) -> bool {
    let Some(panel) = panel(state) else { return false };
    let last = panel.rows().count().saturating_sub(1);
    let to = i64::try_from(panel.selected).unwrap_or(0).saturating_add(rows).max(0);
    panel.selected = usize::try_from(to).unwrap_or(0).min(last);
    true
}

/// Leaves the typing of a title. Says whether there was any.
pub(super) fn escape(state: &mut State) -> bool {
    panel(state).is_some_and(|panel| panel.renaming.take().is_some())
}

/// Does something to the selected session.
pub(super) fn act(state: &mut State, deed: Deed) -> Outcome {
    let Some(panel) = panel(state) else {
        return Ok(Vec::new());
    };
    if deed == Deed::ShowArchived {
        panel.archived = !panel.archived;
        return Ok(refresh(state));
    }
    let Some(chosen) = panel.session().cloned() else {
        return Ok(Vec::new());
    };
    let mut details = chosen.details.clone();
    match deed {
        Deed::Open => return open(state, &chosen),
        Deed::Rename => {
            panel.renaming = Some(details.title);
            return Ok(Vec::new());
        }
        Deed::Delete if chosen.deleted => {
            return Ok(vec![Effect::Store(StoreCommand::Restore { id: chosen.id })]);
        }
        Deed::Delete => return delete(state, chosen.id, &details.title),
        Deed::Pin => details.pinned = !details.pinned,
        Deed::Archive => details.archived = !details.archived,
        Deed::ShowArchived => {}
    }
    Ok(describe(state, chosen.id, details))
}

fn open(state: &mut State, chosen: &Summary) -> Outcome {
    let Some(panel) = panel(state) else {
        return Ok(Vec::new());
    };
    if let Some(title) = panel.renaming.take() {
        let details = Details {
            title: title.trim().to_owned(),
            titled: Titled::Person,
            ..chosen.details.clone()
        };
        return Ok(describe(state, chosen.id, details));
    }
    let message = match panel.row() {
        Some(Row::Hit(hit)) => Some(hit.message),
        _ => None,
    };
    if state.session.id == Some(chosen.id) {
        state.screen.overlay = None;
        if let Some(message) = message {
            if !state.conversation.path().iter().any(|shown| shown.id == message) {
                state.conversation.select(message);
            }
            state.screen.selected = Some(message);
            state.screen.reveal = Some(message);
        }
        return Ok(Vec::new());
    }
    state.keeping.jump = message.map(|message| (chosen.id, message));
    session::open(state, Which::Id(chosen.id))
}

/// The message to show in the session that was opened.
pub(super) fn jump(state: &mut State, id: SessionId) -> Option<MessageId> {
    let (session, message) = state.keeping.jump.take()?;
    (session == id).then_some(message)
}

/// Changes what is known of a session, and of the one on the screen where it is that.
pub(super) fn describe(state: &mut State, id: SessionId, details: Details) -> Vec<Effect> {
    if state.session.id == Some(id) {
        state.session.details = details.clone();
    }
    let mut effects = vec![Effect::Store(StoreCommand::Describe { id, details })];
    effects.extend(refresh(state));
    effects
}

/// Deletes a session. The one on the screen gives way to a new one.
pub(super) fn delete(state: &mut State, id: SessionId, title: &str) -> Outcome {
    session::has_store(state)?;
    let mut effects = Vec::new();
    let panel = state.screen.overlay.take();
    let shown = state.session.id == Some(id);
    if shown {
        session::may_write(state)?;
        effects.extend(super::talk::renew(state));
    }
    state.screen.overlay = panel;
    state.keeping.deleted = Some(Deleted {
        id,
        title: title.to_owned(),
        shown,
    });
    effects.push(Effect::Store(StoreCommand::Delete { id }));
    effects.extend(refresh(state));
    let words = format!("'{title}' is deleted: /undo brings it back");
    state.tell(Level::Info, words);
    Ok(effects)
}
