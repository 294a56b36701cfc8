//! States to test on, and short words for what happens to them. Only tests see this file.

use std::time::Duration;

use crate::app::notice::Level;
use crate::app::state::{Engine, Options};
use crate::app::tuning::Tuning;
use crate::app::{Action, Effect, Msg, State, update};
use crate::domain::Role;
use crate::domain::inference::{
    ChatMessage, Command, Event, Failure, FailureKind, Finish, GenerateRequest, ModelInfo, Part, PrefillProgress,
    PromptRequest, Said, Stats, Token, TurnId,
};

/// The state at start: the first load, turn 1, is under way.
pub(super) fn loading() -> State {
    State::start(Tuning::default(), Options::default(), None, None).0
}

/// The same with its model there.
pub(super) fn ready() -> State {
    let mut state = loading();
    assert_eq!(arrive(&mut state, "condor"), []);
    state
}

/// A state in which a question was asked and is being answered, the answer so far `said`.
pub(super) fn answering(said: &str) -> State {
    let mut state = ready();
    send(&mut state, "hello");
    if !said.is_empty() {
        say(&mut state, 7, said);
    }
    state
}

/// A state in which a question was answered.
pub(super) fn answered() -> State {
    let mut state = answering("hi");
    finish(&mut state, Finish::EndOfTurn);
    state
}

/// Some model of this name.
pub(super) fn model(name: &str) -> ModelInfo {
    ModelInfo {
        name: name.to_owned(),
        fingerprint: format!("{name} fingerprint"),
        parameters: 6_291_456,
        context: 1024,
        ..ModelInfo::default()
    }
}

/// The load under way brings the model of this name.
pub(super) fn arrive(state: &mut State, name: &str) -> Vec<Effect> {
    let model = Box::new(model(name));
    let turn = load_turn(state);
    update(state, Msg::Engine(Event::Ready { turn, model }))
}

/// The load under way fails.
pub(super) fn fail_load(state: &mut State, words: &str) -> Vec<Effect> {
    let turn = load_turn(state);
    fail(state, turn, FailureKind::Model, words)
}

/// This turn fails.
pub(super) fn fail(state: &mut State, turn: TurnId, kind: FailureKind, words: &str) -> Vec<Effect> {
    let failure = Failure::new(kind, words);
    update(state, Msg::Engine(Event::Failed { turn, failure }))
}

/// The turn of the load under way.
pub(super) fn load_turn(state: &State) -> TurnId {
    match state.engine {
        Engine::Loading { turn, .. } => turn,
        _ => panic!("nothing is being loaded"),
    }
}

/// The turn of the answer under way.
pub(super) fn turn(state: &State) -> TurnId {
    state.running.as_ref().unwrap().turn
}

/// The person does this.
pub(super) fn act(state: &mut State, action: Action) -> Vec<Effect> {
    update(state, Msg::Action(action))
}

/// The person types this in place of what stood there.
pub(super) fn edit(state: &mut State, text: &str) {
    assert_eq!(update(state, Msg::Edited(text.to_owned())), []);
}

/// The person types this and sends it.
pub(super) fn send(state: &mut State, text: &str) -> Vec<Effect> {
    edit(state, text);
    act(state, Action::Send)
}

/// The engine says a token of the running answer.
pub(super) fn say(state: &mut State, token: i32, text: &str) {
    let said = Said {
        token: Some(Token(token)),
        text: text.to_owned(),
        ..Said::default()
    };
    let turn = turn(state);
    assert_eq!(update(state, Msg::Engine(Event::Token { turn, said })), []);
}

/// The engine thinks a token of the running answer.
pub(super) fn think(state: &mut State, token: i32, text: &str) {
    let said = Said {
        token: Some(Token(token)),
        part: Part::Thinking,
        text: text.to_owned(),
        ..Said::default()
    };
    let turn = turn(state);
    assert_eq!(update(state, Msg::Engine(Event::Token { turn, said })), []);
}

/// The engine read some of the prompt of the running answer.
pub(super) fn prefill(state: &mut State, done: u32, total: u32) {
    let turn = turn(state);
    let progress = PrefillProgress { done, total, reused: 0 };
    assert_eq!(update(state, Msg::Engine(Event::Prefill { turn, progress })), []);
}

/// The running answer ends.
pub(super) fn finish(state: &mut State, finish: Finish) -> Vec<Effect> {
    let ended = Event::Finished {
        turn: turn(state),
        finish,
        stats: Stats {
            generated: 3,
            context_used: 40,
            ..Stats::default()
        },
    };
    update(state, Msg::Engine(ended))
}

/// Time comes to this many seconds since start.
pub(super) fn tick(state: &mut State, seconds: u64) {
    assert_eq!(update(state, Msg::Tick(Duration::from_secs(seconds))), []);
}

/// The texts of the path on the screen.
pub(super) fn path(state: &State) -> Vec<&str> {
    state.conversation.path().iter().map(|m| m.text.as_str()).collect()
}

/// The newest notice.
pub(super) fn last_notice(state: &State) -> (Level, &str) {
    let notice = state.notices.all().last().unwrap();
    (notice.level, &notice.text)
}

/// A message of a prompt.
pub(super) fn message(role: Role, content: &str, tokens: Option<&[i32]>) -> ChatMessage {
    ChatMessage {
        tokens: tokens.map(|ids| ids.iter().copied().map(Token).collect()),
        ..ChatMessage::new(role, content)
    }
}

/// The effect that asks for an answer to these messages with the default settings.
pub(super) fn generate(turn: u64, messages: Vec<ChatMessage>) -> Effect {
    Effect::Engine(Command::Generate {
        turn: TurnId(turn),
        request: GenerateRequest {
            prompt: PromptRequest {
                messages,
                ..PromptRequest::default()
            },
            ..GenerateRequest::default()
        },
    })
}

/// The effect that puts this text into the composer.
pub(super) fn draft(text: &str) -> Effect {
    Effect::SetDraft(text.to_owned())
}
