//! Holds the shape of the source: which room may import which, where outside crates and unsafe code may stand, how large
//! a file and a function may be. A breach fails with the file, the line and the rule in words.
//!
//! The rules are tables: `architecture/rooms.rs` for imports, `architecture/shape.rs` for the rest. Each rule is also
//! tried on planted sources (`architecture/planted.rs`), so that none of them can quietly stop finding anything.

#[path = "architecture/paths.rs"]
mod paths;
#[path = "architecture/planted.rs"]
mod planted;
#[path = "architecture/rooms.rs"]
mod rooms;
#[path = "architecture/shape.rs"]
mod shape;
#[path = "architecture/source.rs"]
mod source;

use std::fmt::Write;
use std::path::Path;

use source::{Breach, Tree};

/// Fails with every breach that `rule` finds in this package.
#[allow(clippy::panic, reason = "a test without a source tree has nothing to say but why")]
fn hold(rule: fn(&Tree) -> Vec<Breach>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tree = Tree::read(root).unwrap_or_else(|error| panic!("{error}"));
    // Were the walk to go wrong, every rule would hold.
    for room in ["app", "cli", "domain", "engine", "ui"] {
        assert!(
            tree.files.iter().any(|f| f.room() == room),
            "the walk missed src/{room}"
        );
    }
    let mut report = String::new();
    for breach in rule(&tree) {
        let _ = writeln!(report, "  {breach}");
    }
    assert!(report.is_empty(), "the source breaks its own rules:\n{report}");
}

#[test]
fn every_file_reads_as_rust() {
    hold(|tree| tree.unreadable.clone());
}

#[test]
fn rooms_import_only_what_the_table_lets_them() {
    hold(rooms::arrows);
}

#[test]
fn the_page_says_what_the_table_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tree = Tree::read(root).unwrap();
    let page = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    assert_eq!(rooms::differences(&tree, &page), Vec::<String>::new());
}

#[test]
fn every_room_stands_in_the_table() {
    hold(rooms::known);
}

#[test]
fn outside_crates_stay_in_their_rooms() {
    hold(rooms::outside_crates);
}

#[test]
fn pure_rooms_touch_no_clock_file_or_thread() {
    hold(rooms::pure);
}

#[test]
fn unsafe_code_has_two_files() {
    hold(shape::unsafe_code);
}

#[test]
fn files_and_functions_are_short() {
    hold(shape::long_files);
    hold(shape::long_functions);
}

#[test]
fn folders_are_shallow() {
    hold(shape::deep_files);
}

#[test]
fn every_file_says_what_it_owns() {
    hold(shape::without_heading);
}

#[test]
fn only_the_shell_prints() {
    hold(shape::prints);
}

#[test]
fn modules_are_named_by_what_they_own() {
    hold(shape::vague_names);
}
