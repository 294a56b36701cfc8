//! Reading little-endian numbers and counted bytes from an untrusted stream whose length is known. No claim of the
//! file is believed before it was compared with what remains, so nothing absurd is ever allocated.

use std::io::{BufRead, ErrorKind};

use super::error::Fault;

/// Longest header that is read. The largest published vocabularies (262 000 tokens, 500 000 merges) need under 20 MiB.
const HEADER_MAX: u64 = 256 * 1024 * 1024;

/// A reader that knows where it is and how much is left.
pub(super) struct Source<R> {
    input: R,
    position: u64,
    length: u64,
}

impl<R: BufRead> Source<R> {
    /// Reads `input`, which has `length` bytes.
    pub(super) const fn new(input: R, length: u64) -> Self {
        Self {
            input,
            position: 0,
            length,
        }
    }

    /// Bytes read so far.
    pub(super) const fn position(&self) -> u64 {
        self.position
    }

    /// The fault of a file that ends before its header does.
    const fn cut(&self) -> Fault {
        Fault::Truncated {
            present: self.length,
            needed: None,
        }
    }

    /// Fails unless `count` items of at least `size` bytes can still follow: as a cut file when a real header could
    /// be that long, as a damaged one when none could.
    pub(super) fn expect(&self, count: u64, size: u64, what: &str) -> Result<(), Fault> {
        let bytes = count.checked_mul(size);
        let remaining = self.length.saturating_sub(self.position);
        match bytes.and_then(|bytes| bytes.checked_add(self.position)) {
            Some(end) if end > HEADER_MAX => Err(Fault::Malformed(format!("{what} would take {count} items"))),
            None => Err(Fault::Malformed(format!("{what} would take {count} items"))),
            Some(_) if bytes > Some(remaining) => Err(self.cut()),
            Some(_) => Ok(()),
        }
    }

    /// Fills `buffer`.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Fault> {
        self.expect(buffer.len() as u64, 1, "the header")?;
        match self.input.read_exact(buffer) {
            Ok(()) => {
                self.position += buffer.len() as u64;
                Ok(())
            }
            // The file shrank after its length was asked for.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(self.cut()),
            Err(error) => Err(Fault::Unreadable(error)),
        }
    }

    /// Reads exactly `N` bytes.
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let mut buffer = [0; N];
        self.fill(&mut buffer)?;
        Ok(buffer)
    }

    /// Reads a 32-bit number.
    pub(super) fn u32(&mut self) -> Result<u32, Fault> {
        self.array().map(u32::from_le_bytes)
    }

    /// Reads a 64-bit number.
    pub(super) fn u64(&mut self) -> Result<u64, Fault> {
        self.array().map(u64::from_le_bytes)
    }

    /// Appends `count` bytes to `into`.
    pub(super) fn append(&mut self, into: &mut Vec<u8>, count: u64, what: &str) -> Result<(), Fault> {
        self.expect(count, 1, what)?;
        let from = into.len();
        into.resize(from + count as usize, 0);
        match into.get_mut(from..) {
            Some(buffer) => self.fill(buffer),
            None => Ok(()),
        }
    }

    /// Appends texts of at most `limit` bytes to `data`, and where each ends there to `ends`: as many as lie whole in the buffer, at
    /// most `count`. Returns how many those are. It spares a vocabulary a checked call for each of a hundred thousand texts.
    pub(super) fn texts_at_hand(&mut self, count: u64, limit: u64, data: &mut Vec<u8>, ends: &mut Vec<u32>) -> u64 {
        let left = self.length.min(HEADER_MAX).saturating_sub(self.position);
        // Whoever reads the next text tries again, as often as it is interrupted, and tells what fails.
        let Ok(buffer) = self.input.fill_buf() else { return 0 };
        let buffer = buffer
            .get(..usize::try_from(left).unwrap_or(usize::MAX))
            .unwrap_or(buffer);
        let (mut rest, mut taken) = (buffer, 0);
        while taken < count
            && let Some((length, after)) = rest.split_first_chunk()
            && let length = u64::from_le_bytes(*length)
            && length <= limit
            && let Some((text, after)) = after.split_at_checked(length as usize)
        {
            data.extend_from_slice(text);
            // Fits: a header is far below 4 GiB.
            ends.push(data.len() as u32);
            (rest, taken) = (after, taken + 1);
        }
        let read = buffer.len() - rest.len();
        self.input.consume(read);
        self.position += read as u64;
        taken
    }

    /// Reads a text: a 64-bit length and that many bytes, at most `limit` of them.
    pub(super) fn text(&mut self, limit: u64, what: &str) -> Result<Vec<u8>, Fault> {
        let length = self.u64()?;
        if length > limit {
            return Err(Fault::Malformed(format!("{what} would be {length} bytes long")));
        }
        let mut text = Vec::new();
        self.append(&mut text, length, what)?;
        Ok(text)
    }
}
