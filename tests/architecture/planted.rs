//! Tries every rule on sources made to break it, and on sources that only look as if they did.

use pretty_assertions::assert_eq;

use crate::source::{Breach, Tree};
use crate::{rooms, shape};

/// The dependencies that planted sources may name.
const DEPENDENCIES: [&str; 9] = [
    "clap",
    "crossterm",
    "directories",
    "llama-cpp-2",
    "minijinja",
    "ratatui",
    "serde",
    "thiserror",
    "tokio",
];

/// What `rule` finds in one planted file.
fn found(rule: fn(&Tree) -> Vec<Breach>, path: &str, text: &str) -> Vec<String> {
    found_in(rule, &[(path, text)])
}

fn found_in(rule: fn(&Tree) -> Vec<Breach>, files: &[(&str, &str)]) -> Vec<String> {
    let tree = Tree::of(files, &DEPENDENCIES);
    assert_eq!(tree.unreadable, [], "a planted file does not read");
    rule(&tree).iter().map(ToString::to_string).collect()
}

const NOTHING: [&str; 0] = [];

#[test]
fn an_arrow_against_the_table_is_found_however_it_is_written() {
    let ways = [
        "use crate::ui;",
        "use crate::ui as screen;",
        "use crate::ui::*;",
        "pub(crate) use crate::{domain::Role, ui::{self, view::{Cell, Row as R}}};",
        "use crate::{\n    domain,\n};\nuse quipu::ui::view;",
        "use super::ui::view;",
        "use super::{super::ui, x};",
        "fn f() { crate::ui::view() }",
        "fn f(x: &crate::ui::State) {}",
        "fn f() -> Vec<crate::ui::State> { Vec::<u8>::new() }",
        "fn f() { g!(\"{}\", super::ui::NAME) }",
        "mod deep { fn f() { super::super::ui::view() } }",
        "macro_rules! m { () => { $crate::ui::view() } }",
        "pub(in crate::ui) fn f() {}",
        "#[cfg(test)] mod tests { use crate::ui::view; }",
        "fn f() { <crate::ui::State as Default>::default() }",
    ];
    for text in ways {
        // `super` counts from the room in `mod.rs`, and from the file's own module elsewhere.
        let path = if text.contains("super::{super") {
            "src/store/a.rs"
        } else {
            "src/store/mod.rs"
        };
        let found = found(rooms::arrows, path, text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        let (place, rule) = found[0].split_once(": ").unwrap();
        assert_eq!(rule, "store must not import ui; it may import domain", "{text}");
        let line = text.lines().position(|line| line.contains("ui")).unwrap() + 1;
        assert_eq!(place, format!("{path}:{line}"), "{text}");
    }
}

#[test]
fn what_only_looks_like_an_arrow_is_left_alone() {
    let text = r##"//! See [`crate::ui`].
        /// Not `crate::ui::view`.
        use crate::domain::Role;
        use crate::store::other;
        use self::ui::inner;
        use super::super::domain;
        /* crate::ui::view() */
        mod ui { pub(crate) fn inner() {} fn f() { super::f(); self::inner() } }
        fn f() -> impl Iterator + use<> { ui::inner(); g("crate::ui::view"); g(r#"use crate::ui;"#); x.ui::<u8>() }
    "##;
    assert_eq!(found(rooms::arrows, "src/store/database.rs", text), NOTHING);
    assert_eq!(
        found(
            rooms::arrows,
            "src/run/effects.rs",
            "use crate::{ui, store, domain::Role};"
        ),
        NOTHING
    );
}

#[test]
fn nobody_imports_the_shell_and_only_cli_imports_run() {
    assert_eq!(found(rooms::arrows, "src/cli/mod.rs", "use crate::run;"), NOTHING);
    assert_eq!(found(rooms::arrows, "src/run/mod.rs", "use crate::cli;").len(), 1);
    assert_eq!(
        found(rooms::arrows, "src/domain/role.rs", "use crate::text;"),
        ["src/domain/role.rs:1: domain must not import text; it may import no room"]
    );
}

#[test]
fn the_whole_crate_cannot_be_imported() {
    for text in [
        "use crate as q;",
        "use crate::*;",
        "use super::super::*;",
        "use crate::{self};",
    ] {
        assert_eq!(found(rooms::arrows, "src/ui/view.rs", text).len(), 1, "{text}");
    }
    assert_eq!(
        found(rooms::arrows, "src/ui/view.rs", "pub(crate) fn f() {} use super::*;"),
        NOTHING
    );
}

#[test]
fn a_room_without_a_row_is_found() {
    assert_eq!(
        found(rooms::known, "src/attic/mod.rs", ""),
        ["src/attic/mod.rs:1: 'attic' has no row in the table of rooms"]
    );
    assert_eq!(
        found(rooms::known, "src/ui/mod.rs", "use crate::Attic;"),
        ["src/ui/mod.rs:1: 'Attic' is no room; nothing else lives at the crate's root"]
    );
}

#[test]
fn a_page_that_differs_from_the_table_is_found() {
    let tree = Tree::of(
        &[
            ("src/domain/mod.rs", ""),
            ("src/text/mod.rs", ""),
            ("src/run/mod.rs", ""),
        ],
        &[],
    );
    let page = |text: &str, run: &str| {
        let page = format!("| folder |\n|---|\n| `domain/` | words | – |\n| `text/` | text | {text} |\n{run}");
        rooms::differences(&tree, &page)
    };
    assert_eq!(page("`domain`", "| `run/` | shell | all above |"), NOTHING);
    assert_eq!(
        page("`domain`, `ui`", ""),
        [
            "the page lets text use domain, ui; the table domain",
            "the page has no row for run"
        ]
    );
}

#[test]
fn an_outside_crate_in_the_wrong_room_is_found() {
    let wrong = [
        ("src/engine/scripted.rs", "use llama_cpp_2::model::LlamaModel;"),
        ("src/app/state.rs", "fn f(x: ratatui::layout::Rect) {}"),
        ("src/config/file.rs", "use directories::ProjectDirs;"),
        ("src/ui/view.rs", "use {std::fmt, minijinja as jinja};"),
        ("src/run/mod.rs", "#[derive(clap::Parser)] struct Flags;"),
        ("src/gguf/mod.rs", "fn f() { tokio::spawn(x) }"),
        ("src/domain/role.rs", "#[derive(thiserror::Error)] enum E {}"),
        ("src/text/mod.rs", "#[cfg(test)] mod tests { use crossterm::event; }"),
    ];
    for (path, text) in wrong {
        assert_eq!(found(rooms::outside_crates, path, text).len(), 1, "{path}: {text}");
    }
    let right = [
        ("src/engine/local/model.rs", "use llama_cpp_2::model::LlamaModel;"),
        ("src/config/paths.rs", "use directories::ProjectDirs;"),
        ("src/engine/mod.rs", "use tokio::sync; use thiserror::Error;"),
        (
            "src/domain/role.rs",
            "use serde::Serialize; #[cfg(test)] mod tests { use thiserror::Error; }",
        ),
        (
            "src/app/state.rs",
            "fn f() { let ratatui = 1; \"ratatui::x\"; } // ratatui::y",
        ),
    ];
    for (path, text) in right {
        assert_eq!(found(rooms::outside_crates, path, text), NOTHING, "{path}: {text}");
    }
}

#[test]
fn the_world_is_kept_out_of_pure_rooms() {
    for text in [
        "use std::{fmt, fs};",
        "fn f() { std::time::Instant::now(); }",
        "use std::sync::mpsc::Sender;",
        "fn f() { io::stdin().lines() }",
        "use std::io::{Write, stderr};",
    ] {
        assert_eq!(found(rooms::pure, "src/app/update/mod.rs", text).len(), 1, "{text}");
        assert_eq!(found(rooms::pure, "src/store/mod.rs", text), NOTHING, "{text}");
    }
    let text = "use std::io::Write; use std::time::{Duration, Instant}; #[cfg(test)] mod tests { use std::fs; }";
    assert_eq!(found(rooms::pure, "src/app/update/mod.rs", text), NOTHING);
}

#[test]
fn unsafe_code_is_found_outside_its_two_files() {
    let text = "#![allow(unsafe_code)]\n// unsafe\nfn f() { unsafe { g(\"unsafe\") } }";
    assert_eq!(
        found(shape::unsafe_code, "src/engine/local/model.rs", text),
        ["src/engine/local/model.rs:3: unsafe code stands only in src/engine/local/ffi.rs, src/run/signals.rs"]
    );
    assert_eq!(found(shape::unsafe_code, "src/engine/local/ffi.rs", text), NOTHING);
}

#[test]
fn only_lines_with_code_count_and_not_those_of_tests() {
    let body = "    call();\n".repeat(58);
    let fits = format!("fn f(a: [u8; 2]) {{\n{body}}}\n");
    assert_eq!(found(shape::long_functions, "src/ui/a.rs", &fits), NOTHING);
    let padded = format!("fn f() {{\n    // why\n\n    /// said\n{body}}}\n");
    assert_eq!(found(shape::long_functions, "src/ui/a.rs", &padded), NOTHING);
    let long = format!("struct S;\n\nfn f(a: [u8; 2])\n{{\n{body}}}\n");
    assert_eq!(
        found(shape::long_functions, "src/ui/a.rs", &long),
        ["src/ui/a.rs:3: fn f has 61 lines of code; a function has at most 60"]
    );
    assert_eq!(
        found(
            shape::long_functions,
            "src/ui/a.rs",
            &format!("#[cfg(test)]\nmod tests {{ {long} }}")
        ),
        NOTHING
    );

    let items = "const A: u8 = 0;\n".repeat(500);
    assert_eq!(found(shape::long_files, "src/ui/a.rs", &items), NOTHING);
    assert_eq!(
        found(
            shape::long_files,
            "src/ui/a.rs",
            &format!("//! a\n\n{items}#[cfg(test)]\nmod t {{ {items} }}")
        ),
        NOTHING
    );
    assert_eq!(
        found(
            shape::long_files,
            "src/ui/a.rs",
            &format!("{items}const B: &str = \"\n\";\n")
        ),
        ["src/ui/a.rs:1: 502 lines of code; a file has at most 500"]
    );
}

#[test]
fn files_of_tests_are_known_by_the_module_that_declares_them() {
    let body = "print!();\n".repeat(501);
    let text = format!("fn f() {{\n{body}}}");
    let files = [
        ("src/ui/mod.rs", "#[cfg(test)]\nmod tests;\nmod view;"),
        ("src/ui/tests.rs", &text),
        ("src/ui/view.rs", &text),
    ];
    for rule in [shape::long_files, shape::long_functions] {
        let found = found_in(rule, &files);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("src/ui/view.rs:1: "), "{found:?}");
    }
    assert!(
        found_in(shape::prints, &files)
            .iter()
            .all(|breach| breach.starts_with("src/ui/view.rs:"))
    );
}

#[test]
fn what_stands_under_cfg_test_ends_where_it_ends() {
    let prints = [
        "#[cfg(test)] use a::{b, c}; fn f() { println!() }",
        "#[cfg(test)] fn g<A, B>() {} fn f() { println!() }",
        "struct S { #[cfg(test)] a: u8, b: u8 } fn f() { println!() }",
        "#[cfg(any(test, feature = \"x\"))] fn f() { println!() }",
        "#[cfg(not(test))] fn f() { println!() }",
    ];
    for text in prints {
        assert_eq!(found(shape::prints, "src/ui/a.rs", text).len(), 1, "{text}");
    }
    let quiet = [
        "#[cfg(test)] #[allow(dead_code)] pub fn g<A, B>(a: A) { println!() }",
        "#[cfg(all(test, feature = \"llama\"))] mod tests { fn f() { eprintln!() } }",
        "#![cfg(test)] fn f() { println!() }",
        "fn f() { g(\"println!()\"); print(); x.print != 1 } // println!()",
    ];
    for text in quiet {
        let found = found(shape::prints, "src/ui/a.rs", text);
        assert_eq!(found, NOTHING, "{text}");
    }
    assert_eq!(
        found(shape::prints, "src/cli/models.rs", "fn f() { println!() }"),
        NOTHING
    );
}

#[test]
fn deep_nameless_and_silent_files_are_found() {
    assert_eq!(found(shape::deep_files, "src/ui/widgets/a.rs", ""), NOTHING);
    assert_eq!(found(shape::deep_files, "src/engine/local/x/a.rs", ""), NOTHING);
    assert_eq!(
        found(shape::deep_files, "src/ui/widgets/x/a.rs", ""),
        ["src/ui/widgets/x/a.rs:1: 3 folders below src; at most 2 here"]
    );
    assert_eq!(found(shape::without_heading, "src/ui/a.rs", "//! Owns a.\n"), NOTHING);
    assert_eq!(
        found(shape::without_heading, "src/ui/a.rs", "/// Owns a.\nfn a() {}"),
        ["src/ui/a.rs:1: a file begins with //! and what it owns"]
    );
    assert_eq!(
        found(
            shape::vague_names,
            "src/ui/mod.rs",
            "mod view;\nmod helpers;\nmod utils {}"
        )
        .len(),
        2
    );
}

#[test]
fn a_file_that_is_no_rust_is_reported() {
    let tree = Tree::of(&[("src/ui/a.rs", "fn f() {\n  \"")], &[]);
    assert_eq!(tree.unreadable.len(), 1);
}
