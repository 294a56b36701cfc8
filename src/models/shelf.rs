//! What models there are in some folders. Only headers are read; nothing is loaded, written or followed out of the folders.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::domain::shelf::{Facts, Shelved};
use crate::gguf::{GgufError, ModelFile, SplitName};

use super::builtin::{BUILT_IN, unpack};
use super::resolve::is_gguf;

/// Folders in folders that are looked into: as deep as publisher, model and revision.
const DEEPEST: usize = 4;
/// Files that are looked at, so that somebody's whole disk is not read.
const MOST: usize = 10_000;
/// The context that a model gets where it was trained with more, in tokens.
const USUAL_CONTEXT: u64 = 8192;

/// The models in these folders and those below them, each once, by name, the built-in one first. A folder that cannot be read has
/// none.
pub fn shelf(folders: &[PathBuf], cache: &Path) -> Vec<Shelved> {
    let mut files = BTreeMap::new();
    let mut left = MOST;
    for folder in folders {
        collect(folder, DEEPEST, &mut left, &mut files);
    }
    let mut found: Vec<_> = files.into_values().map(|path| shelved(&path)).collect();
    found.sort_by_cached_key(|model| model.label.to_lowercase());
    let builtin = Shelved {
        name: BUILT_IN.to_owned(),
        label: BUILT_IN.to_owned(),
        facts: unpack(cache)
            .map_err(|error| error.to_string())
            .and_then(|path| facts(&path).map_err(|error| error.to_string())),
    };
    std::iter::once(builtin).chain(found).collect()
}

/// Adds the model files below `folder`, by where they really are: a link to one is the same model.
fn collect(folder: &Path, deep: usize, left: &mut usize, files: &mut BTreeMap<PathBuf, PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut below = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else {
            continue;
        };
        let path = entry.path();
        // A link to a folder may lead in circles.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            below.push(path);
        } else if is_model(name) && *left > 0 {
            *left -= 1;
            if let Ok(real) = path.canonicalize() {
                files.entry(real).or_insert(path);
            }
        }
    }
    if deep > 0 {
        for folder in below {
            collect(&folder, deep - 1, left, files);
        }
    }
}

/// Whether a file of this name is a model that can be talked to: of one in several parts the first, and no projector, which
/// translates pictures for a model beside it.
fn is_model(name: &str) -> bool {
    is_gguf(name)
        && !name.to_lowercase().contains("mmproj")
        && SplitName::of(Path::new(name)).is_none_or(|split| split.number == 1)
}

fn shelved(path: &Path) -> Shelved {
    let stem = || path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Shelved {
        name: path.to_string_lossy().into_owned(),
        label: SplitName::of(path).map_or_else(stem, |split| split.prefix),
        facts: facts(path).map_err(|error| error.to_string()),
    }
}

fn facts(path: &Path) -> Result<Facts, GgufError> {
    let file = ModelFile::open(path)?;
    file.check()?;
    let (summary, footprint) = (file.summary(), file.footprint());
    let context = footprint.context_train.clamp(1, USUAL_CONTEXT) as u32;
    Ok(Facts {
        architecture: summary.architecture,
        parameters: summary.parameters,
        quantization: summary.quantization.to_owned(),
        bytes: summary.file_bytes,
        context_train: summary.context_train,
        has_template: summary.has_template,
        needs: footprint.total_bytes(context),
    })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn every_model_is_found_once_and_what_is_none_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let good = unpack(&at("cache")).unwrap();
        fs::create_dir_all(at("mine/deep/er")).unwrap();
        fs::copy(&good, at("mine/deep/er/Zebra-Q8_0.gguf")).unwrap();
        fs::write(at("mine/broken.GGUF"), b"GGUF and nothing more").unwrap();
        for none in [
            "mine/mmproj-f16.gguf",
            "mine/x-00002-of-00003.gguf",
            "mine/.hidden.gguf",
            "mine/a.txt",
        ] {
            fs::copy(&good, at(none)).unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(at("mine/deep/er/Zebra-Q8_0.gguf"), at("mine/link.gguf")).unwrap();
        let found = shelf(&[at("mine"), at("nowhere"), at("mine/deep")], &at("cache"));
        let labels: Vec<_> = found.iter().map(|model| model.label.as_str()).collect();
        assert_eq!(labels[..2], ["cria", "broken"]);
        assert_eq!(labels.len(), 3, "the link and the file are one: {labels:?}");
        assert!(found[1].facts.as_ref().is_err_and(|why| !why.is_empty()));
        let (builtin, copy) = (found[0].facts.as_ref().unwrap(), found[2].facts.as_ref().unwrap());
        assert_eq!(builtin, copy);
        assert_eq!(
            (builtin.architecture.as_str(), builtin.quantization.as_str()),
            ("llama", "Q8_0")
        );
        assert!(builtin.needs > builtin.bytes && builtin.has_template);
    }
}
