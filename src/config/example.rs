//! Writes the example of a whole file from the tables, so that names, bounds and defaults in it cannot be out of date.

use std::fmt::Write;

use crate::domain::load_option::{LOAD_OPTIONS, LoadOption};
use crate::domain::sampling::{PARAMETERS, Parameter, Seed, Value};

use super::file::{Key, SECTIONS, variable};

const HEADING: &str = "\
Settings of quipu: every one there is, with its default. Copy this file to config.toml in quipu's settings folder \
(Linux ~/.config/quipu, macOS ~/Library/Application Support/quipu, Windows %APPDATA%\\quipu\\config) and take the # away \
from what you change. An environment variable, named with each key, goes over the file; a flag goes over both.";

/// Shown in place of keys in sections whose names are the person's own.
const SAMPLES: &[(&str, &str)] = &[
    ("presets", "[presets.calm]\ntemperature = 0.4\nmin-p = 0.1"),
    ("personas", "[personas]\npoet = \"You answer in rhymes.\""),
    ("keys", "[keys.chat]\nnew = [\"ctrl-n\", \"f2\"]\nretry = []"),
];

/// The text of `config.example.toml`.
pub fn example() -> String {
    let mut text = String::new();
    comment(&mut text, HEADING);
    for (section, about) in SECTIONS {
        text.push('\n');
        comment(&mut text, about);
        if let Some((_, sample)) = SAMPLES.iter().find(|(name, _)| name == section) {
            text.push_str("#\n");
            for line in sample.lines() {
                let _ = writeln!(text, "#     {line}");
            }
            continue;
        }
        let _ = writeln!(text, "[{section}]");
        for key in Key::of(section) {
            let facts = (key.accepts(), key.default, key.variable);
            entry(&mut text, key.name, key.help, (&facts.0, facts.1, facts.2));
        }
        if *section == "model" {
            for option in LOAD_OPTIONS {
                let facts = (option.accepts(), written(option), variable(option.name));
                entry(&mut text, option.name, option.help, (&facts.0, &facts.1, &facts.2));
            }
        }
        if *section == "sampling" {
            for parameter in PARAMETERS {
                let facts = (parameter.kind.to_string(), literal(parameter), variable(parameter.name));
                entry(
                    &mut text,
                    parameter.name,
                    &sentence(parameter.help),
                    (&facts.0, &facts.1, &facts.2),
                );
            }
        }
    }
    text
}

/// One key: what it does, what it accepts, its default, and the line to change.
fn entry(text: &mut String, name: &str, help: &str, (accepts, default, variable): (&str, &str, &str)) {
    text.push('\n');
    comment(text, help);
    comment(text, &format!("{} Default {default}. {variable}.", sentence(accepts)));
    let _ = writeln!(text, "#{name} = {default}");
}

/// The default of a load option, as TOML: what TOML has a type for stands bare.
fn written(option: &LoadOption) -> String {
    let bare = matches!(option.default, "true" | "false") || option.default.parse::<f64>().is_ok();
    if bare {
        option.default.to_owned()
    } else {
        format!("\"{}\"", option.default)
    }
}

/// The default of a parameter, as TOML.
fn literal(parameter: &Parameter) -> String {
    match parameter.default() {
        Value::Seed(Seed::Random) => format!("\"{}\"", Seed::Random),
        // `{:?}` keeps the point, which tells a person that a fraction may be given.
        Value::Text(text) => toml::Value::String(text).to_string(),
        Value::Real(number) => format!("{number:?}"),
        value => value.to_string(),
    }
}

fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| {
        format!("{}{}.", first.to_uppercase(), letters.as_str())
    })
}

/// Prose behind `# `, broken into lines that fit beside an open terminal.
fn comment(text: &mut String, prose: &str) {
    const WIDTH: usize = 100;
    let mut line = "#".to_owned();
    for word in prose.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(text, "{line}");
            "#".clone_into(&mut line);
        }
        let _ = write!(line, " {word}");
    }
    let _ = writeln!(text, "{line}");
}
