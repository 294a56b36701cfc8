//! A short name for the contents of a model, to tell whether saved state belongs to it. It identifies and does not
//! secure: whoever wants to can make another file with the same fingerprint, since most weights are not read.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use sha2::{Digest as _, Sha256};

use super::error::{Fault, GgufError};
use super::header::Header;
use super::model::ModelFile;

/// How many places of the weights are looked at, so that two trainings of the same network differ.
const SAMPLES: u64 = 16;
/// How many bytes at each: one page.
const SAMPLE: u64 = 4096;

impl ModelFile {
    /// The SHA-256, in hexadecimal, of every file's length, header, and 16 pages spread evenly over its weights. Reads a
    /// few MiB: some 10 ms for a model whose header is in memory already.
    pub fn fingerprint(&self) -> Result<String, GgufError> {
        let mut hasher = Sha256::new();
        for header in self.headers() {
            digest(header, &mut hasher).map_err(|error| Fault::from(error).of(&header.path))?;
        }
        Ok(hexadecimal(&hasher.finalize()))
    }
}

fn digest(header: &Header, hasher: &mut Sha256) -> io::Result<()> {
    hasher.update(header.file_bytes.to_le_bytes());
    let mut file = File::open(&header.path)?;
    let mut head = file.by_ref().take(header.data_offset);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = head.read(&mut buffer)?;
        match buffer.get(..read) {
            Some([]) | None => break,
            Some(bytes) => hasher.update(bytes),
        }
    }
    let weights = header.file_bytes.saturating_sub(header.data_offset);
    for sample in 0..SAMPLES {
        let place = header.data_offset.saturating_add(weights / SAMPLES * sample);
        file.seek(SeekFrom::Start(place))?;
        let mut page = Vec::new();
        file.by_ref().take(SAMPLE).read_to_end(&mut page)?;
        hasher.update(&page);
    }
    Ok(())
}

/// Bytes in hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
}
