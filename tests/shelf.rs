//! The models on this machine: listed, told of, asked for by name and removed, through the program itself.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use pretty_assertions::assert_eq;

#[cfg(feature = "llama")]
use crate::hub::Hub;

/// A home with a model that quipu fetched and one of Ollama's.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let cria = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/cria/cria-q8_0.gguf");
    let own = home.path().join("quipu/data/models/ada/tiny-GGUF");
    let blob = format!("sha256-{}", "5".repeat(64));
    let ollama = home.path().join(".ollama/models");
    let manifest = ollama.join("manifests/registry.ollama.ai/library/llama3/latest");
    for folder in [&own, &ollama.join("blobs"), manifest.parent().unwrap()] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::copy(&cria, own.join("tiny-Q8_0.gguf")).unwrap();
    fs::copy(&cria, ollama.join("blobs").join(&blob)).unwrap();
    let digest = blob.replace('-', ":");
    let layer = format!(r#"{{"layers":[{{"mediaType":"application/vnd.ollama.image.model","digest":"{digest}"}}]}}"#);
    fs::write(manifest, layer).unwrap();
    home
}

fn quipu(home: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quipu"));
    command
        .args(args)
        .env("HOME", home)
        .env("QUIPU_HOME", home.join("quipu"));
    for variable in [
        "XDG_CACHE_HOME",
        "HF_HOME",
        "HF_HUB_CACHE",
        "LLAMA_CACHE",
        "OLLAMA_MODELS",
    ] {
        command.env_remove(variable);
    }
    command.stdin(Stdio::null()).output().unwrap()
}

fn said(home: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let output = quipu(home, args);
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code(), out, err)
}

#[test]
fn models_are_listed_and_told_of() {
    let home = home();
    let (code, out, err) = said(home.path(), &["models"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let rows: Vec<Vec<&str>> = out.lines().map(|line| line.split_whitespace().collect()).collect();
    let ends: Vec<_> = rows.iter().map(|row| (row[0], row[row.len() - 1])).collect();
    assert_eq!(
        ends,
        [
            ("MODEL", "FROM"),
            ("cria", "in"),
            ("llama3:latest", "Ollama"),
            ("tiny-Q8_0", "quipu"),
        ]
    );
    let (_, out, _) = said(home.path(), &["models", "list", "--json"]);
    let list: serde_json::Value = serde_json::from_str(&out).unwrap();
    let tiny = &list["models"][2];
    assert_eq!(
        (tiny["repo"].as_str(), tiny["facts"]["quantization"].as_str()),
        (Some("ada/tiny-GGUF"), Some("Q8_0"))
    );
    assert!(tiny["needs"].as_u64() > tiny["facts"]["bytes"].as_u64());

    let (code, out, _) = said(home.path(), &["models", "inspect", "LLAMA3"]);
    assert_eq!(code, Some(0));
    for words in [
        "model          llama3:latest\n",
        "quantization   Q8_0\n",
        "licence        MIT OR Apache-2.0\n",
        "from           Ollama\n",
        " for a context of 1024 tokens + ",
        "with a context of up to 1024 tokens: ",
    ] {
        assert!(out.contains(words), "{words}: {out}");
    }
    let (_, out, _) = said(home.path(), &["models", "inspect", "cria", "--json"]);
    let cria: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (cria["from"].as_str(), cria["load"].as_str()),
        (Some("built in"), Some("cria"))
    );
}

#[test]
fn only_what_quipu_fetched_is_removed() {
    let home = home();
    let own = home.path().join("quipu/data/models");
    for (name, words) in [
        ("llama3:latest", "it is Ollama's: 'ollama rm llama3:latest' removes it"),
        ("cria", "it is part of quipu"),
        ("whale", "no such model 'whale'"),
    ] {
        let (code, out, err) = said(home.path(), &["models", "rm", name]);
        assert!(code > Some(0) && out.is_empty() && err.contains(words), "{err}");
    }
    let (code, out, _) = said(home.path(), &["models", "rm", "ada/tiny-gguf:Q8_0"]);
    assert_eq!(
        (code, out.as_str()),
        (Some(0), "'tiny-Q8_0' is removed, and 7.6 MiB are free again\n")
    );
    assert_eq!(
        fs::read_dir(&own).unwrap().count(),
        0,
        "the folders of the repository are gone too"
    );
    assert_eq!(said(home.path(), &["models", "list"]).1.lines().count(), 3);

    fs::create_dir_all(own.join("ada/owl")).unwrap();
    fs::write(own.join("ada/owl/owl-Q8_0.gguf.0123456789ab.part"), [0; 2048]).unwrap();
    let told = "owl-Q8_0.gguf was broken off after 2.0 KiB: 'quipu pull ada/owl' goes on, 'quipu models rm ada/owl' removes it";
    let (_, out, _) = said(home.path(), &["models"]);
    assert!(out.contains(told), "{out}");
    let (code, out, _) = said(home.path(), &["models", "rm", "ada/owl"]);
    assert_eq!(
        (code, out.as_str()),
        (Some(0), "'ada/owl' is removed, and 2.0 KiB are free again\n")
    );
    assert_eq!(fs::read_dir(&own).unwrap().count(), 0);
}

#[cfg(feature = "llama")]
#[test]
fn a_name_is_as_good_as_a_path() {
    let home = home();
    for name in ["llama3:latest", "tiny", "ada/tiny-GGUF"] {
        let (code, out, err) = said(
            home.path(),
            &["--model", name, "--temp", "0", "What is the capital of France?"],
        );
        assert_eq!(code, Some(0), "{err}");
        assert!(out.contains("Paris"), "{out}");
    }
    let (code, _, err) = said(home.path(), &["--model", "l", "hello"]);
    assert_eq!(code, Some(0), "one model alone has that letter: {err}");
    let (code, _, err) = said(home.path(), &["--model", "a", "hello"]);
    assert_eq!(code, Some(3));
    assert!(
        err.contains("'a' may be several models: 'tiny-Q8_0', 'llama3:latest'"),
        "{err}"
    );
}

#[cfg(feature = "llama")]
#[test]
fn a_model_is_fetched_and_talks() {
    let home = tempfile::tempdir().unwrap();
    let cria = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/cria/cria-q8_0.gguf");
    let hub = Hub::start(fs::read(cria).unwrap(), None);
    let pull = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quipu"));
        command
            .args(args)
            .env("HOME", home.path())
            .env("QUIPU_HOME", home.path().join("quipu"));
        command
            .env("HF_ENDPOINT", format!("http://{}", hub.address))
            .env("NO_PROXY", "127.0.0.1");
        let output = command.stdin(Stdio::null()).output().unwrap();
        let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (output.status.code(), out, err)
    };
    for (args, code, words) in [
        (&["pull", "ada/wolf"][..], 1, "there is no 'ada/wolf' on the hub"),
        (&["pull", "owl"], 2, "'owl' is no repository: give OWNER/REPO"),
        (
            &["pull", "ada/owl:Q2_K"],
            2,
            "'ada/owl' has no 'Q2_K': there are owl-Q8_0",
        ),
        (&["pull", "ada/owl", "--offline"], 2, "quipu is offline"),
    ] {
        let (found, out, err) = pull(args);
        assert_eq!((found, out.as_str()), (Some(code), ""), "{err}");
        assert!(err.contains(words), "{err}");
    }
    let (code, out, err) = pull(&["models", "pull", "ada/owl"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert_eq!(out, "'owl-Q8_0' is here, 7.6 MiB: quipu --model owl-Q8_0\n");
    let (_, out, err) = pull(&["--model", "ada/owl", "--temp", "0", "What is the capital of France?"]);
    assert!(out.contains("Paris"), "{err}");
    let (_, out, _) = pull(&["pull", "ada/owl:q8_0", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(told["label"], "owl-Q8_0");
    assert_eq!(pull(&["models", "rm", "owl"]).0, Some(0));
}
