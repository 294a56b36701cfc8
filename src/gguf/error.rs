//! What can be wrong with a model file, in words for the person who chose it. Nothing here decides anything.
//!
//! Paths, keys and names come from outside. What is quoted from a file's inside is escaped here; the path is not, so
//! whoever shows an error sanitises the whole line.

use std::fmt;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::architecture::Purpose;
use super::sniff::Foreign;
use crate::domain::Bytes;

/// A model file that cannot be used, and why.
#[derive(Debug, Error)]
#[error("model file '{}' {fault}", path.display())]
pub struct GgufError {
    /// The file, as it was named.
    pub path: PathBuf,
    /// What is wrong with it.
    pub fault: Fault,
}

/// Why a file cannot be used. Its text follows the file's name in a sentence and ends with what to do.
#[derive(Debug, Error)]
pub enum Fault {
    /// Nothing is at that path.
    #[error("does not exist; check the spelling of its path")]
    Missing,
    /// The system refuses to open or read it.
    #[error("cannot be read ({0}); check that you may read it")]
    Unreadable(io::Error),
    /// A folder.
    #[error("is a folder; name a .gguf file inside it")]
    Folder,
    /// A pipe, a socket or a device, which would be waited upon for ever.
    #[error("is {0}, not a regular file; name a .gguf file")]
    Special(&'static str),
    /// No byte in it.
    #[error("is empty; download it again")]
    Empty,
    /// Some other kind of file.
    #[error("is not a GGUF model: {0}")]
    Foreign(Foreign),
    /// A GGUF whose numbers are stored the other way round.
    #[error("is a big-endian GGUF, made for another kind of processor; get the little-endian one")]
    BigEndian,
    /// A GGUF version that llama.cpp does not read.
    #[error("is GGUF version {0}, and only versions 2 and 3 can be read; get a newer conversion of the model")]
    OldVersion(u32),
    /// A GGUF version from the future.
    #[error("is GGUF version {0}, and only versions 2 and 3 can be read; a newer quipu may know it")]
    NewVersion(u32),
    /// Fewer bytes than the header promises. `needed` is unknown when the header itself is cut.
    #[error("is cut short: {}; download it again", Cut(*present, *needed))]
    Truncated {
        /// Bytes in the file.
        present: u64,
        /// Bytes that there should be.
        needed: Option<u64>,
    },
    /// Numbers that contradict each other or the format.
    #[error("has a damaged header: {0}; download it again, or get another copy")]
    Malformed(String),
    /// Something that only a newer llama.cpp may know.
    #[error("needs {0}, which this quipu does not know; a newer quipu may")]
    TooNew(String),
    /// A sound file that is not a chat model.
    #[error("cannot chat: it is {0}")]
    NotForChat(Purpose),
    /// A readable header that llama.cpp would refuse, crash on, or answer nonsense with.
    #[error("cannot be used: {0}; get another conversion of the model")]
    Unsound(String),
    /// A file that cannot be laid over a model.
    #[error("cannot be laid over this model: {0}; choose another file")]
    Unfit(String),
    /// A model in several files of which some are not there.
    #[error(
        "is one of {total} parts, and {} not beside it; put all {total} into one folder",
        Parts(missing)
    )]
    PartsMissing {
        /// How many parts the model has.
        total: u16,
        /// The file names that were not found.
        missing: Vec<String>,
    },
    /// One part of a model in several files, under a name that does not say which.
    #[error("is one of {0} parts of a model; give every part its name of the form 'NAME-00001-of-{0:05}.gguf'")]
    PartMisnamed(u16),
}

impl Fault {
    /// This fault, of the file at `path`.
    pub(super) fn of(self, path: impl Into<PathBuf>) -> GgufError {
        GgufError {
            path: path.into(),
            fault: self,
        }
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            _ => Self::Unreadable(error),
        }
    }
}

/// A name from inside a file, safe to show: escaped, and cut to a length that leaves room for the sentence around it.
pub(super) fn quoted(bytes: &[u8]) -> String {
    // Keys and tensor names of real models stay below 64 bytes; a longer one is no help in a message.
    const SHOWN: usize = 64;
    let text = String::from_utf8_lossy(bytes);
    let cut: String = text.chars().take(SHOWN).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("'{}{more}'", cut.escape_debug())
}

/// How much of a file is there, and how much should be if that is known.
struct Cut(u64, Option<u64>);

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(present, needed) = *self;
        let Some(needed) = needed else {
            return write!(f, "{} are there, which is less than its header", Bytes(present));
        };
        let (there, whole) = (Bytes(present).to_string(), Bytes(needed).to_string());
        if there == whole {
            write!(
                f,
                "{} of its {whole} are missing",
                Bytes(needed.saturating_sub(present))
            )
        } else {
            write!(f, "{there} are there and {whole} should be")
        }
    }
}

/// A few file names and a verb that agrees with them.
struct Parts<'a>(&'a [String]);

impl fmt::Display for Parts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Three names show the pattern; a model can have hundreds of parts.
        const SHOWN: usize = 3;
        for (index, name) in self.0.iter().take(SHOWN).enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}'{name}'")?;
        }
        match self.0.len() {
            0 | 1 => write!(f, " is"),
            n if n <= SHOWN => write!(f, " are"),
            n => write!(f, " and {} more are", n - SHOWN),
        }
    }
}
