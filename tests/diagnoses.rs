//! What goes wrong with whole models is called by its name: one made to loop, one whose template does not end answers, one whose
//! weights are no numbers, one whose context is full.

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::engine::cria;
use crate::gguf::{CHATML, Gguf, text, tiny_qwen2};

/// Asks a model in a session, where answers are watched.
fn ask(model: &Path, flags: &[&str]) -> Output {
    ask_with(model, flags, ("QUIPU_LOOP_GUARD", "pause"))
}

/// The same with a variable of the environment.
fn ask_with(model: &Path, flags: &[&str], (name, value): (&str, &str)) -> Output {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_quipu"));
    command
        .args([
            "--session",
            "one",
            "--temperature",
            "0",
            "--max-tokens",
            "400",
            "--model",
        ])
        .arg(model)
        .args(flags)
        .arg("Tell me a story about a llama.")
        .env("QUIPU_HOME", home.path())
        .env(name, value);
    command.output().unwrap()
}

fn written(file: &Gguf) -> (TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    file.write(&path);
    (folder, path)
}

#[track_caller]
fn told(output: &Output, words: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(words), "{said}");
}

/// A model whose output is its input: it says again what it heard.
fn parrot() -> Gguf {
    tiny_qwen2(&cria(), 0, 62)
}

#[test]
fn a_model_made_to_loop_is_stopped_and_the_settings_are_named() {
    let (_folder, path) = written(&parrot());
    let output = ask(&path, &["--prefill", "rect"]);
    told(&output, "it goes round in circles: '");
    told(&output, "each token is the likeliest, and nothing penalises repetition");
}

#[test]
fn a_template_without_its_end_of_turn_is_named() {
    let mut file = parrot();
    file.set("tokenizer.chat_template", text(&CHATML.replace("<|im_end|>", "")));
    let (_folder, path) = written(&file);
    told(
        &ask(&path, &["--prefill", "rect"]),
        "the template ends answers with '<|im_start|>', at which nothing stops",
    );
}

#[test]
fn weights_that_are_no_numbers_are_named() {
    let mut file = Gguf::read(&cria());
    // The scale of a block of Q8_0.
    file.tensor("blk.2.attn_output.weight").data[..2].copy_from_slice(&0x7e00_u16.to_le_bytes());
    let (_folder, path) = written(&file);
    let output = ask(&path, &[]);
    assert_eq!(output.status.code(), Some(1));
    told(&output, "the model computes no numbers: its weights are broken");
}

#[test]
fn a_context_that_overflows_is_told_as_such() {
    let (_folder, path) = written(&parrot());
    // Not watched, it goes on up to the end of the context.
    let quiet = ("QUIPU_LOOP_GUARD", "off");
    let output = ask_with(&path, &["--context", "256", "--json", "--overflow", "stop"], quiet);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["finish"], "context-full");

    let output = ask_with(&path, &["--context", "256", "--overflow", "shift"], quiet);
    told(&output, "the context is full: the model keeps the first");
}
