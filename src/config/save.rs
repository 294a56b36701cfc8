//! Writes into the configuration file what a person asked to be kept there. Everything else in the file stays as it is, comments and
//! all, and a file that cannot be read as configuration is not touched.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;
use toml_edit::{DocumentMut, Item, Table, Value, value};

use crate::domain::Preset;
use crate::domain::Sampling;
use crate::domain::sampling::{self, Parameter, Seed};

/// Keeps a preset as `[presets.NAME]` in the file at `path`, which is made where there is none. A preset of that name is replaced.
///
/// # Errors
/// Why it is not kept, in words for the person; the file is what it was then.
pub fn save_preset(path: &Path, preset: &Preset) -> Result<(), String> {
    // A link stays a link.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let shown = path.display();
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("'{shown}' cannot be read: {error}")),
    };
    let document = text.parse::<DocumentMut>();
    let mut document = document.map_err(|_| format!("'{shown}' has a mistake: mend it first"))?;
    let presets = document.entry("presets").or_insert_with(|| {
        let mut presets = Table::new();
        presets.set_implicit(true);
        Item::Table(presets)
    });
    let Some(presets) = presets.as_table_mut() else {
        return Err(format!("in '{shown}' presets is no section: mend it first"));
    };
    presets.insert(&preset.name, Item::Table(rows(&preset.sampling)));
    write(path, &document.to_string()).map_err(|error| format!("'{shown}' cannot be written: {error}"))
}

/// What differs from the defaults, as the file has it.
fn rows(settings: &Sampling) -> Table {
    let base = Sampling::default();
    let rows = settings
        .differences(&base)
        .map(|p| (p.name, value(written(p, settings))));
    rows.collect()
}

fn written(parameter: &Parameter, settings: &Sampling) -> Value {
    match parameter.get(settings) {
        // Through text, so that 0.8 stays 0.8 and does not become 0.800000011920929.
        sampling::Value::Real(x) => x.to_string().parse::<f64>().unwrap_or_default().into(),
        sampling::Value::Whole(n) => i64::from(n).into(),
        sampling::Value::Switch(on) => on.into(),
        sampling::Value::Seed(Seed::Fixed(seed)) => i64::from(seed).into(),
        other => other.to_string().into(),
    }
}

/// Writes the whole file or nothing of it.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = NamedTempFile::new_in(folder)?;
    if let Ok(old) = fs::metadata(path) {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::config::{Layer, Origin, load};

    fn preset(values: &[(&str, &str)]) -> Preset {
        Preset::from_values("mine", values.iter().copied()).unwrap()
    }

    #[test]
    fn a_preset_is_kept_and_read_back_and_the_rest_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new folder").join("config.toml");
        let first = preset(&[
            ("temperature", "0.8"),
            ("top-k", "7"),
            ("seed", "5"),
            ("stop", "a,b"),
            ("ignore-eos", "true"),
        ]);
        save_preset(&path, &first).unwrap();
        let (settings, problems) = load(Origin::Named(&path), |_| None, Layer::default());
        assert_eq!(problems, []);
        assert_eq!(settings.presets.last(), Some(&first));
        let text = "# mine\n[ui]\ntheme = \"night\" # dark\n\n[presets.other]\ntop-k = 1\n";
        fs::write(&path, text).unwrap();
        save_preset(&path, &first).unwrap();
        let second = preset(&[("top-p", "0.5")]);
        save_preset(&path, &second).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(
            text,
            "# mine\n[ui]\ntheme = \"night\" # dark\n\n[presets.other]\ntop-k = 1\n\n[presets.mine]\ntop-p = 0.5\n"
        );
    }

    #[test]
    fn what_cannot_be_kept_is_told_and_nothing_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        for (text, words) in [("[ui\n", "has a mistake"), ("presets = 3\n", "is no section")] {
            fs::write(&path, text).unwrap();
            let error = save_preset(&path, &preset(&[])).unwrap_err();
            assert!(error.contains(words) && error.contains("config.toml"), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}
