//! Tests of the room as a whole: the example, the corpus of wrong files, and which layer wins.

use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;

use super::{Layer, Origin, Place, Problem, Settings, example, load};
use crate::domain::inference::GpuLayers;
use crate::domain::sampling::{Chosen, PARAMETERS, Parameter, Seed};

fn in_package(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn nothing(_: &str) -> Option<String> {
    None
}

/// What a file of this text makes of the settings.
fn read(text: &str) -> (Settings, Vec<Problem>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    std::fs::write(&path, text).unwrap();
    load(Origin::Named(&path), nothing, Layer::default())
}

fn read_well(text: &str) -> Settings {
    let (settings, problems) = read(text);
    assert_eq!(problems, []);
    settings
}

/// The example with every setting line un-commented.
fn uncommented() -> String {
    let lines = example();
    let lines = lines.lines().map(|line| {
        line.strip_prefix('#')
            .filter(|rest| !rest.starts_with(' '))
            .unwrap_or(line)
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_example_in_the_repository_is_the_one_that_the_tables_make() {
    let path = in_package("config.example.toml");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, example()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap();
    assert_eq!(written, example(), "write it anew with UPDATE_DOCS=1 cargo test config");
}

#[test]
fn the_example_uncommented_is_the_defaults() {
    let mut given = read_well(&uncommented());
    // They are given all the same.
    assert_eq!(given.chosen.len(), PARAMETERS.len());
    given.chosen.clear();
    assert_eq!(given, Settings::default());
    assert_eq!(read_well(&example()), Settings::default());
    for row in PARAMETERS {
        assert!(
            uncommented().contains(&format!("\n{} = ", row.name)),
            "{} is missing",
            row.name
        );
    }
    let names: Vec<String> = Settings::default()
        .presets
        .into_iter()
        .map(|preset| preset.name)
        .collect();
    let prose = example().replace("\n# ", " ");
    assert!(
        prose.contains(&names.join(", ")),
        "the presets that ship are not all named"
    );
}

#[test]
fn the_samples_in_the_example_are_right() {
    let text: Vec<String> = example()
        .lines()
        .filter_map(|line| line.strip_prefix("#     ").map(str::to_owned))
        .collect();
    let settings = read_well(&text.join("\n"));
    assert!(settings.presets.iter().any(|preset| preset.name == "calm"));
    assert_eq!(settings.bindings.len(), 2);
}

#[test]
fn a_file_sets_every_kind_of_key() {
    let settings = read_well(
        r#"
        [model]
        path = "~/models/a b.gguf"
        gpu-layers = 12
        context = 4_096
        batch = 0x100
        [sampling]
        preset = "mine"
        top-k = 5
        typical-p = "off"
        [presets.mine]
        temperature = 1
        seed = 7
        [presets.Balanced]
        top-p = 0.5
        [chat]
        system = """Be brief.
        Be kind."""
        max-tokens = 100
        [ui]
        theme = "dark"
        mouse = false
        [keys.chat]
        retry = "ctrl-r"
        stop = []
        "#,
    );
    assert!(
        settings.model.ends_with("models/a b.gguf") && !settings.model.starts_with('~'),
        "{}",
        settings.model
    );
    assert_eq!(settings.load.gpu_layers, GpuLayers::Count(12));
    assert_eq!((settings.load.context, settings.load.batch), (Some(4096), Some(256)));
    assert_eq!((settings.sampling.top_k, settings.sampling.temperature), (5, 1.0));
    assert_eq!(settings.sampling.seed, Seed::Fixed(7));
    assert_eq!(settings.preset, "mine");
    let shipped = Settings::default().presets.len();
    assert_eq!(
        settings.presets.len(),
        shipped + 1,
        "'Balanced' takes the place of the one that ships"
    );
    assert!(settings.system.unwrap().contains("Be kind."));
    assert_eq!(
        (settings.max_tokens, settings.theme.as_str(), settings.mouse),
        (Some(100), "dark", false)
    );
    let chords: Vec<_> = settings
        .bindings
        .iter()
        .map(|b| (b.action.as_str(), b.chords.len()))
        .collect();
    assert_eq!(chords, [("retry", 1), ("stop", 0)]);
}

/// Every file in the corpus is named for what is wrong with it; beside it lies what is said.
#[test]
fn every_wrong_file_is_told_in_its_own_words() {
    let mut seen = 0;
    for entry in std::fs::read_dir(in_package("tests/data/config")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        seen += 1;
        let (_, problems) = load(Origin::Named(&path), nothing, Layer::default());
        let folder = format!("{}{}", path.parent().unwrap().display(), std::path::MAIN_SEPARATOR);
        let told: String = problems.iter().map(|p| format!("{p}\n").replace(&folder, "")).collect();
        let expected = path.with_extension("txt");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&expected, &told).unwrap();
        }
        assert_eq!(told, std::fs::read_to_string(&expected).unwrap(), "{}", path.display());
        assert_ne!(told, "", "{} is not wrong", path.display());
    }
    assert!(seen >= 10, "only {seen} files in the corpus");
}

#[test]
fn what_is_right_counts_beside_what_is_wrong() {
    let (settings, problems) = read("[ui]\nthema = 1\nmouse = false\n[sampling]\ntop-p = 7\ntop-k = 7\n");
    assert_eq!(problems.len(), 2);
    assert!(!settings.mouse);
    assert_eq!((settings.sampling.top_k, settings.sampling.top_p), (7, 0.95));
}

#[test]
fn a_missing_file_is_wrong_only_where_it_was_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    let defaults = (Settings::default(), Vec::new());
    assert_eq!(load(Origin::Usual(&path), nothing, Layer::default()), defaults);
    assert_eq!(load(Origin::Nowhere, nothing, Layer::default()), defaults);
    for wrong in [path.as_path(), folder.path()] {
        let (settings, problems) = load(Origin::Named(wrong), nothing, Layer::default());
        assert_eq!(settings, Settings::default());
        assert_eq!(problems.len(), 1);
        assert!(problems[0].message.starts_with("cannot be read ("), "{}", problems[0]);
        assert_eq!(problems[0].place.file(), Some(wrong));
    }
}

#[test]
fn files_that_are_no_text_are_refused_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    std::fs::write(&path, b"[ui]\ntheme = \"\xff\"\n").unwrap();
    let (settings, problems) = load(Origin::Usual(&path), nothing, Layer::default());
    assert_eq!(
        (settings, problems[0].place.clone()),
        (Settings::default(), Place::Line(path.clone(), 2))
    );
    std::fs::write(&path, vec![b'\n'; (1 << 20) + 1]).unwrap();
    let (_, problems) = load(Origin::Usual(&path), nothing, Layer::default());
    assert!(problems[0].message.contains("larger than 1024 KiB"), "{}", problems[0]);
}

#[test]
fn files_of_other_editors_are_read() {
    let settings = read_well("\u{feff}[ui]\r\nmouse = false\r\n");
    assert!(!settings.mouse);
    let (_, problems) = read("[ui]\r\n\r\nmouse = 1\r\n");
    assert!(matches!(problems[0].place, Place::Line(_, 3)), "{problems:?}");
}

#[test]
fn names_and_values_cannot_write_escapes_into_the_words() {
    let hostile = "[\"\\u001b[2Jmodel\"]\n[model]\n\"\\u001b]0;x\" = 1\npath = \"\\u001b[2J\"\n[presets.\"\\u0007\"]\n[keys.chat]\n\"\\u001bx\" = []\nnew = \"\\u001b\"\n";
    let (settings, problems) = read(hostile);
    assert_eq!(problems.len(), 6);
    assert!(
        problems
            .iter()
            .all(|problem| !problem.message.contains(char::is_control)),
        "{problems:?}"
    );
    assert_eq!(settings, Settings::default());
}

#[test]
fn flags_go_over_the_environment_over_the_file_over_the_defaults() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    let file = "[model]\ncontext = 1\nthreads = 1\nbatch = 1\n[sampling]\ntop-k = 1\ntop-p = 0.1\nmin-p = 0.1\n";
    std::fs::write(&path, file).unwrap();
    let environment = |name: &str| match name {
        "QUIPU_CONTEXT" | "QUIPU_THREADS" | "QUIPU_TOP_K" => Some("2".to_owned()),
        "QUIPU_TOP_P" => Some("0.2".to_owned()),
        "QUIPU_MODEL" => Some(String::new()),
        _ => None,
    };
    let mut flags = Layer {
        load: vec![("context", "3".to_owned())],
        ..Layer::default()
    };
    flags.set_sampling(Parameter::find("top-k").unwrap(), "3").unwrap();
    let (settings, problems) = load(Origin::Usual(&path), environment, flags);
    assert_eq!(problems, []);
    assert_eq!(settings.model, Settings::default().model);
    let load = &settings.load;
    assert_eq!(
        (load.context, load.threads, load.batch, load.ubatch),
        (Some(3), Some(2), Some(1), None)
    );
    let sampling = &settings.sampling;
    assert_eq!((sampling.top_k, sampling.top_p, sampling.min_p), (3, 0.2, 0.1));
}

#[test]
fn auto_and_nothing_go_over_a_number_and_a_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    std::fs::write(&path, "[model]\ncontext = 512\n[chat]\nsystem = \"x\"\n").unwrap();
    let flags = Layer {
        load: vec![("context", "auto".to_owned())],
        system: Some(String::new()),
        ..Layer::default()
    };
    let (settings, _) = load(Origin::Usual(&path), nothing, flags);
    assert_eq!((settings.load.context, settings.system), (None, None));
}

#[test]
fn a_preset_replaces_the_values_beneath_it_and_not_those_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    std::fs::write(&path, "[sampling]\ntemperature = 2\n[presets.mine]\ntop-k = 9\n").unwrap();
    let mut flags = Layer::default();
    flags.choose_preset("Mine", Place::Flag("--preset"));
    flags.set_sampling(Parameter::find("min-p").unwrap(), "0.5").unwrap();
    let (settings, problems) = load(Origin::Usual(&path), nothing, flags);
    assert_eq!(problems, []);
    assert_eq!(settings.preset, "mine");
    let sampling = &settings.sampling;
    assert_eq!((sampling.temperature, sampling.top_k, sampling.min_p), (0.8, 9, 0.5));
}

#[test]
fn wrong_variables_and_flags_are_told_by_name() {
    let environment = |name: &str| match name {
        "QUIPU_THREADS" => Some("many".to_owned()),
        "QUIPU_TOP_P" => Some("1.5".to_owned()),
        "QUIPU_MOUSE" => Some("off".to_owned()),
        "QUIPU_SEED" => Some("random".to_owned()),
        _ => None,
    };
    let mut flags = Layer::default();
    flags.choose_preset("blanced", Place::Flag("--preset"));
    let (settings, problems) = load(Origin::Nowhere, environment, flags);
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "QUIPU_THREADS: 'many' is no value for threads: give \"auto\" or a whole number from 1 to 1024",
            "QUIPU_TOP_P: '1.5' is no value for top-p: give a number from 0 to 1",
            "--preset: there is no preset 'blanced': did you mean 'balanced'?",
        ]
    );
    assert_eq!(
        settings,
        Settings {
            mouse: false,
            chosen: vec![("seed", Chosen::Environment)],
            ..Settings::default()
        }
    );
}

proptest::proptest! {
    #[test]
    fn no_text_makes_reading_fail(text in "\\PC{0,200}") {
        read(&text);
    }

    #[test]
    fn no_change_to_a_good_file_makes_reading_fail(at in 0_usize..2000, cut in 0_usize..40, put in "[\\[\\]=\"'.\n{}#a0-]{0,8}") {
        let mut text = uncommented();
        let start = text.floor_char_boundary(at);
        let end = text.floor_char_boundary((at + cut).min(text.len()));
        text.replace_range(start.min(end)..end, &put);
        let (_, problems) = read(&text);
        proptest::prop_assert!(problems.iter().all(|problem| !problem.message.is_empty()));
    }
}
