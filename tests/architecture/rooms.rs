//! The rules about imports: the arrows between rooms, where outside crates may be named, what pure rooms keep away from.

use std::collections::BTreeSet;

use crate::paths::{Named, Target, named};
use crate::source::{Breach, Source, Tree};

/// The table of `ARCHITECTURE.md`: a room and the rooms it may import. Tests inside a room follow the same arrows.
const ARROWS: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("text", &["domain"]),
    ("gguf", &["domain"]),
    ("prompt", &["domain", "text"]),
    ("engine", &["domain", "text", "gguf", "prompt"]),
    ("models", &["domain", "text", "gguf"]),
    ("store", &["domain"]),
    ("config", &["domain", "text"]),
    ("app", &["domain", "text"]),
    ("ui", &["domain", "text", "app"]),
    ("doctor", &["domain", "text", "gguf", "prompt", "engine"]),
    (
        "run",
        &[
            "domain", "text", "gguf", "prompt", "engine", "models", "store", "config", "app", "ui", "doctor",
        ],
    ),
    (
        "cli",
        &[
            "domain", "text", "gguf", "prompt", "engine", "models", "store", "config", "app", "ui", "doctor", "run",
        ],
    ),
    ("main.rs", &["run", "cli"]),
    // Declares the rooms; imports none.
    ("lib.rs", &[]),
];

/// Crates that may be named only below these paths.
const ONLY_IN: &[(&str, &[&str])] = &[
    ("anyhow", &["run/", "cli/", "main.rs"]),
    ("clap", &["cli/"]),
    ("clap_complete", &["cli/"]),
    ("clap_mangen", &["cli/"]),
    ("crossterm", &["ui/", "run/"]),
    ("directories", &["config/paths.rs"]),
    ("llama_cpp_2", &["engine/local/"]),
    ("llama_cpp_sys_2", &["engine/local/"]),
    ("minijinja", &["prompt/"]),
    ("minijinja_contrib", &["prompt/"]),
    ("pulldown_cmark", &["ui/"]),
    ("ratatui", &["ui/", "run/"]),
    ("ratatui_textarea", &["ui/", "run/"]),
    ("reqwest", &["engine/remote", "models/"]),
    ("rusqlite", &["store/"]),
    ("tokenizers", &["doctor/"]),
    ("ureq", &["doctor/server.rs", "models/hub/"]),
];

/// Rooms that must work without an async runtime.
const NO_RUNTIME: [&str; 5] = ["domain", "text", "gguf", "prompt", "app"];

/// All that `domain` may use besides the standard library.
const DOMAIN_MAY_USE: [&str; 1] = ["serde"];

/// Rooms in which the same input always gives the same output.
const PURE: [&str; 4] = ["domain", "text", "prompt", "app"];

/// What would make them depend on when and where they run.
const WORLD: &[&str] = &[
    "std::env",
    "std::fs",
    "std::net",
    "std::process",
    "std::sync::mpsc",
    "std::thread",
];
const STREAMS: [&str; 3] = ["stdin", "stdout", "stderr"];
const CLOCKS: [&str; 3] = ["Instant", "SystemTime", "Timestamp"];

/// Imports between rooms that the table does not allow.
pub(crate) fn arrows(tree: &Tree) -> Vec<Breach> {
    let mut found = Vec::new();
    for (file, path) in all(tree) {
        let own = file.room();
        let Target::Inside(target) = path.target(file) else {
            continue;
        };
        let Some((_, allowed)) = ARROWS.iter().find(|(room, _)| *room == own) else {
            continue;
        };
        match target.first().map(String::as_str) {
            None | Some("*") if path.imported => {
                found.push(file.breach(path.line, "an import of the whole crate hides which rooms are meant"));
            }
            Some(room) if room != own && is_room(room) && !allowed.contains(&room) => {
                let may = if allowed.is_empty() {
                    "no room".to_owned()
                } else {
                    allowed.join(", ")
                };
                found.push(file.breach(path.line, format!("{own} must not import {room}; it may import {may}")));
            }
            _ => {}
        }
    }
    // One statement may name many things of one room.
    found.dedup();
    found
}

/// Rooms without a row in the table, and paths to something that is no room.
pub(crate) fn known(tree: &Tree) -> Vec<Breach> {
    let mut found = Vec::new();
    for file in &tree.files {
        if !ARROWS.iter().any(|(room, _)| *room == file.room()) {
            found.push(file.breach(1, format!("'{}' has no row in the table of rooms", file.room())));
        }
    }
    for (file, path) in all(tree) {
        if let Target::Inside(target) = path.target(file)
            && let Some(room) = target.first()
            && room != "*"
            && !is_room(room)
            && !file.scopes.contains(&vec![room.clone()])
        {
            found.push(file.breach(
                path.line,
                format!("'{room}' is no room; nothing else lives at the crate's root"),
            ));
        }
    }
    found
}

/// Outside crates named where they do not belong.
pub(crate) fn outside_crates(tree: &Tree) -> Vec<Breach> {
    let mut found = Vec::new();
    for (file, path) in all(tree) {
        let Target::Elsewhere(name) = path.target(file) else {
            continue;
        };
        if !tree.dependencies.contains(&name) {
            continue;
        }
        let (inner, room) = (file.inner(), file.room());
        if let Some((_, places)) = ONLY_IN.iter().find(|(krate, _)| *krate == name)
            && !places.iter().any(|place| inner.starts_with(place))
        {
            let rule = format!("{name} may be named only in {}", places.join(", "));
            found.push(file.breach(path.line, rule));
        }
        if name == "tokio" && NO_RUNTIME.contains(&room) {
            found.push(file.breach(path.line, format!("{room} works without an async runtime")));
        }
        // A test may reach for a library that checks the words from outside.
        if room == "domain" && !path.test && !DOMAIN_MAY_USE.contains(&name.as_str()) {
            found.push(file.breach(path.line, format!("domain is std and serde only, not {name}")));
        }
    }
    found
}

/// Clocks, files, threads and channels in rooms that must do without. Their tests may use them.
pub(crate) fn pure(tree: &Tree) -> Vec<Breach> {
    let mut found = Vec::new();
    for (file, path) in all(tree) {
        if path.test || !PURE.contains(&file.room()) {
            continue;
        }
        let whole = path.segments.join("::");
        let world = WORLD
            .iter()
            .find(|part| whole == **part || whole.starts_with(&format!("{part}::")));
        let clock = path.segments.iter().any(|word| CLOCKS.contains(&word.as_str())) && whole.ends_with("::now");
        let stream = path
            .segments
            .windows(2)
            .any(|pair| pair[0] == "io" && STREAMS.contains(&pair[1].as_str()));
        if world.is_some() || clock || stream {
            let rule = format!(
                "{} is pure: '{whole}' belongs in run or an engine, its outcome comes in as data",
                file.room()
            );
            found.push(file.breach(path.line, rule));
        }
    }
    found
}

/// What the table of rooms in `page` says otherwise than ours, as far as the rooms are in the tree.
pub(crate) fn differences(tree: &Tree, page: &str) -> Vec<String> {
    let here: BTreeSet<&str> = tree
        .files
        .iter()
        .filter(|file| file.inner().contains('/'))
        .map(Source::room)
        .collect();
    let mut rows: Vec<(&str, BTreeSet<&str>)> = Vec::new();
    for line in page.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let (room, uses) = (cells[1].trim_matches(['`', '/']), cells[3]);
        let uses = match uses {
            "all above" => rows.iter().map(|(room, _)| *room).collect(),
            uses => uses
                .split(", ")
                .filter(|name| *name != "–")
                .map(|name| name.trim_matches('`'))
                .collect(),
        };
        rows.push((room, uses));
    }
    let mut found = Vec::new();
    let words = |rooms: &BTreeSet<&str>| rooms.iter().copied().collect::<Vec<_>>().join(", ");
    for (room, allowed) in ARROWS.iter().filter(|(room, _)| here.contains(room)) {
        let allowed = allowed.iter().copied().filter(|room| here.contains(room)).collect();
        match rows.iter().find(|(row, _)| row == room) {
            None => found.push(format!("the page has no row for {room}")),
            Some((_, uses)) if *uses != allowed => {
                found.push(format!(
                    "the page lets {room} use {}; the table {}",
                    words(uses),
                    words(&allowed)
                ));
            }
            Some(_) => {}
        }
    }
    found
}

fn is_room(name: &str) -> bool {
    ARROWS.iter().any(|(room, _)| *room == name)
}

fn all(tree: &Tree) -> impl Iterator<Item = (&Source, Named)> {
    tree.files
        .iter()
        .flat_map(|file| named(file).into_iter().map(move |path| (file, path)))
}
