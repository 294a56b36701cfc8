//! The shape of the file: one table with every key that is neither a sampling parameter nor a load option (those are tables
//! of the domain). Names, environment variables, bounds, defaults and help all come from there and from here;
//! `config.example.toml` is made from them.

use toml::de::DeValue;

use crate::domain::LoopGuard;
use crate::domain::inference::{Overflow, Thinking};
use crate::domain::load_option::{LoadOption, NotAccepted};
use crate::domain::sampling::{Kind, Parameter, Refused};

use super::given::Given;
use super::layers::{Amount, Layer};
use super::problem::{Place, shown};

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    /// The section it belongs to.
    pub(super) section: &'static str,
    /// Its name in the file.
    pub(super) name: &'static str,
    /// The environment variable that sets it too.
    pub(super) variable: &'static str,
    /// The default, as TOML.
    pub(super) default: &'static str,
    /// What it does, in whole sentences.
    pub(super) help: &'static str,
    field: Field,
}

/// What a key accepts and how it reaches the layer.
#[derive(Clone, Copy, Debug)]
enum Field {
    Text(fn(&mut Layer) -> &mut Option<String>),
    Switch(fn(&mut Layer) -> &mut Option<bool>),
    Amount(Bounds, fn(&mut Layer) -> &mut Option<Amount>),
    Number(Bounds, fn(&mut Layer) -> &mut Option<u32>),
    /// A switch, or the decision left to quipu.
    Maybe(fn(&mut Layer) -> &mut Option<Option<bool>>),
    /// A list of texts.
    Texts(fn(&mut Layer) -> &mut Option<Vec<String>>),
    Preset,
    Overflow,
    LoopGuard,
    Thinking,
}

/// Smallest and largest number, both accepted.
type Bounds = (u32, u32);

/// From none to more than any model thinks.
const THOUGHTS: Bounds = (0, 1 << 24);
/// More than any model looks back on; the model and the memory say the rest when it is loaded.
const TOKENS: Bounds = (1, 1 << 24);
/// The sections in the order of the example, and what each is about.
pub(super) const SECTIONS: &[(&str, &str)] = &[
    ("model", "Which model to start with, and how it is loaded."),
    (
        "sampling",
        "How tokens are drawn: a preset, and single values over it. `/set` and `/preset` change them while you chat.",
    ),
    (
        "presets",
        "Presets of your own, each a section [presets.NAME] of sampling values over llama.cpp's defaults.",
    ),
    ("chat", "What a new conversation starts with."),
    (
        "personas",
        "Personas of your own: system prompts by name, which `/persona NAME` takes.",
    ),
    ("sessions", "What is kept of conversations, and for how long."),
    ("ui", "How it looks and feels."),
    (
        "keys",
        "Keys of your own, in sections [keys.CONTEXT]: an action, and a key or a list of keys. An empty list unbinds.",
    ),
];

/// All keys, in the order of the example.
pub(super) const KEYS: &[Key] = &[
    Key {
        section: "model",
        name: "path",
        variable: "QUIPU_MODEL",
        default: "\"cria\"",
        help: "A GGUF file, or \"cria\": the small model that quipu brings along.",
        field: Field::Text(|layer| &mut layer.model),
    },
    Key {
        section: "model",
        name: "folders",
        variable: "QUIPU_MODEL_FOLDERS",
        default: "[]",
        help: "Folders with models of yours; quipu's own, the one of 'path' and the caches of other programs are always looked into.",
        field: Field::Texts(|layer| &mut layer.folders),
    },
    Key {
        section: "model",
        name: "probe",
        variable: "QUIPU_PROBE",
        default: "true",
        help: "Whether a file that is new here is first tried in a process of its own, so that a damaged one ends that and not quipu.",
        field: Field::Switch(|layer| &mut layer.probe),
    },
    Key {
        section: "sampling",
        name: "preset",
        variable: "QUIPU_PRESET",
        default: "\"balanced\"",
        help: "Where the values start from: precise, balanced, creative, code, deterministic, llama.cpp, or one of your own.",
        field: Field::Preset,
    },
    Key {
        section: "chat",
        name: "system",
        variable: "QUIPU_SYSTEM",
        default: "\"\"",
        help: "The system prompt: instructions that stand before the conversation. An empty one leaves it to the model's template.",
        field: Field::Text(|layer| &mut layer.system),
    },
    Key {
        section: "chat",
        name: "max-tokens",
        variable: "QUIPU_MAX_TOKENS",
        default: "\"auto\"",
        help: "Longest answer in tokens. \"auto\" is until the model ends it or the context is full.",
        field: Field::Amount(TOKENS, |layer| &mut layer.max_tokens),
    },
    Key {
        section: "chat",
        name: "overflow",
        variable: "QUIPU_OVERFLOW",
        default: "\"stop\"",
        help: "What to do when a conversation outgrows the context: stop and say so, leave the oldest turns out of the prompt, \
               have the model sum them up as soon as it is nearly full, or also shift the context in the middle of an answer.",
        field: Field::Overflow,
    },
    Key {
        section: "chat",
        name: "loop-guard",
        variable: "QUIPU_LOOP_GUARD",
        default: "\"pause\"",
        help: "What to do when an answer goes round in circles: stop there and offer ways out, only say so, or nothing.",
        field: Field::LoopGuard,
    },
    Key {
        section: "chat",
        name: "thinking",
        variable: "QUIPU_THINKING",
        default: "\"auto\"",
        help: "Whether models that can think before they answer shall, and how hard. \"auto\" leaves it to their templates.",
        field: Field::Thinking,
    },
    Key {
        section: "chat",
        name: "thinking-budget",
        variable: "QUIPU_THINKING_BUDGET",
        default: "\"auto\"",
        help: "Tokens of thinking after which a model is made to answer. \"auto\" is no limit, 0 ends any thinking where it begins.",
        field: Field::Amount(THOUGHTS, |layer| &mut layer.thinking_budget),
    },
    Key {
        section: "sessions",
        name: "keep",
        variable: "QUIPU_KEEP",
        default: "true",
        help: "Whether conversations are kept on disk, as they are said. Without, they end with quipu.",
        field: Field::Switch(|layer| &mut layer.keep),
    },
    Key {
        section: "sessions",
        name: "trace",
        variable: "QUIPU_TRACE",
        default: "5",
        help: "How many of the likeliest candidates of every token are kept with an answer, to see later what else it could have said.",
        field: Field::Number((0, 50), |layer| &mut layer.trace),
    },
    Key {
        section: "sessions",
        name: "trace-days",
        variable: "QUIPU_TRACE_DAYS",
        default: "30",
        help: "For how many days they are kept; the answers themselves stay.",
        field: Field::Number((0, 36500), |layer| &mut layer.trace_days),
    },
    Key {
        section: "sessions",
        name: "state-mib",
        variable: "QUIPU_STATE_MIB",
        default: "2048",
        help: "MiB of the cache folder for the states of models that make a return to a session quick. 0 keeps none.",
        field: Field::Number((0, 1 << 24), |layer| &mut layer.states),
    },
    Key {
        section: "ui",
        name: "theme",
        variable: "QUIPU_THEME",
        default: "\"quipu\"",
        help: "The colours: the name of a theme that ships, of a file in the themes folder, or a file. \"quipu\" uses the terminal's own.",
        field: Field::Text(|layer| &mut layer.theme),
    },
    Key {
        section: "ui",
        name: "mouse",
        variable: "QUIPU_MOUSE",
        default: "true",
        help: "Whether the mouse is quipu's: the wheel scrolls, a click takes what is under it, and a drag copies. Selecting by the \
               terminal itself then takes Shift in most of them.",
        field: Field::Switch(|layer| &mut layer.mouse),
    },
    Key {
        section: "ui",
        name: "plain",
        variable: "QUIPU_PLAIN",
        default: "false",
        help: "Whether the chat goes line by line, in order and without panels, as screen readers want it. So it does in a terminal \
               that cannot place a cursor.",
        field: Field::Switch(|layer| &mut layer.plain),
    },
    Key {
        section: "ui",
        name: "vi",
        variable: "QUIPU_VI",
        default: "false",
        help: "Whether messages are edited as in vi: Esc leaves writing, and letters then move and change.",
        field: Field::Switch(|layer| &mut layer.vi),
    },
    Key {
        section: "ui",
        name: "motion",
        variable: "QUIPU_MOTION",
        default: "true",
        help: "Whether something turns while one waits. Without, only figures change, once a second.",
        field: Field::Switch(|layer| &mut layer.motion),
    },
    Key {
        section: "ui",
        name: "ascii",
        variable: "QUIPU_ASCII",
        default: "\"auto\"",
        help: "Whether lines and marks are drawn in ASCII. \"auto\" does so where the locale is not UTF-8.",
        field: Field::Maybe(|layer| &mut layer.ascii),
    },
];

impl Key {
    /// The keys of a section.
    pub(super) fn of(section: &str) -> impl Iterator<Item = &'static Self> + Clone + '_ {
        KEYS.iter().filter(move |key| key.section == section)
    }

    /// What it accepts, in words.
    pub(super) fn accepts(&self) -> String {
        match self.field {
            Field::Text(_) => "a text in quotes".to_owned(),
            Field::Texts(_) => "a list of texts in quotes".to_owned(),
            Field::Switch(_) => "true or false".to_owned(),
            Field::Maybe(_) => "\"auto\", true or false".to_owned(),
            Field::Amount((min, max), _) => format!("\"auto\" or a whole number from {min} to {max}"),
            Field::Number((min, max), _) => format!("a whole number from {min} to {max}"),
            Field::Preset => "the name of a preset, in quotes".to_owned(),
            Field::Overflow => "\"stop\", \"drop-oldest\", \"summarise\" or \"shift\"".to_owned(),
            Field::LoopGuard => "\"pause\", \"warn\" or \"off\"".to_owned(),
            Field::Thinking => "\"on\", \"off\", \"low\", \"medium\", \"high\" or \"auto\"".to_owned(),
        }
    }

    /// Puts a value into the layer. `written` is how it stands at its place, for the message.
    ///
    /// # Errors
    /// The words for what is wrong with it.
    pub(super) fn set(&self, layer: &mut Layer, given: Given<'_>, written: &str, place: Place) -> Result<(), String> {
        let accepted = match self.field {
            Field::Text(field) => plain(given).map(|text| *field(layer) = Some(text.to_owned())),
            Field::Texts(field) => texts(given).map(|texts| *field(layer) = Some(texts)),
            Field::Switch(field) => given.switch().map(|on| *field(layer) = Some(on)),
            Field::Maybe(field) => {
                let auto = given.text().is_some_and(|text| text.eq_ignore_ascii_case("auto"));
                let choice = if auto { Some(None) } else { given.switch().map(Some) };
                choice.map(|choice| *field(layer) = Some(choice))
            }
            Field::Amount(bounds, field) => amount(given, bounds).map(|amount| *field(layer) = Some(amount)),
            Field::Number((min, max), field) => {
                let number = given.number().and_then(|text| text.parse().ok());
                let number = number.filter(|number| (min..=max).contains(number));
                number.map(|number| *field(layer) = Some(number))
            }
            Field::Overflow => {
                let policy = given.text().and_then(Overflow::named);
                policy.map(|policy| layer.overflow = Some(policy))
            }
            Field::LoopGuard => {
                let guard = given.text().and_then(LoopGuard::named);
                guard.map(|guard| layer.loop_guard = Some(guard))
            }
            Field::Thinking => {
                // A bare word in the environment, a text in quotes or a switch in the file.
                let word = given.text().map(str::to_owned);
                let word = word.or_else(|| given.switch().map(|on| if on { "on" } else { "off" }.to_owned()));
                let switch = word.and_then(|word| Thinking::named(&word).ok());
                switch.map(|switch| layer.thinking = Some(switch))
            }
            Field::Preset => plain(given).map(|name| layer.choose_preset(name, place)),
        };
        accepted.ok_or_else(|| refusal(self.name, &self.accepts(), given, written))
    }
}

/// Reads the value of a sampling parameter and hands its text to `set`.
///
/// # Errors
/// The words for what is wrong with it.
pub(super) fn set_parameter(
    parameter: &Parameter,
    given: Given<'_>,
    written: &str,
    set: impl FnOnce(&str) -> Result<(), Refused>,
) -> Result<(), String> {
    let text = match parameter.kind {
        Kind::Written(_) => given.texts().filter(|text| !text.contains('\0')),
        Kind::Switch => given.switch().map(|on| on.to_string()),
        Kind::Seed if given.text() == Some("random") => Some("random".to_owned()),
        _ if given.text() == Some("off") && parameter.off.is_some() => Some("off".to_owned()),
        _ => given.number(),
    };
    let Some(text) = text else {
        return Err(refusal(parameter.name, &parameter.kind.to_string(), given, written));
    };
    set(&text).map_err(|refused| {
        let quotes = quotes(given, &refused.remedy);
        format!(
            "'{}' is no value for {}: {}{quotes}",
            shown(written),
            refused.name,
            refused.remedy
        )
    })
}

/// Reads the value of a load option and hands its text to `set`.
///
/// # Errors
/// The words for what is wrong with it.
pub(super) fn set_load(
    option: &LoadOption,
    given: Given<'_>,
    written: &str,
    set: impl FnOnce(&str) -> Result<(), NotAccepted>,
) -> Result<(), String> {
    // A number in quotes is a slip where nothing but a number or a word is meant.
    let slip = given.is_quoted_number() && option.accepts().contains("whole number");
    let text = given.word().filter(|text| !slip && !text.contains(char::is_control));
    if text.is_some_and(|text| set(&text).is_ok()) {
        Ok(())
    } else {
        Err(refusal(option.name, &option.accepts(), given, written))
    }
}

/// The environment variable of a sampling parameter or a load option.
pub(super) fn variable(name: &str) -> String {
    format!("QUIPU_{}", name.to_uppercase().replace('-', "_"))
}

fn refusal(name: &str, accepts: &str, given: Given<'_>, written: &str) -> String {
    let quotes = quotes(given, accepts);
    format!("'{}' is no value for {name}: give {accepts}{quotes}", shown(written))
}

/// A word more where a number stands in quotes.
fn quotes(given: Given<'_>, accepts: &str) -> &'static str {
    if given.is_quoted_number() && accepts.contains("number") {
        ", without quotes"
    } else {
        ""
    }
}

/// A text without control characters, which have no business in a name or a prompt; lines and tabs may be.
fn plain(given: Given<'_>) -> Option<&str> {
    given
        .text()
        .filter(|text| !text.chars().any(|c| c.is_control() && c != '\n' && c != '\t'))
}

/// The texts of a list; those of the environment are separated as in PATH.
fn texts(given: Given<'_>) -> Option<Vec<String>> {
    match given {
        Given::Typed(DeValue::Array(items)) => {
            let texts = items
                .iter()
                .map(|item| plain(Given::Typed(item.get_ref())).map(str::to_owned));
            texts.collect()
        }
        Given::Typed(_) => None,
        Given::Word(word) => {
            let paths = std::env::split_paths(word).map(|path| path.to_string_lossy().into_owned());
            Some(paths.filter(|path| !path.is_empty()).collect())
        }
    }
}

fn amount(given: Given<'_>, (min, max): Bounds) -> Option<Amount> {
    if given.text().is_some_and(|text| text.eq_ignore_ascii_case("auto")) {
        return Some(Amount::Auto);
    }
    let number = given.number()?.parse().ok()?;
    (min..=max).contains(&number).then_some(Amount::Exactly(number))
}
