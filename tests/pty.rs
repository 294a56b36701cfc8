//! Ring 6: the real binary in a real terminal. Few and whole: what only a process and a pty can show.

use std::fs;

use rustix::process::Signal;

use crate::terminal::Session;

const SCRIPT: &str = "[[answer]]\necho = true\ntoken-ms = 1\n";

/// A home folder with a script that echoes.
fn home() -> (tempfile::TempDir, String) {
    let home = tempfile::tempdir().unwrap();
    let script = home.path().join("echo.toml");
    fs::write(&script, SCRIPT).unwrap();
    let engine = format!("scripted:{}", script.display());
    (home, engine)
}

#[cfg(feature = "llama")]
#[test]
fn the_capital_of_france_is_paris_in_the_built_in_model() {
    for (columns, rows) in [(120, 40), (80, 24), (40, 12)] {
        let home = tempfile::tempdir().unwrap();
        let mut session = Session::start(home.path(), &["--temperature", "0"], columns, rows);
        session.wait_text("ready");
        session.send("What is the capital of France?");
        session.wait_text("France?");
        session.send("\r");
        session.wait_text("Paris");
        session.wait_text("ready");
        session.send("\x04");
        assert!(session.end().success());
        session.assert_sane();
    }
}

#[test]
fn it_starts_talks_and_leaves_the_terminal_as_it_was() {
    let (home, engine) = home();
    let mut session = Session::start(home.path(), &["--engine", &engine], 80, 24);
    session.wait_text("ready");
    assert!(session.parser.screen().alternate_screen());
    session.send("hello quipu");
    session.wait_text("hello quipu");
    session.send("\r");
    session.wait_for("the echo", |screen| screen.matches("hello quipu").count() >= 2);
    session.send("/quit");
    session.wait_text("/quit");
    session.send("\r");
    assert_eq!(session.end().exit_code(), 0);
    session.assert_sane();
}

#[test]
fn a_signal_ends_it_and_leaves_the_terminal_sane() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let (home, engine) = home();
        let mut session = Session::start(home.path(), &["--engine", &engine], 80, 24);
        session.wait_text("ready");
        session.signal(signal);
        assert_eq!(session.end().exit_code(), code);
        session.assert_sane();
    }
}

#[test]
fn any_size_will_do_also_one_by_one() {
    let (home, engine) = home();
    let mut session = Session::start(home.path(), &["--engine", &engine], 80, 24);
    session.wait_text("ready");
    for (columns, rows) in [(1, 1), (40, 12), (15, 4), (120, 40)] {
        session.resize(columns, rows);
    }
    session.wait_text("ready");
    session.send("\x04");
    assert!(session.end().success());
    session.assert_sane();
}

#[test]
fn a_paste_sends_nothing() {
    let (home, engine) = home();
    let mut session = Session::start(home.path(), &["--engine", &engine], 80, 24);
    session.wait_text("ready");
    session.send("\x1b[200~first line\rsecond line\r\x1b[201~");
    session.wait_text("second line");
    assert!(!session.text().contains("you"), "{}", session.text());
    session.send("\x03");
    session.wait_for("an empty composer", |screen| !screen.contains("second line"));
    session.send("\x04");
    assert!(session.end().success());
}

#[test]
fn no_colour_where_none_is_wanted() {
    let (home, engine) = home();
    let mut session = Session::start_with(home.path(), &["--engine", &engine], 80, 24, &[("NO_COLOR", "1")]);
    session.wait_text("ready");
    session.send("\x04");
    session.end();
    let bytes = String::from_utf8_lossy(&session.bytes).into_owned();
    for code in 30..38 {
        assert!(
            !bytes.contains(&format!("\x1b[{code}m")) && !bytes.contains(&format!(";{code}m")),
            "colour {code}"
        );
    }
    assert!(!bytes.contains("38;5;"), "a colour by number");
}

#[test]
fn a_dumb_terminal_gets_a_chat_line_by_line() {
    let (home, engine) = home();
    let mut session = Session::start_with(home.path(), &["--engine", &engine], 80, 24, &[("TERM", "dumb")]);
    session.wait_text("> ");
    session.send("hello plain world\n");
    session.wait_for("the echo", |screen| screen.matches("hello plain world").count() >= 2);
    session.send("\x04");
    assert!(session.end().success());
    assert!(!session.bytes.contains(&0x1b), "an escape sequence was written");
}

#[test]
fn a_broken_theme_costs_only_itself() {
    let (home, engine) = home();
    let mut session = Session::start(home.path(), &["--engine", &engine, "--theme", "nonsense"], 80, 24);
    session.wait_text("there is no theme 'nonsense'");
    session.wait_text("ready");
    session.send("\x04");
    assert!(session.end().success());
}
