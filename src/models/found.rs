//! Which files in all places are models, and what each is called there. Reads names, links and Ollama's manifests; no model's header,
//! and writes nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

use crate::domain::shelf::Origin;
use crate::gguf::SplitName;

use super::places::Places;
use super::resolve::{begins_model, is_projector};

/// Folders in folders that are looked into: as deep as publisher, model and revision.
const DEEPEST: usize = 4;
/// Files that are looked at, so that somebody's whole disk is not read.
const MOST: usize = 10_000;
/// Largest manifest that is read, in bytes; Ollama's have about a thousand.
const LARGEST_MANIFEST: u64 = 1 << 20;
/// What Ollama calls the weights among the layers of a manifest.
const OLLAMA_MODEL: &str = "application/vnd.ollama.image.model";
/// The registry and the name in it that Ollama leaves out where it names a model.
const OLLAMA_USUAL: [&str; 2] = ["registry.ollama.ai", "library"];

/// A file that is a model by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The file; of several parts the first.
    pub(super) path: PathBuf,
    /// What to call it. Untrusted.
    pub(super) label: String,
    /// The repository that it was fetched from, as `OWNER/REPO`, where that is known. Untrusted.
    pub(super) repo: Option<String>,
    /// Whose folder it lies in.
    pub(super) origin: Origin,
}

impl Found {
    /// A file in some folder.
    pub(super) fn at(path: &Path) -> Self {
        Self {
            label: SplitName::model_of(path),
            path: path.to_owned(),
            repo: None,
            origin: Origin::Folder,
        }
    }
}

/// Every model file once, in the order of the places.
pub(super) fn found(places: &Places) -> Vec<Found> {
    let mut search = Search {
        left: MOST,
        seen: BTreeSet::new(),
        found: Vec::new(),
    };
    if let Some(own) = &places.own {
        search.folder(own, Origin::Own);
    }
    for folder in &places.folders {
        search.folder(folder, Origin::Folder);
    }
    for (origin, folder) in &places.caches {
        match origin {
            Origin::HuggingFace => search.hub(folder),
            Origin::Ollama => search.ollama(folder),
            _ => search.folder(folder, *origin),
        }
    }
    search.found
}

struct Search {
    /// Files that may still be looked at.
    left: usize,
    /// Where files really are: a link to one is the same model.
    seen: BTreeSet<PathBuf>,
    found: Vec<Found>,
}

impl Search {
    /// The models in a folder and below it.
    fn folder(&mut self, folder: &Path, origin: Origin) {
        for path in self.files(folder, is_model) {
            // These two keep what they fetch as the repository has it.
            let by_repo = matches!(origin, Origin::Own | Origin::LmStudio);
            let repo = by_repo.then(|| repo_of(folder, &path)).flatten();
            let label = SplitName::model_of(&path);
            self.add(path, label, repo, origin);
        }
    }

    /// The models in the hub's cache: `models--OWNER--REPO/snapshots/REVISION/FILE`, where files are links to blobs.
    fn hub(&mut self, hub: &Path) {
        for folder in folders_in(hub) {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let Some(repo) = name.strip_prefix("models--").map(|name| name.replacen("--", "/", 1)) else {
                continue;
            };
            let main = fs::read_to_string(folder.join("refs/main")).unwrap_or_default();
            let mut revisions = folders_in(&folder.join("snapshots"));
            // What the repository has now goes before what it had.
            revisions.sort_by_key(|revision| revision.file_name().is_none_or(|name| *name != *main.trim()));
            let mut files = BTreeSet::new();
            for revision in revisions {
                for path in self.files(&revision, is_model) {
                    let inside = path.strip_prefix(&revision).unwrap_or(&path).to_owned();
                    if files.insert(inside) {
                        let label = SplitName::model_of(&path);
                        self.add(path, label, Some(repo.clone()), Origin::HuggingFace);
                    }
                }
            }
        }
    }

    /// The models of Ollama: manifests name blobs, which have no names of their own.
    fn ollama(&mut self, folder: &Path) {
        let manifests = folder.join("manifests");
        for path in self.files(&manifests, |_| true) {
            let Some((parts, blob)) = path
                .strip_prefix(&manifests)
                .ok()
                .and_then(names)
                .zip(ollama_blob(&path))
            else {
                continue;
            };
            let Some(([host, owner @ .., model], tag)) = parts.split_last().map(|(tag, rest)| (rest, tag)) else {
                continue;
            };
            let usual = *host == OLLAMA_USUAL[0];
            let before: Vec<&str> = match owner {
                [library] if usual && *library == OLLAMA_USUAL[1] => Vec::new(),
                owner if usual => owner.to_vec(),
                owner => std::iter::once(*host).chain(owner.iter().copied()).collect(),
            };
            let name: Vec<&str> = before.into_iter().chain([*model]).collect();
            let repo = host.ends_with("hf.co").then(|| format!("{}/{model}", owner.join("/")));
            self.add(
                folder.join("blobs").join(blob),
                format!("{}:{tag}", name.join("/")),
                repo,
                Origin::Ollama,
            );
        }
    }

    /// Keeps a file, unless it is there already or leads nowhere.
    fn add(&mut self, path: PathBuf, label: String, repo: Option<String>, origin: Origin) {
        if path.canonicalize().is_ok_and(|real| self.seen.insert(real)) {
            self.found.push(Found {
                path,
                label,
                repo,
                origin,
            });
        }
    }

    /// The files below `folder` of a name that is wanted, in order.
    fn files(&mut self, folder: &Path, wanted: impl Fn(&str) -> bool + Copy) -> Vec<PathBuf> {
        let mut files = Vec::new();
        self.collect(folder, DEEPEST, wanted, &mut files);
        files.sort();
        files
    }

    fn collect(&mut self, folder: &Path, deep: usize, wanted: impl Fn(&str) -> bool + Copy, files: &mut Vec<PathBuf>) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        let mut below = Vec::new();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else {
                continue;
            };
            // A link to a folder may lead in circles.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                below.push(entry.path());
            } else if wanted(name) && self.left > 0 {
                self.left -= 1;
                files.push(entry.path());
            }
        }
        if deep > 0 {
            for folder in below {
                self.collect(&folder, deep - 1, wanted, files);
            }
        }
    }
}

/// Whether a file of this name is a model that can be talked to.
fn is_model(name: &str) -> bool {
    begins_model(name) && !is_projector(name)
}

/// `OWNER/REPO` of a file that lies in such folders.
fn repo_of(folder: &Path, path: &Path) -> Option<String> {
    match names(path.strip_prefix(folder).ok()?)?.as_slice() {
        [owner, repo, _, ..] => Some(format!("{owner}/{repo}")),
        _ => None,
    }
}

/// The names that a relative path is made of.
fn names(path: &Path) -> Option<Vec<&str>> {
    let name = |part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    };
    path.components().map(name).collect()
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let folders = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut folders: Vec<_> = folders.map(|entry| entry.path()).collect();
    folders.sort();
    folders
}

#[derive(Deserialize)]
struct Manifest {
    layers: Vec<Layer>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Layer {
    media_type: String,
    digest: String,
}

/// The name of the blob with the weights that a manifest names.
fn ollama_blob(manifest: &Path) -> Option<String> {
    if fs::metadata(manifest).ok()?.len() > LARGEST_MANIFEST {
        return None;
    }
    let manifest: Manifest = serde_json::from_slice(&fs::read(manifest).ok()?).ok()?;
    let layer = manifest
        .layers
        .into_iter()
        .find(|layer| layer.media_type == OLLAMA_MODEL)?;
    let digest = layer.digest.strip_prefix("sha256:")?;
    // It becomes part of a path.
    let is_digest = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_digest.then(|| format!("sha256-{digest}"))
}
