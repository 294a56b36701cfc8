//! `quipu models`: which models there are on this machine, what each is and takes, and removing those that quipu fetched.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::config::from_home;
use crate::domain::shelf::{Facts, Memory, Origin, Room, Shelf, Shelved};
use crate::domain::{Bytes, Count};
use crate::gguf::SplitName;
use crate::models::{self, BrokenOff, Places};
use crate::text::{aligned, sanitize_line};

use super::exit::{self, Exit, Stop};
#[cfg(feature = "llama")]
use super::pull::PullArgs;

/// What to do with the models.
#[derive(Args, Clone, Debug)]
pub(super) struct ModelsArgs {
    #[command(subcommand)]
    deed: Option<Deed>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand, Clone, Debug)]
enum Deed {
    /// List the models on this machine: quipu's own, those of your folders, and those that other programs keep
    List,
    /// Tell what a model is, what memory it takes, and where it lies
    Inspect {
        /// A file, what a list calls it, or a part of that
        #[arg(value_name = "MODEL")]
        model: String,
    },
    /// Fetch a model from the Hugging Face hub, as 'quipu pull' does
    #[cfg(feature = "llama")]
    Pull(PullArgs),
    /// Remove a model that quipu fetched
    Rm {
        /// A file, what a list calls it, or a part of that
        #[arg(value_name = "MODEL")]
        model: String,
    },
}

impl ModelsArgs {
    /// What is to be fetched, if that is what to do.
    #[cfg(feature = "llama")]
    pub(super) const fn pull(&self) -> Option<&PullArgs> {
        match &self.deed {
            Some(Deed::Pull(pull)) => Some(pull),
            _ => None,
        }
    }
}

/// Does it.
///
/// # Errors
/// With the exit code for each way in which it can fail.
pub(super) fn run(args: &ModelsArgs, places: &Places, memory: Memory, out: impl Write) -> Result<Exit, Stop> {
    let text = match &args.deed {
        None | Some(Deed::List) => {
            let shelf = models::shelf(places, memory);
            let broken = places.own.as_deref().map(models::broken_off).unwrap_or_default();
            if args.json {
                pretty(&list_json(&shelf, &broken))
            } else {
                list(&shelf, &broken)
            }
        }
        Some(Deed::Inspect { model }) => {
            let model = named(model, places, memory)?;
            if args.json {
                pretty(&whole(&model))
            } else {
                facts(&model, memory)
            }
        }
        // It waits, and is done where that can be.
        #[cfg(feature = "llama")]
        Some(Deed::Pull(_)) => String::new(),
        Some(Deed::Rm { model }) => {
            let removed = match named(model, places, memory) {
                Ok(model) => remove(&model, places.own.as_deref())?,
                // What never came whole is no model.
                Err(stop) => remove_broken(model, places.own.as_deref())?.ok_or(stop)?,
            };
            if args.json {
                pretty(&json!({ "removed": removed.files, "bytes": removed.bytes }))
            } else {
                let label = sanitize_line(&removed.label);
                format!("'{label}' is removed, and {} are free again\n", Bytes(removed.bytes))
            }
        }
    };
    exit::print("the models", &text, out)
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// The model that a name means.
fn named(name: &str, places: &Places, memory: Memory) -> Result<Shelved, Stop> {
    let located = models::locate(Some(Path::new(&from_home(name))), places);
    let located = located.map_err(|error| Stop::new(Exit::Model, sanitize_line(&error.to_string()).into_owned()))?;
    Ok(models::shelved_at(&located, places, memory))
}

/// One line for each.
fn list(shelf: &Shelf, broken: &[BrokenOff]) -> String {
    let head = ["MODEL", "QUANT", "SIZE", "PARAMETERS", "CONTEXT", "FITS", "FROM"].map(str::to_owned);
    let mut text = aligned([head].into_iter().chain(shelf.models.iter().map(row)).collect());
    for model in &shelf.models {
        if let Err(why) = &model.facts {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "\n{}: {}", sanitize_line(&model.label), sanitize_line(why));
        }
    }
    for BrokenOff { repo, file, bytes, .. } in broken {
        let (repo, file, came) = (sanitize_line(repo), sanitize_line(file), Bytes(*bytes));
        let _ = writeln!(
            text,
            "\n{file} was broken off after {came}: 'quipu pull {repo}' goes on, 'quipu models rm {repo}' removes it"
        );
    }
    text
}

fn row(model: &Shelved) -> [String; 7] {
    let label = sanitize_line(&model.label).into_owned();
    let from = model.origin.name().to_owned();
    let Ok(facts) = &model.facts else {
        let unknown = String::new;
        return [
            label,
            unknown(),
            unknown(),
            unknown(),
            unknown(),
            "unusable".to_owned(),
            from,
        ];
    };
    [
        label,
        facts.quantization.clone(),
        Bytes(facts.bytes).to_string(),
        Count(facts.parameters).to_string(),
        facts
            .context_train
            .map_or_else(String::new, |context| context.to_string()),
        fits(&model.room),
        from,
    ]
}

/// With which context it fits into memory.
fn fits(room: &Room) -> String {
    match room.largest_context {
        None => "unknown".to_owned(),
        Some(0) => "no".to_owned(),
        Some(context) if context < room.context => format!("context {context}"),
        Some(_) => "yes".to_owned(),
    }
}

/// All that is known of a model, with the arithmetic of its memory.
fn facts(model: &Shelved, memory: Memory) -> String {
    let mut rows = vec![("model", sanitize_line(&model.label).into_owned())];
    match &model.facts {
        Ok(facts) => rows.extend(told(facts)),
        Err(why) => rows.push(("cannot be used", sanitize_line(why).into_owned())),
    }
    let from = match &model.repo {
        Some(repo) => format!("{}, {}", model.origin.name(), sanitize_line(repo)),
        None => model.origin.name().to_owned(),
    };
    rows.push(("from", from));
    if model.origin != Origin::BuiltIn {
        rows.push(("file", sanitize_line(&model.name).into_owned()));
    }
    if model.facts.is_ok() {
        rows.extend(arithmetic(&model.room, memory));
    }
    aligned(rows.into_iter().map(|(name, value)| [name.to_owned(), value]).collect())
}

fn told(facts: &Facts) -> Vec<(&'static str, String)> {
    let context = facts.context_train.map_or_else(
        || "it does not say".to_owned(),
        |context| format!("{context} tokens in training"),
    );
    let template = if facts.has_template {
        "its own"
    } else {
        "none: '--template NAME' gives it one"
    };
    let licence = facts.licence.as_deref().map_or("it does not say".into(), sanitize_line);
    vec![
        ("name", sanitize_line(&facts.name).into_owned()),
        (
            "architecture",
            format!("{}, {} layers", sanitize_line(&facts.architecture), facts.layers),
        ),
        ("parameters", Count(facts.parameters).to_string()),
        ("quantization", facts.quantization.clone()),
        ("size", Bytes(facts.bytes).to_string()),
        ("context", context),
        ("template", template.to_owned()),
        ("licence", licence.into_owned()),
    ]
}

/// What it takes, part by part, and what there is.
fn arithmetic(room: &Room, memory: Memory) -> Vec<(&'static str, String)> {
    let takes = format!(
        "{} of weights + {} for a context of {} tokens + {} to compute in = {}",
        Bytes(room.weights),
        Bytes(room.conversation),
        room.context,
        Bytes(room.computing),
        Bytes(room.needs())
    );
    let free = memory.free.map_or_else(
        || "nobody knows how much is free".to_owned(),
        |free| format!("{} are free", Bytes(free)),
    );
    let fits = match room.largest_context {
        None => free,
        Some(0) => format!("no: {free}"),
        Some(context) => format!("with a context of up to {context} tokens: {free}"),
    };
    let cards = match memory.on_cards {
        0 => format!("none of {} layers: no card that this build can use", room.layers),
        free => format!(
            "{} of {} layers: {} are free there",
            room.layers_on_cards,
            room.layers,
            Bytes(free)
        ),
    };
    vec![("memory", takes), ("fits", fits), ("graphics card", cards)]
}

fn list_json(shelf: &Shelf, broken: &[BrokenOff]) -> Value {
    let models: Vec<_> = shelf.models.iter().map(whole).collect();
    json!({ "models": models, "memory": shelf.memory, "broken_off": broken })
}

fn whole(model: &Shelved) -> Value {
    let (facts, error) = match &model.facts {
        Ok(facts) => (Some(facts), None),
        Err(why) => (None, Some(why)),
    };
    json!({
        "label": model.label, "load": model.name, "repo": model.repo, "from": model.origin.name(),
        "facts": facts, "error": error, "memory": facts.map(|_| model.room), "needs": facts.map(|_| model.room.needs()),
    })
}

/// What was removed.
struct Removed {
    label: String,
    files: Vec<String>,
    bytes: u64,
}

/// Removes what is called so and never came whole; nothing where nothing is.
fn remove_broken(name: &str, own: Option<&Path>) -> Result<Option<Removed>, Stop> {
    let broken = own.map(models::broken_off).unwrap_or_default();
    let mut removed = Removed {
        label: name.to_owned(),
        files: Vec::new(),
        bytes: 0,
    };
    for part in broken.iter().filter(|part| part.is_called(name)) {
        part.remove().map_err(|error| stuck(&part.path, &error))?;
        removed.files.push(part.path.display().to_string());
        removed.bytes += part.bytes;
        tidy(&part.path, own);
    }
    Ok(Some(removed).filter(|removed| !removed.files.is_empty()))
}

fn stuck(file: &Path, error: &io::Error) -> Stop {
    let file = file.display().to_string();
    Stop::new(
        Exit::Failed,
        format!("cannot remove '{}': {error}", sanitize_line(&file)),
    )
}

/// Removes the folders of a repository of which nothing is left; others are not empty and stay.
fn tidy(file: &Path, own: Option<&Path>) {
    let Some(own) = own else { return };
    let above = file.ancestors().skip(1);
    for folder in above.take_while(|folder| *folder != own && folder.starts_with(own)) {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
}

/// Removes the files of a model in quipu's own folder.
fn remove(model: &Shelved, own: Option<&Path>) -> Result<Removed, Stop> {
    let name = sanitize_line(&model.name);
    let remedy = match model.origin {
        Origin::Own => None,
        Origin::BuiltIn => Some("it is part of quipu".to_owned()),
        Origin::Folder => Some(format!("it lies in a folder of yours: remove the file '{name}'")),
        Origin::HuggingFace => Some("it lies in the cache of the hub: 'hf cache delete' removes it".to_owned()),
        Origin::LlamaCpp => Some(format!("it lies in the cache of llama.cpp: remove the file '{name}'")),
        Origin::LmStudio => Some("it is LM Studio's: remove it there".to_owned()),
        Origin::Ollama => Some(format!(
            "it is Ollama's: 'ollama rm {}' removes it",
            sanitize_line(&model.label)
        )),
    };
    if remedy.is_some() || own.is_none() {
        let words = remedy.unwrap_or_else(|| "quipu has no folder of its own here".to_owned());
        let words = format!(
            "quipu removes what it fetched, and not '{}': {words}",
            sanitize_line(&model.label)
        );
        return Err(Stop::new(Exit::Usage, words));
    }
    let first = Path::new(&model.name);
    let files = match SplitName::of(first) {
        Some(split) => (1..=split.total).map(|number| split.part(number, first)).collect(),
        None => vec![first.to_owned()],
    };
    let mut bytes = 0;
    for file in &files {
        let size = fs::metadata(file).map_or(0, |found| found.len());
        match fs::remove_file(file) {
            Ok(()) => bytes += size,
            // A part that is gone already is no reason to keep the others.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(stuck(file, &error)),
        }
    }
    tidy(first, own);
    let files = files.iter().map(|file| file.display().to_string());
    Ok(Removed {
        label: model.label.clone(),
        files: files.collect(),
        bytes,
    })
}
