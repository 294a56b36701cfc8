//! The recorded tour: `assets/tour.tape`, played against the scripted engine. `scripts/tour` writes the recording, which `asciinema play`
//! shows; the tape is also one that VHS can play.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::terminal::Session;

/// A line of the tape.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    /// Keys, each as a terminal sends it.
    Keys(Vec<String>),
    Pause(Duration),
    Wait(String),
}

/// The size of the screen, and the steps.
fn read(tape: &str) -> Result<((u16, u16), Vec<Step>), String> {
    let (mut size, mut steps) = ((80, 24), Vec::new());
    for (number, line) in tape.lines().enumerate() {
        let line = line.trim();
        let wrong = || format!("line {}: '{line}'", number + 1);
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let step = match word {
            "" | "#" | "Output" | "Require" | "Hide" | "Show" => continue,
            "Set" => {
                match rest.split_once(' ') {
                    Some(("Columns", n)) => size.0 = n.parse().map_err(|_| wrong())?,
                    Some(("Rows", n)) => size.1 = n.parse().map_err(|_| wrong())?,
                    _ => {}
                }
                continue;
            }
            "Type" => Step::Keys(rest.trim_matches('"').chars().map(String::from).collect()),
            "Sleep" => Step::Pause(pause(rest).ok_or_else(wrong)?),
            "Wait" => Step::Wait(rest.trim_matches('/').to_owned()),
            key => {
                let times = if rest.is_empty() {
                    1
                } else {
                    rest.parse().map_err(|_| wrong())?
                };
                Step::Keys(vec![bytes(key).ok_or_else(wrong)?; times])
            }
        };
        steps.push(step);
    }
    Ok((size, steps))
}

fn pause(text: &str) -> Option<Duration> {
    match text.strip_suffix("ms") {
        Some(ms) => ms.parse().ok().map(Duration::from_millis),
        None => text.strip_suffix('s')?.parse().ok().map(Duration::from_secs_f64),
    }
}

/// What a terminal sends for a key.
fn bytes(key: &str) -> Option<String> {
    if let Some(letter) = key.strip_prefix("Ctrl+") {
        let letter = letter.chars().next().filter(char::is_ascii_alphabetic)?;
        return Some(char::from(letter.to_ascii_lowercase() as u8 & 0x1f).to_string());
    }
    if let Some(letter) = key.strip_prefix("Alt+") {
        return Some(format!("\x1b{}", letter.to_lowercase()));
    }
    let known = match key {
        "Enter" => "\r",
        "Escape" => "\x1b[27u",
        "Tab" => "\t",
        "Backspace" => "\x7f",
        "Up" => "\x1b[A",
        "Down" => "\x1b[B",
        "Right" => "\x1b[C",
        "Left" => "\x1b[D",
        _ => return None,
    };
    Some(known.to_owned())
}

fn tape() -> ((u16, u16), Vec<Step>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/tour.tape");
    read(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Plays the tape; what the terminal was told, and when. `hurry` leaves out the pauses.
fn play(hurry: bool) -> (Session, Vec<(Duration, String)>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let home = tempfile::tempdir().unwrap();
    let engine = format!("scripted:{}", root.join("assets/demo.toml").display());
    let ((columns, rows), steps) = tape();
    let args = ["--engine", &engine, "--theme", "night"];
    let mut session = Session::start_with(home.path(), &args, columns, rows, &[("COLORTERM", "truecolor")]);
    let (mut at, mut told, mut seen) = (Duration::ZERO, Vec::new(), 0);
    for step in steps {
        match step {
            Step::Keys(keys) => {
                for key in keys {
                    session.send(&key);
                    if !hurry {
                        session.listen(Duration::from_millis(55));
                    }
                    at += Duration::from_millis(55);
                    record(&session, &mut seen, at, &mut told);
                }
            }
            Step::Wait(text) => session.wait_text(&text),
            Step::Pause(time) => {
                // In slices, so that what comes meanwhile has its own time.
                for _ in 0..time.as_millis() / 50 {
                    if !hurry {
                        session.listen(Duration::from_millis(50));
                    }
                    at += Duration::from_millis(50);
                    record(&session, &mut seen, at, &mut told);
                }
            }
        }
    }
    (session, told)
}

fn record(session: &Session, seen: &mut usize, at: Duration, told: &mut Vec<(Duration, String)>) {
    let new = &session.bytes[*seen..];
    // A character that came in two pieces waits for its end.
    let whole = match std::str::from_utf8(new) {
        Ok(_) => new.len(),
        Err(error) => error.valid_up_to(),
    };
    if whole > 0 {
        told.push((at, String::from_utf8_lossy(&new[..whole]).into_owned()));
        *seen += whole;
    }
}

#[test]
fn the_tour_can_be_taken() {
    let record = std::env::var_os("UPDATE_TOUR").is_some();
    let (mut session, told) = play(!record);
    assert!(session.end().success(), "its last keys end the program");
    session.assert_sane();
    if record {
        let ((columns, rows), _) = tape();
        let mut cast = format!("{{\"version\": 2, \"width\": {columns}, \"height\": {rows}, \"title\": \"quipu\"}}\n");
        for (at, text) in told {
            writeln!(
                cast,
                "[{:.3}, \"o\", {}]",
                at.as_secs_f64(),
                serde_json::to_string(&text).unwrap()
            )
            .unwrap();
        }
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/tour.cast");
        fs::write(path, cast).unwrap();
    }
}

#[test]
fn a_tape_with_a_mistake_is_told_by_line() {
    assert_eq!(read("Type \"a\"\nEntre").unwrap_err(), "line 2: 'Entre'");
    let (size, steps) = read("Set Columns 90\nDown 2\nSleep 250ms\nCtrl+T\nWait /ready/").unwrap();
    let keys = |keys: &[&str]| Step::Keys(keys.iter().map(|key| (*key).to_owned()).collect());
    assert_eq!(size, (90, 24));
    let wait = Step::Wait("ready".to_owned());
    assert_eq!(
        steps,
        [
            keys(&["\x1b[B", "\x1b[B"]),
            Step::Pause(Duration::from_millis(250)),
            keys(&["\x14"]),
            wait
        ]
    );
}
