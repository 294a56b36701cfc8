//! Ring 6: the real binary in a real terminal. Few and whole: what only a process and a pty can show.

use rustix::process::Signal;

use crate::terminal::{Session, scripted, way_out};

const ECHO: &str = "[[answer]]\necho = true\ntoken-ms = 1\n";

/// A home folder with a script that echoes.
fn home() -> (tempfile::TempDir, String) {
    let home = tempfile::tempdir().unwrap();
    let engine = scripted(home.path(), ECHO);
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
    assert_eq!(way_out(session.end()), (Some(0), None));
    session.assert_sane();
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
fn a_size_that_no_terminal_has_costs_nothing() {
    let (home, engine) = home();
    let mut session = Session::start(home.path(), &["--engine", &engine], 80, 24);
    session.wait_text("ready");
    let before = session.text();
    for size in [(0, 0), (0, 24), (80, 0), (65_535, 65_535), (1, 65_535), (65_535, 1)] {
        session.claim(size);
    }
    session.claim((80, 24));
    // What follows is drawn after all of them.
    session.send("word");
    session.wait_text("word");
    session.send("\x7f\x7f\x7f\x7f");
    session.wait_for("the same screen", |screen| screen == before);
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

/// A million bytes of 200 000 words, as a terminal pastes them.
fn million() -> String {
    let text = vec!["All work and no play makes llamas dull."; 25_000].join("\n");
    assert_eq!(text.len(), 999_999);
    format!("\x1b[200~{text}\x1b[201~")
}

/// What the composer says of it.
const FOLDED: &str = "a long text · 25000 lines · 977 KiB";

/// Pastes it and types three words beside it, letter by letter until Enter is no part of the paste any more: that takes
/// 50 ms, and every letter waits for a frame of its own, 16 ms after the one before.
fn paste_a_million(session: &mut Session) {
    session.send(&million());
    session.wait_text(FOLDED);
    assert!(!session.text().contains("you"), "it was sent:\n{}", session.text());
    let words = " a moment later";
    for (at, letter) in words.char_indices() {
        session.send(&letter.to_string());
        let typed = words[..=at].trim_end();
        session.wait_text(&format!("▤{typed}"));
    }
    session.wait_text(FOLDED);
}

#[test]
fn a_million_bytes_are_pasted_whole_and_sent_whole() {
    let home = tempfile::tempdir().unwrap();
    let script = "[model]\ncontext = 1_000_000\n[[answer]]\ntext = \"heard\"\n";
    let engine = scripted(home.path(), script);
    let mut session = Session::start(home.path(), &["--engine", &engine], 80, 24);
    session.wait_text("ready");
    paste_a_million(&mut session);
    session.send("\r");
    session.wait_text("heard");
    // A message of 200 003 words, the three marks around it, and the word of the answer.
    session.wait_text("200007/1000000");
    session.wait_text("ready");
    assert!(
        !session.text().contains(FOLDED),
        "still in the composer:\n{}",
        session.text()
    );
    session.send("\x04");
    assert_eq!(way_out(session.end()), (Some(0), None));
    session.assert_sane();
}

#[cfg(feature = "llama")]
#[test]
fn a_million_bytes_are_too_much_for_the_built_in_model_and_are_given_back() {
    let home = tempfile::tempdir().unwrap();
    let mut session = Session::start(home.path(), &["--temperature", "0"], 80, 24);
    session.wait_text("ready");
    paste_a_million(&mut session);
    session.send("\r");
    session.wait_text("this message alone has");
    session.wait_for("the message in the composer", |screen| {
        screen.contains("▤ a moment later") && screen.contains(FOLDED)
    });
    session.send("\x03");
    session.wait_for("an empty composer", |screen| !screen.contains(FOLDED));
    session.send("What is the capital of France?");
    session.wait_text("France?");
    session.send("\r");
    session.wait_text("Paris");
    session.wait_text("ready");
    session.send("\x04");
    assert_eq!(way_out(session.end()), (Some(0), None));
    session.assert_sane();
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

#[test]
fn what_was_said_outlives_a_kill() {
    let home = tempfile::tempdir().unwrap();
    let words = "knot ".repeat(400);
    let engine = scripted(
        home.path(),
        &format!("[[answer]]\ntoken-ms = 20\ntext = \"first {words}\"\n"),
    );
    let mut session = Session::start(home.path(), &["--engine", &engine], 80, 24);
    session.wait_text("ready");
    session.send("What is a quipu?");
    session.wait_text("quipu?");
    session.send("\r");
    // More than a second of it.
    session.wait_for("much of the answer", |screen| screen.matches("knot").count() > 80);
    session.signal(Signal::KILL);
    session.ended();
    let mut again = Session::start(home.path(), &["--engine", &engine, "--continue"], 80, 24);
    again.wait_text("— interrupted");
    again.wait_for("the words", |screen| screen.matches("knot").count() > 20);
    again.send("\x1b[1;5H");
    again.wait_text("What is a quipu?");
    again.send("/quit\r");
    assert!(again.end().success());
    again.assert_sane();
}
