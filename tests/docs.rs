//! The README's tables are those of the program, and its picture is drawn from the program. `UPDATE_DOCS=1` writes both.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use quipu::app::COMMANDS;
use quipu::domain::load_option::LOAD_OPTIONS;
use quipu::domain::sampling::PARAMETERS;
use quipu::ui::Keymap;

use crate::terminal::Session;

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
        picture();
    } else {
        assert_eq!(readme, wanted, "UPDATE_DOCS=1 cargo test docs writes the tables anew");
    }
}

/// Draws the README's picture: the program on the demonstration script, as a terminal shows it.
fn picture() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let home = tempfile::tempdir().unwrap();
    let engine = format!("scripted:{}", root.join("assets/demo.toml").display());
    let mut session = Session::start(home.path(), &["--engine", &engine], 92, 26);
    session.wait_text("ready");
    session.send("What is the capital of France?");
    session.wait_text("France?");
    session.send("\r");
    session.wait_text("tok/s");
    session.wait_text("ready");
    fs::write(root.join("assets/quipu.svg"), svg(session.parser.screen())).unwrap();
}

/// A screen as SVG: one text element for each cell that shows something.
fn svg(screen: &vt100::Screen) -> String {
    const CELL: (f64, f64) = (8.4, 18.0);
    let (rows, columns) = screen.size();
    let (width, height) = (
        f64::from(columns.get()) * CELL.0 + 20.0,
        f64::from(rows.get()) * CELL.1 + 20.0,
    );
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"ui-monospace, \
         Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"14\"><rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#16181f\"/>\n"
    );
    for row in 0..rows.get() {
        for column in 0..columns.get() {
            let Some(cell) = screen
                .cell(row, column)
                .filter(|cell| !cell.contents().trim().is_empty())
            else {
                continue;
            };
            let color = match cell.fgcolor() {
                vt100::Color::Idx(6) => "#7fc8c8",
                vt100::Color::Idx(1) => "#f08a8a",
                vt100::Color::Idx(3) => "#e6c27a",
                _ => "#d7dae2",
            };
            let faint = if cell.dim() { " opacity=\"0.55\"" } else { "" };
            let bold = if cell.bold() { " font-weight=\"bold\"" } else { "" };
            let text = cell
                .contents()
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;");
            let (x, y) = (f64::from(column) * CELL.0 + 10.0, f64::from(row) * CELL.1 + 24.0);
            writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{y:.0}\" fill=\"{color}\"{faint}{bold}>{text}</text>"
            )
            .unwrap();
        }
    }
    out + "</svg>\n"
}
