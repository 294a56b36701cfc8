//! States of models on disk, so that a return to a session is quick: each in a container of our own that says what it belongs to
//! and whether it is whole. Only a cache: whatever is wrong with one, it is removed, and the conversation is read anew.

use std::cmp::Reverse;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tempfile::NamedTempFile;

use crate::domain::inference::Token;

/// Begins every container.
const MAGIC: &[u8; 8] = b"quipu-kv";
/// The shape of what follows.
const VERSION: u32 = 1;
/// The end of a container's name.
const ENDING: &str = "kv";
/// Bytes of the checksum at its end: BLAKE3 over all before.
const CHECKSUM: usize = blake3::OUT_LEN;

/// A state, and what it belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// The model and what computes.
    pub owner: String,
    /// The tokens in it.
    pub tokens: Vec<Token>,
    /// The engine's bytes.
    pub data: Vec<u8>,
}

/// A folder of states of at most so many bytes.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    folder: PathBuf,
    budget: u64,
}

impl Checkpoints {
    /// The states in `folder`, which need not be there yet; those that were not used for longest go where there are more than
    /// `budget` bytes of them.
    pub fn new(folder: PathBuf, budget: u64) -> Self {
        Self { folder, budget }
    }

    /// Keeps a state under a name, in the place of the one before of the same owner. One that is larger than the budget is not
    /// kept.
    ///
    /// # Errors
    /// Where it cannot be written; nothing is left behind then.
    pub fn keep(&self, name: &str, state: &Checkpoint) -> io::Result<()> {
        let head = head(state);
        let size = (head.len() + state.data.len() + CHECKSUM) as u64;
        if size > self.budget {
            return Ok(());
        }
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700).create(&self.folder)?;
        // Before, so that there is never more than the budget.
        self.make_room(self.budget - size);
        let mut file = NamedTempFile::with_suffix_in(".tmp", &self.folder)?;
        file.as_file().set_permissions(fs::Permissions::from_mode(0o600))?;
        let mut hasher = blake3::Hasher::new();
        for part in [head.as_slice(), &state.data] {
            hasher.update(part);
            file.write_all(part)?;
        }
        file.write_all(hasher.finalize().as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(self.path(name, &state.owner))?;
        // The new name, too, outlives a power cut.
        File::open(&self.folder)?.sync_all()
    }

    /// What was kept under this name for this owner. One that is damaged is removed.
    pub fn fetch(&self, name: &str, owner: &str) -> Option<Checkpoint> {
        let path = self.path(name, owner);
        let mut bytes = Vec::new();
        let mut file = File::open(&path).ok()?;
        let size = file.metadata().ok()?.len();
        if size <= self.budget {
            bytes.reserve_exact(usize::try_from(size).ok()?);
            file.read_to_end(&mut bytes).ok()?;
        }
        let state = read(bytes).filter(|state| state.owner == owner);
        if state.is_some() {
            // When it was used last decides what goes first.
            let _ = file.set_modified(SystemTime::now());
        } else {
            tracing::warn!(path = %path.display(), "a damaged state was removed");
            let _ = fs::remove_file(&path);
        }
        state
    }

    /// Removes all that was kept under this name.
    pub fn forget(&self, name: &str) {
        let begins = format!("{}-", plain(name));
        for (path, ..) in self.all() {
            let own = path
                .file_name()
                .and_then(|name| name.to_str())
                .is_some_and(|name| name.starts_with(&begins));
            if own {
                let _ = fs::remove_file(path);
            }
        }
    }

    /// Removes what was not used for longest, until no more than so many bytes are there; and what a write left behind that was
    /// cut off.
    fn make_room(&self, budget: u64) {
        let mut all = self.all();
        all.sort_by_key(|(_, used, _)| Reverse(*used));
        let mut total = 0;
        for (path, _, size) in all {
            total += size;
            if total > budget {
                let _ = fs::remove_file(path);
            }
        }
        self.sweep();
    }

    fn sweep(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return;
        };
        let old = |entry: &fs::DirEntry| {
            let used = entry.metadata().and_then(|found| found.modified()).ok();
            used.and_then(|used| used.elapsed().ok())
                .is_some_and(|age| age.as_secs() > 3600)
        };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|ending| ending == "tmp") && old(&entry) {
                let _ = fs::remove_file(path);
            }
        }
    }

    /// The containers, when each was used last, and its bytes.
    fn all(&self) -> Vec<(PathBuf, SystemTime, u64)> {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return Vec::new();
        };
        let container = |entry: fs::DirEntry| {
            let path = entry.path();
            let found = entry.metadata().ok()?;
            let ours = path.extension().is_some_and(|ending| ending == ENDING);
            ours.then_some((path, found.modified().ok()?, found.len()))
        };
        entries.flatten().filter_map(container).collect()
    }

    fn path(&self, name: &str, owner: &str) -> PathBuf {
        let digest = blake3::hash(owner.as_bytes()).to_hex();
        let short = digest.get(..16).unwrap_or_default();
        Path::new(&self.folder).join(format!("{}-{short}.{ENDING}", plain(name)))
    }
}

/// A name that every file system takes.
fn plain(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
        .collect()
}

/// All of a container before the state itself.
fn head(state: &Checkpoint) -> Vec<u8> {
    let mut head = MAGIC.to_vec();
    head.extend(VERSION.to_le_bytes());
    for length in [state.owner.len(), state.tokens.len(), state.data.len()] {
        head.extend((length as u64).to_le_bytes());
    }
    head.extend(state.owner.as_bytes());
    head.extend(state.tokens.iter().flat_map(|token| token.0.to_le_bytes()));
    head
}

/// The state in a container; `None` where anything of it is not as it was written.
fn read(mut bytes: Vec<u8>) -> Option<Checkpoint> {
    let end = bytes.len().checked_sub(CHECKSUM)?;
    let (body, checksum) = bytes.split_at(end);
    if blake3::hash(body).as_bytes().as_slice() != checksum {
        return None;
    }
    let (magic, rest) = body.split_at_checked(MAGIC.len())?;
    let (version, rest) = rest.split_first_chunk()?;
    if magic != MAGIC || u32::from_le_bytes(*version) != VERSION {
        return None;
    }
    let (lengths, rest) = rest.split_first_chunk::<24>()?;
    let length = |at: usize| usize::try_from(u64::from_le_bytes(lengths.get(at..at + 8)?.try_into().ok()?)).ok();
    let (owner, rest) = rest.split_at_checked(length(0)?)?;
    let (tokens, data) = rest.split_at_checked(length(8)?.checked_mul(4)?)?;
    if length(16)? != data.len() {
        return None;
    }
    let owner = String::from_utf8(owner.to_vec()).ok()?;
    let token = |bytes: &[u8]| Some(Token(i32::from_le_bytes(bytes.try_into().ok()?)));
    let tokens = tokens.chunks_exact(4).map(token).collect::<Option<_>>()?;
    // The state is most of it: it stays where it is.
    let start = end - data.len();
    bytes.truncate(end);
    bytes.drain(..start);
    Some(Checkpoint {
        owner,
        tokens,
        data: bytes,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use tempfile::TempDir;

    use super::*;

    fn state(owner: &str, bytes: usize) -> Checkpoint {
        Checkpoint {
            owner: owner.to_owned(),
            tokens: (0..9).map(Token).collect(),
            data: (0..bytes).map(|k| k as u8).collect(),
        }
    }

    fn folder(budget: u64) -> (TempDir, Checkpoints) {
        let folder = TempDir::new().unwrap();
        let checkpoints = Checkpoints::new(folder.path().join("states"), budget);
        (folder, checkpoints)
    }

    #[test]
    fn what_was_kept_comes_back_to_its_owner_alone() {
        let (_folder, checkpoints) = folder(1 << 20);
        checkpoints.keep("session-1", &state("condor", 1000)).unwrap();
        checkpoints.keep("session-1", &state("llama", 10)).unwrap();
        assert_eq!(checkpoints.fetch("session-1", "condor"), Some(state("condor", 1000)));
        assert_eq!(checkpoints.fetch("session-1", "llama"), Some(state("llama", 10)));
        assert_eq!(checkpoints.fetch("session-1", "other"), None);
        assert_eq!(checkpoints.fetch("session-2", "condor"), None);
        let path = checkpoints.path("session-1", "condor");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        checkpoints.forget("session-1");
        assert_eq!(checkpoints.fetch("session-1", "condor"), None);
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let (_folder, checkpoints) = folder(3300);
        for (age, name) in [(3, "a"), (2, "b"), (1, "c")] {
            checkpoints.keep(name, &state("condor", 900)).unwrap();
            let file = File::options()
                .append(true)
                .open(checkpoints.path(name, "condor"))
                .unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age * 100))
                .unwrap();
        }
        assert!(checkpoints.fetch("a", "condor").is_some(), "it is used again");
        checkpoints.keep("d", &state("condor", 900)).unwrap();
        let there = ["a", "b", "c", "d"].map(|name| checkpoints.fetch(name, "condor").is_some());
        assert_eq!(there, [true, false, true, true]);
        checkpoints.keep("huge", &state("condor", 9000)).unwrap();
        assert!(checkpoints.fetch("huge", "condor").is_none());
        assert!(
            checkpoints.fetch("d", "condor").is_some(),
            "nothing goes for what does not fit"
        );
    }

    proptest! {
        #[test]
        fn a_container_that_was_touched_is_refused(at in any::<prop::sample::Index>(), flip in 1_u8..=255, cut in any::<prop::sample::Index>()) {
            let (_folder, checkpoints) = folder(1 << 20);
            checkpoints.keep("s", &state("condor", 300)).unwrap();
            let path = checkpoints.path("s", "condor");
            let whole = fs::read(&path).unwrap();
            let mut touched = whole.clone();
            let at = at.index(whole.len());
            touched[at] ^= flip;
            fs::write(&path, &touched).unwrap();
            prop_assert_eq!(checkpoints.fetch("s", "condor"), None);
            prop_assert!(!path.exists(), "it is removed");
            fs::write(&path, &whole[..cut.index(whole.len())]).unwrap();
            prop_assert_eq!(checkpoints.fetch("s", "condor"), None);
        }
    }
}
