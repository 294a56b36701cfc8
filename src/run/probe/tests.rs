//! The parent against children that behave in every way, played by shell scripts.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;

use super::ChildProber;
use crate::engine::local::{Depth, Prober, Trial, Verdict};

/// A program that does `script`, in `folder`.
fn program(folder: &Path, script: &str) -> PathBuf {
    let path = folder.join("child.sh");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn trial() -> Trial<'static> {
    Trial {
        path: Path::new("-model.gguf"),
        fingerprint: "aa",
        gpu_layers: 0,
        overrides: "",
        depth: Depth::Compute,
    }
}

/// What comes of a child that does `script`.
fn verdict(script: &str) -> Verdict {
    let folder = tempfile::tempdir().unwrap();
    let prober = ChildProber::new(&program(folder.path(), script), folder.path());
    prober.probe(&trial(), &mut |_| true)
}

const HELLO: &str = "echo quipu-trial 1;";

#[test]
fn every_end_has_its_verdict() {
    let after = |script: &str| verdict(&format!("{HELLO} {script}"));
    let gave_up = |words: &str| Verdict::GaveUp(words.to_owned());
    assert_eq!(after("echo noise; echo at 50; echo sound"), Verdict::Sound);
    assert_eq!(
        after("echo refused no good; exit 3"),
        Verdict::Refused("no good".to_owned())
    );
    assert_eq!(
        after("echo 'last-words /build/llama.cpp/src/x.cpp:12: GGML_ASSERT(a / b) failed'; kill -ABRT $$"),
        gave_up("x.cpp:12: GGML_ASSERT(a / b) failed")
    );
    assert_eq!(
        after("echo 'terminate called after throwing'>&2; echo '  what():  bad_alloc'>&2; kill -ABRT $$"),
        gave_up("bad_alloc")
    );
    assert_eq!(
        after("echo 'first' >&2; echo 'overflowed its stack' >&2; kill -ABRT $$"),
        gave_up("overflowed its stack")
    );
    assert_eq!(
        after("echo 'fatal runtime error: Rust cannot catch foreign exceptions, aborting' >&2; kill -ABRT $$"),
        gave_up("it met something that it had no answer to (a C++ exception)")
    );
    assert_eq!(
        after("kill -SEGV $$"),
        gave_up("it reached for memory that is not there (SIGSEGV)")
    );
    assert_eq!(
        after("kill -KILL $$"),
        gave_up("the system ended it, most likely for want of memory")
    );
    assert_eq!(after("exit 0"), gave_up("it ended with exit status: 0"));
}

#[test]
fn a_child_that_is_no_quipu_is_no_verdict_on_the_model() {
    for script in ["echo unknown command >&2; exit 2", "exit 0", "kill -SEGV $$"] {
        assert!(matches!(verdict(script), Verdict::Untried(_)), "{script}");
    }
    let folder = tempfile::tempdir().unwrap();
    let prober = ChildProber::new(&folder.path().join("missing"), folder.path());
    assert!(matches!(prober.probe(&trial(), &mut |_| true), Verdict::Untried(_)));
}

#[test]
fn a_sound_model_is_tried_once() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let script = format!("echo x >> '{}'; {HELLO} echo sound", count.display());
    let prober = ChildProber::new(&program(folder.path(), &script), &folder.path().join("cache"));
    for _ in 0..3 {
        assert_eq!(prober.probe(&trial(), &mut |_| true), Verdict::Sound);
    }
    assert_eq!(fs::read_to_string(&count).unwrap(), "x\n");
    let other = Trial {
        fingerprint: "bb",
        ..trial()
    };
    assert_eq!(prober.probe(&other, &mut |_| true), Verdict::Sound);
    assert_eq!(fs::read_to_string(&count).unwrap(), "x\nx\n");
}

#[test]
fn a_bad_model_is_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let script = format!("echo x >> '{}'; {HELLO} kill -SEGV $$", count.display());
    let prober = ChildProber::new(&program(folder.path(), &script), folder.path());
    for _ in 0..2 {
        assert!(matches!(prober.probe(&trial(), &mut |_| true), Verdict::GaveUp(_)));
    }
    assert_eq!(fs::read_to_string(&count).unwrap(), "x\nx\n");
}

#[test]
fn a_child_that_never_ends_is_ended_on_a_cancel() {
    let folder = tempfile::tempdir().unwrap();
    // `exec`, so that the process which never ends is the child itself.
    let prober = ChildProber::new(
        &program(folder.path(), &format!("{HELLO} echo at 40; exec cat")),
        folder.path(),
    );
    let mut seen = 0.0;
    let stopped = prober.probe(&trial(), &mut |part| {
        seen = part;
        part < 0.4
    });
    assert_eq!((stopped, seen), (Verdict::Stopped, 0.4));
}

#[test]
fn what_floods_is_read_to_its_end() {
    let flood = "i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; \
                 echo 0123456789012345678901234567890123456789 >&2; i=$((i+1)); done; echo sound";
    assert_eq!(verdict(&format!("{HELLO} {flood}")), Verdict::Sound);
}
