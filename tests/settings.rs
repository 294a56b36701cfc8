//! Ring 6: every sampling parameter, from every place in which a person can set it, to what the engine draws with. The scripted engine
//! says the settings that it was given, word by word.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use pretty_assertions::assert_eq;
use quipu::domain::Sampling;
use quipu::domain::sampling::{Kind, PARAMETERS, Parameter};

use crate::harness::Harness;

/// A value that is not the default, as a person writes it.
fn other(parameter: &Parameter) -> String {
    match parameter.kind {
        Kind::Real { min, max } => (min + (max - min) * 0.375).to_string(),
        Kind::Whole { max } => (max / 2).to_string(),
        Kind::Seed => "7".to_owned(),
        Kind::Switch => "true".to_owned(),
        Kind::Written(_) => match parameter.name {
            "stages" => "top-k,temperature",
            "logit-bias" => "#5=-inf,#7=1.5",
            _ => "one,two",
        }
        .to_owned(),
    }
}

/// What the engine is to say: every parameter's name and the value in force.
fn script() -> String {
    let words: Vec<_> = PARAMETERS
        .iter()
        .map(|p| format!("{} {{{}}}", p.name, p.name))
        .collect();
    let words = words.join(" ");
    format!("[[answer]]\ntext = \"{words}\"\n")
}

/// What it says then.
fn expected() -> String {
    let mut sampling = Sampling::default();
    let mut words = String::new();
    for p in PARAMETERS {
        p.set(&mut sampling, &other(p)).unwrap();
        assert_ne!(p.get(&sampling), p.default(), "{}", p.name);
        let _ = write!(words, "{} {} ", p.name, p.get(&sampling));
    }
    words.trim_end().to_owned()
}

/// What the program answers with these arguments, variables and configuration.
fn answer(args: &[String], variables: &[(String, String)], configuration: &str) -> String {
    let home = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = home.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let (script, configuration) = (file("script.toml", &script()), file("settings.toml", configuration));
    let named = |path: &Path| path.to_str().unwrap().to_owned();
    let out = Command::new(env!("CARGO_BIN_EXE_quipu"))
        .args(["--config".to_owned(), named(&configuration)])
        .args(["--engine".to_owned(), format!("scripted:{}", named(&script))])
        .args(args)
        .arg("hello")
        .env("QUIPU_HOME", home.path())
        .envs(variables.iter().cloned())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap().trim_end().to_owned()
}

/// The values as lines of the configuration.
fn lines() -> String {
    let line = |p: &Parameter| {
        let quotes = matches!(p.kind, Kind::Written(_)).then_some("\"").unwrap_or_default();
        format!("{} = {quotes}{}{quotes}\n", p.name, other(p))
    };
    PARAMETERS.iter().map(line).collect()
}

#[test]
fn what_a_flag_says_is_drawn_with() {
    let flags: Vec<_> = PARAMETERS
        .iter()
        .map(|p| format!("--{}={}", p.name, other(p)))
        .collect();
    assert_eq!(answer(&flags, &[], ""), expected());
}

#[test]
fn what_the_environment_says_is_drawn_with() {
    let name = |p: &Parameter| format!("QUIPU_{}", p.name.to_uppercase().replace('-', "_"));
    let variables: Vec<_> = PARAMETERS.iter().map(|p| (name(p), other(p))).collect();
    assert_eq!(answer(&[], &variables, ""), expected());
}

#[test]
fn what_the_configuration_says_is_drawn_with() {
    assert_eq!(answer(&[], &[], &format!("[sampling]\n{}", lines())), expected());
}

#[test]
fn what_a_preset_says_is_drawn_with() {
    let preset = format!("[presets.mine]\n{}", lines());
    assert_eq!(answer(&["--preset=mine".to_owned()], &[], &preset), expected());
}

#[test]
fn what_is_set_in_the_chat_is_drawn_with_and_shown() {
    let mut quipu = Harness::new(&script());
    for p in PARAMETERS {
        quipu.paste(&format!("/set {} {}", p.name, other(p))).keys("<enter>");
        let mut set = Sampling::default();
        p.set(&mut set, &other(p)).unwrap();
        let told = format!("{} {} → {}", p.name, p.default(), p.get(&set));
        let notices = quipu.state().notices.all();
        assert!(notices.iter().any(|notice| notice.text == told), "{told}");
    }
    quipu.keys("hello<enter>");
    assert_eq!(quipu.said().last().unwrap().trim_end(), expected());
}
