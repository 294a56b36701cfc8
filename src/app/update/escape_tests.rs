//! What Escape, the interrupt key and the other ways out do, case by case.

use pretty_assertions::assert_eq;

use super::scene::{act, answering, draft, edit, last_notice, loading, ready, send, tick};
use crate::app::notice::Level;
use crate::app::state::{Engine, Overlay};
use crate::app::{Action, CommandId, Effect, Msg, State, update};
use crate::domain::inference::{Failure, FailureKind, TurnId};

#[test]
fn escape_takes_one_layer_at_a_time() {
    let mut state = answering("hi");
    state.tell(Level::Error, "something failed");
    state.screen.overlay = Some(Overlay::Help { top: 0 });
    edit(&mut state, "/re");
    assert_eq!(act(&mut state, Action::Escape), []);
    assert_eq!(
        (state.draft.completion.as_ref(), state.draft.text.as_str()),
        (None, "/re")
    );
    assert_eq!(act(&mut state, Action::Escape), []);
    assert_eq!(state.screen.overlay, None);
    assert_eq!(act(&mut state, Action::Escape), []);
    assert_eq!(state.notices.current(state.now), None);
    assert_eq!(act(&mut state, Action::Escape), [Effect::Cancel(TurnId(2))]);
    let before = state.clone();
    assert_eq!(act(&mut state, Action::Escape), []);
    assert_eq!(state, before);
}

#[test]
fn words_that_tell_to_press_escape_do_not_take_it() {
    let mut state = answering("hi");
    send(&mut state, "second");
    assert_eq!(last_notice(&state).1, "still answering: Esc stops it");
    assert_eq!(act(&mut state, Action::Escape), [Effect::Cancel(TurnId(2))]);
}

#[test]
fn a_load_can_be_stopped() {
    for action in [Action::Escape, Action::Interrupt, Action::Run(CommandId::Stop)] {
        let mut state = loading();
        assert_eq!(act(&mut state, action), [Effect::Cancel(TurnId(1))]);
        let words = "loading was stopped: /model FILE loads a model, /model cria the built-in one";
        let failure = Failure::new(FailureKind::Cancelled, words);
        assert_eq!(state.engine, Engine::Failed(failure));
        assert_eq!(last_notice(&state), (Level::Info, words));
        send(&mut state, "hello");
        assert_eq!(last_notice(&state), (Level::Error, words));
    }
}

#[test]
fn a_message_that_waits_is_stopped_before_the_load_is() {
    let mut state = loading();
    send(&mut state, "hello");
    assert_eq!(act(&mut state, Action::Escape), [draft("hello")]);
    assert_eq!(act(&mut state, Action::Escape), [Effect::Cancel(TurnId(1))]);
    assert_eq!(state.draft.text, "hello");
}

#[test]
fn the_interrupt_key_stops_then_clears_then_quits() {
    let mut state = answering("hi");
    edit(&mut state, "half a thought");
    assert_eq!(act(&mut state, Action::Interrupt), [Effect::Cancel(TurnId(2))]);
    assert_eq!(act(&mut state, Action::Interrupt), [draft("")]);
    assert_eq!(act(&mut state, Action::HistoryPrevious), [draft("half a thought")]);
    edit(&mut state, "");
    assert_eq!(act(&mut state, Action::Interrupt), []);
    assert_eq!(last_notice(&state), (Level::Info, "Ctrl-C again quits"));
    tick(&mut state, 3);
    assert_eq!(act(&mut state, Action::Interrupt), [], "that was long ago");
    tick(&mut state, 5);
    let leave = [Effect::Cancel(TurnId(2)), Effect::Quit(0)];
    assert_eq!(
        act(&mut state, Action::Interrupt),
        leave,
        "also while the engine does not listen"
    );
}

#[test]
fn every_way_out_lets_the_engine_go() {
    let quit = |mut state: State, msg| update(&mut state, msg);
    let stop = |turn| Effect::Cancel(TurnId(turn));
    let end = Msg::Action(Action::QuitIfEmpty);
    assert_eq!(quit(ready(), end.clone()), [Effect::Quit(0)]);
    assert_eq!(quit(answering("hi"), end.clone()), [stop(2), Effect::Quit(0)]);
    assert_eq!(quit(loading(), end.clone()), [stop(1), Effect::Quit(0)]);
    assert_eq!(
        quit(ready(), Msg::Action(Action::Run(CommandId::Quit))),
        [Effect::Quit(0)]
    );
    assert_eq!(quit(answering("hi"), Msg::Terminate(15)), [stop(2), Effect::Quit(143)]);
    assert_eq!(quit(ready(), Msg::Terminate(i32::MAX)), [Effect::Quit(1)]);
    let mut state = ready();
    edit(&mut state, "x");
    assert_eq!(update(&mut state, end), []);
}
