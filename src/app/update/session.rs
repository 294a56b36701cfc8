//! The session that the conversation is: what of it is given to the store and when, how one is left and another entered, and
//! what the store tells. The conversation itself is changed in `talk.rs` and `answer.rs`.

use std::time::Duration;

use crate::app::effect::Effect;
use crate::app::notice::Level;
use crate::app::state::{Phase, Scroll, Session, State};
use crate::domain::Conversation;
use crate::domain::inference::{Finish, Window};
use crate::domain::session::{NotOpened, Opened, SessionKey, StoreCommand, StoreEvent, Titled, Which, title_of};

use super::{Outcome, Refusal, answer, drafts, inspect, sessions, settle, warm};

/// How often an answer under way is given to the store.
const CHECKPOINT: Duration = Duration::from_secs(1);

/// Gives to the store what changed, before anything else is done: what a person said is kept before it is answered.
pub(super) fn keep(state: &mut State, effects: &mut Vec<Effect>) {
    if let Some(save) = save(state, false) {
        effects.insert(0, save);
    }
}

/// When the answer under way, or what is being written, is due to be kept.
pub(in crate::app) fn due(state: &State) -> Option<Duration> {
    let waits = state.keeping.on && state.running.is_some() && !state.conversation.is_kept();
    let answer = waits.then(|| state.keeping.checkpoint + CHECKPOINT);
    answer.into_iter().chain(drafts::due(state)).min()
}

/// What is to be kept now; with `all`, of the answer under way, too.
fn save(state: &mut State, all: bool) -> Option<Effect> {
    let (session, keeping) = (&state.session, &state.keeping);
    // A conversation without a word is no session.
    let unborn = !session.begun && state.conversation.messages().is_empty();
    if !keeping.on || session.read_only || unborn || (state.conversation.is_kept() && !session.described) {
        return None;
    }
    let running = state.running.as_ref();
    let streams = running.filter(|running| matches!(running.phase, Phase::Decoding { .. } | Phase::Stopping));
    let early = state.now < keeping.checkpoint + CHECKPOINT;
    let later = streams.filter(|_| early && !all).map(|running| running.answer);
    let changes = state.conversation.changes(later);
    if changes.is_empty() && !state.session.described {
        return None;
    }
    if later.is_none() {
        state.keeping.checkpoint = state.now;
    }
    state.session.begun = true;
    state.keeping.ticket += 1;
    state.keeping.asked = state.keeping.ticket;
    let described = std::mem::take(&mut state.session.described);
    Some(Effect::Store(StoreCommand::Save {
        ticket: state.keeping.ticket,
        key: state.key(),
        changes,
        details: described.then(|| state.session.details.clone()),
    }))
}

/// Gives a session that has no title yet the one that this message makes.
pub(super) fn entitle(state: &mut State, text: &str) {
    if state.session.details.title.is_empty() {
        state.session.details.title = title_of(text);
        state.session.details.titled = Titled::First;
        state.session.described = true;
    }
}

/// Lets go of the conversation: an answer under way is stopped and kept as far as it came, and so is the state of the model.
pub(super) fn leave(state: &mut State) -> Vec<Effect> {
    let mut effects = Vec::new();
    if let Some(turn) = answer::asked(state) {
        effects.push(Effect::Cancel(turn));
    }
    if let Some(running) = state.running.take()
        && let Some(message) = state.conversation.get_mut(running.answer)
    {
        message.answer.get_or_insert_default().finish = Some(Finish::Stopped);
    }
    effects.extend(answer::drop_aside(state));
    state.before = None;
    effects.extend(save(state, true));
    effects.extend(warm::keep(state));
    if state.keeping.on {
        effects.push(Effect::Store(StoreCommand::Release { key: state.key() }));
    }
    effects
}

/// Makes `conversation` the one on the screen.
pub(super) fn enter(state: &mut State, conversation: Conversation, session: Session) {
    let fresh = state.next_key();
    enter_as(state, fresh, conversation, session);
}

fn enter_as(state: &mut State, key: SessionKey, conversation: Conversation, session: Session) {
    state.begun = key.0;
    state.conversation = conversation;
    state.session = session;
    state.running = None;
    state.before = None;
    state.screen.scroll = Scroll::Follow;
    state.screen.overlay = None;
    state.screen.selected = None;
    state.screen.editing = None;
    state.screen.folds.clear();
    state.screen.thought.clear();
    state.context_used = 0;
    state.window = Window::default();
}

/// Asks for a session; it is entered when it comes.
pub(super) fn open(state: &mut State, which: Which) -> Outcome {
    has_store(state)?;
    if matches!(which, Which::Id(id) if state.session.id == Some(id)) {
        state.screen.overlay = None;
        return Ok(Vec::new());
    }
    Ok(vec![ask(state, which, None)])
}

/// Asks for a session at start; one that is named and not there is begun.
pub(in crate::app) fn ask_for(state: &mut State, which: Which) -> Effect {
    let title = match &which {
        Which::Named(name) => Some(name.clone()),
        Which::Id(_) | Which::Latest => None,
    };
    ask(state, which, title)
}

fn ask(state: &mut State, which: Which, title: Option<String>) -> Effect {
    let key = state.next_key();
    state.keeping.opening = Some((key, title));
    Effect::Store(StoreCommand::Open { key, which })
}

/// Whether there is a store to ask.
pub(super) fn has_store(state: &State) -> Result<(), Refusal> {
    if state.keeping.on {
        Ok(())
    } else {
        let words = "sessions are not kept in this chat: the setting 'keep' is off, or there is no home folder";
        Err(Refusal::new(Level::Warn, words))
    }
}

/// Whether something may be said in this session.
pub(super) fn may_write(state: &State) -> Result<(), Refusal> {
    if state.session.read_only {
        let words = "another quipu has this session open, so it can only be read here: /fork goes on in a copy";
        return Err(Refusal::new(Level::Warn, words));
    }
    Ok(())
}

/// Takes in what the store tells.
pub(super) fn told(state: &mut State, event: StoreEvent) -> Vec<Effect> {
    match event {
        StoreEvent::Saved { ticket, key, id } => saved(state, ticket, key, id),
        StoreEvent::Unsaved { words, .. } => {
            if !state.keeping.trouble {
                state.tell(
                    Level::Error,
                    format!("not saved: {words}; the chat goes on, and is saved as soon as that is possible"),
                );
            }
            state.keeping.trouble = true;
        }
        StoreEvent::Emptied { words } => {
            state.tell(Level::Error, words);
            state.session.id = None;
            state.session.described = true;
            state.conversation.keep_all();
        }
        StoreEvent::Opened { key, opened } => {
            // Whoever asked for another one since does not want this one.
            if let Some((_, title)) = state.keeping.opening.take_if(|(asked, _)| *asked == key) {
                return opened_as(state, key, opened, title);
            }
            return vec![Effect::Store(StoreCommand::Release { key })];
        }
        StoreEvent::Traced { key, message, trace } => {
            let outcome = inspect::recalled(state, key, message, trace);
            return settle(state, outcome);
        }
        StoreEvent::Listed { request, sessions } => sessions::listed(state, request, sessions),
        StoreEvent::Found { request, hits } => sessions::found(state, request, hits),
        StoreEvent::Recalled { key, draft, sent } => return drafts::recalled(state, key, draft, sent),
        StoreEvent::Done(Ok(words)) => {
            state.tell(Level::Info, words);
            return sessions::refresh(state);
        }
        StoreEvent::Done(Err(words)) => state.tell(Level::Error, words),
    }
    Vec::new()
}

fn saved(state: &mut State, ticket: u64, key: SessionKey, id: crate::domain::session::SessionId) {
    if key == state.key() {
        state.session.id = Some(id);
    }
    if state.keeping.trouble && ticket >= state.keeping.asked {
        state.keeping.trouble = false;
        state.tell(Level::Info, "everything is saved again");
    }
}

fn opened_as(
    state: &mut State,
    key: SessionKey,
    opened: Result<Box<Opened>, NotOpened>,
    title: Option<String>,
) -> Vec<Effect> {
    let opened = match (opened, title) {
        (Ok(opened), _) => *opened,
        // One that was asked for by its title is begun where there is none.
        (Err(NotOpened::Unknown(_)), Some(title)) => {
            state.tell(Level::Info, format!("there was no session '{title}': this is it now"));
            state.session.details.title = title;
            state.session.details.titled = Titled::Person;
            state.session.described = true;
            return Vec::new();
        }
        (Err(NotOpened::Unknown(words) | NotOpened::Failed(words)), _) => {
            state.tell(Level::Error, words);
            return Vec::new();
        }
    };
    let jump = sessions::jump(state, opened.id);
    let mut effects = leave(state);
    let Opened {
        id,
        details,
        mut conversation,
        held,
    } = opened;
    if let Some(message) = jump
        && !conversation.path().iter().any(|shown| shown.id == message)
    {
        conversation.select(message);
    }
    let session = Session {
        id: Some(id),
        details,
        read_only: held,
        begun: true,
        ..Session::default()
    };
    enter_as(state, key, conversation, session);
    state.screen.selected = jump.filter(|id| state.conversation.get(*id).is_some());
    state.screen.reveal = state.screen.selected;
    if held {
        let words = "another quipu has this session open: it can be read here, and /fork goes on in a copy";
        state.tell(Level::Warn, words);
    }
    effects.extend(warm::resume(state));
    effects
}
