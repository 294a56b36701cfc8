//! Where models are found: what a name means, and which ones there are.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{env, io};

use crate::cli::args::EngineChoice;
use crate::cli::exit::{Exit, Stop};
use crate::cli::models::{self as models_of, ModelsArgs};
#[cfg(feature = "llama")]
use crate::cli::pull::{self, PullArgs};
use crate::config::{from_home, home};
use crate::domain::fetching::FetchEvent;
use crate::domain::inference::{Failure, FailureKind, ModelSource};
use crate::domain::shelf::Memory;
use crate::engine;
#[cfg(feature = "llama")]
use crate::models::hub::HubOptions;
use crate::models::{self, Places, Resolved};
use crate::run::{Fetcher, Lister, Loader};
use crate::text::sanitize_line;

use super::Setup;

impl Setup {
    /// How a name becomes a checked file. The answer before is kept until there is a new one: the built-in model may lie in a
    /// temporary folder that goes with it.
    pub(super) fn loader(&self) -> Loader {
        if !matches!(self.engine, EngineChoice::Local) || cfg!(not(feature = "llama")) {
            return Arc::new(|_| {
                Ok(ModelSource {
                    path: PathBuf::from("script"),
                    builtin: false,
                    notice: None,
                })
            });
        }
        let usual = self.settings.model.clone();
        let places = self.places();
        let kept: Mutex<Option<Resolved>> = Mutex::new(None);
        Arc::new(move |name| {
            let name = from_home(name.unwrap_or(&usual));
            let found = models::resolve(Some(Path::new(&name)), &places)
                .map_err(|error| Failure::new(FailureKind::Model, sanitize_line(&error.to_string()).into_owned()))?;
            let source = ModelSource {
                path: found.path().to_owned(),
                builtin: found.is_builtin(),
                notice: found.notice.as_deref().map(|notice| sanitize_line(notice).into_owned()),
            };
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
            Ok(source)
        })
    }

    /// Where models are looked for: in quipu's own folder, in those of the configuration, beside the one it starts with, and in the
    /// caches of other programs.
    pub(super) fn places(&self) -> Places {
        let beside = Path::new(&self.settings.model).parent().map(Path::to_owned);
        let beside = beside.filter(|folder| !folder.as_os_str().is_empty());
        let folders = self.settings.folders.iter().map(|folder| from_home(folder).into());
        Places {
            cache: self.cache(),
            own: self.paths.as_ref().map(|paths| paths.data().join("models")),
            folders: folders.chain(beside).collect(),
            caches: models::caches(|name| env::var_os(name), home().as_deref()),
        }
    }

    /// What lists the models that there are.
    pub(super) fn lister(&self) -> Lister {
        let places = self.places();
        let local = matches!(self.engine, EngineChoice::Local);
        Arc::new(move || models::shelf(&places, memory(local)))
    }

    /// What fetches models for the chat.
    pub(super) fn fetcher(&self) -> Fetcher {
        let Some(own) = self.places().own else {
            return no_fetching(NO_HOME);
        };
        fetcher(own)
    }

    /// Does something with the models.
    pub(in crate::cli) fn models(self, task: &ModelsArgs) -> Result<Exit, Stop> {
        #[cfg(feature = "llama")]
        if let Some(pull) = task.pull() {
            return self.pull(pull);
        }
        self.tell_on_stderr();
        let places = self.places();
        let memory = memory(matches!(self.engine, EngineChoice::Local));
        models_of::run(task, &places, memory, io::stdout())
    }
}

#[cfg(feature = "llama")]
impl Setup {
    /// Fetches a model.
    pub(in crate::cli) fn pull(self, task: &PullArgs) -> Result<Exit, Stop> {
        self.tell_on_stderr();
        let Some(own) = self.places().own else {
            return Err(Stop::new(Exit::Usage, NO_HOME));
        };
        super::runtime()?.block_on(pull::run(task, hub_options(), (&own, room()), io::stdout()))
    }
}

const NO_HOME: &str = "there is no home folder to keep models in: set QUIPU_HOME";

/// A fetcher that has nothing to offer but these words.
fn no_fetching(words: &'static str) -> Fetcher {
    Arc::new(move |_, _| FetchEvent::Failed(words.to_owned()))
}

#[cfg(feature = "llama")]
fn fetcher(own: PathBuf) -> Fetcher {
    pull::fetcher(hub_options, own, room)
}

#[cfg(not(feature = "llama"))]
fn fetcher(_: PathBuf) -> Fetcher {
    no_fetching("this quipu was built without llama.cpp, and with that without what fetches models")
}

#[cfg(feature = "llama")]
fn hub_options() -> HubOptions {
    HubOptions::find(|name| env::var_os(name), home().as_deref())
}

/// Bytes for a model, on graphics cards and beside them, where that is known.
#[cfg(feature = "llama")]
fn room() -> Option<u64> {
    let Memory { free, on_cards } = memory(true);
    free.map(|free| free.saturating_add(on_cards))
}

/// The memory that there is, on graphics cards too where llama.cpp is what computes.
fn memory(local: bool) -> Memory {
    Memory {
        free: engine::available_memory(),
        on_cards: if local { on_cards() } else { 0 },
    }
}

#[cfg(feature = "llama")]
fn on_cards() -> u64 {
    let devices = engine::local::devices();
    let cards = devices.iter().filter(|device| device.kind.takes_layers());
    cards.fold(0, |sum, card| sum.saturating_add(card.free))
}

#[cfg(not(feature = "llama"))]
const fn on_cards() -> u64 {
    0
}
