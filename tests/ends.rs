//! Ring 6, the ways out: signals that ask, signals that kill, a terminal that goes away, a stop that is none. Whatever ends
//! the real binary, the terminal is as it was.

use std::fs;

use rustix::process::{Signal, kill_process};

use crate::terminal::{Session, scripted, way_out};

/// A program that sits there with an answer given.
const ECHO: &str = "[[answer]]\necho = true\n";

/// A program that talks for longer than any test waits.
fn endless() -> String {
    let words = "again and ".repeat(10_000);
    format!("[model]\ncontext = 100_000\n[[answer]]\ntext = \"{words}\"\ntoken-ms = 20\n")
}

/// A quipu on a script, ready.
fn playing(script: &str) -> (tempfile::TempDir, Session) {
    let home = tempfile::tempdir().unwrap();
    let engine = scripted(home.path(), script);
    let mut session = Session::start(home.path(), &["--engine", &engine], 80, 24);
    session.wait_text("ready");
    (home, session)
}

/// One whose model is loaded for longer than any test waits.
fn loading() -> (tempfile::TempDir, Session) {
    let home = tempfile::tempdir().unwrap();
    let engine = scripted(home.path(), "[model]\nload-ms = 600_000\n[[answer]]\necho = true\n");
    let mut session = Session::start(home.path(), &["--engine", &engine], 80, 24);
    session.wait_text("loading");
    (home, session)
}

/// One whose prompt is read for as long.
fn reading() -> (tempfile::TempDir, Session) {
    let (home, mut session) = playing("[[answer]]\necho = true\nprefill-ms = 600_000\n");
    ask(&mut session, "Read");
    session.wait_text("reading");
    (home, session)
}

/// The same in the middle of an answer.
fn talking() -> (tempfile::TempDir, Session) {
    let (home, mut session) = playing(&endless());
    ask(&mut session, "Talk");
    session.wait_text("again and again");
    (home, session)
}

fn ask(session: &mut Session, question: &str) {
    session.send(question);
    session.wait_text(question);
    session.send("\r");
}

#[test]
fn what_a_program_that_was_killed_leaves_behind_is_seen() {
    let (_home, mut session) = playing(ECHO);
    session.signal(Signal::KILL);
    assert_eq!(way_out(session.end()), (None, Some(9)));
    let found = session.disorder();
    for what in [
        "the alternate screen",
        "bracketed paste",
        "a captured mouse",
        "another keyboard protocol",
        "other local modes",
    ] {
        assert!(
            found.contains(&what),
            "no {what} in {found:?}: these tests could not fail"
        );
    }
}

#[test]
fn a_signal_that_asks_ends_it_with_its_code() {
    for (signal, code) in [
        (Signal::INT, 130),
        (Signal::QUIT, 131),
        (Signal::TERM, 143),
        (Signal::HUP, 129),
    ] {
        for begin in [|| playing(ECHO), talking, loading, reading] {
            let (_home, mut session) = begin();
            session.signal(signal);
            assert_eq!(way_out(session.end()), (Some(code), None), "{signal:?}");
            session.assert_sane();
        }
    }
}

#[test]
fn a_signal_that_kills_gives_the_terminal_back_first() {
    let signals = [
        (Signal::SEGV, "SIGSEGV"),
        (Signal::BUS, "SIGBUS"),
        (Signal::ILL, "SIGILL"),
        (Signal::FPE, "SIGFPE"),
        (Signal::ABORT, "SIGABRT"),
    ];
    for (signal, name) in signals {
        for begin in [|| playing(ECHO), talking] {
            let (_home, mut session) = begin();
            session.signal(signal);
            assert_eq!(way_out(session.end()), (None, Some(signal.as_raw())), "{name}");
            session.assert_sane();
            assert!(
                session.text().contains(&format!("quipu was ended by {name}")),
                "{}",
                session.text()
            );
        }
    }
}

#[test]
fn native_code_that_gives_up_gives_the_terminal_back_first() {
    let (_home, mut session) = playing(include_str!("../assets/abort.toml"));
    ask(&mut session, "Go on");
    assert_eq!(way_out(session.end()), (None, Some(Signal::ABORT.as_raw())));
    session.assert_sane();
    assert!(
        session.text().contains("quipu was ended by SIGABRT"),
        "{}",
        session.text()
    );
}

#[cfg(all(feature = "llama", target_os = "linux"))]
#[test]
fn a_model_that_is_cut_short_while_it_is_in_use_gives_the_terminal_back_first() {
    let home = tempfile::tempdir().unwrap();
    let model = home.path().join("model.gguf");
    fs::copy(crate::engine::cria(), &model).unwrap();
    let mut session = Session::start(home.path(), &["--model", model.to_str().unwrap()], 80, 24);
    session.wait_text("ready");
    fs::File::options()
        .write(true)
        .open(&model)
        .unwrap()
        .set_len(0)
        .unwrap();
    ask(&mut session, "What is the capital of France?");
    assert_eq!(way_out(session.end()), (None, Some(Signal::BUS.as_raw())));
    session.assert_sane();
    assert!(
        session.text().contains("quipu was ended by SIGBUS"),
        "{}",
        session.text()
    );
}

#[test]
fn it_ends_with_its_terminal() {
    for begin in [|| playing(ECHO), talking] {
        let (_home, mut session) = begin();
        session.hang_up();
        assert_eq!(way_out(session.ended()), (Some(129), None));
    }
}

/// Only the shell is told of the end, and it keeps it to itself: no signal comes, and reading gives nothing for ever.
#[test]
fn it_ends_with_its_terminal_also_where_no_signal_says_so() {
    let home = tempfile::tempdir().unwrap();
    let engine = scripted(home.path(), ECHO);
    let script = r#"trap '' HUP; "$@"; echo $? >code"#;
    let mut session = Session::start_in_shell(home.path(), script, &["--engine", &engine], 80, 24);
    session.wait_text("ready");
    session.hang_up();
    session.ended();
    assert_eq!(fs::read_to_string(home.path().join("code")).unwrap(), "129\n");
}

#[test]
fn it_stops_and_goes_on_as_a_job_of_a_shell() {
    let home = tempfile::tempdir().unwrap();
    let engine = scripted(home.path(), ECHO);
    // A shell's code for a job that was stopped is 128 and the number of the signal. No loop: a stop ends those of a shell.
    let fg = r#"read -r line; echo "the shell has '$line'"; fg >/dev/null; echo "left with $?";"#;
    let script = format!(r#"set -m; "$@"; echo "left with $?"; {} read -r line"#, fg.repeat(3));
    let mut session = Session::start_in_shell(home.path(), &script, &["--engine", &engine], 80, 24);
    session.wait_text("ready");
    ask(&mut session, "before");
    session.wait_for("the echo", |screen| {
        screen.matches("before").count() >= 2 && screen.contains("ready")
    });
    session.send("a draft");
    session.wait_text("a draft");
    let quipu = session.in_front();
    let stopped = format!("left with {}", 128 + Signal::TSTP.as_raw());
    for round in 1..=3 {
        let before = session.text();
        if round == 2 {
            kill_process(quipu, Signal::TSTP).unwrap();
        } else {
            session.send("\x1a");
        }
        session.wait_for("the shell", |screen| screen.matches(&stopped).count() == round);
        session.assert_sane();
        if cfg!(target_os = "linux") {
            let process = fs::read_to_string(format!("/proc/{quipu}/stat")).unwrap();
            assert!(process.contains(") T "), "{process}");
        }
        session.send("go on\r");
        session.wait_for("the screen as it was", |screen| screen == before);
        assert!(session.parser.screen().alternate_screen());
    }
    session.send("\r");
    session.wait_for("the echo", |screen| screen.matches("a draft").count() >= 2);
    session.send("\x04");
    session.wait_text("left with 0");
    session.assert_sane();
    assert_eq!(session.text().matches("the shell has 'go on'").count(), 3);
    session.send("and out\r");
    assert!(session.end().success());
}
