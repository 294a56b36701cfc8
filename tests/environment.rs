//! What the environment says of the terminal, and what the real binary then writes to it: how many colours, which characters, and
//! whether there is a screen at all.

use crate::terminal::{Session, scripted};

/// An answer with everything that is drawn with characters of our own: a rule, marks, a table, a quote, code.
const ANSWER: &str = "[[answer]]\ntext = \"\"\"# Cords\n\n- a **long** knot\n- [x] done\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n\
                      ---\n\n```rust\nlet x = 1;\n```\nend\"\"\"\n";

/// How many colours were written, each kind holding those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Colours {
    None,
    Sixteen,
    Cube,
    True,
}

/// The most that any sequence in `text` asks for.
fn colours(text: &str) -> Colours {
    let sequences = text.split("\x1b[").skip(1).filter_map(|rest| {
        rest.split_once(|c: char| !matches!(c, '0'..='9' | ';'))
            .map(|(inside, _)| (inside, rest))
    });
    let styles = sequences.filter(|(inside, rest)| rest[inside.len()..].starts_with('m'));
    let numbers = |inside: &str| inside.split(';').map(|n| n.parse().unwrap_or(0)).collect::<Vec<u16>>();
    styles
        .map(|(inside, _)| most(&numbers(inside)))
        .max()
        .unwrap_or(Colours::None)
}

/// The same of the numbers of one sequence.
fn most(numbers: &[u16]) -> Colours {
    match *numbers {
        [38 | 48, 2, ..] => Colours::True,
        [38 | 48, 5, colour, ref rest @ ..] => {
            let this = if colour > 15 { Colours::Cube } else { Colours::Sixteen };
            this.max(most(rest))
        }
        [30..=37 | 40..=47 | 90..=97 | 100..=107, ref rest @ ..] => Colours::Sixteen.max(most(rest)),
        [_, ref rest @ ..] => most(rest),
        [] => Colours::None,
    }
}

/// All that is written while one question is asked, in an environment that `script` makes.
fn written(script: &str, screen: bool) -> String {
    let home = tempfile::tempdir().unwrap();
    let engine = scripted(home.path(), ANSWER);
    let script = format!("unset LC_ALL LC_CTYPE; export LANG=C.UTF-8; {script}; exec \"$@\"");
    let arguments = ["--engine", engine.as_str(), "--theme", "night"];
    let mut session = Session::start_in_shell(home.path(), &script, &arguments, 80, 30);
    session.wait_text(if screen { "ready" } else { ">" });
    session.send("Go");
    session.wait_text("Go");
    session.send("\r");
    session.wait_text("end");
    if screen {
        session.wait_text("ready");
    }
    session.send("\x04");
    assert!(session.end().success(), "{script}");
    session.assert_sane();
    String::from_utf8(std::mem::take(&mut session.bytes)).unwrap()
}

#[test]
fn colours_are_those_that_the_environment_grants() {
    let cases = [
        ("true", Colours::Cube),
        ("export COLORTERM=truecolor", Colours::True),
        ("export COLORTERM=24bit", Colours::True),
        ("export COLORTERM=yes", Colours::Cube),
        ("export TERM=xterm-direct", Colours::True),
        ("export TERM=xterm", Colours::Sixteen),
        ("export TERM=linux", Colours::Sixteen),
        ("export TERM=screen.xterm-256color", Colours::Cube),
        ("export NO_COLOR=1", Colours::None),
        ("export NO_COLOR=1 COLORTERM=truecolor", Colours::None),
        // The convention of no-color.org: set and not empty.
        ("export NO_COLOR=", Colours::Cube),
    ];
    for (script, expected) in cases {
        assert_eq!(colours(&written(script, true)), expected, "{script}");
    }
}

#[test]
fn a_terminal_that_can_nothing_gets_lines() {
    for script in [
        "export TERM=dumb",
        "export TERM=",
        "unset TERM",
        "export TERM=dumb COLORTERM=truecolor",
    ] {
        let text = written(script, false);
        assert!(!text.contains('\x1b'), "{script}: an escape sequence in {text:?}");
    }
}

#[test]
fn a_locale_without_unicode_gets_ascii() {
    let cases = [
        ("export LANG=C", true),
        ("export LC_ALL=POSIX", true),
        ("export LANG=de_DE.ISO-8859-1", true),
        // What counts most says so: LC_ALL, then LC_CTYPE, then LANG.
        ("export LANG=C LC_CTYPE=C.UTF-8", false),
        ("export LC_CTYPE=C LC_ALL=en_US.utf8", false),
        // None said is no word against it.
        ("unset LANG", false),
    ];
    for (script, ascii) in cases {
        let text = written(script, true);
        assert_eq!(
            text.is_ascii(),
            ascii,
            "{script}: {:?}",
            text.chars().find(|c| !c.is_ascii())
        );
    }
}
