//! Sees that the settings or a theme were saved, and says so. The system tells of changes by itself, so nothing wakes up while there
//! are none.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc::UnboundedSender;

use super::happening::Happening;

/// Editors write a file in several steps; this long after the last one it is whole.
const SETTLED: Duration = Duration::from_millis(150);

/// What watches. Dropping it ends that.
pub(super) struct Reload {
    _watcher: RecommendedWatcher,
}

impl Reload {
    /// Watches these files and folders; where that cannot be, settings hold until the next start, and the log says why.
    pub(super) fn watch(paths: &[PathBuf], to: UnboundedSender<Happening>) -> Option<Self> {
        let (told, changes) = channel();
        let wanted: Vec<PathBuf> = paths.to_vec();
        let meant = move |event: notify::Result<Event>| {
            let event = event.ok().filter(|event| !event.kind.is_access())?;
            event.paths.iter().any(|path| is_meant(path, &wanted)).then_some(())
        };
        let watcher = notify::recommended_watcher(move |event| {
            if meant(event).is_some() {
                // Nobody wants to know where the loop has ended.
                let _ = told.send(());
            }
        });
        let mut watcher = watcher
            .inspect_err(|error| tracing::warn!(%error, "settings are not watched"))
            .ok()?;
        // A folder, not a file: an editor puts a new file in the place of the old one.
        let folders = paths.iter().map(|path| {
            if path.is_dir() {
                path
            } else {
                path.parent().unwrap_or(path)
            }
        });
        for folder in folders.filter(|folder| folder.is_dir()) {
            if let Err(error) = watcher.watch(folder, RecursiveMode::NonRecursive) {
                tracing::warn!(%error, folder = %folder.display(), "not watched");
            }
        }
        let wait = move || {
            while changes.recv().is_ok() {
                loop {
                    match changes.recv_timeout(SETTLED) {
                        Ok(()) => {}
                        Err(RecvTimeoutError::Timeout) => break,
                        Err(RecvTimeoutError::Disconnected) => return,
                    }
                }
                if to.send(Happening::SettingsSaved).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new()
            .name("quipu-reload".to_owned())
            .spawn(wait)
            .ok()?;
        Some(Self { _watcher: watcher })
    }
}

/// Whether a path is one of those wanted, or a theme in a wanted folder.
fn is_meant(path: &Path, wanted: &[PathBuf]) -> bool {
    let theme = path.extension().is_some_and(|end| end == "toml");
    wanted
        .iter()
        .any(|wanted| path.file_name() == wanted.file_name() || (theme && path.parent() == Some(wanted)))
}
