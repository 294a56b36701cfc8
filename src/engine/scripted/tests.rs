//! What the scripted engine tells, event by event.

use std::path::PathBuf;

use pretty_assertions::assert_eq;

use super::*;
use crate::domain::inference::{
    BenchRequest, ChatMessage, Command, Event, FailureKind, Finish, GenerateRequest, LoadOptions, ModelSource,
    PromptRequest, Stats, TurnId,
};
use crate::domain::{Role, Sampling};

fn start(script: &str) -> EngineHandle {
    let mut engine = spawn(Script::parse(script).unwrap()).unwrap();
    load(&mut engine, 1);
    engine
}

fn load(engine: &mut EngineHandle, turn: u64) -> Event {
    send(
        engine,
        Command::Load {
            turn: TurnId(turn),
            source: ModelSource {
                path: PathBuf::new(),
                notice: None,
                builtin: false,
            },
            options: LoadOptions::default(),
        },
    );
    last(engine)
}

fn send(engine: &EngineHandle, command: Command) {
    engine.commands.send(command).unwrap();
}

fn ask(engine: &EngineHandle, turn: u64, question: &str, max_tokens: Option<u32>) {
    let request = GenerateRequest {
        prompt: PromptRequest {
            messages: vec![ChatMessage::new(Role::User, question)],
            max_tokens,
            ..PromptRequest::default()
        },
        ..GenerateRequest::default()
    };
    send(
        engine,
        Command::Generate {
            turn: TurnId(turn),
            request,
        },
    );
}

/// The event that ends what was asked; what came before is left out.
fn last(engine: &mut EngineHandle) -> Event {
    loop {
        let event = engine.events.blocking_recv().expect("the engine is gone");
        if !matches!(
            event,
            Event::Loading { .. } | Event::Prompted { .. } | Event::Prefill { .. } | Event::Token { .. }
        ) {
            return event;
        }
    }
}

/// The words of an answer, and the event that ends it.
fn answer(engine: &mut EngineHandle) -> (String, Event) {
    let mut text = String::new();
    loop {
        match engine.events.blocking_recv().expect("the engine is gone") {
            Event::Token { said, .. } => text.push_str(&said.text),
            Event::Prefill { .. } | Event::Prompted { .. } | Event::Changed { .. } => {}
            end => return (text, end),
        }
    }
}

fn finish(event: &Event) -> (Finish, Stats) {
    match event {
        Event::Finished { finish, stats, .. } => (*finish, *stats),
        other => panic!("not finished: {other:?}"),
    }
}

#[test]
fn answers_come_in_order_and_the_last_one_stays() {
    let mut engine = start("[[answer]]\ntext = \"one two\"\n[[answer]]\necho = true\ntext = \"!\"");
    for (turn, said) in [(2, "one two"), (3, "again!"), (4, "again!")] {
        ask(&engine, turn, "again", None);
        let (text, end) = answer(&mut engine);
        assert_eq!(text, said);
        assert_eq!(finish(&end).0, Finish::EndOfTurn);
    }
}

#[test]
fn only_new_tokens_are_read() {
    let mut engine = start("[[answer]]\ntext = \"yes\"");
    ask(&engine, 2, "is it so", None);
    let stats = finish(&answer(&mut engine).1).1;
    // <|user|> is it so <|end|> <|assistant|>
    assert_eq!((stats.prompt_tokens, stats.reused_tokens), (6, 0));
    assert_eq!((stats.generated, stats.context_used), (1, 7));
    ask(&engine, 3, "is it not", None);
    let stats = finish(&answer(&mut engine).1).1;
    assert_eq!((stats.prompt_tokens, stats.reused_tokens), (6, 3));
}

#[test]
fn an_answer_ends_at_every_limit() {
    let mut engine = start("[model]\ncontext = 6\n[[answer]]\ntext = \"a b c d e f\"");
    ask(&engine, 2, "x", Some(2));
    let (text, end) = answer(&mut engine);
    assert_eq!((text.as_str(), finish(&end).0), ("a b", Finish::MaxTokens));
    ask(&engine, 3, "x", None);
    let (text, end) = answer(&mut engine);
    assert_eq!((text.as_str(), finish(&end).0), ("a b", Finish::ContextFull));
    ask(&engine, 4, "a b c d e f", None);
    match answer(&mut engine).1 {
        Event::Failed { failure, .. } => assert_eq!(failure.kind, FailureKind::TooLong),
        other => panic!("{other:?}"),
    }
}

#[test]
fn settings_hold_from_the_next_word_on() {
    let mut engine = start("[[answer]]\ntext = \"{temperature} {temperature} {temperature}\"\ntoken-ms = 20");
    ask(&engine, 2, "x", None);
    let mut text = String::new();
    let end = loop {
        match engine.events.blocking_recv().unwrap() {
            Event::Token { said, .. } => {
                if text.is_empty() {
                    let sampling = Sampling {
                        temperature: 1.5,
                        ..Sampling::default()
                    };
                    send(&engine, Command::Tune(sampling));
                }
                text.push_str(&said.text);
            }
            Event::Prefill { .. } | Event::Prompted { .. } | Event::Changed { .. } => {}
            end => break end,
        }
    };
    assert_eq!((text.as_str(), finish(&end).0), ("0.8 1.5 1.5", Finish::EndOfTurn));
}

#[test]
fn a_cancel_ends_a_wait_of_an_hour_and_keeps_what_came_meanwhile() {
    let mut engine = start("[[answer]]\ntext = \"never\"\nprefill-ms = 3_600_000\n[[answer]]\ntext = \"now\"");
    ask(&engine, 2, "x", None);
    ask(&engine, 3, "y", None);
    assert!(matches!(engine.events.blocking_recv(), Some(Event::Prefill { .. })));
    engine.cancel.stop(TurnId(2));
    let (text, end) = answer(&mut engine);
    assert_eq!((text.as_str(), finish(&end).0), ("", Finish::Stopped));
    assert_eq!(answer(&mut engine).0, "now");
}

#[test]
fn a_load_can_fail_and_can_be_stopped() {
    let mut engine = spawn(Script::parse("[model]\nfail = \"no luck\"").unwrap()).unwrap();
    match load(&mut engine, 1) {
        Event::Failed { failure, .. } => assert_eq!(
            (failure.kind, failure.message.as_str()),
            (FailureKind::Model, "no luck")
        ),
        other => panic!("{other:?}"),
    }
    ask(&engine, 2, "x", None);
    match answer(&mut engine).1 {
        Event::Failed { failure, .. } => assert_eq!(failure.kind, FailureKind::NoModel),
        other => panic!("{other:?}"),
    }
    let mut engine = spawn(Script::parse("[model]\nload-ms = 3_600_000\n[[answer]]\ntext = \"x\"").unwrap()).unwrap();
    engine.cancel.stop(TurnId(1));
    match load(&mut engine, 1) {
        Event::Failed { failure, .. } => assert_eq!(failure.kind, FailureKind::Cancelled),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_panic_is_the_last_word_of_the_engine() {
    let mut engine = start("[[answer]]\ntext = \"so far\"\nthen = \"panic\"\nwords = \"out of luck\"");
    ask(&engine, 2, "x", None);
    let (text, end) = answer(&mut engine);
    assert_eq!(text, "so far");
    assert_eq!(
        end,
        Event::Died {
            reason: "out of luck".to_owned()
        }
    );
    assert_eq!(engine.events.blocking_recv(), None);
}

#[test]
fn a_turn_can_fail_as_the_script_says() {
    let mut engine =
        start("[[answer]]\ntext = \"a\"\nthen = \"fail\"\n[[answer]]\ntext = \"b\"\nthen = \"context-full\"");
    ask(&engine, 2, "x", None);
    match answer(&mut engine).1 {
        Event::Failed { failure, .. } => assert_eq!(failure.message, "the script says so"),
        other => panic!("{other:?}"),
    }
    ask(&engine, 3, "x", None);
    assert_eq!(finish(&answer(&mut engine).1).0, Finish::ContextFull);
}

#[test]
fn the_prompt_can_be_seen_and_speed_cannot() {
    let mut engine = start("[[answer]]\ntext = \"yes\"");
    let prompt = PromptRequest {
        messages: vec![ChatMessage::new(Role::User, "is it")],
        ..PromptRequest::default()
    };
    send(
        &engine,
        Command::Render {
            turn: TurnId(2),
            prompt,
        },
    );
    match last(&mut engine) {
        Event::Rendered { prompt, .. } => {
            let text: String = prompt.tokens.iter().map(|token| token.text.as_str()).collect();
            assert_eq!(text, "<|user|>is it<|end|><|assistant|>");
        }
        other => panic!("{other:?}"),
    }
    let request = BenchRequest {
        depth: 0,
        prompt: 1,
        generate: 1,
        sampling: Sampling::default(),
    };
    send(
        &engine,
        Command::Bench {
            turn: TurnId(3),
            request,
        },
    );
    assert!(matches!(last(&mut engine), Event::Failed { turn: TurnId(3), .. }));
}
