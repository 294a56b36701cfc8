//! What `--model NAME` means: the built-in model, or a file. Every answer was read and checked, so that nothing unchecked
//! reaches llama.cpp; every refusal says what to try instead.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::builtin::{self, BUILT_IN, Unpacked};
use super::error::ModelError;
use super::named;
use super::places::Places;
use crate::gguf::{GgufError, ModelFile, SplitName};

/// A model that can be loaded.
#[derive(Debug)]
pub struct Resolved {
    /// What to call it: the built-in model's name, or the file's name without its ending. Untrusted text.
    pub name: String,
    /// The model's headers, read and checked.
    pub file: ModelFile,
    /// What the person should be told, if anything.
    pub notice: Option<String>,
    /// The built-in model's file, which may have to be removed when the model is no longer needed.
    builtin: Option<Unpacked>,
}

impl Resolved {
    /// The file to give to llama.cpp.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Whether this is the built-in model.
    pub const fn is_builtin(&self) -> bool {
        self.builtin.is_some()
    }
}

/// Finds the model that `name` means: nothing or `cria` is the built-in one; anything else is the path of a file, `./cria` too, or
/// where no file is there what a model in these places is called.
pub fn resolve(name: Option<&Path>, places: &Places) -> Result<Resolved, ModelError> {
    find(name, places, ModelFile::check)
}

/// The same for a file whose vocabulary alone is wanted: it may have no weights.
pub fn resolve_vocabulary(name: Option<&Path>, places: &Places) -> Result<Resolved, ModelError> {
    find(name, places, ModelFile::check_vocabulary)
}

/// Where a model lies, whatever is in its file.
#[derive(Debug)]
pub struct Located {
    path: PathBuf,
    /// The built-in model's file, which may have to be removed when the model is no longer needed.
    builtin: Option<Unpacked>,
}

impl Located {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether this is the built-in model.
    pub const fn is_builtin(&self) -> bool {
        self.builtin.is_some()
    }
}

/// Finds the file that `name` means, as [`resolve`] does, and reads nothing of it.
pub fn locate(name: Option<&Path>, places: &Places) -> Result<Located, ModelError> {
    match name {
        Some(name) if name.as_os_str() != BUILT_IN => Ok(Located {
            path: file_of(name, places)?,
            builtin: None,
        }),
        _ => {
            let unpacked = builtin::unpack_or_temp(&places.cache)?;
            Ok(Located {
                path: unpacked.path.clone(),
                builtin: Some(unpacked),
            })
        }
    }
}

/// What has to hold of a file.
type Check = fn(&ModelFile) -> Result<(), GgufError>;

fn find(name: Option<&Path>, places: &Places, check: Check) -> Result<Resolved, ModelError> {
    match name {
        Some(name) if name.as_os_str() != BUILT_IN => resolve_file(&file_of(name, places)?, check),
        _ => resolve_builtin(&places.cache),
    }
}

/// The file that a name means: the one at that path, else the model that is called so.
fn file_of(name: &Path, places: &Places) -> Result<PathBuf, ModelError> {
    // What begins like a path from somewhere is one.
    let begin = name.components().next();
    let is_name = matches!(begin, Some(Component::Normal(_))) && matches!(name.try_exists(), Ok(false));
    if let (true, Some(text)) = (is_name, name.to_str())
        && let Some(path) = named::by_name(text, places)?
    {
        return Ok(path);
    }
    match exists(name) {
        Err(ModelError::NotFound { path, near }) if is_name && near.is_empty() => Err(ModelError::NotFound {
            near: named::alike(&path.to_string_lossy(), places),
            path,
        }),
        found => found.map(|()| name.to_owned()),
    }
}

fn resolve_builtin(cache: &Path) -> Result<Resolved, ModelError> {
    let mut unpacked = builtin::unpack_or_temp(cache)?;
    // It was checked when it was built in, and is read like any other all the same.
    let file = checked(&unpacked.path, ModelFile::check)?;
    Ok(Resolved {
        name: BUILT_IN.to_owned(),
        file,
        notice: unpacked.notice.take(),
        builtin: Some(unpacked),
    })
}

/// Fails where no file is at a path, with what may have been meant.
fn exists(path: &Path) -> Result<(), ModelError> {
    if path.is_dir() {
        return Err(ModelError::Folder {
            path: path.to_path_buf(),
            models: models_in(path),
        });
    }
    // A link that leads nowhere is as missing as a name that does not exist; anything else gets its own words below.
    if matches!(path.try_exists(), Ok(false)) {
        return Err(ModelError::NotFound {
            path: path.to_path_buf(),
            near: near(path),
        });
    }
    Ok(())
}

fn resolve_file(path: &Path, check: Check) -> Result<Resolved, ModelError> {
    exists(path)?;
    let file = checked(path, check)?;
    Ok(Resolved {
        name: SplitName::model_of(path),
        file,
        notice: None,
        builtin: None,
    })
}

fn checked(path: &Path, check: Check) -> Result<ModelFile, ModelError> {
    if path.to_str().is_none() {
        return Err(ModelError::NotUtf8 {
            path: path.to_path_buf(),
        });
    }
    let file = ModelFile::open(path)?;
    check(&file)?;
    Ok(file)
}

/// The names of the GGUF files in a folder in alphabetical order, of models in several parts only the first.
fn models_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let names: BTreeSet<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| begins_model(name))
        .collect();
    names.into_iter().collect()
}

/// Whether a file of this name is a GGUF file, and of several parts the first.
pub(super) fn begins_model(name: &str) -> bool {
    is_gguf(name) && SplitName::of(Path::new(name)).is_none_or(|split| split.number == 1)
}

/// Whether a file of this name translates pictures for a model beside it, and is none to talk to.
pub(super) fn is_projector(name: &str) -> bool {
    name.to_lowercase().contains("mmproj")
}

pub(super) fn is_gguf(name: &str) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("gguf"))
}

/// What a path that leads nowhere may have meant: the same name with its ending, files of the same folder with names alike,
/// or the built-in model.
fn near(path: &Path) -> Vec<String> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return Vec::new();
    };
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let beside = models_in(folder)
        .into_iter()
        .map(|model| (stem(&model), path.with_file_name(model).display().to_string()));
    named::most_alike(&stem(name), beside.chain([(BUILT_IN.to_owned(), BUILT_IN.to_owned())]))
}

/// A name as people remember it: without its ending, in lower case.
fn stem(name: &str) -> String {
    let path = PathBuf::from(name);
    let stem = if is_gguf(name) {
        path.file_stem()
    } else {
        path.file_name()
    };
    stem.unwrap_or_default().to_string_lossy().to_lowercase()
}
