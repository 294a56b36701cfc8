//! Versions, new conversations and the system prompt.

use pretty_assertions::assert_eq;

use super::scene::{
    act, answered, answering, draft, finish, generate, last_notice, loading, message, path, ready, say, send,
};
use crate::app::notice::Level;
use crate::app::state::{Overlay, Scroll};
use crate::app::{Action, CommandId, Effect, State};
use crate::domain::inference::{Finish, TurnId};
use crate::domain::{Conversation, Role};

const RETRY: Action = Action::Run(CommandId::Retry);

fn with_two_versions() -> State {
    let mut state = answered();
    act(&mut state, RETRY);
    say(&mut state, 9, "hey");
    finish(&mut state, Finish::EndOfTurn);
    state
}

#[test]
fn a_retry_is_another_version() {
    let mut state = answered();
    let asked = generate(3, vec![message(Role::User, "hello", None)]);
    assert_eq!(act(&mut state, RETRY), [asked]);
    assert_eq!(path(&state), ["hello", ""]);
    say(&mut state, 9, "hey");
    finish(&mut state, Finish::EndOfTurn);
    for (action, shown) in [
        (Action::VersionNext, "hey"),
        (Action::VersionPrevious, "hi"),
        (Action::VersionPrevious, "hi"),
        (Action::VersionNext, "hey"),
    ] {
        assert_eq!(act(&mut state, action), []);
        assert_eq!(path(&state), ["hello", shown], "{action:?}");
    }
}

#[test]
fn a_retry_that_says_nothing_returns_to_what_was_shown() {
    let mut state = with_two_versions();
    act(&mut state, Action::VersionPrevious);
    act(&mut state, RETRY);
    act(&mut state, Action::Escape);
    assert_eq!(finish(&mut state, Finish::Stopped), []);
    assert_eq!(path(&state), ["hello", "hi"]);
    assert_eq!(state.conversation.versions(state.conversation.tip().unwrap()).len(), 2);
    assert_eq!(state.draft.text, "");
}

#[test]
fn a_retry_answers_a_question_that_has_no_answer() {
    let mut state = ready();
    state.conversation.push(Role::User, "hello", 0);
    let asked = generate(2, vec![message(Role::User, "hello", None)]);
    assert_eq!(act(&mut state, RETRY), [asked]);
    act(&mut state, Action::Escape);
    finish(&mut state, Finish::Stopped);
    assert_eq!(path(&state), ["hello"]);
}

#[test]
fn there_must_be_something_to_retry_and_no_answer_to_turn() {
    let mut state = ready();
    assert_eq!(act(&mut state, RETRY), []);
    assert_eq!(
        last_notice(&state),
        (Level::Info, "there is nothing to answer again yet")
    );
    let mut state = with_two_versions();
    act(&mut state, RETRY);
    assert_eq!(act(&mut state, Action::VersionPrevious), []);
    assert_eq!(path(&state), ["hello", ""]);
    assert_eq!(last_notice(&state).1, "still answering: Esc stops it");
}

#[test]
fn a_new_conversation_keeps_the_system_prompt_alone() {
    let mut state = answering("hi");
    send(&mut state, "/system Be terse.");
    state.screen.scroll = Scroll::At(1);
    assert_eq!(send(&mut state, "/clear"), [draft(""), Effect::Cancel(TurnId(2))]);
    assert_eq!(state.conversation, Conversation::under(Some("Be terse.".to_owned())));
    assert_eq!((state.running.as_ref(), state.context_used), (None, 0));
    assert_eq!(state.screen.scroll, Scroll::Follow);
    let mut state = loading();
    send(&mut state, "hello");
    assert_eq!(send(&mut state, "/new"), [draft("")]);
    assert_eq!(act(&mut state, Action::HistoryPrevious), [draft("/new")]);
    assert_eq!(act(&mut state, Action::HistoryPrevious), [draft("hello")]);
}

#[test]
fn the_system_prompt_is_shown_set_and_removed() {
    let mut state = ready();
    let steps = [
        ("/system", "there is no system prompt: /system TEXT sets one", None),
        (
            "/system Be\nterse.",
            "the system prompt holds from the next message on",
            Some("Be\nterse."),
        ),
        (
            "/system OFF",
            "the system prompt is gone from the next message on",
            None,
        ),
    ];
    for (typed, words, system) in steps {
        assert_eq!(send(&mut state, typed), [draft("")]);
        assert_eq!(last_notice(&state), (Level::Info, words));
        assert_eq!(state.conversation.system(), system);
    }
    state.conversation.set_system(Some("Be terse.".to_owned()));
    send(&mut state, "/system");
    let (title, text) = ("system prompt".to_owned(), "Be terse.".to_owned());
    assert_eq!(state.screen.overlay, Some(Overlay::Text { title, text, top: 0 }));
}
