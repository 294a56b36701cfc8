//! How answers begin, go on and think.

use pretty_assertions::assert_eq;

use super::scene::{
    act, answered, answering, draft, finish, last_notice, message, path, ready, say, send, think, tick, turn,
};
use crate::app::notice::Level;
use crate::app::{Action, CommandId, Effect, Msg, State, update};
use crate::domain::Role;
use crate::domain::inference::{Command, Event, Finish, GenerateRequest, Opening, Stats, Token};

const CONTINUE: Action = Action::Run(CommandId::Continue);
const ANSWER: Action = Action::Run(CommandId::Answer);
const RETRY: Action = Action::Run(CommandId::Retry);

/// The request among these effects.
fn asked(effects: &[Effect]) -> &GenerateRequest {
    let request = effects.iter().find_map(|effect| match effect {
        Effect::Engine(Command::Generate { request, .. }) => Some(request),
        _ => None,
    });
    request.unwrap()
}

fn opening(text: &str, said: &[i32]) -> Opening {
    Opening {
        text: text.to_owned(),
        said: said.iter().copied().map(Token).collect(),
    }
}

fn resume(state: &mut State, thinking: &str, text: &str) {
    let (thinking, text) = (thinking.to_owned(), text.to_owned());
    let turn = turn(state);
    let event = Event::Resumed { turn, thinking, text };
    assert_eq!(update(state, Msg::Engine(event)), []);
}

#[test]
fn the_next_answer_starts_with_the_text_that_was_set() {
    let mut state = ready();
    send(&mut state, "/prefill Well,");
    assert_eq!(
        last_notice(&state).1,
        "the next answer starts with 'Well,': send a message, or /retry"
    );
    let effects = send(&mut state, "hello");
    assert_eq!(asked(&effects).prompt.opening, opening("Well,", &[]));
    say(&mut state, 7, " hi");
    finish(&mut state, Finish::EndOfTurn);
    assert_eq!(path(&state), ["hello", "Well, hi"]);
    let effects = act(&mut state, RETRY);
    assert_eq!(asked(&effects).prompt.opening, Opening::default(), "once is enough");
}

#[test]
fn a_start_that_nothing_came_of_is_kept_for_the_next_answer() {
    let mut state = ready();
    send(&mut state, "/prefill Well,");
    send(&mut state, "hello");
    act(&mut state, Action::Escape);
    assert_eq!(finish(&mut state, Finish::Stopped), [draft("hello")]);
    assert_eq!((state.options.prefill.as_str(), path(&state)), ("Well,", vec![]));
    send(&mut state, "/prefill off");
    assert_eq!(state.options.prefill, "");
}

#[test]
fn an_answer_goes_on_behind_its_very_tokens() {
    let mut state = answering("hi");
    say(&mut state, 8, " th");
    finish(&mut state, Finish::MaxTokens);
    let effects = act(&mut state, CONTINUE);
    let request = asked(&effects);
    assert_eq!(request.prompt.messages, [message(Role::User, "hello", None)]);
    assert_eq!(request.prompt.opening, opening("", &[7, 8]));
    // The engine's word on its tokens counts, even where it is shorter.
    resume(&mut state, "", "hi t");
    say(&mut state, 9, "ere");
    finish(&mut state, Finish::EndOfTurn);
    assert_eq!(path(&state), ["hello", "hi tere"]);
    let answer = state.conversation.path()[1].answer.clone().unwrap();
    assert_eq!(
        (answer.tokens, answer.finish),
        ([7, 8, 9].map(Token).to_vec(), Some(Finish::EndOfTurn))
    );
    assert_eq!(answer.stats.generated, 6, "of both");
    assert_eq!(state.conversation.messages().len(), 2, "no other version");
}

#[test]
fn another_model_goes_on_behind_the_words() {
    for end in [Finish::StopText, Finish::MaxTokens] {
        let mut state = answering("hi");
        finish(&mut state, end);
        if end == Finish::MaxTokens {
            let answer = state.conversation.tip().and_then(|tip| state.conversation.get_mut(tip));
            "another".clone_into(&mut answer.unwrap().answer.as_mut().unwrap().model);
        }
        let effects = act(&mut state, CONTINUE);
        assert_eq!(asked(&effects).prompt.opening, opening("hi", &[]), "{end:?}");
        say(&mut state, 9, " there");
        finish(&mut state, Finish::EndOfTurn);
        assert_eq!(path(&state), ["hello", "hi there"]);
    }
}

#[test]
fn what_does_not_go_on_stays_as_it_was() {
    for model in ["condor fingerprint", "another"] {
        let mut state = answered();
        let answer = state.conversation.tip().and_then(|tip| state.conversation.get_mut(tip));
        model.clone_into(&mut answer.unwrap().answer.as_mut().unwrap().model);
        let before = state.conversation.clone();
        act(&mut state, CONTINUE);
        act(&mut state, Action::Escape);
        let ended = Event::Finished {
            turn: turn(&state),
            finish: Finish::Stopped,
            stats: Stats::default(),
        };
        assert_eq!(update(&mut state, Msg::Engine(ended)), []);
        // The engine may count none; the counts of the answer stay.
        assert_eq!(state.conversation.messages(), before.messages(), "{model}");
        let mut undone = state.conversation.clone();
        undone.undo();
        assert!(undone.is_empty(), "what came to nothing is no step");
    }
    let mut empty = ready();
    assert_eq!(act(&mut empty, CONTINUE), []);
    assert_eq!(
        last_notice(&empty),
        (Level::Info, "there is no answer to go on with yet")
    );
}

#[test]
fn thinking_is_told_apart_counted_and_timed() {
    let mut state = answering("");
    tick(&mut state, 5);
    think(&mut state, 1, "");
    tick(&mut state, 7);
    think(&mut state, 2, "hm");
    say(&mut state, 3, "hi");
    finish(&mut state, Finish::EndOfTurn);
    let shown = state.conversation.path()[1].clone();
    let thinking = shown.answer.unwrap().thinking;
    assert_eq!(
        (shown.text.as_str(), thinking.text.as_str(), thinking.tokens),
        ("hi", "hm", 2)
    );
    let effects = send(&mut state, "and?");
    let given = &asked(&effects).prompt.messages[1];
    assert_eq!((given.content.as_str(), given.thinking.as_str()), ("hi", "hm"));
}

#[test]
fn thinking_can_be_ended_while_it_lasts() {
    let mut state = answering("");
    assert_eq!(act(&mut state, ANSWER), []);
    think(&mut state, 2, "hm");
    let end = Effect::Engine(Command::EndThinking { turn: turn(&state) });
    assert_eq!(act(&mut state, ANSWER), [end]);
    say(&mut state, 3, "hi");
    assert_eq!(act(&mut state, ANSWER), []);
    assert_eq!(last_notice(&state), (Level::Info, "no model is thinking now"));
}

#[test]
fn an_answer_that_stopped_in_its_thinking_is_kept() {
    let mut state = answering("");
    think(&mut state, 2, "hm");
    act(&mut state, Action::Escape);
    assert_eq!(finish(&mut state, Finish::Stopped), []);
    assert_eq!(path(&state), ["hello", ""]);
    let effects = act(&mut state, CONTINUE);
    assert_eq!(asked(&effects).prompt.opening.said.last(), Some(&Token(2)));
}
