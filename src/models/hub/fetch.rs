//! Fetching the files of a model: several at once, each into a file beside its place that becomes it once all of it is there and its
//! digest is the one that the hub records. What was broken off goes on where it ended.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use ureq::Body;
use ureq::http::{Response, StatusCode};

use crate::gguf::hexadecimal;
use crate::models::broken::part_name;

use super::{Choice, Hub, HubError, Listing, RemoteFile};

/// Files that are fetched at once.
const AT_ONCE: usize = 4;
/// Bytes that are read at once: what a stop waits for.
const CHUNK: usize = 256 << 10;
/// Longest that the hub's own wish to wait is followed.
const LONGEST_WAIT: Duration = Duration::from_mins(5);

/// How often and how soon something is tried again that failed for now.
pub struct Patience<'a> {
    /// Times that nothing came in a row after which it is given up.
    pub tries: u32,
    /// The first wait; each is twice the one before.
    pub first: Duration,
    /// What waits. Tests do not.
    pub wait: &'a (dyn Fn(Duration) + Sync),
}

/// How far it is, for whoever shows it; and the way to stop it.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes that are there, those of earlier times among them.
    pub done: AtomicU64,
    stop: Mutex<bool>,
    stopping: Condvar,
}

impl Progress {
    /// Stops it, or lets it go on.
    pub fn set_stopped(&self, stopped: bool) {
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = stopped;
        self.stopping.notify_all();
    }

    /// Waits so long, or until it is stopped.
    pub fn wait(&self, pause: Duration) {
        let stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        // Why it ended is seen by whoever goes on.
        drop(self.stopping.wait_timeout_while(stop, pause, |stop| !*stop));
    }

    fn stopped(&self) -> Result<(), HubError> {
        if *self.stop.lock().unwrap_or_else(PoisonError::into_inner) {
            return Err(HubError::Stopped);
        }
        Ok(())
    }
}

/// Fetches all files of a model into `folder`, by their names; returns the first of them. One that is there already is not fetched
/// again.
///
/// # Errors
/// The first that keeps a file from coming; what came of the others is kept.
pub fn fetch(
    hub: &Hub,
    listing: &Listing,
    choice: &Choice,
    folder: &Path,
    (patience, progress): (&Patience<'_>, &Progress),
) -> Result<PathBuf, HubError> {
    fs::create_dir_all(folder).map_err(|source| disk(folder, source))?;
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<HubError>> = Mutex::new(None);
    let work = || {
        while let Some(file) = choice.files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let one = One {
                hub,
                listing,
                file,
                target: folder.join(name(file)),
                patience,
                progress,
            };
            if let Err(error) = one.fetch() {
                failed
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get_or_insert(error);
                // The others have nobody to come to; what stops them is not why it failed.
                progress.set_stopped(true);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..choice.files.len().min(AT_ONCE) {
            scope.spawn(work);
        }
        work();
    });
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let first = choice.files.first();
    let first = first.ok_or_else(|| HubError::NoModel(listing.repo.clone()))?;
    Ok(folder.join(name(first)))
}

/// The name of a file, without the folders of its repository.
fn name(file: &RemoteFile) -> &str {
    file.path.rsplit('/').next().unwrap_or(&file.path)
}

/// A file on its way.
struct One<'a> {
    hub: &'a Hub,
    listing: &'a Listing,
    file: &'a RemoteFile,
    target: PathBuf,
    patience: &'a Patience<'a>,
    progress: &'a Progress,
}

impl One<'_> {
    fn fetch(&self) -> Result<(), HubError> {
        // It was moved here only when it was whole and sound.
        if fs::metadata(&self.target).is_ok_and(|found| found.len() == self.file.bytes) {
            self.progress.done.fetch_add(self.file.bytes, Ordering::Relaxed);
            return Ok(());
        }
        let part = self.part();
        let mut file = self.open(&part)?;
        let mut have = file.metadata().map_err(|source| disk(&part, source))?.len();
        self.progress
            .done
            .fetch_add(have.min(self.file.bytes), Ordering::Relaxed);
        let came = self.complete(&mut file, &part, &mut have);
        if came.is_err() && have == 0 {
            // Nothing came that the next time could go on from. That it cannot be removed is no worse than why it ended.
            let _ = fs::remove_file(&part);
        }
        came?;
        self.check(&part)?;
        // A name that outlives a power cut must not outlive what it names: the next time would take the length for the whole.
        file.sync_all().map_err(|source| disk(&part, source))?;
        fs::rename(&part, &self.target).map_err(|source| disk(&self.target, source))
    }

    /// Opens what it grows in, for this process alone: another that fetches the same would mix its bytes with these. Where nothing
    /// can be locked, the digest tells.
    fn open(&self, part: &Path) -> Result<File, HubError> {
        let mut options = OpenOptions::new();
        let file = options.create(true).append(true).open(part);
        let file = file.map_err(|source| disk(part, source))?;
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(HubError::Taken(name(self.file).to_owned()));
        }
        Ok(file)
    }

    /// Asks until all is there, as often as patience allows.
    fn complete(&self, file: &mut File, part: &Path, have: &mut u64) -> Result<(), HubError> {
        let (mut left, mut pause) = (self.patience.tries, self.patience.first);
        while *have != self.file.bytes {
            self.progress.stopped()?;
            if *have > self.file.bytes {
                self.again(file, part, have)?;
            }
            let before = *have;
            let asked = self.ask(file, part, have);
            if *have > before {
                (left, pause) = (self.patience.tries, self.patience.first);
            }
            let Err(error) = asked else { continue };
            left = left.saturating_sub(1);
            if left == 0 || !error.passes() {
                return Err(error);
            }
            let told = match error {
                HubError::Busy { seconds: Some(seconds) } => Some(Duration::from_secs(seconds).min(LONGEST_WAIT)),
                _ => None,
            };
            (self.patience.wait)(told.unwrap_or(pause));
            pause = (pause * 2).min(LONGEST_WAIT);
        }
        Ok(())
    }

    /// Where it grows. Another version of it grows elsewhere.
    fn part(&self) -> PathBuf {
        let version = self.file.sha256.as_deref().unwrap_or(&self.listing.revision);
        let version: String = version.chars().take(12).collect();
        self.target.with_file_name(part_name(name(self.file), &version))
    }

    /// Begins anew: what is there is of no use.
    fn again(&self, file: &File, part: &Path, have: &mut u64) -> Result<(), HubError> {
        file.set_len(0).map_err(|source| disk(part, source))?;
        self.progress
            .done
            .fetch_sub((*have).min(self.file.bytes), Ordering::Relaxed);
        *have = 0;
        Ok(())
    }

    /// Asks for what is missing and takes what comes of it.
    fn ask(&self, file: &mut File, part: &Path, have: &mut u64) -> Result<(), HubError> {
        let Listing { repo, revision, .. } = self.listing;
        let path = format!("{repo}/resolve/{revision}/{}", self.file.path);
        let response = self.hub.get(&path, (*have > 0).then_some(*have))?;
        let status = response.status();
        if *have > 0 {
            let partial = status == StatusCode::PARTIAL_CONTENT;
            let elsewhere = partial && begins_at(&response) != Some(*have);
            if elsewhere || status == StatusCode::RANGE_NOT_SATISFIABLE {
                // What is there is not the beginning of what the hub has now.
                return self.again(file, part, have);
            }
            if status.is_success() && !partial {
                // It comes from its beginning, whatever was asked for.
                self.again(file, part, have)?;
            }
        }
        self.hub.refused(&response, repo)?;
        self.take(response, file, part, have)
    }

    /// Writes what comes to the end of the part.
    fn take(&self, response: Response<Body>, file: &mut File, part: &Path, have: &mut u64) -> Result<(), HubError> {
        let mut body = response.into_body().into_reader();
        let mut chunk = vec![0; CHUNK];
        loop {
            self.progress.stopped()?;
            let read = match body.read(&mut chunk) {
                Ok(0) if *have < self.file.bytes => {
                    return Err(HubError::Connection("it ended early".to_owned()));
                }
                Ok(0) => return Ok(()),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(HubError::Connection(error.to_string())),
            };
            if *have + read as u64 > self.file.bytes {
                return Err(self.damaged(part, "length"));
            }
            file.write_all(&chunk[..read]).map_err(|source| match source.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => HubError::Full {
                    path: part.to_owned(),
                    missing: self.file.bytes - *have,
                },
                _ => disk(part, source),
            })?;
            *have += read as u64;
            self.progress.done.fetch_add(read as u64, Ordering::Relaxed);
        }
    }

    /// Whether what came is what the hub records.
    fn check(&self, part: &Path) -> Result<(), HubError> {
        let Some(wanted) = &self.file.sha256 else {
            return Ok(());
        };
        if self.digest(part)? == *wanted {
            Ok(())
        } else {
            Err(self.damaged(part, "SHA-256"))
        }
    }

    fn digest(&self, part: &Path) -> Result<String, HubError> {
        let mut file = File::open(part).map_err(|source| disk(part, source))?;
        let mut digest = Sha256::new();
        let mut chunk = vec![0; CHUNK];
        loop {
            self.progress.stopped()?;
            match file.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => digest.update(&chunk[..read]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(disk(part, source)),
            }
        }
        Ok(hexadecimal(&digest.finalize()))
    }

    /// It is of no use: removes it.
    fn damaged(&self, part: &Path, what: &'static str) -> HubError {
        match fs::remove_file(part) {
            Ok(()) => HubError::Damaged {
                file: name(self.file).to_owned(),
                what,
            },
            Err(source) => disk(part, source),
        }
    }
}

/// The byte that a partial answer begins with.
fn begins_at(response: &Response<Body>) -> Option<u64> {
    let range = response.headers().get("content-range")?.to_str().ok()?;
    range.strip_prefix("bytes ")?.split('-').next()?.trim().parse().ok()
}

fn disk(path: &Path, source: io::Error) -> HubError {
    HubError::Disk {
        path: path.to_owned(),
        source,
    }
}
