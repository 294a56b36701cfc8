//! Downloads that were broken off: the parts that lie in quipu's own folder, as [`hub`](super::hub) leaves them, and removing them.
//! Fetches nothing.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::named::repo_and_tag;

/// How the name of a part ends.
const ENDING: &str = ".part";

/// What there is of a file that did not come whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BrokenOff {
    /// Its repository, as `OWNER/REPO`.
    pub repo: String,
    /// The name that it would have.
    pub file: String,
    /// Where it lies.
    pub path: PathBuf,
    /// Bytes that came.
    pub bytes: u64,
}

impl BrokenOff {
    /// Whether a person may mean it by `name`: the repository, with a quantization too, or the file.
    pub fn is_called(&self, name: &str) -> bool {
        let (wanted, file) = (name.to_lowercase(), self.file.to_lowercase());
        let (repo, tag) = repo_and_tag(&wanted);
        let of_repo = self.repo.to_lowercase() == repo && tag.is_none_or(|tag| file.contains(tag));
        of_repo || file == wanted || file.strip_suffix(".gguf") == Some(&wanted)
    }

    /// Removes it; not while another quipu fetches it.
    ///
    /// # Errors
    /// Where it cannot be removed, or is on its way.
    pub fn remove(&self) -> io::Result<()> {
        let file = File::open(&self.path)?;
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(io::Error::other("another quipu is fetching it"));
        }
        fs::remove_file(&self.path)
    }
}

/// The parts below `own`, sorted. What cannot be read is not there.
pub fn broken_off(own: &Path) -> Vec<BrokenOff> {
    let inside = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    let repos = inside(own).flat_map(|owner| inside(&owner.path()));
    let files = repos.flat_map(|repo| inside(&repo.path()).map(move |file| (repo.path(), file.path())));
    let mut found: Vec<_> = files.filter_map(|(repo, path)| of(own, &repo, path)).collect();
    found.sort_by(|one, two| one.path.cmp(&two.path));
    found
}

/// The name of the part in which a version of a file grows.
#[cfg(any(feature = "llama", test))]
pub(super) fn part_name(file: &str, version: &str) -> String {
    format!("{file}.{version}{ENDING}")
}

fn of(own: &Path, repo: &Path, path: PathBuf) -> Option<BrokenOff> {
    let name = path.file_name()?.to_str()?.strip_suffix(ENDING)?;
    let (file, _) = name.rsplit_once('.')?;
    Some(BrokenOff {
        repo: repo.strip_prefix(own).ok()?.to_str()?.to_owned(),
        file: file.to_owned(),
        bytes: fs::metadata(&path).ok()?.len(),
        path,
    })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn parts_are_found_by_the_names_that_people_use_and_removed() {
        let own = tempfile::tempdir().unwrap();
        let folder = own.path().join("ada/owl-GGUF");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(part_name("owl-Q8_0.gguf", "0123456789ab")), "GGUF").unwrap();
        fs::write(folder.join("owl-Q4_K_M.gguf"), "whole").unwrap();
        let found = broken_off(own.path());
        let [part] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!(
            (part.repo.as_str(), part.file.as_str(), part.bytes),
            ("ada/owl-GGUF", "owl-Q8_0.gguf", 4)
        );
        for (name, called) in [
            ("ada/owl-gguf", true),
            ("ada/owl-GGUF:q8_0", true),
            ("ada/owl-GGUF:Q4_K_M", false),
            ("OWL-Q8_0", true),
            ("owl-Q8_0.gguf", true),
            ("owl", false),
        ] {
            assert_eq!(part.is_called(name), called, "{name}");
        }
        let held = File::open(&part.path).unwrap();
        held.lock().unwrap();
        assert_eq!(part.remove().unwrap_err().to_string(), "another quipu is fetching it");
        drop(held);
        part.remove().unwrap();
        assert_eq!(broken_off(own.path()), []);
    }
}
