//! Who has a session open: a lock on a file per session, which the system lets go of when its process dies, however that comes.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Somebody else holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held;

/// How often a file is opened that goes away under our hands.
const TRIES: u32 = 3;

/// A session held for this process; dropping it lets go.
#[derive(Debug)]
pub(super) struct Hold {
    file: File,
    path: PathBuf,
}

impl Hold {
    /// Holds the session of this number. Where the system keeps no locks, everybody may have it, and nobody holds it.
    ///
    /// # Errors
    /// Where another process holds it.
    pub(super) fn take(folder: &Path, id: i64) -> Result<Option<Self>, Held> {
        let folder = folder.join("open");
        let path = folder.join(format!("{id}.lock"));
        let _ = fs::create_dir_all(&folder);
        for _ in 0..TRIES {
            let opened = OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
            let Ok(file) = opened else { return Ok(None) };
            match file.try_lock() {
                Ok(()) if is_at(&file, &path) => return Ok(Some(Self { file, path })),
                // Whoever held it took it away in the meantime.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(Held),
                Err(TryLockError::Error(error)) => {
                    tracing::debug!(%error, "this file system keeps no locks");
                    return Ok(None);
                }
            }
        }
        Err(Held)
    }
}

/// Whether this open file is the one that stands there.
fn is_at(file: &File, path: &Path) -> bool {
    let same = |ours: &Metadata, there: &Metadata| (ours.dev(), ours.ino()) == (there.dev(), there.ino());
    let both = file.metadata().ok().zip(fs::metadata(path).ok());
    both.is_some_and(|(ours, there)| same(&ours, &there))
}

impl Drop for Hold {
    fn drop(&mut self) {
        // While it is still held: who opened it before this sees that it is gone.
        let _ = fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}
