//! The README's pictures, drawn from the real program on the demonstration script, in colour and without a network: `scripts/shots`
//! writes them. That they can be drawn, and show what they are meant to, is tested every time.

use std::fs;
use std::path::{Path, PathBuf};

use crate::picture::svg;
use crate::terminal::Session;

/// A picture: its name, the theme, the size, and what is typed until what is seen.
struct Shot {
    name: &'static str,
    theme: &'static str,
    size: (u16, u16),
    steps: &'static [(&'static str, &'static str)],
}

const ASK: (&str, &str) = ("What is the capital of France?\r", "tok/s");

const SHOTS: &[Shot] = &[
    Shot {
        name: "quipu",
        theme: "quipu",
        size: (92, 26),
        steps: &[ASK, ("", "ready")],
    },
    Shot {
        name: "tune",
        theme: "night",
        size: (120, 34),
        steps: &[ASK, ("", "ready"), ("\x14", "last token"), ("\x1b[C\x1b[C", "0.9 ")],
    },
    Shot {
        name: "themes",
        theme: "puna",
        size: (124, 34),
        steps: &[ASK, ("", "ready"), ("/theme\r", "themes")],
    },
    Shot {
        name: "find",
        theme: "maize",
        size: (92, 30),
        steps: &[ASK, ("", "ready"), ("\x06paris", "find: paris")],
    },
    Shot {
        name: "palette",
        theme: "indigo",
        size: (92, 30),
        steps: &[ASK, ("", "ready"), ("\x10pre", "save-preset")],
    },
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn draw(shot: &Shot) -> String {
    let home = tempfile::tempdir().unwrap();
    let engine = format!("scripted:{}", root().join("assets/demo.toml").display());
    let args = ["--engine", &engine, "--theme", shot.theme];
    let (columns, rows) = shot.size;
    let mut session = Session::start_with(home.path(), &args, columns, rows, &[("COLORTERM", "truecolor")]);
    session.wait_text("ready");
    for (typed, seen) in shot.steps {
        session.send(typed);
        session.wait_text(seen);
    }
    svg(session.parser.screen())
}

#[test]
fn every_picture_can_be_drawn() {
    let folder = root().join("assets/shots");
    let update = std::env::var_os("UPDATE_SHOTS").is_some();
    for shot in SHOTS {
        let picture = draw(shot);
        assert!(picture.matches("<text").count() > 30, "{}: nothing is on it", shot.name);
        let path = folder.join(format!("{}.svg", shot.name));
        if update {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, picture).unwrap();
        } else {
            assert!(path.is_file(), "scripts/shots draws '{}'", path.display());
        }
    }
}
