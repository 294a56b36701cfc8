//! Where models are found: what a name means, and which ones there are.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::cli::args::EngineChoice;
use crate::config::from_home;
use crate::domain::inference::{Failure, FailureKind, ModelSource};
use crate::domain::shelf::Shelf;
use crate::engine;
use crate::models::{self, Resolved};
use crate::run::{Lister, Loader};
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
        let cache = self.cache();
        let kept: Mutex<Option<Resolved>> = Mutex::new(None);
        Arc::new(move |name| {
            let name = from_home(name.unwrap_or(&usual));
            let found = models::resolve(Some(Path::new(&name)), &cache)
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

    /// What models there are: in quipu's own folder, in those of the configuration, and beside the one it starts with.
    pub(super) fn lister(&self) -> Lister {
        let own = self.paths.as_ref().map(|paths| paths.data().join("models"));
        let beside = Path::new(&self.settings.model).parent().map(Path::to_owned);
        let beside = beside.filter(|folder| !folder.as_os_str().is_empty());
        let folders: Vec<_> = own
            .into_iter()
            .chain(self.settings.folders.iter().map(|folder| from_home(folder).into()))
            .chain(beside)
            .collect();
        let cache = self.cache();
        Arc::new(move || Shelf {
            models: models::shelf(&folders, &cache),
            free: engine::available_memory(),
        })
    }
}
