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
    edit(path, |document| {
        section(document, "presets", true)?.insert(&preset.name, Item::Table(rows(&preset.sampling)));
        Some(())
    })
    .map_err(|why| why.words("presets"))
}

/// Keeps a text as the value of a key of a section, in the file at `path`, which is made where there is none.
///
/// # Errors
/// Why it is not kept, in words for the person; the file is what it was then.
pub fn save_value(path: &Path, of: &str, key: &str, text: &str) -> Result<(), String> {
    edit(path, |document| {
        let section = section(document, of, false)?;
        match section.get_mut(key).and_then(Item::as_value_mut) {
            // What stands behind it on its line stays.
            Some(known) => {
                let decor = known.decor().clone();
                *known = text.into();
                *known.decor_mut() = decor;
            }
            None => drop(section.insert(key, value(text))),
        }
        Some(())
    })
    .map_err(|why| why.words(of))
}

/// Changes the file: what `change` makes of what is in it is written, and nothing where it gives `None`.
fn edit(path: &Path, change: impl FnOnce(&mut DocumentMut) -> Option<()>) -> Result<(), NotKept> {
    // A link stays a link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let not = |why| NotKept {
        file: path.display().to_string(),
        why,
    };
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(not(Why::Unread(error))),
    };
    let mut document = text.parse::<DocumentMut>().map_err(|_| not(Why::Mistake))?;
    change(&mut document).ok_or_else(|| not(Why::NoSection))?;
    write(&path, &document.to_string()).map_err(|error| not(Why::Unwritten(error)))
}

/// A section, which is made where there is none; `None` where something else goes by its name.
fn section<'d>(document: &'d mut DocumentMut, name: &str, implicit: bool) -> Option<&'d mut Table> {
    let empty = || {
        let mut table = Table::new();
        table.set_implicit(implicit);
        Item::Table(table)
    };
    document.entry(name).or_insert_with(empty).as_table_mut()
}

/// Why something is not kept.
struct NotKept {
    file: String,
    why: Why,
}

enum Why {
    Unread(io::Error),
    Mistake,
    NoSection,
    Unwritten(io::Error),
}

impl NotKept {
    /// In words; `section` is the one that was to take it.
    fn words(self, section: &str) -> String {
        let Self { file, why } = self;
        match why {
            Why::Unread(error) => format!("'{file}' cannot be read: {error}"),
            Why::Mistake => format!("'{file}' has a mistake: mend it first"),
            Why::NoSection => format!("in '{file}' {section} is no section: mend it first"),
            Why::Unwritten(error) => format!("'{file}' cannot be written: {error}"),
        }
    }
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
    fn a_value_is_kept_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        for (before, after) in [
            ("", "[ui]\ntheme = \"paper\"\n"),
            (
                "# mine\n[ui]\ntheme = \"night\" # dark\nmouse = false\n",
                "# mine\n[ui]\ntheme = \"paper\" # dark\nmouse = false\n",
            ),
            (
                "[chat]\nsystem = \"x\"\n",
                "[chat]\nsystem = \"x\"\n\n[ui]\ntheme = \"paper\"\n",
            ),
        ] {
            fs::write(&path, before).unwrap();
            save_value(&path, "ui", "theme", "paper").unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), after);
        }
        fs::write(&path, "ui = 3\n").unwrap();
        assert!(
            save_value(&path, "ui", "theme", "paper")
                .unwrap_err()
                .contains("ui is no section")
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
