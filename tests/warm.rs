//! Coming back to a conversation: what was kept of the model's state gives the same answer as reading everything again, and
//! what does not belong is not used.

use std::fs;
use std::path::Path;
use std::process::Command as Process;
use std::time::{Duration, Instant};

use quipu::domain::Role;
use quipu::domain::inference::{
    Change, ChatMessage, Command, Event, GenerateRequest, LoadOptions, PromptRequest, Token,
};
use quipu::domain::loading::CacheType;
use quipu::domain::sampling::{Sampling, Seed};
use quipu::run::vault::FileVault;
use tempfile::TempDir;

use crate::engine::{Talk, cria, greedy, user};
use crate::shapes::mamba;

const NAME: &str = "session-1";

/// An engine that keeps states in this folder.
fn engine(model: &Path, options: LoadOptions, folder: &Path) -> Talk {
    let vault = FileVault::new(folder.to_owned(), 1 << 30).unwrap();
    Talk::load_with(model, options, Some(Box::new(vault)))
}

fn long() -> LoadOptions {
    LoadOptions {
        context: Some(1024),
        ..LoadOptions::default()
    }
}

/// A conversation of a few turns.
fn turns(talk: &mut Talk) -> Vec<ChatMessage> {
    let mut messages = Vec::new();
    for question in [
        "Tell me a story about a llama.",
        "And then?",
        "What is the capital of France?",
    ] {
        messages.push(user(question));
        let answer = talk.ask(&messages, greedy(), Some(60));
        messages.push(ChatMessage {
            tokens: Some(answer.tokens),
            ..ChatMessage::new(Role::Assistant, answer.text)
        });
    }
    messages
}

/// Tokens of the conversation, and those that were kept.
fn resume(talk: &mut Talk, messages: &[ChatMessage]) -> (u32, u32) {
    let turn = talk.next_turn();
    talk.tell(Command::Resume {
        turn,
        name: NAME.to_owned(),
        prompt: PromptRequest {
            messages: messages.to_vec(),
            ..PromptRequest::default()
        },
    });
    loop {
        match talk.event() {
            Event::Prefill { .. } => {}
            Event::Resumable { tokens, restored, .. } => return (tokens, restored),
            other => panic!("{other:?}"),
        }
    }
}

/// What came of leaving a conversation and coming back to it.
struct Back {
    /// Tokens in all, and those that were kept.
    tokens: u32,
    restored: u32,
    /// The next 32 greedy tokens, and those after everything was read again.
    warm: Vec<Token>,
    cold: Vec<Token>,
}

/// Leaves a conversation and comes back to it in another engine, loaded as `after` says.
fn there_and_back(model: &Path, before: LoadOptions, after: LoadOptions, touch: impl FnOnce(&Path)) -> Back {
    let folder = TempDir::new().unwrap();
    let states = folder.path().join("states");
    let mut talk = engine(model, before, &states);
    let mut messages = turns(&mut talk);
    talk.tell(Command::Keep { name: NAME.to_owned() });
    drop(talk.engine);
    // The engine's thread ends when nobody is left to ask it, and what it was given to keep is kept by then.
    wait_for(&states);
    touch(&states);
    let mut back = engine(model, after.clone(), &states);
    let (tokens, restored) = resume(&mut back, &messages);
    messages.push(user("Tell me another story."));
    let warm = next(&mut back, &messages);
    let mut cold = Talk::load(model, after);
    let cold = next(&mut cold, &messages);
    Back {
        tokens,
        restored,
        warm,
        cold,
    }
}

fn next(talk: &mut Talk, messages: &[ChatMessage]) -> Vec<Token> {
    talk.ask(messages, greedy(), Some(32)).tokens
}

/// Waits until a state is there: the folder is looked at until it has one.
fn wait_for(states: &Path) {
    let there = || {
        let entries = fs::read_dir(states).ok()?;
        entries
            .flatten()
            .find(|entry| entry.path().extension().is_some_and(|ending| ending == "kv"))
    };
    let until = Instant::now() + Duration::from_mins(1);
    while there().is_none() {
        assert!(Instant::now() < until, "no state was kept");
        std::thread::yield_now();
    }
}

fn nothing(_: &Path) {}

#[test]
fn after_a_return_the_model_goes_on_as_if_it_had_read_everything() {
    let back = there_and_back(&cria(), long(), long(), nothing);
    // What ends the last answer is the template's.
    assert!(
        back.tokens > 50 && back.restored + 8 >= back.tokens,
        "{} of {}",
        back.restored,
        back.tokens
    );
    assert_eq!(back.warm, back.cold);
    assert!(back.warm.len() > 10, "{:?}", back.warm);
}

#[test]
fn a_state_of_quantized_keys_comes_back_too() {
    let quantized = LoadOptions {
        cache_type_k: CacheType::Q8_0,
        ..long()
    };
    // The last bits of numbers differ with how much is read at once, and steps that wide make more of it: what comes next is not
    // compared.
    let back = there_and_back(&cria(), quantized.clone(), quantized, nothing);
    assert!(back.restored + 8 >= back.tokens, "{} of {}", back.restored, back.tokens);
}

#[test]
fn a_recurrent_model_comes_back_too() {
    let folder = TempDir::new().unwrap();
    let model = folder.path().join("mamba.gguf");
    fs::write(&model, mamba(&cria(), 7).bytes()).unwrap();
    let back = there_and_back(&model, long(), long(), nothing);
    assert!(
        back.restored > 0 && back.restored <= back.tokens,
        "{} of {}",
        back.restored,
        back.tokens
    );
    assert_eq!(back.warm, back.cold);
}

#[test]
fn what_does_not_belong_is_read_again() {
    let other = LoadOptions {
        cache_type_k: CacheType::Q8_0,
        ..long()
    };
    assert_eq!(
        there_and_back(&cria(), long(), other, nothing).restored,
        0,
        "another kind of cache"
    );
    let flipped = |states: &Path| {
        for entry in fs::read_dir(states).unwrap().flatten() {
            let mut bytes = fs::read(entry.path()).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(entry.path(), bytes).unwrap();
        }
    };
    assert_eq!(
        there_and_back(&cria(), long(), long(), flipped).restored,
        0,
        "a damaged file"
    );
    let smaller = LoadOptions {
        context: Some(256),
        ..LoadOptions::default()
    };
    let back = there_and_back(&cria(), long(), smaller, nothing);
    assert!(back.restored > 0, "a smaller context takes what fits");
    assert_eq!(back.warm, back.cold);
}

/// What an answer came to, and what changed while it streamed.
fn streamed(talk: &mut Talk, mut each: impl FnMut(&Talk, usize)) -> (Vec<Token>, Vec<(u32, Change)>) {
    let (mut tokens, mut changes) = (Vec::new(), Vec::new());
    loop {
        match talk.event() {
            Event::Token { said, .. } => {
                tokens.extend(said.token);
                each(talk, tokens.len());
            }
            Event::Changed { at, change, .. } => changes.push((at, change)),
            Event::Finished { .. } => return (tokens, changes),
            Event::Failed { failure, .. } => panic!("{failure}"),
            _ => {}
        }
    }
}

#[test]
fn an_answer_is_made_again_with_all_that_changed_while_it_streamed() {
    let mut talk = Talk::load(&cria(), long());
    let question = [user("Tell me a story about a llama.")];
    let cool = Sampling {
        seed: Seed::Fixed(11),
        ignore_eos: true,
        ..Sampling::default()
    };
    let hot = Sampling {
        temperature: 1.8,
        top_k: 0,
        ..cool.clone()
    };
    talk.begin(&question, cool.clone(), Some(80));
    let (first, changes) = streamed(&mut talk, |talk, said| {
        if said == 10 {
            talk.tell(Command::Tune(hot.clone()));
        }
    });
    assert_eq!(changes.len(), 1);
    let turn = talk.next_turn();
    let request = GenerateRequest {
        prompt: PromptRequest {
            messages: question.to_vec(),
            max_tokens: Some(80),
            ..PromptRequest::default()
        },
        sampling: cool.clone(),
        changes: changes.clone(),
        ..GenerateRequest::default()
    };
    talk.tell(Command::Generate { turn, request });
    assert_eq!(streamed(&mut talk, |_, _| {}), (first.clone(), changes));
    talk.begin(&question, cool, Some(80));
    assert_ne!(
        streamed(&mut talk, |_, _| {}).0,
        first,
        "without the change it is another"
    );
}

#[test]
fn a_real_answer_is_made_again_from_its_record_alone() {
    let home = TempDir::new().unwrap();
    let quipu = |args: &[&str]| {
        let output = Process::new(env!("CARGO_BIN_EXE_quipu"))
            .args(args)
            .env("QUIPU_HOME", home.path())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.success(), text, String::from_utf8(output.stderr).unwrap())
    };
    for question in ["Tell me a story about a llama.", "And then?"] {
        let (good, _, words) = quipu(&["--session", "s", "--temperature", "1.2", "--max-tokens", "60", question]);
        assert!(good, "{words}");
    }
    let (good, words, _) = quipu(&["sessions", "replay", "s", "--message", "1"]);
    assert!(good && words.starts_with("the same "), "{words}");
    // The states of the model that the session was left with are there, and are for this user alone.
    let states = fs::read_dir(home.path().join("cache/states")).unwrap();
    assert_eq!(states.count(), 1);
}
