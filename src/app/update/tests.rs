//! The way of a message: sent, waiting for its model, answered, stopped, failed. What belongs to one noun alone is tested
//! in that noun's file.

use std::time::Duration;

use pretty_assertions::assert_eq;

use super::scene::*;
use crate::app::notice::Level;
use crate::app::state::{Engine, Phase, Scroll};
use crate::app::{Action, CommandId, Effect, Msg, State, update};
use crate::domain::inference::{Event, Failure, FailureKind, Finish, PrefillProgress, Said, Stats, Token, TurnId};
use crate::domain::{Answer, Role};

#[test]
fn a_message_is_sent_and_answered() {
    let mut state = ready();
    state.screen.scroll = Scroll::At(3);
    tick(&mut state, 5);
    let asked = generate(2, vec![message(Role::User, "hello", None)]);
    assert_eq!(send(&mut state, " hello\n"), [draft(""), asked]);
    assert_eq!(state.draft.text, "");
    assert_eq!(state.draft.history(), [" hello\n"]);
    assert_eq!(state.screen.scroll, Scroll::Follow);
    prefill(&mut state, 8, 12);
    assert_eq!(state.context_used, 8);
    let progress = PrefillProgress {
        done: 8,
        total: 12,
        reused: 0,
    };
    assert_eq!(state.running.as_ref().unwrap().phase, Phase::Prefill(progress));
    tick(&mut state, 6);
    say(&mut state, 7, "h");
    tick(&mut state, 7);
    say(&mut state, 8, "i");
    let decoding = Phase::Decoding {
        tokens: 2,
        first: Duration::from_secs(6),
    };
    assert_eq!(state.running.as_ref().unwrap().phase, decoding);
    assert_eq!((path(&state), state.context_used), (vec!["hello", "hi"], 10));
    assert_eq!(finish(&mut state, Finish::EndOfTurn), []);
    assert_eq!((state.running.as_ref(), state.context_used), (None, 40));
    let answer = state.conversation.path()[1].answer.clone().unwrap();
    let told = Answer {
        model: "condor fingerprint".to_owned(),
        model_name: "condor".to_owned(),
        tokens: vec![Token(7), Token(8)],
        finish: Some(Finish::EndOfTurn),
        stats: Stats {
            generated: 3,
            context_used: 40,
            ..Stats::default()
        },
        takes: answer.takes.clone(),
        ..Answer::default()
    };
    assert_eq!(answer, told);
    assert_eq!(answer.takes.len(), 1);
    assert_eq!(state.notices.all(), []);
}

#[test]
fn a_model_gets_its_own_tokens_back_and_no_other_model_does() {
    let mut state = answered();
    send(&mut state, "/system Be terse.");
    let effects = send(&mut state, "and?");
    let prompt = |tokens| {
        vec![
            message(Role::System, "Be terse.", None),
            message(Role::User, "hello", None),
            message(Role::Assistant, "hi", tokens),
            message(Role::User, "and?", None),
        ]
    };
    assert_eq!(effects, [draft(""), generate(3, prompt(Some(&[7])))]);

    let mut state = answered();
    send(&mut state, "/system Be terse.");
    send(&mut state, "/model llama.gguf");
    arrive(&mut state, "llama");
    assert_eq!(send(&mut state, "and?"), [draft(""), generate(4, prompt(None))]);
}

#[test]
fn text_held_back_is_text_but_no_token() {
    let mut state = answering("hi");
    let said = Said {
        token: None,
        text: " �".to_owned(),
        ..Said::default()
    };
    let turn = turn(&state);
    update(&mut state, Msg::Engine(Event::Token { turn, said }));
    assert_eq!(path(&state), ["hello", "hi �"]);
    assert_eq!(state.conversation.path()[1].answer.as_ref().unwrap().tokens, [Token(7)]);
}

#[test]
fn a_message_waits_for_its_model() {
    let mut state = loading();
    assert_eq!(send(&mut state, "hello"), [draft("")]);
    assert_eq!(state.running.as_ref().unwrap().phase, Phase::Queued);
    assert_eq!(path(&state), ["hello", ""]);
    let effects = arrive(&mut state, "condor");
    assert_eq!(effects, [generate(3, vec![message(Role::User, "hello", None)])]);
    assert_eq!(turn(&state), TurnId(3));
    let answer = state.conversation.path()[1].answer.clone().unwrap();
    assert_eq!(
        (answer.model.as_str(), answer.model_name.as_str()),
        ("condor fingerprint", "condor")
    );
}

#[test]
fn a_message_that_waits_survives_a_change_of_mind() {
    let mut state = loading();
    send(&mut state, "hello");
    let name = "llama.gguf".to_owned();
    assert_eq!(
        send(&mut state, "/model llama.gguf"),
        [draft(""), Effect::Seek(name.clone())]
    );
    let effects = update(&mut state, Msg::Found(name, Ok(())));
    let load = Effect::Load {
        turn: TurnId(3),
        name: Some("llama.gguf".to_owned()),
        options: state.options.load.clone(),
    };
    assert_eq!(effects, [Effect::Cancel(TurnId(1)), load]);
    // A turn above every cancelled one, so that the cancel of a load cannot reach it.
    let asked = generate(4, vec![message(Role::User, "hello", None)]);
    assert_eq!(arrive(&mut state, "llama"), [asked]);
}

#[test]
fn a_message_that_waited_in_vain_goes_back_into_the_draft() {
    let cases = [
        ("", vec![draft("hello")], "hello"),
        (" more", vec![draft("hello\n\nmore")], "hello\n\nmore"),
        ("//etc", vec![draft("hello\n\n/etc")], "hello\n\n/etc"),
        ("/mod", vec![], "/mod"),
    ];
    for (typed, effects, stands) in cases {
        let mut state = loading();
        send(&mut state, "hello");
        edit(&mut state, typed);
        assert_eq!(fail_load(&mut state, "'x.gguf' is empty"), effects);
        assert_eq!((state.running.as_ref(), state.conversation.tip()), (None, None));
        assert_eq!(state.draft.text, stands);
        assert_eq!(state.draft.history(), ["hello"]);
        let shown = state.notices.current(state.now).unwrap();
        let words = "'x.gguf' is empty; /model FILE loads another model";
        assert_eq!((shown.level, shown.text.as_str()), (Level::Error, words));
    }
}

#[test]
fn a_message_with_a_slash_goes_back_as_it_was_typed() {
    let mut state = loading();
    send(&mut state, "//etc is a folder");
    assert_eq!(path(&state), ["/etc is a folder", ""]);
    assert_eq!(act(&mut state, Action::Escape), [draft("//etc is a folder")]);
}

#[test]
fn nothing_is_sent_without_a_model() {
    let failed = Engine::Failed(Failure::new(FailureKind::Model, "'x.gguf' is empty"));
    let cases = [
        (
            Engine::Empty,
            "no model is loaded: /model FILE loads one, /model cria the built-in one",
        ),
        (failed, "'x.gguf' is empty; /model FILE loads another model"),
        (
            Engine::Dead("out of memory".to_owned()),
            "the engine has stopped (out of memory): quit and start quipu again",
        ),
    ];
    for (engine, words) in cases {
        let mut state = State {
            engine,
            ..State::default()
        };
        assert_eq!(send(&mut state, "hello"), []);
        assert_eq!(last_notice(&state), (Level::Error, words));
        assert_eq!(state.draft.text, "hello");
        assert_eq!(state.draft.history(), [""; 0]);
        assert!(state.conversation.is_empty() && state.running.is_none());
    }
}

#[test]
fn an_empty_draft_is_not_sent() {
    let mut state = ready();
    let before = state.clone();
    assert_eq!(act(&mut state, Action::Send), []);
    assert_eq!(state, before);
    assert_eq!(send(&mut state, " \n "), []);
    assert_eq!(state.draft.text, " \n ");
}

#[test]
fn one_answer_at_a_time() {
    for text in ["second", "/retry", "/prompt"] {
        let mut state = answering("hi");
        assert_eq!(send(&mut state, text), []);
        assert_eq!(last_notice(&state), (Level::Info, "still answering: Esc stops it"));
        assert_eq!((state.draft.text.as_str(), path(&state)), (text, vec!["hello", "hi"]));
    }
    let mut state = answering("hi");
    act(&mut state, Action::Escape);
    assert_eq!(send(&mut state, "second"), []);
    let words = "the answer is being stopped: try again in a moment";
    assert_eq!((last_notice(&state).1, state.draft.text.as_str()), (words, "second"));
}

#[test]
fn a_stopped_answer_keeps_what_was_said() {
    for stop in [Action::Escape, Action::Interrupt, Action::Run(CommandId::Stop)] {
        let mut state = answering("hi");
        assert_eq!(act(&mut state, stop), [Effect::Cancel(TurnId(2))]);
        assert_eq!(state.running.as_ref().unwrap().phase, Phase::Stopping);
        say(&mut state, 8, "!");
        assert_eq!(state.running.as_ref().unwrap().phase, Phase::Stopping);
        assert_eq!(finish(&mut state, Finish::Stopped), []);
        assert_eq!((path(&state), state.running.as_ref()), (vec!["hello", "hi!"], None));
    }
}

#[test]
fn an_answer_that_said_nothing_gives_the_question_back() {
    let silent = |end: fn(&mut State) -> Vec<Effect>| {
        let mut state = answered();
        send(&mut state, "and?");
        act(&mut state, Action::Escape);
        let effects = end(&mut state);
        assert_eq!(path(&state), ["hello", "hi"]);
        assert_eq!(state.conversation.messages().len(), 2);
        assert_eq!(state.draft.text, "and?");
        effects
    };
    assert_eq!(silent(|state| finish(state, Finish::Stopped)), [draft("and?")]);
    let cancelled = |state: &mut State| fail(state, turn(state), FailureKind::Cancelled, "cancelled");
    assert_eq!(silent(cancelled), [draft("and?")]);
    let died = |state: &mut State| update(state, Msg::Engine(Event::Died { reason: "x".to_owned() }));
    assert_eq!(silent(died), [draft("and?")]);
}

#[test]
fn a_model_may_have_nothing_to_say() {
    let mut state = answering("");
    assert_eq!(finish(&mut state, Finish::EndOfTurn), []);
    assert_eq!(path(&state), ["hello", ""]);
    let words = "the model ended its turn without a word: /retry asks it again";
    assert_eq!(last_notice(&state), (Level::Info, words));
}

#[test]
fn an_answer_that_was_cut_says_so() {
    let cases = [
        (
            Finish::MaxTokens,
            "the answer was cut at the limit of 3 tokens: --max-tokens N sets another",
        ),
        (
            Finish::ContextFull,
            "the context of 1024 tokens is full: /new begins an empty one, /context N takes a larger one, /overflow lets go of \
             old turns",
        ),
    ];
    for (why, words) in cases {
        let mut state = answering("hi");
        assert_eq!(finish(&mut state, why), []);
        assert_eq!(last_notice(&state), (Level::Warn, words));
        assert_eq!(path(&state), ["hello", "hi"]);
    }
}

#[test]
fn a_failed_answer_says_why_and_the_engine_lives() {
    let mut state = answering("hi");
    let turn = turn(&state);
    assert_eq!(fail(&mut state, turn, FailureKind::Compute, "llama.cpp gave up"), []);
    assert_eq!((path(&state), state.running.as_ref()), (vec!["hello", "hi"], None));
    assert_eq!(state.conversation.path()[1].answer.as_ref().unwrap().finish, None);
    assert_eq!(last_notice(&state), (Level::Error, "llama.cpp gave up"));
    assert!(state.engine.model().is_some());

    let mut state = answering("");
    assert_eq!(
        fail(&mut state, turn, FailureKind::NoModel, "no model is loaded"),
        [draft("hello")]
    );
    assert_eq!(
        state.engine,
        Engine::Failed(Failure::new(FailureKind::NoModel, "no model is loaded"))
    );
}

#[test]
fn a_dead_engine_is_said_once_and_the_conversation_outlives_it() {
    let mut state = answering("hi");
    let died = Msg::Engine(Event::Died {
        reason: "out of memory".to_owned(),
    });
    assert_eq!(update(&mut state, died.clone()), []);
    let words = "the engine has stopped (out of memory): quit and start quipu again";
    assert_eq!(last_notice(&state), (Level::Error, words));
    assert_eq!((path(&state), state.running.as_ref()), (vec!["hello", "hi"], None));
    let before = state.clone();
    assert_eq!(update(&mut state, died), []);
    assert_eq!(state, before);
    assert_eq!(send(&mut state, "/model x.gguf"), []);
    assert_eq!(last_notice(&state), (Level::Error, words));
    assert_eq!(state.draft.text, "/model x.gguf");
}

#[test]
fn words_of_another_turn_change_nothing() {
    let mut state = answering("hi");
    let before = state.clone();
    let said = Said {
        token: Some(Token(1)),
        text: "late".to_owned(),
        ..Said::default()
    };
    let other = TurnId(1);
    let events = [
        Event::Token { turn: other, said },
        Event::Finished {
            turn: other,
            finish: Finish::EndOfTurn,
            stats: Stats::default(),
        },
        Event::Failed {
            turn: other,
            failure: Failure::new(FailureKind::Model, "late"),
        },
        Event::Ready {
            turn: other,
            model: Box::new(model("late")),
        },
    ];
    for event in events {
        assert_eq!(update(&mut state, Msg::Engine(event)), []);
        assert_eq!(state, before);
    }
}

#[test]
fn time_never_runs_backwards() {
    let mut state = ready();
    tick(&mut state, 9);
    tick(&mut state, 3);
    assert_eq!(state.now, Duration::from_secs(9));
}

#[test]
fn the_terminal_is_the_shells_business() {
    let mut state = ready();
    let before = state.clone();
    assert_eq!(act(&mut state, Action::Redraw), [Effect::Redraw]);
    assert_eq!(act(&mut state, Action::Suspend), [Effect::Suspend]);
    assert_eq!(act(&mut state, Action::Newline), []);
    assert_eq!(state, before);
    assert_eq!(
        update(&mut state, Msg::Notice(Level::Warn, "no clipboard".to_owned())),
        []
    );
    assert_eq!(last_notice(&state), (Level::Warn, "no clipboard"));
}
