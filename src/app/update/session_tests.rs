//! Sessions from the person's side: what is given to the store and when, and what comes of what it tells.

use std::time::Duration;

use pretty_assertions::assert_eq;

use crate::app::command::CommandId;
use crate::app::notice::Level;
use crate::app::sessions::Typed;
use crate::app::state::{Drafting, Overlay};
use crate::app::{Action, Effect, Msg, State, update};
use crate::domain::inference::{Command, Finish};
use crate::domain::session::{
    Details, Hit, NotOpened, Opened, SessionId, SessionKey, StoreCommand, StoreEvent, Summary, Titled, Which,
};
use crate::domain::{Changes, Conversation, MessageId, Role};

use super::scene::{act, answered, draft, finish, last_notice, ready, say, send};

/// A state whose conversation is kept.
fn kept() -> State {
    let mut state = ready();
    state.keep(1_000, None);
    // What becomes of drafts is tested by itself.
    state.keeping.drafting = Drafting::default();
    state
}

/// What the store is given among these effects.
fn saves(effects: &[Effect]) -> Vec<(&Changes, Option<&Details>)> {
    let saves = effects.iter().filter_map(|effect| match effect {
        Effect::Store(StoreCommand::Save { changes, details, .. }) => Some((changes, details.as_ref())),
        _ => None,
    });
    saves.collect()
}

fn store(state: &mut State, event: StoreEvent) -> Vec<Effect> {
    update(state, Msg::Store(event))
}

fn texts(changes: &Changes) -> Vec<&str> {
    changes.messages.iter().map(|message| message.text.as_str()).collect()
}

fn tick(state: &mut State, ms: u64) -> Vec<Effect> {
    update(state, Msg::Tick(Duration::from_millis(ms)))
}

#[test]
fn what_is_said_is_given_to_the_store_before_it_is_answered() {
    let mut state = kept();
    let effects = send(&mut state, "What is a quipu?");
    assert!(matches!(
        effects[0],
        Effect::Store(StoreCommand::Save {
            ticket: 1,
            key: SessionKey(0),
            ..
        })
    ));
    assert!(matches!(effects[2], Effect::Engine(Command::Generate { .. })));
    let saves = saves(&effects);
    assert_eq!(texts(saves[0].0), ["What is a quipu?", ""]);
    assert_eq!(
        saves[0].1.map(|details| details.title.as_str()),
        Some("What is a quipu?")
    );
    assert_eq!(saves[0].0.messages[0].at, 1_000);
}

#[test]
fn an_answer_is_kept_every_second_and_at_its_end() {
    let mut state = kept();
    send(&mut state, "hello");
    say(&mut state, 7, "one");
    assert_eq!(tick(&mut state, 900), []);
    let effects = tick(&mut state, 1_000);
    assert_eq!(texts(saves(&effects)[0].0), ["one"]);
    say(&mut state, 8, " two");
    assert_eq!(tick(&mut state, 1_500), []);
    assert_eq!(state.wakes_at(), Some(Duration::from_millis(1_600)));
    let effects = finish(&mut state, Finish::EndOfTurn);
    let saved = saves(&effects);
    assert_eq!(texts(saved[0].0), ["one two"]);
    let answer = saved[0].0.messages[0].answer.as_ref().unwrap();
    assert_eq!((answer.finish, answer.takes.len()), (Some(Finish::EndOfTurn), 1));
    assert_eq!(tick(&mut state, 9_000), [], "nothing changed since");
}

#[test]
fn a_conversation_without_a_word_is_not_kept() {
    let mut state = kept();
    assert_eq!(send(&mut state, "/system Be terse."), [draft("")]);
    let effects = send(&mut state, "/new");
    assert_eq!(saves(&effects), []);
    assert_eq!(
        saves(&send(&mut state, "hello"))[0]
            .0
            .head
            .as_ref()
            .unwrap()
            .system
            .as_deref(),
        Some("Be terse.")
    );
}

#[test]
fn trouble_is_told_once_and_its_end_too() {
    let mut state = kept();
    send(&mut state, "hello");
    let unsaved = || StoreEvent::Unsaved {
        ticket: 1,
        words: "the disk is full: make room".to_owned(),
    };
    store(&mut state, unsaved());
    assert_eq!(
        last_notice(&state),
        (
            Level::Error,
            "not saved: the disk is full: make room; the chat goes on, and is saved as soon as that is possible"
        )
    );
    let told = state.notices.all().len();
    store(&mut state, unsaved());
    assert_eq!(state.notices.all().len(), told);
    let saved = StoreEvent::Saved {
        ticket: 1,
        key: SessionKey(0),
        id: SessionId(4),
    };
    store(&mut state, saved);
    assert_eq!(last_notice(&state), (Level::Info, "everything is saved again"));
    assert_eq!(state.session.id, Some(SessionId(4)));
}

#[test]
fn after_a_damaged_file_all_is_kept_anew() {
    let mut state = kept();
    send(&mut state, "hello");
    finish(&mut state, Finish::EndOfTurn);
    let effects = store(
        &mut state,
        StoreEvent::Emptied {
            words: "it was damaged".to_owned(),
        },
    );
    let saved = saves(&effects);
    assert_eq!(texts(saved[0].0), ["hello", ""]);
    assert!(saved[0].1.is_some());
}

fn opened(held: bool) -> Opened {
    let mut conversation = Conversation::default();
    conversation.push(Role::User, "before", 1);
    conversation.push(Role::Assistant, "yes", 1);
    let _ = conversation.changes(None);
    Opened {
        id: SessionId(9),
        details: Details {
            title: "Old".to_owned(),
            ..Details::default()
        },
        conversation,
        held,
    }
}

#[test]
fn a_session_is_opened_where_it_was_left_and_warm() {
    let mut state = kept();
    send(&mut state, "hello");
    assert_eq!(
        send(&mut state, "/sessions Old"),
        [
            draft(""),
            Effect::Store(StoreCommand::Open {
                key: SessionKey(1),
                which: Which::Named("Old".to_owned())
            })
        ]
    );
    let effects = store(
        &mut state,
        StoreEvent::Opened {
            key: SessionKey(1),
            opened: Ok(Box::new(opened(false))),
        },
    );
    assert!(
        matches!(effects[0], Effect::Cancel(_)),
        "the answer under way is stopped: {effects:?}"
    );
    assert!(effects.contains(&Effect::Store(StoreCommand::Release { key: SessionKey(0) })));
    assert!(matches!(effects.last(), Some(Effect::Engine(Command::Resume { name, .. })) if name == "session-9"));
    assert_eq!((state.session.id, state.begun), (Some(SessionId(9)), 1));
    assert_eq!(state.conversation.path().len(), 2);
    // What is said then goes to it, and the reading is given up for it.
    let effects = send(&mut state, "and now?");
    assert!(matches!(
        effects[0],
        Effect::Store(StoreCommand::Save { key: SessionKey(1), .. })
    ));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Cancel(_))));
}

#[test]
fn a_session_that_another_has_open_can_be_read_and_forked() {
    let mut state = kept();
    send(&mut state, "/sessions 9");
    let held = StoreEvent::Opened {
        key: SessionKey(1),
        opened: Ok(Box::new(opened(true))),
    };
    store(&mut state, held);
    assert_eq!(last_notice(&state).0, Level::Warn);
    assert_eq!(send(&mut state, "hello"), []);
    assert!(last_notice(&state).1.contains("/fork"), "{:?}", last_notice(&state));
    assert_eq!(state.draft.text, "hello", "nothing is lost");
    let effects = send(&mut state, "/fork");
    let saved = saves(&effects);
    assert_eq!(texts(saved[0].0), ["before", "yes"]);
    assert_eq!(saved[0].1.map(|details| details.title.as_str()), Some("Old (fork)"));
    assert!(!state.session.read_only);
}

#[test]
fn a_session_named_at_start_is_begun_where_it_is_not_there() {
    let mut state = ready();
    let mut effects = state.keep(1_000, Some(Which::Named("Diary".to_owned())));
    state.keeping.drafting = Drafting::default();
    effects.pop();
    let Some(Effect::Store(StoreCommand::Open { key, .. })) = effects.first() else {
        panic!("nothing is opened: {effects:?}");
    };
    let unknown = StoreEvent::Opened {
        key: *key,
        opened: Err(NotOpened::Unknown("there is none".to_owned())),
    };
    assert_eq!(store(&mut state, unknown), []);
    let effects = send(&mut state, "hello");
    let details = saves(&effects)[0].1.unwrap();
    assert_eq!((details.title.as_str(), details.titled), ("Diary", Titled::Person));
}

#[test]
fn an_edit_is_another_version_and_undo_brings_the_first_back() {
    let mut state = answered();
    assert_eq!(send(&mut state, "/edit"), [draft(""), draft("hello")]);
    assert_eq!(state.screen.editing, Some(MessageId(0)));
    send(&mut state, "hello there");
    finish(&mut state, Finish::EndOfTurn);
    let words = |state: &State| -> Vec<String> {
        state
            .conversation
            .path()
            .iter()
            .map(|message| message.text.clone())
            .collect()
    };
    assert_eq!(words(&state), ["hello there", ""]);
    assert_eq!(state.conversation.versions(MessageId(0)).len(), 2);
    act(&mut state, Action::Run(CommandId::Undo));
    assert_eq!(words(&state), ["hello", "hi"]);
    act(&mut state, Action::Run(CommandId::Redo));
    assert_eq!(words(&state), ["hello there", ""]);
    // Esc leaves it as it was.
    send(&mut state, "/edit");
    assert_eq!(act(&mut state, Action::Escape), [draft("")]);
    assert_eq!(state.screen.editing, None);
}

#[test]
fn a_selected_message_is_what_keys_are_about() {
    let mut state = answered();
    act(&mut state, Action::SelectPrevious);
    act(&mut state, Action::SelectPrevious);
    assert_eq!(state.screen.selected, Some(MessageId(0)));
    act(&mut state, Action::Run(CommandId::Remove));
    assert!(state.conversation.path().is_empty());
    act(&mut state, Action::Run(CommandId::Undo));
    assert_eq!(state.conversation.path().len(), 2);
    act(&mut state, Action::SelectPrevious);
    act(&mut state, Action::SelectNext);
    assert_eq!(state.screen.selected, None, "below the last there is none");
}

fn summary(id: i64, title: &str) -> Summary {
    Summary {
        id: SessionId(id),
        details: Details {
            title: title.to_owned(),
            ..Details::default()
        },
        messages: 2,
        ..Summary::default()
    }
}

#[test]
fn the_panel_lists_finds_and_opens() {
    let mut state = kept();
    let effects = act(&mut state, Action::Run(CommandId::Sessions));
    let [Effect::Store(StoreCommand::List { request, .. })] = effects[..] else {
        panic!("{effects:?}");
    };
    let sessions = Ok(vec![summary(1, "Knots"), summary(2, "Cords")]);
    store(&mut state, StoreEvent::Listed { request, sessions });
    let effects = update(&mut state, Msg::TypedOver(Typed::Text("co".to_owned())));
    let [Effect::Store(StoreCommand::Search { request, text })] = &effects[..] else {
        panic!("{effects:?}");
    };
    assert_eq!(text, "co");
    let hit = Hit {
        session: SessionId(1),
        title: "Knots".to_owned(),
        message: MessageId(1),
        role: Role::Assistant,
        at: 0,
        snippet: vec![(true, "co".to_owned())],
    };
    let hits = Ok(vec![hit]);
    store(
        &mut state,
        StoreEvent::Found {
            request: *request,
            hits,
        },
    );
    let Some(Overlay::Sessions(panel)) = &state.screen.overlay else {
        panic!("no panel");
    };
    assert_eq!(panel.rows().count(), 2, "a title and a message");
    act(&mut state, Action::LineDown);
    act(&mut state, Action::Take);
    let key = state.keeping.opening.as_ref().unwrap().0;
    store(
        &mut state,
        StoreEvent::Opened {
            key,
            opened: Ok(Box::new(Opened {
                id: SessionId(1),
                ..opened(false)
            })),
        },
    );
    assert_eq!(state.screen.selected, Some(MessageId(1)), "it jumps to the message");
    assert_eq!(state.screen.overlay, None);
}

#[test]
fn an_older_answer_of_a_search_is_no_news() {
    let mut state = kept();
    send(&mut state, "/search a");
    let Some(Overlay::Sessions(panel)) = &state.screen.overlay else {
        panic!("no panel");
    };
    let first = panel.requests.1;
    update(&mut state, Msg::TypedOver(Typed::Text("b".to_owned())));
    let late = StoreEvent::Found {
        request: first,
        hits: Err("late".to_owned()),
    };
    let told = state.notices.all().len();
    store(&mut state, late);
    assert_eq!(state.notices.all().len(), told);
}

#[test]
fn a_deleted_session_is_brought_back() {
    let mut state = kept();
    send(&mut state, "hello");
    finish(&mut state, Finish::EndOfTurn);
    let saved = StoreEvent::Saved {
        ticket: state.keeping.ticket,
        key: state.key(),
        id: SessionId(3),
    };
    store(&mut state, saved);
    let effects = send(&mut state, "/delete");
    assert!(effects.contains(&Effect::Store(StoreCommand::Delete { id: SessionId(3) })));
    assert!(state.conversation.is_empty());
    let effects = send(&mut state, "/undo");
    assert!(
        effects.contains(&Effect::Store(StoreCommand::Restore { id: SessionId(3) })),
        "{effects:?}"
    );
}

#[test]
fn undo_brings_back_what_was_deleted_last_and_nothing_older() {
    let mut state = kept();
    send(&mut state, "hello");
    finish(&mut state, Finish::EndOfTurn);
    state.screen.overlay = Some(Overlay::Sessions(Box::new(crate::app::sessions::SessionList {
        sessions: vec![summary(7, "Old")],
        ..Default::default()
    })));
    let effects = act(&mut state, Action::Delete);
    assert!(effects.contains(&Effect::Store(StoreCommand::Delete { id: SessionId(7) })));
    act(&mut state, Action::Escape);
    let effects = send(&mut state, "/undo");
    assert!(
        effects.contains(&Effect::Store(StoreCommand::Restore { id: SessionId(7) })),
        "{effects:?}"
    );
    assert_eq!(
        state.conversation.path().len(),
        2,
        "the talk on the screen is as it was"
    );
    send(&mut state, "/undo");
    assert!(state.conversation.is_empty());
}

#[test]
fn without_a_store_sessions_are_refused_in_words() {
    let mut state = ready();
    for command in [
        "/sessions",
        "/search a",
        "/delete",
        "/export a.md",
        "/import a.json",
        "/pin",
    ] {
        send(&mut state, command);
        assert!(last_notice(&state).1.contains("not kept"), "{command}");
    }
}

#[test]
fn leaving_keeps_the_state_of_the_model() {
    let mut state = kept();
    send(&mut state, "hello");
    say(&mut state, 7, "hi");
    finish(&mut state, Finish::EndOfTurn);
    let saved = StoreEvent::Saved {
        ticket: state.keeping.ticket,
        key: state.key(),
        id: SessionId(3),
    };
    store(&mut state, saved);
    let keep = Effect::Engine(Command::Keep {
        name: "session-3".to_owned(),
    });
    let mut quitting = state.clone();
    let effects = act(&mut quitting, Action::Run(CommandId::Quit));
    assert!(effects.contains(&keep), "{effects:?}");
    assert_eq!(effects.last(), Some(&Effect::Quit(0)));
    let effects = update(&mut state, Msg::Terminate(15));
    assert!(!effects.contains(&keep), "a signal does not wait for it");
}
