//! What a person decides about the session on the screen: its title, place and tags, and to write it to a file.

use crate::app::effect::Effect;
use crate::app::notice::Level;
use crate::app::state::State;
use crate::domain::inference::{ChatMessage, Command, GenerateRequest, PromptRequest, Thinking, TurnId};
use crate::domain::request;
use crate::domain::sampling::Sampling;
use crate::domain::session::{Details, Format, StoreCommand, Titled, Whole};

use super::{Outcome, Refusal, answer, model, session, sessions};

/// What a model is asked for a title with.
const ASK: &str = "Give this conversation a title of at most six words. Answer with the title alone.";
/// Tokens of a title.
const LONGEST: u32 = 24;

/// A title that a model is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Titling {
    /// The request.
    pub turn: TurnId,
    /// What came so far.
    text: String,
}

/// `/title`: shows or gives the title; `auto` has the model make one.
pub(super) fn title(state: &mut State, text: &str) -> Outcome {
    session::may_write(state)?;
    if text.is_empty() {
        let words = match state.session.details.title.as_str() {
            "" => "this session has no title yet: the first message gives it one".to_owned(),
            title => format!("this session is '{title}': /title TEXT gives another, /title auto asks the model"),
        };
        state.tell(Level::Info, words);
        return Ok(Vec::new());
    }
    if text.eq_ignore_ascii_case("auto") {
        return ask(state);
    }
    Ok(entitled(state, text, Titled::Person))
}

fn entitled(state: &mut State, title: &str, titled: Titled) -> Vec<Effect> {
    state.tell(Level::Info, format!("this session is '{title}' now"));
    change(state, |details| {
        title.clone_into(&mut details.title);
        details.titled = titled;
    })
}

/// Asks the model for a title, aside of the conversation.
fn ask(state: &mut State) -> Outcome {
    answer::idle(state)?;
    let thinking = model::at_hand(state)?.thinking.switch.then_some(Thinking::Off);
    // The first exchange says what it is about.
    let first: Vec<_> = state.conversation.path().into_iter().take(2).collect();
    if first.is_empty() {
        return Err(Refusal::new(Level::Info, "there is nothing yet to make a title of"));
    }
    let mut messages: Vec<_> = first
        .iter()
        .map(|message| ChatMessage::new(message.role, &message.text))
        .collect();
    request::ask(&mut messages, ASK);
    let turn = state.next_turn();
    state.titling = Some(Titling {
        turn,
        text: String::new(),
    });
    let request = GenerateRequest {
        prompt: PromptRequest {
            messages,
            thinking,
            max_tokens: Some(LONGEST),
            ..PromptRequest::default()
        },
        sampling: Sampling {
            temperature: 0.0,
            ..Sampling::default()
        },
        thinking_budget: Some(0),
        ..GenerateRequest::default()
    };
    Ok(vec![Effect::Engine(Command::Generate { turn, request })])
}

/// Whether this turn makes a title.
pub(super) fn is_titling(state: &State, turn: TurnId) -> bool {
    state.titling.as_ref().is_some_and(|titling| titling.turn == turn)
}

/// A part of the title came.
pub(super) fn said(state: &mut State, text: &str) {
    if let Some(titling) = &mut state.titling {
        titling.text.push_str(text);
    }
}

/// The title is there.
pub(super) fn finished(state: &mut State) -> Vec<Effect> {
    let Some(Titling { text, .. }) = state.titling.take() else {
        return Vec::new();
    };
    let quotes = ['"', '\'', '*', '#', ' ', '“', '”', '.'];
    let title = crate::domain::session::title_of(&text);
    let title = title.trim_matches(quotes);
    if title.is_empty() {
        state.tell(Level::Info, "the model made no title: /title TEXT gives one");
        return Vec::new();
    }
    entitled(state, title, Titled::Model)
}

/// `/pin`.
pub(super) fn pin(state: &mut State) -> Outcome {
    flip(state, "pinned", "no longer pinned", |details| &mut details.pinned)
}

/// `/archive`.
pub(super) fn archive(state: &mut State) -> Outcome {
    let words = "archived: it is listed only where archived ones are asked for";
    flip(state, words, "no longer archived", |details| &mut details.archived)
}

fn flip(state: &mut State, on: &str, off: &str, field: fn(&mut Details) -> &mut bool) -> Outcome {
    session::has_store(state)?;
    session::may_write(state)?;
    let field_of = field(&mut state.session.details);
    let now = !*field_of;
    let words = format!("this session is {}", if now { on } else { off });
    state.tell(Level::Info, words);
    Ok(change(state, |details| *field(details) = now))
}

/// `/tag`: shows, sets or removes the tags.
pub(super) fn tag(state: &mut State, line: &str) -> Outcome {
    session::may_write(state)?;
    let shown = |tags: &[String]| tags.iter().map(|tag| format!("#{tag}")).collect::<Vec<_>>().join(" ");
    if line.is_empty() {
        let words = match shown(&state.session.details.tags).as_str() {
            "" => "this session has no tags: /tag WORDS sets some".to_owned(),
            tags => format!("this session has the tags {tags}: /tag off removes them"),
        };
        state.tell(Level::Info, words);
        return Ok(Vec::new());
    }
    let tags = if line.eq_ignore_ascii_case("off") {
        Vec::new()
    } else {
        Details::tags_of(line)
    };
    let words = match shown(&tags).as_str() {
        "" => "this session has no tags any more".to_owned(),
        tags => format!("this session has the tags {tags}"),
    };
    state.tell(Level::Info, words);
    Ok(change(state, |details| details.tags = tags))
}

/// Changes what is known of the session; the store hears of it with what else there is to keep.
fn change(state: &mut State, how: impl FnOnce(&mut Details)) -> Vec<Effect> {
    how(&mut state.session.details);
    state.session.described = true;
    sessions::refresh(state)
}

/// `/delete`: deletes the session on the screen.
pub(super) fn delete(state: &mut State) -> Outcome {
    session::has_store(state)?;
    let Some(id) = state.session.id else {
        return Err(Refusal::new(Level::Info, "nothing of this session is kept yet"));
    };
    let title = state.session.details.title.clone();
    sessions::delete(state, id, &title)
}

/// `/export`: writes the session to a file.
pub(super) fn export(state: &mut State, path: &str) -> Outcome {
    session::has_store(state)?;
    if path.is_empty() {
        return Err(Refusal::new(
            Level::Info,
            "name the file: /export FILE.md, FILE.html or FILE.json",
        ));
    }
    let Some(format) = Format::of_file(path) else {
        let words = format!("'{path}' does not say how to write it: end it in .md, .html or .json");
        return Err(Refusal::new(Level::Warn, words));
    };
    if state.conversation.is_empty() {
        return Err(Refusal::new(Level::Info, "there is nothing to write yet"));
    }
    let created = state.conversation.messages().first().map_or(0, |first| first.at);
    let session = Box::new(Whole {
        details: state.session.details.clone(),
        created,
        conversation: state.conversation.clone(),
    });
    let path = path.to_owned();
    let key = state.key();
    Ok(vec![Effect::Store(StoreCommand::Export {
        key,
        session,
        path,
        format,
    })])
}

/// `/import`: reads sessions from a file.
pub(super) fn import(state: &mut State, path: &str) -> Outcome {
    session::has_store(state)?;
    if path.is_empty() {
        return Err(Refusal::new(Level::Info, "name the file: /import FILE"));
    }
    let path = path.to_owned();
    Ok(vec![Effect::Store(StoreCommand::Import { path })])
}
