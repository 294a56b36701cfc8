//! Short names for what an answer was made of, to tell later whether something else is the same. They identify and do not secure.

use sha2::{Digest as _, Sha256};

use crate::domain::inference::Token;
use crate::gguf::hexadecimal;

/// Hexadecimal digits of a digest: 64 bits, enough for what one person compares.
const DIGITS: usize = 16;

/// The beginning of the SHA-256 of token ids.
pub(super) fn of_tokens(tokens: &[Token]) -> String {
    let mut hasher = Sha256::new();
    for token in tokens {
        hasher.update(token.0.to_le_bytes());
    }
    short(hasher)
}

/// The beginning of the SHA-256 of a text.
#[cfg(feature = "llama")]
pub(super) fn of_text(text: &str) -> String {
    short(Sha256::new_with_prefix(text))
}

fn short(hasher: Sha256) -> String {
    let mut digits = hexadecimal(&hasher.finalize());
    digits.truncate(DIGITS);
    digits
}
