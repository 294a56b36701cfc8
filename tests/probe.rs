//! The first load of a file happens in a child process: the real binary, real models, real deaths.

use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use quipu::engine::local::{Depth, Prober, Trial, Verdict};
use quipu::gguf::ModelFile;
use quipu::run::probe::{COMMAND, ChildProber};

use crate::engine::cria;
use crate::{gguf, shapes};

/// The program, with everything it keeps below `home` and nothing to read.
fn quipu(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quipu"));
    command
        .env("QUIPU_HOME", home)
        .env("QUIPU_LOG", "info")
        .env_remove("QUIPU_PROBE")
        .stdin(Stdio::null());
    command
}

/// Asks a model for a few tokens.
fn ask(home: &Path, model: &Path, flags: &[&str]) -> Output {
    let mut command = quipu(home);
    command
        .arg("--model")
        .arg(model)
        .args(["--max-tokens", "2"])
        .args(flags)
        .arg("hello");
    command.output().unwrap()
}

fn log(home: &Path) -> String {
    fs::read_to_string(home.join("state/quipu.log")).unwrap()
}

fn known(home: &Path) -> String {
    fs::read_to_string(home.join("cache/known-models")).unwrap_or_default()
}

fn tiny(folder: &Path) -> PathBuf {
    let path = folder.join("tiny.gguf");
    gguf::tiny_qwen2(&cria(), 0, 1).write(&path);
    path
}

/// The lines of the log that tell of trials.
const TRIED: &str = "a model was tried";

#[test]
fn a_new_file_is_tried_once_and_then_known() {
    let home = tempfile::tempdir().unwrap();
    let model = tiny(home.path());
    let first = ask(home.path(), &model, &[]);
    assert!(first.status.success(), "{first:?}");
    assert!(log(home.path()).contains(TRIED), "{}", log(home.path()));
    assert_eq!(known(home.path()).lines().count(), 1);
    let second = ask(home.path(), &model, &[]);
    assert!(second.status.success(), "{second:?}");
    assert!(!log(home.path()).contains(TRIED), "{}", log(home.path()));
    // The same name, another file.
    gguf::tiny_qwen2(&cria(), 0, 2).write(&model);
    ask(home.path(), &model, &[]);
    assert!(log(home.path()).contains(TRIED), "{}", log(home.path()));
    assert_eq!(known(home.path()).lines().count(), 2);
}

#[test]
fn the_built_in_model_is_not_tried_and_no_one_has_to_be() {
    let home = tempfile::tempdir().unwrap();
    let output = quipu(home.path())
        .args(["--max-tokens", "2", "hello"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(!log(home.path()).contains(TRIED));
    let model = tiny(home.path());
    assert!(ask(home.path(), &model, &["--no-probe"]).status.success());
    assert!(!log(home.path()).contains(TRIED));
    fs::write(home.path().join("config.toml"), "[model]\nprobe = false\n").unwrap();
    assert!(ask(home.path(), &model, &[]).status.success());
    assert!(!log(home.path()).contains(TRIED));
    assert_eq!(known(home.path()), "");
}

#[test]
fn a_child_does_not_outlive_whoever_waits_for_it() {
    let home = tempfile::tempdir().unwrap();
    // Standard input is at its end from the start, as if the parent were gone. The model takes far longer to load than that
    // takes to be seen.
    let output = quipu(home.path()).args([COMMAND, "--"]).arg(cria()).output().unwrap();
    assert_eq!(output.status.code(), Some(141), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("sound"));
}

#[test]
fn a_child_keeps_nothing_and_reads_no_settings() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("config.toml"), "this is no toml").unwrap();
    let model = tiny(home.path());
    let before = fs::read_dir(home.path()).unwrap().count();
    let mut child = quipu(home.path());
    child
        .arg(COMMAND)
        .arg(&model)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = child.spawn().unwrap();
    // `wait_with_output` would close it.
    let life = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(life);
    assert!(
        String::from_utf8_lossy(&output.stdout).ends_with("\nsound\n"),
        "{output:?}"
    );
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), before);
}

#[test]
fn a_load_without_computing_stands_the_trial_too() {
    let home = tempfile::tempdir().unwrap();
    let model = tiny(home.path());
    let prober = ChildProber::new(Path::new(env!("CARGO_BIN_EXE_quipu")), home.path());
    let trial = Trial {
        path: &model,
        fingerprint: &ModelFile::open(&model).unwrap().fingerprint().unwrap(),
        gpu_layers: 0,
        overrides: "",
        depth: Depth::Load,
    };
    let mut parts = Vec::new();
    let verdict = prober.probe(&trial, &mut |part| {
        parts.push(part);
        true
    });
    assert_eq!(verdict, Verdict::Sound);
    assert!(parts.is_sorted() && parts.last() == Some(&1.0), "{parts:?}");
}

#[test]
fn what_kills_llama_cpp_is_told_and_harms_nobody() {
    let home = tempfile::tempdir().unwrap();
    let model = home.path().join("model.gguf");
    // The reader of headers does not know what single architectures assume.
    let deaths = [
        (3, 1, "mamba-base.cpp:177: GGML_ASSERT(d_inner % n_head == 0) failed"),
        (4, 0, "it divided by zero (SIGFPE)"),
    ];
    for (heads, groups, reason) in deaths {
        shapes::mamba2(&cria(), heads, groups).write(&model);
        ModelFile::open(&model).unwrap().check().unwrap();
        let output = ask(home.path(), &model, &[]);
        let words = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{words}");
        let begin = format!("quipu: llama.cpp gave up on '{}': {reason}; ", model.display());
        assert!(words.starts_with(&begin) && words.lines().count() == 1, "{words}");
    }
    assert_eq!(known(home.path()), "");
    shapes::mamba2(&cria(), 4, 2).write(&model);
    let output = ask(home.path(), &model, &[]);
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_path_need_not_be_utf8() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(std::ffi::OsString::from_vec(b"caf\xe9".to_vec()));
    if fs::create_dir(&folder).is_err() {
        // This file system allows no such names.
        return;
    }
    let model = tiny(&folder);
    let mut command = quipu(home.path());
    let output = command
        .current_dir(&folder)
        .args(["--model", "tiny.gguf", "--max-tokens", "2", "hello"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let prober = ChildProber::new(Path::new(env!("CARGO_BIN_EXE_quipu")), home.path());
    let trial = Trial {
        path: &model,
        fingerprint: "another",
        gpu_layers: 0,
        overrides: "",
        depth: Depth::Compute,
    };
    assert_eq!(prober.probe(&trial, &mut |_| true), Verdict::Sound);
}
