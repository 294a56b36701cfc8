//! Loads that come, fail and give way to others.

use std::time::Duration;

use pretty_assertions::assert_eq;

use super::listing;
use super::scene::{
    act, answered, answering, arrive, draft, fail_load, last_notice, load_turn, loading, model, path, ready, send,
};
use crate::app::notice::Level;
use crate::app::state::{Engine, Overlay};
use crate::app::{Action, CommandId, Effect, Msg, State, update};
use crate::domain::inference::{Command, Event, Failure, FailureKind, LoadOptions, LoadStep, ModelInfo, TurnId};

fn seek(name: &str) -> Effect {
    Effect::Seek(name.to_owned())
}

fn found(state: &mut State, name: &str, found: Result<(), Failure>) -> Vec<Effect> {
    update(state, Msg::Found(name.to_owned(), found))
}

fn load(turn: u64, name: &str) -> Effect {
    Effect::Load {
        turn: TurnId(turn),
        name: Some(name.to_owned()),
        options: LoadOptions::default(),
    }
}

fn progress(state: &mut State, turn: TurnId, done: u64) {
    let step = LoadStep::Trial;
    let event = Event::Loading {
        turn,
        step,
        done,
        total: 90,
    };
    assert_eq!(update(state, Msg::Engine(event)), []);
}

#[test]
fn a_load_is_followed_and_others_are_not() {
    let mut state = loading();
    progress(&mut state, TurnId(1), 30);
    progress(&mut state, TurnId(7), 60);
    let so_far = Engine::Loading {
        turn: TurnId(1),
        step: LoadStep::Trial,
        done: 30,
        total: 90,
        since: Duration::ZERO,
    };
    assert_eq!(state.engine, so_far);
    state.context_used = 12;
    arrive(&mut state, "condor");
    assert_eq!((state.engine.model(), state.context_used), (Some(&model("condor")), 0));
}

#[test]
fn the_built_in_model_is_introduced_once_and_warnings_are_told() {
    let mut state = loading();
    let cria = ModelInfo {
        builtin: true,
        warnings: vec!["a small context".to_owned()],
        ..model("cria")
    };
    for turn in [1, 2] {
        let (turn, model) = (TurnId(turn), Box::new(cria.clone()));
        update(&mut state, Msg::Engine(Event::Ready { turn, model }));
        send(&mut state, "/model cria");
    }
    let told: Vec<_> = state.notices.all().iter().map(|n| (n.level, n.text.as_str())).collect();
    let introduction = "this is cria, the built-in model: with about 6.3 million parameters it is tiny and often wrong; \
                        load a bigger one with /model FILE or quipu --model FILE";
    let warning = (Level::Warn, "a small context");
    assert_eq!(told, [(Level::Info, introduction), warning]);
}

#[test]
fn another_model_takes_over_and_the_answer_so_far_is_kept() {
    let mut state = answering("hi");
    assert_eq!(send(&mut state, "/load llama.gguf"), [draft(""), seek("llama.gguf")]);
    let effects = found(&mut state, "llama.gguf", Ok(()));
    assert_eq!(effects, [Effect::Cancel(TurnId(2)), load(3, "llama.gguf")]);
    assert_eq!((path(&state), state.running.as_ref()), (vec!["hello", "hi"], None));
    let mut state = answering("");
    send(&mut state, "/load llama.gguf");
    let effects = found(&mut state, "llama.gguf", Ok(()));
    let back = [Effect::Cancel(TurnId(2)), draft("hello"), load(3, "llama.gguf")];
    assert_eq!(effects, back);
}

#[test]
fn a_name_mistyped_costs_no_answer() {
    let mut state = answering("hi");
    send(&mut state, "/model lama.gguf");
    let missing = || Failure::new(FailureKind::Model, "no such file 'lama.gguf'");
    assert_eq!(found(&mut state, "lama.gguf", Err(missing())), []);
    let words = "no such file 'lama.gguf'; condor is still loaded";
    assert_eq!(last_notice(&state), (Level::Error, words));
    assert_eq!(state.running.as_ref().map(|running| running.turn), Some(TurnId(2)));

    // What is found late is nobody's any more.
    send(&mut state, "/model lama.gguf");
    send(&mut state, "/model llama.gguf");
    let before = state.clone();
    assert_eq!(found(&mut state, "lama.gguf", Ok(())), []);
    assert_eq!(state, before);
}

#[test]
fn a_name_mistyped_costs_no_model() {
    let mut state = ready();
    send(&mut state, "/model lama.gguf");
    assert_eq!(fail_load(&mut state, "no such file 'lama.gguf'"), []);
    assert_eq!(state.engine.model(), Some(&model("condor")));
    let words = "no such file 'lama.gguf'; condor is still loaded";
    assert_eq!(last_notice(&state), (Level::Error, words));

    send(&mut state, "/model cut.gguf");
    let turn = load_turn(&state);
    progress(&mut state, turn, 0);
    fail_load(&mut state, "'cut.gguf' ends too early");
    assert_eq!(
        state.engine.model(),
        None,
        "the engine let go of it when it began to load"
    );

    let mut state = ready();
    send(&mut state, "/model a.gguf");
    send(&mut state, "/model b.gguf");
    found(&mut state, "b.gguf", Ok(()));
    fail_load(&mut state, "no such file 'b.gguf'");
    assert_eq!(state.engine.model(), None, "the first of two loads may have begun");
}

#[test]
fn the_model_is_shown() {
    let mut state = ready();
    assert_eq!(act(&mut state, Action::Run(CommandId::Model)), []);
    let text = listing::facts(&model("condor"));
    let title = "model".to_owned();
    assert_eq!(state.screen.overlay, Some(Overlay::Text { title, text, top: 0 }));
    let mut state = loading();
    assert_eq!(send(&mut state, "/model"), []);
    assert_eq!(
        last_notice(&state).1,
        "the model is still being loaded: try again in a moment"
    );
    assert_eq!(state.draft.text, "/model");
}

#[test]
fn a_load_stopped_under_way_leaves_no_model_and_no_prompt_to_wait_for() {
    let mut state = answered();
    act(&mut state, Action::Run(CommandId::Prompt));
    send(&mut state, "/model llama.gguf");
    assert_eq!(state.screen.overlay, None);
    assert_eq!(act(&mut state, Action::Escape), [Effect::Cancel(TurnId(4))]);
    assert_eq!(state.engine.model(), None, "the engine may have let go of it");
}

#[test]
fn a_model_is_let_go_of_and_the_conversation_stays() {
    let mut state = answered();
    assert_eq!(
        send(&mut state, "/unload"),
        [draft(""), Effect::Engine(Command::Unload)]
    );
    assert_eq!((state.engine.model(), path(&state)), (None, vec!["hello", "hi"]));
    assert_eq!(send(&mut state, "and now?"), [], "it is kept to be sent later");
    assert_eq!(state.draft.text, "and now?");
    assert_eq!(send(&mut state, "/unload"), []);
    let mut state = answering("hi");
    assert_eq!(send(&mut state, "/unload"), [], "not in the middle of an answer");
}
