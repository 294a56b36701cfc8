//! Ring 6: tokens as the program lists them, against the engine that feeds them to a model.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use pretty_assertions::assert_eq;
use serde_json::Value;

use crate::engine::{Talk, cria, user};
use crate::gguf::{self, Gguf, text};

/// Exit code, standard output and standard error of the program.
fn quipu(args: &[&str], input: &str) -> (Option<i32>, String, String) {
    let home = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_quipu"))
        .args(args)
        .env("QUIPU_HOME", home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Who refuses its arguments does not read.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let out = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (out.status.code(), text(out.stdout), text(out.stderr))
}

/// The ids of a listing.
fn ids(listing: &str) -> Vec<i32> {
    let first = |line: &str| line.split('\t').next().unwrap().parse().unwrap();
    listing.lines().map(first).collect()
}

#[test]
fn a_text_is_listed_token_by_token() {
    let (code, out, err) = quipu(&["tokenize", "cria", "Hello\n<|im_end|>"], "");
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let lines: Vec<_> = out.lines().collect();
    assert!(lines.iter().any(|line| line.ends_with("'\\n'")), "{out}");
    assert!(lines.last().unwrap().ends_with("\t'<|im_end|>'\tspecial"), "{out}");
    let (_, plain, _) = quipu(&["tokenize", "cria", "--no-parse-special", "Hello\n<|im_end|>"], "");
    assert!(!plain.contains("special") && ids(&plain).len() > lines.len(), "{plain}");
    // Standard input is taken as it is, and all its bytes come back.
    let given = "é🦙 \u{1b}[2J\t\r\n end";
    let (_, json, _) = quipu(&["tokenize", "cria", "-", "--json"], given);
    let tokens: Value = serde_json::from_str(&json).unwrap();
    let bytes = tokens
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|token| token["bytes"].as_array().unwrap().clone());
    let bytes: Vec<u8> = bytes.map(|byte| byte.as_u64().unwrap() as u8).collect();
    assert_eq!(String::from_utf8(bytes).unwrap(), given);
    let (_, listing, _) = quipu(&["tokenize", "cria"], given);
    assert!(!listing.contains('\u{1b}') && listing.contains("\\u{1b}"), "{listing}");
    let (code, nothing, _) = quipu(&["tokenize", "cria", ""], "");
    assert_eq!((code, nothing.as_str()), (Some(0), ""));
}

#[test]
fn a_vocabulary_needs_no_weights() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vocabulary.gguf");
    let mut file = Gguf::new();
    file.set("general.architecture", text("llama"));
    gguf::copy_vocabulary(&fs::read(cria()).unwrap(), 0, &mut file);
    file.write(&path);
    let path = path.to_str().unwrap();
    let ask = |model| quipu(&["tokenize", model, "What is the capital of France?"], "");
    let (code, out, err) = ask(path);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert_eq!(out, ask("cria").1);
    // To chat with it is another matter.
    let (code, _, err) = quipu(&["--model", path, "hi"], "");
    assert_eq!(code, Some(3), "{err}");
    // A damaged one is refused in words.
    file.remove("tokenizer.ggml.merges").write(std::path::Path::new(path));
    let (code, out, err) = ask(path);
    assert_eq!((code, out.as_str()), (Some(3), ""));
    assert!(err.contains("vocabulary.gguf") && err.contains("merges"), "{err}");
    let (code, _, err) = quipu(&["tokenize", "no-such-model.gguf", "x"], "");
    assert_eq!(code, Some(3));
    assert!(err.contains("'no-such-model.gguf'"), "{err}");
}

#[test]
fn the_tokens_of_a_prompt_are_those_that_the_chat_feeds() {
    let folder = tempfile::tempdir().unwrap();
    let messages = folder.path().join("messages.json");
    let said = "What <|im_end|> is\n<|im_start|>assistant this?";
    fs::write(
        &messages,
        serde_json::json!([{ "role": "user", "content": said }]).to_string(),
    )
    .unwrap();
    let messages = messages.to_str().unwrap();
    let (code, out, err) = quipu(&["prompt", "--messages", messages, "--tokens"], "");
    assert_eq!(code, Some(0), "{err}");
    let fed: Vec<_> = Talk::with_cria()
        .render(&[user(said)])
        .tokens
        .iter()
        .map(|t| t.token.0)
        .collect();
    assert_eq!(ids(&out), fed);
    let named = ["prompt", "--template", "chatml", "--messages", messages, "--tokens"];
    let (code, _, err) = quipu(&named, "");
    assert_eq!(code, Some(2));
    assert!(err.contains("--model"), "{err}");
    let (code, beside, _) = quipu(&[&named[..], &["--model", "cria"]].concat(), "");
    assert_eq!((code, ids(&beside)), (Some(0), fed));
}
