//! The README's tables are those of the program. `UPDATE_DOCS=1` writes them.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use quipu::app::COMMANDS;
use quipu::domain::load_option::LOAD_OPTIONS;
use quipu::domain::sampling::PARAMETERS;
use quipu::ui::Keymap;

fn commands() -> String {
    let mut rows = "| command | what it does |\n|---|---|\n".to_owned();
    for command in COMMANDS {
        let name = format!("/{} {}", command.name, command.args.replace('|', "\\|"));
        writeln!(rows, "| `{}` | {} |", name.trim_end(), command.help).unwrap();
    }
    rows
}

fn keys() -> String {
    let keymap = Keymap::default();
    let mut rows = "| keys | what they do |\n|---|---|\n".to_owned();
    let mut seen = Vec::new();
    for (_, _, action) in quipu::ui::keymap::DEFAULT {
        if !seen.contains(action) {
            seen.push(*action);
            let chords: Vec<_> = keymap
                .chords(*action)
                .iter()
                .map(|chord| format!("`{chord}`"))
                .collect();
            writeln!(rows, "| {} | {} |", chords.join(" "), action.help()).unwrap();
        }
    }
    rows
}

fn sampling() -> String {
    let mut rows = "| parameter | default | accepts | what it does |\n|---|---|---|---|\n".to_owned();
    for p in PARAMETERS {
        writeln!(rows, "| `{}` | {} | {} | {} |", p.name, p.default(), p.kind, p.help).unwrap();
    }
    rows
}

fn loading() -> String {
    let mut rows = "| option | default | what it does |\n|---|---|---|\n".to_owned();
    for option in LOAD_OPTIONS {
        writeln!(rows, "| `{}` | {} | {} |", option.name, option.default, option.help).unwrap();
    }
    rows
}

#[test]
fn the_readme_lists_what_the_program_has() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let mut wanted = readme.clone();
    let tables = [
        ("commands", commands()),
        ("keys", keys()),
        ("sampling", sampling()),
        ("loading", loading()),
    ];
    for (name, table) in tables {
        let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
        let start = wanted.find(&open).unwrap() + open.len();
        let end = wanted.find(&close).unwrap();
        wanted.replace_range(start..end, &table);
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &wanted).unwrap();
    } else {
        assert_eq!(readme, wanted, "UPDATE_DOCS=1 cargo test docs writes the tables anew");
    }
}
