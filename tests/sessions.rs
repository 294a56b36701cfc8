//! Sessions from outside: the program is killed at any moment, asked on the command line, and moved between files.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use quipu::domain::session::Which;
use quipu::domain::{Conversation, Role};
use quipu::store::{Archive, StoreOptions};
use serde_json::Value;

const SCRIPT: &str =
    "[model]\nname = \"condor\"\n[[answer]]\ntext = \"They tied knots into cords, and the cords to a cord.\"\n";

fn quipu(home: &Path, args: &[&str]) -> Command {
    let script = home.join("script.toml");
    if !script.exists() {
        fs::write(&script, SCRIPT).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_quipu"));
    // Scripts say the same words over and over, and are to end where they say.
    command.env("QUIPU_LOOP_GUARD", "off");
    command
        .args(args)
        .arg("--engine")
        .arg(format!("scripted:{}", script.display()))
        .env("QUIPU_HOME", home)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Exit code, standard output, standard error.
fn run(home: &Path, args: &[&str]) -> (i32, String, String) {
    let output = quipu(home, args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn good(home: &Path, args: &[&str]) -> String {
    let (code, out, err) = run(home, args);
    assert_eq!((code, err.as_str()), (0, ""), "{args:?}: {out}");
    out
}

fn archive(home: &Path) -> Archive {
    let archive = Archive::open(&StoreOptions {
        folder: home.join("data"),
        trace_days: 30,
        states: None,
    });
    let archive = archive.unwrap();
    assert_eq!(archive.notice, None, "nothing is damaged");
    archive
}

fn talk(home: &Path, session: &str) -> Conversation {
    archive(home).read(&Which::Named(session.to_owned())).unwrap().1
}

/// A number that looks random and is the same every time.
fn scattered(n: u64) -> u64 {
    let mut x = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Reads as many bytes of what it says, or as many as come.
fn listen(child: &mut Child, bytes: usize) -> String {
    let mut heard = vec![0; bytes];
    let mut length = 0;
    let out = child.stdout.as_mut().unwrap();
    while length < bytes {
        match out.read(&mut heard[length..]).unwrap() {
            0 => break,
            more => length += more,
        }
    }
    String::from_utf8_lossy(&heard[..length]).into_owned()
}

#[test]
fn two_hundred_deaths_lose_nothing_that_was_acknowledged() {
    let home = tempfile::tempdir().unwrap();
    let words = "knot cord ".repeat(60);
    let script = format!("[[answer]]\ntoken-ms = 1\ntext = \"{words}\"\n");
    fs::write(home.path().join("script.toml"), script).unwrap();
    let mut acknowledged = BTreeSet::new();
    let mut unanswered = 0;
    for n in 0..200_u64 {
        let question = format!("question {n}");
        let mut child = quipu(home.path(), &["--session", "s", &question]).spawn().unwrap();
        // Every fourth dies before it could say a word: wherever it is then, nothing that was said before may be harmed.
        let bytes = if n % 4 == 3 { 0 } else { scattered(n) as usize % 500 + 1 };
        let heard = listen(&mut child, bytes);
        if n % 4 == 3 {
            // Somewhere between its start and its first word.
            (0..scattered(n) % 40_000_000).for_each(|k| {
                std::hint::black_box(k);
            });
        }
        child.kill().unwrap();
        child.wait().unwrap();
        if heard.is_empty() {
            unanswered += 1;
        } else {
            // Whoever sees an answer begin knows that the question is kept.
            acknowledged.insert(question);
        }
        if n % 10 == 9 {
            let talk = talk(home.path(), "s");
            let kept: BTreeSet<_> = talk.messages().iter().map(|message| message.text.clone()).collect();
            let lost: Vec<_> = acknowledged.difference(&kept).collect();
            assert!(lost.is_empty(), "after {n} deaths: {lost:?}");
            let whole = |text: &str| words.starts_with(text);
            let answers = talk.messages().iter().filter(|message| message.role == Role::Assistant);
            assert!(
                answers.clone().all(|answer| whole(&answer.text)),
                "an answer is garbled"
            );
        }
    }
    assert!(
        acknowledged.len() > 100 && unanswered > 20,
        "{} of 200",
        acknowledged.len()
    );
    // The last of all is marked as cut off, and goes on.
    let talk = talk(home.path(), "s");
    let cut = talk.messages().iter().filter_map(|message| message.answer.as_ref());
    assert!(cut.filter(|answer| answer.finish.is_none()).count() > 100);
}

#[test]
fn an_answer_that_streams_is_kept_to_its_last_second() {
    let home = tempfile::tempdir().unwrap();
    let script = format!("[[answer]]\ntoken-ms = 40\ntext = \"{}\"\n", "knot ".repeat(500));
    fs::write(home.path().join("script.toml"), script).unwrap();
    let mut child = quipu(home.path(), &["--session", "s", "Go on."]).spawn().unwrap();
    // Two seconds and a half of it.
    let heard = listen(&mut child, 62 * 5);
    child.kill().unwrap();
    child.wait().unwrap();
    let talk = talk(home.path(), "s");
    let answer = talk.path()[1];
    let missing = heard.len() - answer.text.len().min(heard.len());
    // A second is 25 words; a machine that is busy may be late by a few.
    assert!(missing <= 40 * 5, "{missing} of {} bytes are missing", heard.len());
    assert!(!answer.text.is_empty() && heard.starts_with(answer.text.trim_end()));
    assert_eq!(answer.answer.as_ref().unwrap().finish, None);
}

#[test]
fn one_shots_go_on_with_a_session() {
    let home = tempfile::tempdir().unwrap();
    let said = "They tied knots into cords, and the cords to a cord.\n";
    let (code, out, err) = run(home.path(), &["--continue", "hello"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("no session to continue"), "{err}");
    assert_eq!(good(home.path(), &["--session", "Diary", "What is a quipu?"]), said);
    assert_eq!(good(home.path(), &["--continue", "//And now?"]), said);
    let json: Value = serde_json::from_str(&good(home.path(), &["--session", "1", "--json", "third"])).unwrap();
    assert_eq!(json["text"], said.trim_end());
    assert!(json["tokens"][0]["probability"].is_number());
    let talk = talk(home.path(), "diary");
    let texts: Vec<_> = talk.path().iter().map(|message| message.text.as_str()).collect();
    assert_eq!(texts[0], "What is a quipu?");
    assert_eq!(texts[2], "//And now?", "what is asked is asked as it is");
    assert_eq!(texts.len(), 6);
    let answer = talk.path()[1].answer.as_ref().unwrap();
    assert_eq!((answer.model_name.as_str(), answer.takes.len()), ("condor", 1));
    assert!(!answer.takes[0].prompt.is_empty() && !answer.trace.is_empty());
    // What is asked without a session leaves no trace.
    good(home.path(), &["aside"]);
    assert_eq!(archive(home.path()).list(true).unwrap().len(), 1);
}

#[test]
fn sessions_are_listed_found_moved_and_removed() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(good(home.path(), &["sessions"]), "");
    good(home.path(), &["--session", "Knots", "What is a \u{1b}[31m quipu\u{7}?"]);
    let list: Value = serde_json::from_str(&good(home.path(), &["sessions", "list", "--json"])).unwrap();
    assert_eq!(
        (&list[0]["title"], &list[0]["messages"]),
        (&Value::from("Knots"), &Value::from(2))
    );
    assert!(good(home.path(), &["sessions"]).contains("Knots"));
    for shown in [
        good(home.path(), &["sessions", "show", "knots"]),
        good(home.path(), &["sessions", "search", "quip"]),
    ] {
        assert!(
            shown.contains("quipu") && !shown.contains(['\u{1b}', '\u{7}']),
            "{shown:?}"
        );
    }
    let hits: Value = serde_json::from_str(&good(home.path(), &["sessions", "search", "--json", "cords"])).unwrap();
    assert_eq!(
        (&hits[0]["session"], &hits[0]["message"]),
        (&Value::from(1), &Value::from(1))
    );
    let file = home.path().join("knots.json");
    let name = file.to_str().unwrap();
    good(home.path(), &["sessions", "export", "Knots", name]);
    let (code, _, err) = run(home.path(), &["sessions", "export", "Knots", name]);
    assert!(code == 1 && err.contains("not there yet"), "{err}");
    assert_eq!(good(home.path(), &["sessions", "import", name]), "imported as 2\n");
    let both = [
        Which::Id(quipu::domain::session::SessionId(1)),
        Which::Id(quipu::domain::session::SessionId(2)),
    ];
    let both = both.map(|which| archive(home.path()).read(&which).unwrap().1);
    assert_eq!(both[0].messages(), both[1].messages(), "nothing is lost on the way");
    assert_eq!(both[0].head(), both[1].head());
    assert!(good(home.path(), &["sessions", "rm", "2"]).contains("restore 2"));
    assert_eq!(archive(home.path()).list(false).unwrap().len(), 1);
    good(home.path(), &["sessions", "restore", "2"]);
    assert_eq!(archive(home.path()).list(false).unwrap().len(), 2);
    good(home.path(), &["sessions", "rm", "2", "--purge"]);
    assert_eq!(archive(home.path()).list(true).unwrap().len(), 1);
    let (code, _, err) = run(home.path(), &["sessions", "show", "nowhere"]);
    assert!(code == 2 && err.contains("no session 'nowhere'"), "{err}");
    fs::write(
        &file,
        "{\"format\": \"quipu-sessions\",\n\"version\": 1,\n\"sessions\": [5]}",
    )
    .unwrap();
    let (code, _, err) = run(home.path(), &["sessions", "import", name]);
    assert!(code == 2 && err.contains("line 3"), "{err}");
}

#[test]
fn a_scripted_answer_is_made_again() {
    let home = tempfile::tempdir().unwrap();
    good(home.path(), &["--session", "s", "What is a quipu?"]);
    let words = good(home.path(), &["sessions", "replay", "s"]);
    assert!(words.starts_with("the same "), "{words}");
    fs::write(
        home.path().join("script.toml"),
        SCRIPT.replace("condor", "llama").replace("knots", "bows"),
    )
    .unwrap();
    let (code, words, _) = run(home.path(), &["sessions", "replay", "s"]);
    assert_eq!(code, 1);
    assert!(
        words.contains("another answer came") && words.contains("the model is another"),
        "{words}"
    );
}

#[test]
fn a_newer_file_is_refused_and_the_chat_goes_on() {
    let home = tempfile::tempdir().unwrap();
    good(home.path(), &["--session", "s", "hello"]);
    let file = home.path().join("data/sessions.db");
    let mut bytes = fs::read(&file).unwrap();
    // The version of the schema, as SQLite keeps it.
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    fs::File::create(&file).unwrap().write_all(&bytes).unwrap();
    let (code, _, err) = run(home.path(), &["sessions"]);
    assert!(
        code == 1 && err.contains("newer quipu") && err.contains("update"),
        "{err}"
    );
    assert_eq!(good(home.path(), &["hello"]).lines().count(), 1);
    assert_eq!(fs::read(&file).unwrap(), bytes, "it is left as it was");
}
