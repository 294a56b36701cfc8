//! The rules about the shape of files: length, depth, headings, names, and where unsafe code and printing may stand.

use std::collections::BTreeSet;

use crate::source::{Breach, Token, Tree};

/// Lines with code on them, tests and comments not counted. 50 to 250 is a file; beyond this it owns two things.
const FILE_LINES: usize = 500;
/// The same for a function, signature included: about one screen.
const FUNCTION_LINES: usize = 60;

const UNSAFE_IN: [&str; 2] = ["src/engine/local/ffi.rs", "src/run/signals.rs"];

/// Where standard output and error are the program's own. Everything else says it through the screen or the log.
const PRINTING_IN: [&str; 3] = ["cli", "run", "main.rs"];
const PRINTING: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];

/// Names that say nothing about what is inside.
const VAGUE: [&str; 9] = [
    "common", "helper", "helpers", "manager", "misc", "types", "util", "utils", "shared",
];

pub(crate) fn unsafe_code(tree: &Tree) -> Vec<Breach> {
    let files = tree
        .files
        .iter()
        .filter(|file| !UNSAFE_IN.contains(&file.path.as_str()));
    files
        .flat_map(|file| {
            let words = file.tokens.iter().filter(|token| token.word() == Some("unsafe"));
            words.map(|token| {
                file.breach(
                    token.line,
                    format!("unsafe code stands only in {}", UNSAFE_IN.join(", ")),
                )
            })
        })
        .collect()
}

pub(crate) fn long_files(tree: &Tree) -> Vec<Breach> {
    let counted = tree.files.iter().map(|file| (file, code_lines(&file.tokens)));
    counted
        .filter(|(_, lines)| *lines > FILE_LINES)
        .map(|(file, lines)| file.breach(1, format!("{lines} lines of code; a file has at most {FILE_LINES}")))
        .collect()
}

pub(crate) fn long_functions(tree: &Tree) -> Vec<Breach> {
    let mut found = Vec::new();
    for file in &tree.files {
        for (at, token) in file.tokens.iter().enumerate() {
            let name = file.tokens.get(at + 1).and_then(Token::word);
            if let (Some("fn"), Some(name), false) = (token.word(), name, token.test) {
                let lines = code_lines(function(&file.tokens[at..]));
                if lines > FUNCTION_LINES {
                    let rule = format!("fn {name} has {lines} lines of code; a function has at most {FUNCTION_LINES}");
                    found.push(file.breach(token.line, rule));
                }
            }
        }
    }
    found
}

pub(crate) fn deep_files(tree: &Tree) -> Vec<Breach> {
    let mut found = Vec::new();
    for file in &tree.files {
        let folders = file.inner().matches('/').count();
        let allowed = if file.inner().starts_with("engine/local/") {
            3
        } else {
            2
        };
        if folders > allowed {
            found.push(file.breach(1, format!("{folders} folders below src; at most {allowed} here")));
        }
    }
    found
}

pub(crate) fn without_heading(tree: &Tree) -> Vec<Breach> {
    let bare = tree.files.iter().filter(|file| !file.text.starts_with("//!"));
    bare.map(|file| file.breach(1, "a file begins with //! and what it owns"))
        .collect()
}

pub(crate) fn prints(tree: &Tree) -> Vec<Breach> {
    let mut found = Vec::new();
    for file in tree.files.iter().filter(|file| !PRINTING_IN.contains(&file.room())) {
        for call in file.tokens.windows(3) {
            if let Some(word) = call[0].word()
                && PRINTING.contains(&word)
                && call[1].is("!")
                && (call[2].is("(") || call[2].is("[") || call[2].is("{"))
                && !call[0].test
            {
                let rule = format!("{word}! would tear the screen; only {} print", PRINTING_IN.join(", "));
                found.push(file.breach(call[0].line, rule));
            }
        }
    }
    found
}

pub(crate) fn vague_names(tree: &Tree) -> Vec<Breach> {
    let mut found = Vec::new();
    for file in &tree.files {
        for pair in file.tokens.windows(2) {
            if let (Some("mod"), Some(name)) = (pair[0].word(), pair[1].word())
                && VAGUE.contains(&name)
            {
                found.push(file.breach(pair[0].line, format!("'{name}' does not say what the module owns")));
            }
        }
    }
    found
}

/// From `fn` to the brace that closes the body, or to the `;` of a declaration.
fn function(tokens: &[Token]) -> &[Token] {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        let (opens, closes) = (["{", "(", "["], ["}", ")", "]"]);
        depth += usize::from(opens.iter().any(|mark| token.is(mark)));
        depth -= usize::from(closes.iter().any(|mark| token.is(mark)));
        if depth == 0 && (token.is("}") || token.is(";")) {
            return &tokens[..=at];
        }
    }
    tokens
}

fn code_lines(tokens: &[Token]) -> usize {
    let code = tokens.iter().filter(|token| !token.test);
    code.flat_map(|token| token.line..=token.last_line)
        .collect::<BTreeSet<_>>()
        .len()
}
