//! What goes over the wire to the terminal, and when: only what frames are made of, whatever a text says; little of it; and nothing at all
//! while nothing happens.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use quipu::ui::theme::BUILT_IN;

use crate::allowed::{HOSTILE, breaches};
use crate::terminal::{Session, scripted};

/// A text as TOML has it.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[test]
fn whatever_is_said_the_terminal_is_told_only_what_is_allowed() {
    let home = tempfile::tempdir().unwrap();
    let hostile = HOSTILE
        .iter()
        .filter(|piece| !piece.contains('\0'))
        .copied()
        .collect::<Vec<_>>()
        .join(" word\n\n");
    let script = format!(
        "[model]\nname = {name}\n[[answer]]\ntext = {answer}\nspread = [[{name}, 0.2]]\n[[answer]]\nthen = \"fail\"\ntext = \"x\"\nwords = {answer}\n",
        name = quoted("\u{1b}]0;owned\u{7}a\u{202e}b\u{9b}2J"),
        answer = quoted(&hostile),
    );
    let themes = home.path().join("themes");
    fs::create_dir_all(&themes).unwrap();
    fs::write(themes.join("a\u{1b}]0;owned\u{7}b\u{202e}.toml"), BUILT_IN[1].1).unwrap();
    let engine = scripted(home.path(), &script);
    let mut session = Session::start(home.path(), &["--engine", &engine], 100, 30);
    session.wait_text("ready");
    session.send("\x1b[200~Who \u{202e}are \u{1b}]0;owned\u{7}you?\x1b[201~");
    session.wait_text("hidden character");
    // Keys right behind a paste are taken for a part of it.
    session.hears_nothing(Duration::from_millis(100));
    session.send("\r");
    session.wait_text("tok/s");
    let seen = [
        ("/title \u{202e}mine\u{9b}31m\r", "U+202E"),
        ("\x13", "search:"),
        ("\x1b[27u", "ready"),
        ("/prompt\r", "the exact prompt"),
        ("\x1b[27u", "ready"),
        ("/theme\r", "themes"),
        ("\x1b[27u", "ready"),
        ("\x14", "last token"),
        ("\x1b[27u", "ready"),
        ("\x06word", "find: word"),
        ("\x1b[27u", "ready"),
        ("again\r", "interrupted"),
        ("/notices\r", "notices"),
    ];
    for (typed, shown) in seen {
        session.send(typed);
        session.wait_text(shown);
    }
    session.send("\x1b[27u");
    session.send("\x04");
    session.end();
    session.assert_sane();
    assert_eq!(breaches(&session.bytes), BTreeSet::new());
}

#[test]
fn a_token_costs_few_bytes() {
    let home = tempfile::tempdir().unwrap();
    let words = "knotted cords of wool and what they count ".repeat(40);
    let script = format!("[[answer]]\ntext = \"{words}\"\ntoken-ms = 5\n");
    let engine = scripted(home.path(), &script);
    let mut session = Session::start(home.path(), &["--engine", &engine], 120, 40);
    session.wait_text("ready");
    session.send("Go\r");
    session.wait_text("knotted");
    let before = session.bytes.len();
    session.wait_for("the end", |screen| {
        screen.contains("321 tok") && screen.contains("ready")
    });
    let each = (session.bytes.len() - before) / 321;
    assert!(each < 200, "{each} bytes for each token");
}

#[test]
fn a_storm_of_sizes_ends_in_the_screen_of_the_last() {
    let home = tempfile::tempdir().unwrap();
    let words = "so it goes on and on 日本 ".repeat(60);
    let script = format!("[[answer]]\ntext = \"{words}\"\ntoken-ms = 2\n");
    let engine = scripted(home.path(), &script);
    let mut session = Session::start(home.path(), &["--engine", &engine], 80, 24);
    session.wait_text("ready");
    session.send("Go\r");
    session.wait_text("so it");
    for step in 0..200_u16 {
        session.resize(20 + (step * 37) % 120, 6 + (step * 13) % 40);
    }
    session.resize(90, 28);
    session.wait_for("the end", |screen| {
        screen.contains("421 tok") && screen.contains("ready")
    });
    let seen = session.text();
    let frames = session.bytes.len();
    // Drawn whole, it is the same.
    session.send("\x0c");
    session.wait_more(frames);
    session.wait_for("the same screen", |screen| screen == seen);
}

/// How often each thread of a process gave up the processor to wait for something.
#[cfg(target_os = "linux")]
fn waits(pid: i32) -> BTreeMap<std::ffi::OsString, u64> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let of_task = |task: fs::DirEntry| {
        let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        (task.file_name(), line.map_or(0, |count| count.trim().parse().unwrap()))
    };
    tasks.map(|task| of_task(task.unwrap())).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_wakes_up_while_nothing_happens() {
    const IDLE: Duration = Duration::from_secs(30);
    let home = tempfile::tempdir().unwrap();
    let engine = scripted(home.path(), "[[answer]]\ntext = \"one two three\"\n");
    let mut session = Session::start(home.path(), &["--engine", &engine], 80, 24);
    session.wait_text("ready");
    session.send("Go\r");
    session.wait_text("tok/s");
    session.wait_text("ready");
    // The answer is kept, and the state of the draft.
    session.hears_nothing(Duration::from_secs(3));
    let before = waits(session.pid());
    session.hears_nothing(IDLE);
    let after = waits(session.pid());
    let woken = after
        .iter()
        .map(|(thread, count)| count - before.get(thread).copied().unwrap_or(0));
    let woken: u64 = woken.sum();
    assert!(woken <= 2, "{woken} times in {IDLE:?}");
    session.send("\x04");
    assert!(session.end().success());
}

#[test]
fn a_terminal_that_does_not_read_costs_frames_and_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    let words = "on and on and on it goes ".repeat(250);
    let script =
        format!("[[answer]]\ntext = \"{words}\"\ntoken-ms = 1\n[[answer]]\ntext = \"{words}\"\ntoken-ms = 50\n");
    let engine = scripted(home.path(), &script);
    let mut session = Session::start(home.path(), &["--engine", &engine], 120, 40);
    session.wait_text("ready");
    session.send("Go\r");
    session.wait_text("on and on");
    session.read_on(false);
    // The answer comes to its end meanwhile.
    session.hears_nothing(Duration::from_secs(5));
    let before = session.bytes.len();
    session.read_on(true);
    session.wait_for("the end", |screen| {
        screen.contains("1755/4096") && screen.contains("ready")
    });
    let written = session.bytes.len() - before;
    assert!(written < 200_000, "{written} bytes had waited");
    // And what is typed while it does not read counts.
    session.send("Again\r");
    session.wait_text("writing");
    session.read_on(false);
    session.hears_nothing(Duration::from_secs(1));
    session.send("\x03");
    session.hears_nothing(Duration::from_secs(1));
    session.read_on(true);
    session.wait_text("— stopped");
    session.send("\x04");
    assert!(session.end().success());
    session.assert_sane();
}

#[test]
fn the_cursor_stands_where_an_input_method_would_compose() {
    let home = tempfile::tempdir().unwrap();
    let engine = scripted(home.path(), "[[answer]]\ntext = \"x\"\n");
    let mut session = Session::start(home.path(), &["--engine", &engine], 80, 24);
    session.wait_text("ready");
    // The box has a line and a blank at its left.
    let mut typed = String::new();
    for (text, column) in [
        ("日", 4),
        ("本語", 8),
        (" ", 9),
        ("e\u{301}", 10),
        ("한", 12),
        ("👍", 14),
        ("x", 15),
    ] {
        session.send(text);
        typed.push_str(text);
        let shown = typed.clone();
        session.wait_for(text, |screen| screen.contains(shown.trim_end()));
        session.hears_nothing(Duration::from_millis(50));
        let screen = session.parser.screen();
        assert_eq!(screen.cursor_position(), (21, column), "behind '{typed}'");
        assert!(!screen.hide_cursor());
    }
    session.send("\x1b[D\x1b[D");
    session.hears_nothing(Duration::from_millis(50));
    assert_eq!(session.parser.screen().cursor_position(), (21, 12), "before the emoji");
    // In a panel it stands in what is typed there.
    session.send("\x10日本");
    session.wait_text("nothing like it");
    session.hears_nothing(Duration::from_millis(50));
    let (row, column) = session.parser.screen().cursor_position();
    let line = session.text().lines().nth(usize::from(row)).unwrap().to_owned();
    assert!(line.contains("日本") && column > 4, "{row},{column}: {line}");
}
