//! Why no model could be had, in words for the person who asked. Paths are untrusted text: sanitise the whole line before
//! showing it.

use std::fmt;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::gguf::GgufError;

/// Why no model could be had. All of these mean exit code 3, "model cannot be used".
#[derive(Debug, Error)]
pub enum ModelError {
    /// No file of that name.
    #[error("no such model '{}'; {}", path.display(), Hint(near))]
    NotFound {
        /// The path that was asked for.
        path: PathBuf,
        /// Names that resemble it, best first.
        near: Vec<String>,
    },
    /// A name that means several.
    #[error("'{name}' may be several models: {}; name one of them", Listed(models))]
    Ambiguous {
        /// The name.
        name: String,
        /// What they are called, or where they lie.
        models: Vec<String>,
    },
    /// A folder, where a file was expected.
    #[error("'{}' is a folder; {}", path.display(), Contents(models))]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The models inside, by name; one entry for a model in several parts.
        models: Vec<String>,
    },
    /// A path that llama.cpp cannot be told.
    #[error("the path '{}' is not UTF-8; rename the file or its folder", path.display())]
    NotUtf8 {
        /// The path.
        path: PathBuf,
    },
    /// A file that is no usable model.
    #[error(transparent)]
    File(#[from] GgufError),
    /// The built-in model could not be written where it is kept.
    #[error(
        "cannot keep the built-in model in the cache folder '{}': {source}; make that folder writable and free some \
         space, or name a model of your own with --model FILE",
        folder.display()
    )]
    Cache {
        /// The cache folder.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// What to try instead of a name that does not exist.
struct Hint<'a>(&'a [String]);

impl fmt::Display for Hint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str(
                "give the path of a .gguf file, a name from 'quipu models', or 'cria' for the built-in model",
            ),
            near => {
                f.write_str("did you mean ")?;
                list(f, near, " or ")
            }
        }
    }
}

/// Some names.
struct Listed<'a>(&'a [String]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        list(f, self.0, ", ")
    }
}

/// The models in a folder.
struct Contents<'a>(&'a [String]);

impl fmt::Display for Contents<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("there is no .gguf file in it"),
            models => {
                f.write_str("name one of the models in it: ")?;
                list(f, models, ", ")
            }
        }
    }
}

/// Some names in quotes; of many only the first.
fn list(f: &mut fmt::Formatter<'_>, names: &[String], between: &str) -> fmt::Result {
    // Ten names are a few lines; a folder of models may hold hundreds.
    const SHOWN: usize = 10;
    for (index, name) in names.iter().take(SHOWN).enumerate() {
        let between = if index == 0 { "" } else { between };
        write!(f, "{between}'{name}'")?;
    }
    match names.len().saturating_sub(SHOWN) {
        0 => Ok(()),
        more => write!(f, " and {more} more"),
    }
}
