//! What is known of model files, kept from one listing to the next by path, size and time of change: a header with its vocabulary takes
//! milliseconds to read, and there may be a thousand of them. Whatever is loaded is read and checked anew.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::domain::shelf::Facts;
use crate::gguf::{Footprint, GgufError, ModelFile};

/// The form of the file; one of another is not read.
const FORMAT: u32 = 1;
const NAME: &str = "models.json";

/// What is known of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Known {
    /// A model.
    Model {
        /// What its header tells.
        facts: Facts,
        /// What memory it takes.
        footprint: Footprint,
    },
    /// Why it cannot be used, in words.
    Refused(String),
}

#[derive(Serialize, Deserialize)]
struct Kept {
    format: u32,
    version: String,
    files: BTreeMap<PathBuf, Note>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Note {
    bytes: u64,
    /// Nanoseconds since 1970.
    modified: u64,
    known: Known,
}

/// The notes, and where they are kept.
pub(super) struct Notes {
    folder: PathBuf,
    /// What was noted before.
    before: BTreeMap<PathBuf, Note>,
    /// What was asked for since.
    now: BTreeMap<PathBuf, Note>,
    /// Headers that were read.
    read: usize,
}

impl Notes {
    /// The notes in this folder; none where there are none that can be read, or another version of quipu wrote them.
    pub(super) fn open(folder: &Path) -> Self {
        let kept = fs::read(folder.join(NAME)).ok();
        let kept = kept.and_then(|bytes| serde_json::from_slice::<Kept>(&bytes).ok());
        let kept = kept.filter(|kept| kept.format == FORMAT && kept.version == env!("CARGO_PKG_VERSION"));
        Self {
            folder: folder.to_owned(),
            before: kept.map(|kept| kept.files).unwrap_or_default(),
            now: BTreeMap::new(),
            read: 0,
        }
    }

    /// Reads the headers that are not known, on all cores: each takes as long as its vocabulary is large.
    pub(super) fn read_all<'a>(&mut self, files: impl Iterator<Item = &'a Path>) {
        let unknown: Vec<&Path> = files.filter(|path| self.noted(path).is_none()).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            let mine = std::iter::from_fn(|| unknown.get(next.fetch_add(1, Ordering::Relaxed)));
            mine.map(|path| (path.to_path_buf(), stamp(path), look(path)))
                .collect::<Vec<_>>()
        };
        let cores = thread::available_parallelism()
            .map_or(1, usize::from)
            .min(unknown.len());
        let read = thread::scope(|scope| {
            let others: Vec<_> = (1..cores).map(|_| scope.spawn(work)).collect();
            let mut read = work();
            // A thread that ended badly read nothing; whoever asks for its files reads them then.
            read.extend(others.into_iter().filter_map(|other| other.join().ok()).flatten());
            read
        });
        self.read += read.len();
        for (path, stamp, known) in read {
            // Only text can be kept as a name.
            if let (Some((bytes, modified)), true) = (stamp, path.to_str().is_some()) {
                self.before.insert(path, Note { bytes, modified, known });
            }
        }
    }

    /// What was noted of a file, where it is as it was.
    fn noted(&self, path: &Path) -> Option<&Note> {
        let stamp = stamp(path);
        self.before
            .get(path)
            .filter(|note| stamp == Some((note.bytes, note.modified)))
    }

    /// What is known of a file; read now where it is not, or it has changed.
    pub(super) fn of(&mut self, path: &Path) -> Known {
        if let Some(note) = self.noted(path).cloned() {
            self.now.insert(path.to_owned(), note.clone());
            return note.known;
        }
        self.read += 1;
        let (stamp, known) = (stamp(path), look(path));
        // Only text can be kept as a name.
        if let (Some((bytes, modified)), true) = (stamp, path.to_str().is_some()) {
            let known = known.clone();
            self.now.insert(path.to_owned(), Note { bytes, modified, known });
        }
        known
    }

    /// Keeps what was asked for, and forgets the rest. Without it the next listing reads all headers again, so a failure is no
    /// reason to fail. Returns how many headers were read.
    pub(super) fn keep(self) -> usize {
        if self.read > 0 || self.now.len() != self.before.len() {
            let kept = Kept {
                format: FORMAT,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                files: self.now,
            };
            let _ = write(&self.folder, &kept);
        }
        self.read
    }
}

fn write(folder: &Path, kept: &Kept) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(&serde_json::to_vec(kept)?)?;
    file.persist(folder.join(NAME))?;
    Ok(())
}

/// Size, and time of the last change in nanoseconds since 1970.
fn stamp(path: &Path) -> Option<(u64, u64)> {
    let found = fs::metadata(path).ok()?;
    let modified = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((found.len(), u64::try_from(modified.as_nanos()).ok()?))
}

/// What a file is, read now.
pub(super) fn look(path: &Path) -> Known {
    read(path).unwrap_or_else(|error| Known::Refused(error.to_string()))
}

fn read(path: &Path) -> Result<Known, GgufError> {
    let file = ModelFile::open(path)?;
    file.check()?;
    let summary = file.summary();
    Ok(Known::Model {
        footprint: file.footprint(),
        facts: Facts {
            name: summary.name,
            architecture: summary.architecture,
            parameters: summary.parameters,
            quantization: summary.quantization.to_owned(),
            bytes: summary.file_bytes,
            context_train: summary.context_train,
            layers: summary.layers.unwrap_or(0),
            has_template: summary.has_template,
            licence: summary.licence,
        },
    })
}
