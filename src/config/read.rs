//! Reads the file into a layer. Everything wrong is found in one go, and every key that is right counts all the same.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::domain::Preset;
use crate::domain::load_option::{LOAD_OPTIONS, LoadOption};
use crate::domain::sampling::{PARAMETERS, Parameter, Sampling};

use super::file::{KEYS, Key, SECTIONS, set_load, set_parameter};
use super::given::Given;
use super::layers::Layer;
use super::problem::{Place, Problem, shown, suggestion};
use super::settings::Binding;

/// A settings file is a few pages; what is larger is something else.
const LARGEST: u64 = 1 << 20;

/// The layer of the file at `path`.
pub(super) fn file(path: &Path) -> (Layer, Vec<Problem>) {
    match contents(path) {
        Ok(text) => Reader::new(path, &text).read(),
        Err(problem) => (Layer::default(), vec![problem]),
    }
}

fn contents(path: &Path) -> Result<String, Problem> {
    let whole = |message: String| Problem {
        place: Place::File(path.to_owned()),
        message,
    };
    let unreadable = |error: io::Error| whole(format!("cannot be read ({error}): check its name and who may read it"));
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST {
        return Err(whole(format!(
            "is larger than {} KiB: is it a settings file?",
            LARGEST / 1024
        )));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + String::from_utf8_lossy(good).matches('\n').count();
        let message = "is not UTF-8 here: save the file as UTF-8; until then nothing in it is used".to_owned();
        Problem {
            place: Place::Line(path.to_owned(), line),
            message,
        }
    })
}

type Name<'a> = Spanned<DeString<'a>>;
type Value<'a> = Spanned<DeValue<'a>>;

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    /// Offsets of the line ends, to tell lines by.
    ends: Vec<usize>,
    layer: Layer,
    problems: Vec<(usize, String)>,
}

impl<'a> Reader<'a> {
    fn new(path: &'a Path, text: &'a str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at).collect();
        Self {
            path,
            text,
            ends,
            layer: Layer::default(),
            problems: Vec::new(),
        }
    }

    fn read(mut self) -> (Layer, Vec<Problem>) {
        match DeTable::parse(self.text) {
            Ok(root) => root
                .get_ref()
                .iter()
                .for_each(|(name, value)| self.section(name, value)),
            Err(error) => {
                let words = error.message().replace(char::is_control, " ");
                let message = format!("is not TOML here ({words}): mend it; until then nothing in the file is used");
                self.problems.push((error.span().map_or(0, |span| span.start), message));
            }
        }
        // Tables come sorted by name; a person reads from the top.
        self.problems.sort_by_key(|(at, _)| *at);
        let problems = std::mem::take(&mut self.problems);
        let problems = problems
            .into_iter()
            .map(|(at, message)| Problem {
                place: self.place(at),
                message,
            })
            .collect();
        (self.layer, problems)
    }

    fn place(&self, at: usize) -> Place {
        Place::Line(self.path.to_owned(), 1 + self.ends.partition_point(|end| *end < at))
    }

    fn section(&mut self, name: &Name<'_>, value: &Value<'_>) {
        let known = SECTIONS.iter().any(|(section, _)| section == name.get_ref());
        let word = shown(name.get_ref());
        match (name.get_ref().as_ref(), value.get_ref()) {
            ("presets", DeValue::Table(presets)) => presets.iter().for_each(|(name, value)| self.preset(name, value)),
            ("personas", DeValue::Table(personas)) => {
                personas.iter().for_each(|(name, value)| self.persona(name, value));
            }
            ("keys", DeValue::Table(contexts)) => contexts.iter().for_each(|(name, value)| self.keys(name, value)),
            (section, DeValue::Table(entries)) if known => {
                for (name, value) in entries {
                    self.entry(section, name, value);
                }
            }
            (_, _) if known => self.note(
                name,
                format!("'{word}' is a section: write [{word}], and its keys on lines below"),
            ),
            (_, DeValue::Table(_)) => {
                let suggestion = suggestion(name.get_ref(), SECTIONS.iter().map(|(section, _)| *section));
                self.note(name, format!("there is no section [{word}]: {suggestion}"));
            }
            (key, _) => {
                let message = section_of(key).map_or_else(
                    || {
                        format!(
                            "'{word}' is no setting: {}",
                            suggestion(
                                key,
                                KEYS.iter()
                                    .map(|key| key.name)
                                    .chain(LOAD_OPTIONS.iter().map(|row| row.name))
                            )
                        )
                    },
                    |section| format!("'{word}' stands in no section: put it under [{section}]"),
                );
                self.note(name, message);
            }
        }
    }

    /// A key of an ordinary section.
    fn entry(&mut self, section: &str, name: &Name<'_>, value: &Value<'_>) {
        let parameter = parameter(name).filter(|_| section == "sampling");
        let key = Key::of(section).find(|key| key.name == name.get_ref());
        let place = self.place(name.span().start);
        let (layer, written) = (&mut self.layer, written(self.text, value));
        let given = Given::Typed(value.get_ref());
        let option = LoadOption::find(name.get_ref()).filter(|_| section == "model");
        let outcome = match (key, parameter, option) {
            (Some(key), _, _) => key.set(layer, given, written, place),
            (_, Some(row), _) => set_parameter(row, given, written, |text| layer.set_sampling(row, text)),
            (_, _, Some(row)) => set_load(row, given, written, |text| layer.set_load(row, text)),
            (None, None, None) => Err(unknown(section, name.get_ref())),
        };
        if let Err(message) = outcome {
            self.note(name, message);
        }
    }

    /// A persona: a name and its system prompt.
    fn persona(&mut self, name: &Name<'_>, value: &Value<'_>) {
        let word = shown(name.get_ref());
        let text = Given::Typed(value.get_ref()).text().map(str::to_owned);
        let typeable = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
        if name.get_ref().is_empty() || !name.get_ref().chars().all(typeable) {
            let message = format!("'{word}' is no name for a persona: use letters, digits, '.', '-' and '_'");
            return self.note(name, message);
        }
        match text {
            Some(text) => self.layer.personas.push((name.get_ref().to_string(), text)),
            None => self.note(name, format!("'{word}' is no persona: write {word} = \"You are …\"")),
        }
    }

    /// A section `[presets.NAME]`.
    fn preset(&mut self, name: &Name<'_>, value: &Value<'_>) {
        let word = shown(name.get_ref());
        let DeValue::Table(values) = value.get_ref() else {
            return self.note(
                name,
                format!("'{word}' is no preset: write [presets.{word}], and sampling values below"),
            );
        };
        // It is typed after `/preset` and stands in the header.
        let typeable = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
        if name.get_ref().is_empty() || !name.get_ref().chars().all(typeable) {
            let message = format!("'{word}' is no name for a preset: use letters, digits, '.', '-' and '_'");
            return self.note(name, message);
        }
        let mut sampling = Sampling::default();
        for (name, value) in values {
            let given = Given::Typed(value.get_ref());
            let outcome = match parameter(name) {
                Some(row) => set_parameter(row, given, written(self.text, value), |text| {
                    row.set(&mut sampling, text)
                }),
                None => Err(unknown("presets", name.get_ref())),
            };
            if let Err(message) = outcome {
                self.note(name, message);
            }
        }
        self.layer.presets.push(Preset {
            name: name.get_ref().to_string(),
            sampling,
        });
    }

    /// A section `[keys.CONTEXT]`. Which contexts, actions and chords there are is known elsewhere.
    fn keys(&mut self, context: &Name<'_>, value: &Value<'_>) {
        let word = shown(context.get_ref());
        let DeValue::Table(actions) = value.get_ref() else {
            let message = format!("'{word}' is no table of keys: write [keys.{word}], and actions below");
            return self.note(context, message);
        };
        for (action, value) in actions {
            let names = [context.get_ref(), action.get_ref()].map(ToString::to_string);
            let chords =
                chords(value.get_ref()).filter(|chords| chords.iter().chain(&names).all(|text| is_plain(text)));
            if let Some(chords) = chords {
                let place = self.place(action.span().start);
                let [context, action] = names;
                self.layer.bindings.push(Binding {
                    context,
                    action,
                    chords,
                    place,
                });
            } else {
                let (written, name) = (shown(written(self.text, value)), shown(action.get_ref()));
                let accepts = "give a key in quotes, a list of them, or [] to unbind";
                self.note(action, format!("'{written}' is no value for {name}: {accepts}"));
            }
        }
    }

    fn note(&mut self, name: &Name<'_>, message: String) {
        self.problems.push((name.span().start, message));
    }
}

/// Whether a text is fit to be repeated in a message of those who read it later.
fn is_plain(text: &str) -> bool {
    !text.contains(char::is_control)
}

fn written<'a>(text: &'a str, value: &Value<'_>) -> &'a str {
    text.get(value.span()).unwrap_or_default()
}

/// The parameter of exactly this name; in the file there is one spelling.
fn parameter(name: &Name<'_>) -> Option<&'static Parameter> {
    PARAMETERS.iter().find(|row| row.name == name.get_ref())
}

fn chords(value: &DeValue<'_>) -> Option<Vec<String>> {
    match value {
        DeValue::String(chord) => Some(vec![chord.to_string()]),
        DeValue::Array(chords) => chords
            .iter()
            .map(|chord| chord.get_ref().as_str().map(str::to_owned))
            .collect(),
        _ => None,
    }
}

/// The section that a key of this name belongs to.
fn section_of(name: &str) -> Option<&'static str> {
    let key = KEYS.iter().find(|key| key.name == name).map(|key| key.section);
    key.or_else(|| LoadOption::find(name).map(|_| "model"))
        .or_else(|| Parameter::find(name).map(|_| "sampling"))
}

/// The words for a key that its section does not have.
fn unknown(section: &str, name: &str) -> String {
    let word = shown(name);
    let samples = matches!(section, "sampling" | "presets");
    if let Some(row) = Parameter::find(name).filter(|_| samples) {
        return format!("'{word}' is written '{}' here", row.name);
    }
    if let Some(home) = section_of(name).filter(|home| *home != section) {
        return format!("'{word}' does not belong in [{section}]: put it under [{home}]");
    }
    let parameters = PARAMETERS.iter().map(|row| row.name).filter(|_| samples);
    let options = LOAD_OPTIONS.iter().map(|row| row.name).filter(|_| section == "model");
    let known = Key::of(section).map(|key| key.name).chain(parameters).chain(options);
    format!("there is no key '{word}' in [{section}]: {}", suggestion(name, known))
}
