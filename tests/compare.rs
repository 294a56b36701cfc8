//! Several answers at once: each is what it would be alone, they share the prompt, and what comes after finds everything as it was.

use std::path::Path;

use pretty_assertions::assert_eq;
use quipu::domain::Sampling;
use quipu::domain::inference::{
    Command, CompareRequest, Event, Finish, LoadOptions, Opening, Overflow, PromptRequest, Stats, Token, TurnId,
};
use quipu::domain::sampling::Seed;

use crate::engine::{Talk, cria, greedy, user};
use crate::shapes;

const QUESTION: &str = "Tell me a story about a llama.";

/// What was said in a column.
type Said = (Vec<Token>, String);

/// A column that is over.
#[derive(Clone, Debug)]
struct Column {
    tokens: Vec<Token>,
    text: String,
    finish: Finish,
    stats: Stats,
}

fn begin(talk: &mut Talk, columns: Vec<Sampling>, most: u32) -> TurnId {
    let turn = talk.next_turn();
    let prompt = PromptRequest {
        messages: vec![user(QUESTION)],
        opening: Opening::default(),
        thinking: None,
        overflow: Overflow::Stop,
        max_tokens: Some(most),
    };
    let request = CompareRequest {
        prompt,
        columns,
        thinking_budget: None,
        report: false,
    };
    talk.tell(Command::Compare {
        turn,
        request: Box::new(request),
    });
    turn
}

/// Takes all columns; stops the turn once `stop` tokens came.
fn rest(talk: &mut Talk, turn: TurnId, count: usize, stop: Option<usize>) -> Vec<Column> {
    let mut said = vec![(Vec::new(), String::new()); count];
    let mut over = vec![None; count];
    let mut tokens = 0;
    loop {
        match talk.event() {
            Event::Column { column, said: one, .. } => {
                said[column].0.extend(one.token);
                said[column].1.push_str(&one.text);
                tokens += 1;
                if Some(tokens) == stop {
                    talk.engine.cancel.stop(turn);
                }
            }
            Event::ColumnFinished {
                column, finish, stats, ..
            } => assert!(over[column].replace((finish, stats)).is_none()),
            Event::Prefill { .. } | Event::Prompted { .. } => {}
            Event::Compared { turn: of } => {
                assert_eq!(of, turn);
                let columns = said.into_iter().zip(over);
                let column = |((tokens, text), over): (Said, Option<(Finish, Stats)>)| {
                    let (finish, stats) = over.unwrap();
                    Column {
                        tokens,
                        text,
                        finish,
                        stats,
                    }
                };
                return columns.map(column).collect();
            }
            other => panic!("{other:?}"),
        }
    }
}

fn warm(seed: u32) -> Sampling {
    Sampling {
        seed: Seed::Fixed(seed),
        ..Sampling::default()
    }
}

#[test]
fn each_column_is_what_it_would_be_alone() {
    let mut talk = Talk::with_cria();
    let alone: Vec<_> = [greedy(), warm(5)]
        .into_iter()
        .map(|settings| talk.ask(&[user(QUESTION)], settings, Some(24)).tokens)
        .collect();
    let turn = begin(&mut talk, vec![greedy(), warm(5), greedy(), warm(6)], 24);
    let columns = rest(&mut talk, turn, 4, None);
    for (column, alone) in columns.iter().zip(&alone) {
        // Several rows are computed by other kernels than one, and further on the last bits decide.
        assert_eq!(column.tokens[..6], alone[..6]);
        assert_eq!(column.stats.generated as usize, column.tokens.len());
    }
    // In one batch all are the same kernel's.
    assert_eq!(columns[0].tokens, columns[2].tokens);
    assert_eq!(columns[0].text, columns[2].text);
    assert_ne!(columns[1].tokens, columns[3].tokens);
    assert!(columns.iter().all(|column| column.finish == Finish::MaxTokens));
    assert_eq!(columns[1].stats.seed, 5);
}

#[test]
fn they_share_the_prompt_and_leave_it() {
    let mut talk = Talk::with_cria();
    let turn = begin(&mut talk, vec![greedy(), warm(1), warm(2)], 12);
    let columns = rest(&mut talk, turn, 3, None);
    let prompt = columns[0].stats.prompt_tokens;
    let answer = talk.ask(&[user(QUESTION)], greedy(), Some(12));
    assert_eq!(answer.prefill.total, prompt);
    assert_eq!(
        answer.prefill.reused,
        prompt - 1,
        "but for the token whose logits are needed"
    );
    assert_eq!(answer.tokens[..6], columns[0].tokens[..6]);
}

#[test]
fn they_end_each_for_itself_and_all_when_told_to() {
    let mut talk = Talk::with_cria();
    let stops = Sampling {
        stop: vec![" ".to_owned()],
        ..greedy()
    };
    let turn = begin(&mut talk, vec![stops, greedy()], 20);
    let columns = rest(&mut talk, turn, 2, None);
    assert_eq!(columns[0].finish, Finish::StopText);
    assert_eq!((columns[1].finish, columns[1].tokens.len()), (Finish::MaxTokens, 20));

    let turn = begin(&mut talk, vec![greedy(), warm(1)], 400);
    let columns = rest(&mut talk, turn, 2, Some(8));
    assert!(
        columns.iter().all(|column| column.finish == Finish::Stopped),
        "{columns:?}"
    );
}

#[test]
fn a_full_context_ends_them() {
    let options = LoadOptions {
        context: Some(256),
        ..LoadOptions::default()
    };
    let mut talk = Talk::load(&cria(), options);
    let turn = begin(&mut talk, vec![warm(1), warm(2), warm(3), warm(4)], 250);
    let columns = rest(&mut talk, turn, 4, None);
    let held: usize = columns.iter().map(|column| column.tokens.len()).sum();
    assert!(held <= 260, "{held} tokens in 256 cells");
    // And the next answer has all of it.
    assert_eq!(talk.ask(&[user("hello")], greedy(), Some(2)).tokens.len(), 2);
}

#[test]
fn a_model_with_a_state_answers_in_turn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mamba.gguf");
    shapes::mamba(&cria(), 3).write(Path::new(&path));
    let mut talk = Talk::load(&path, LoadOptions::default());
    let turn = begin(&mut talk, vec![greedy(), warm(3), greedy()], 10);
    let columns = rest(&mut talk, turn, 3, None);
    assert_eq!(columns[0].tokens, columns[2].tokens);
    assert_ne!(columns[0].tokens, columns[1].tokens);
}

#[test]
fn there_are_at_most_four() {
    let mut talk = Talk::with_cria();
    begin(&mut talk, vec![greedy(); 5], 4);
    let Event::Failed { failure, .. } = talk.event() else {
        panic!("five columns were taken");
    };
    assert_eq!(failure.message, "5 columns are too many: at most 4");
}

#[test]
fn the_command_prints_all_or_json_and_says_what_is_missing() {
    let home = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_quipu"));
        command.arg("compare").args(args).env("QUIPU_HOME", home.path());
        command.stdin(std::process::Stdio::null()).output().unwrap()
    };
    let presets = ["--preset", "deterministic", "--preset", "creative"];
    let text = run(&[&presets[..], &["--max-tokens", "8", QUESTION]].concat());
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(
        text.contains("== deterministic · 8 tokens") && text.contains("== creative · 8 tokens"),
        "{text}"
    );

    let json = run(&[&presets[..], &["--max-tokens", "8", "--json", "--seed", "4", QUESTION]].concat());
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let [first, second] = json["columns"].as_array().unwrap().as_slice() else {
        panic!("{json}");
    };
    assert_eq!(
        (first["preset"].as_str(), first["sampling"]["temperature"].as_f64()),
        (Some("deterministic"), Some(0.0))
    );
    assert_eq!(
        (second["preset"].as_str(), second["sampling"]["seed"].as_u64()),
        (Some("creative"), Some(4))
    );
    assert_eq!(first["tokens"].as_array().map(Vec::len), Some(8));
    assert!(
        first["differs_at"].is_null() && second["differs_at"].is_number(),
        "{json}"
    );

    let folder = tempfile::tempdir().unwrap();
    let llama = folder.path().join("llama.gguf");
    shapes::random_llama(&cria(), 3).write(&llama);
    let llama = llama.to_str().unwrap();
    let models = [
        "--model",
        "cria",
        "--model",
        llama,
        "--json",
        "--temp",
        "0",
        "--max-tokens",
        "4",
        "x",
    ];
    let json = run(&models);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let [first, second] = json["columns"].as_array().unwrap().as_slice() else {
        panic!("{json}");
    };
    assert_eq!(first["model"]["name"], "cria");
    assert_ne!(first["model"]["fingerprint"], second["model"]["fingerprint"]);
    assert!(first["preset"].is_null() && second["differs_at"].is_number(), "{json}");
    let text = run(&[
        "--model",
        "cria",
        "--model",
        llama,
        "--preset",
        "code",
        "--max-tokens",
        "4",
        "x",
    ]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("== code@cria · "), "{text}");
    let missing = run(&["--model", "cria", "--model", "gone.gguf", "x"]);
    assert_eq!(
        (missing.status.code(), missing.stdout.len()),
        (Some(3), 0),
        "nothing is answered for nothing"
    );

    for (args, words) in [
        (&["--preset", "code", "x"][..], "that makes 1 answer: name two to 4"),
        (
            &["--preset", "code", "--preset", "creatif", "x"],
            "did you mean 'creative'?",
        ),
    ] {
        let refused = run(args);
        assert_eq!(refused.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&refused.stderr).contains(words));
    }
}
