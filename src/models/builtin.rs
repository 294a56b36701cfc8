//! The built-in model cria: embedded in the binary, unpacked into a file because llama.cpp maps files. Owns where that file
//! is and that its contents are right; several processes may unpack at once.

use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use tempfile::{NamedTempFile, TempDir};

use super::error::ModelError;

/// What the built-in model is called.
pub const BUILT_IN: &str = "cria";

/// The model itself.
static BYTES: &[u8] = include_bytes!("../../assets/cria/cria-q8_0.gguf");

/// The SHA-256 of [`BYTES`]; a test holds it. It is written beside the unpacked file, so that another version of the model
/// under the same name is noticed.
pub(super) const SHA256: &str = "f99621c046fa1806dba536462a097874afff68acc9da9336a0ec9d7e924dce99";

/// The file's name in the cache folder.
const FILE: &str = "cria-q8_0.gguf";
/// The name of the note about the file.
const STAMP: &str = "cria-q8_0.stamp";

/// The built-in model as a file.
#[derive(Debug)]
pub struct Unpacked {
    /// The file.
    pub path: PathBuf,
    /// What the person should be told, if anything.
    pub notice: Option<String>,
    /// Removes a temporary folder when the model is no longer needed.
    _folder: Option<TempDir>,
}

/// The built-in model's file in `folder`, which is made if it is missing. A file that is there already is used again if it
/// is the right one and replaced if it is not.
pub fn unpack(folder: &Path) -> Result<PathBuf, ModelError> {
    unpack_bytes(folder, BYTES).map_err(|source| ModelError::Cache {
        folder: folder.to_path_buf(),
        source,
    })
}

/// Like [`unpack`], but where the cache folder cannot be used, into a private temporary folder that lives as long as the
/// answer, with a notice that says why.
pub fn unpack_or_temp(folder: &Path) -> Result<Unpacked, ModelError> {
    let error = match unpack(folder) {
        Ok(path) => {
            return Ok(Unpacked {
                path,
                notice: None,
                _folder: None,
            });
        }
        Err(error) => error,
    };
    // When neither place can be used, the cache folder is the one to mend.
    let Ok(temporary) = tempfile::Builder::new().prefix("quipu-").tempdir() else {
        return Err(error);
    };
    match unpack_bytes(temporary.path(), BYTES) {
        Ok(path) => Ok(Unpacked {
            path,
            notice: Some(format!("{error}; a temporary copy is used for now")),
            _folder: Some(temporary),
        }),
        Err(_) => Err(error),
    }
}

/// Puts `bytes` into `folder`, unless they are there.
///
/// Comparing 8 MB at every start would cost some milliseconds and as much disk cache again, so a note beside the file says
/// which file was found right: its checksum, length and time of change. Files are replaced by renaming and never written in
/// place, so a file that was changed has another time, and the note does not fit. It guards against damage and old versions;
/// whoever may write into the folder can write the note too.
pub(super) fn unpack_bytes(folder: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    make_private(folder)?;
    let path = folder.join(FILE);
    let noted = folder.join(STAMP);
    if let Ok(meta) = fs::metadata(&path) {
        if fs::read_to_string(&noted).is_ok_and(|note| note == stamp(&meta)) {
            return Ok(path);
        }
        if meta.len() == bytes.len() as u64 && same(&path, bytes).unwrap_or(false) {
            note(folder, &noted, &meta);
            return Ok(path);
        }
    }
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    // Asked of the open file: another process may rename its own over ours, and then the note must not fit.
    let meta = file.as_file().metadata()?;
    file.persist(&path).map_err(|error| error.error)?;
    note(folder, &noted, &meta);
    Ok(path)
}

/// Makes a folder that only its owner can look into, and the folders above it.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(folder)
}

/// What the note says of a file: which model it is, how long it is, and when it was changed last.
fn stamp(meta: &Metadata) -> String {
    let changed = meta
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let changed = changed.map_or(0, |time| time.as_nanos());
    format!("{SHA256} {} {changed}\n", meta.len())
}

/// Writes the note. Without it the next start compares the contents, so a failure is no reason to fail.
fn note(folder: &Path, path: &Path, meta: &Metadata) {
    let written = NamedTempFile::new_in(folder).and_then(|mut file| {
        file.write_all(stamp(meta).as_bytes())?;
        file.persist(path).map_err(|error| error.error)
    });
    if let Err(error) = written {
        tracing::debug!(%error, "no note about the built-in model");
    }
}

/// Whether the file at `path` holds exactly `bytes`.
fn same(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 64 * 1024];
    let mut rest = bytes;
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(rest.is_empty());
        }
        match (buffer.get(..read), rest.split_at_checked(read)) {
            (Some(found), Some((expected, after))) if found == expected => rest = after,
            _ => return Ok(false),
        }
    }
}
