//! What is known of model files, kept from one listing to the next by path, size and time of change: a header with its vocabulary takes
//! milliseconds to read, and there may be a thousand of them. Whatever is loaded is read and checked anew.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
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

    /// What is known of a file; read now where it is not, or it has changed.
    pub(super) fn of(&mut self, path: &Path) -> Known {
        let stamp = fs::metadata(path).ok().and_then(|found| {
            let modified = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
            Some((found.len(), u64::try_from(modified.as_nanos()).ok()?))
        });
        let noted = self
            .before
            .get(path)
            .filter(|note| stamp == Some((note.bytes, note.modified)));
        if let Some(note) = noted {
            self.now.insert(path.to_owned(), note.clone());
            return note.known.clone();
        }
        self.read += 1;
        let known = look(path);
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
