//! Turns a stream of bytes into text without ever splitting a character. Knows nothing of tokens or terminals.

/// Collects bytes that arrive in arbitrary pieces and hands out whole characters.
///
/// Whatever the pieces, everything handed out, joined, equals [`String::from_utf8_lossy`] of all the bytes.
#[derive(Clone, Debug, Default)]
pub struct Stitcher {
    /// The beginning of a character whose rest has not arrived: at most three bytes.
    tail: Vec<u8>,
}

impl Stitcher {
    /// A stitcher that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes and returns the characters that are now complete. Bytes that no continuation can make valid
    /// become U+FFFD; an incomplete character at the end is held back.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        let mut input = std::mem::take(&mut self.tail);
        input.extend_from_slice(bytes);
        let held = incomplete_tail(&input);
        self.tail = input.split_off(input.len() - held);
        match String::from_utf8_lossy(&input) {
            std::borrow::Cow::Owned(text) => text,
            // Nothing was invalid, so the bytes can be used as they are.
            std::borrow::Cow::Borrowed(text) => text.to_owned(),
        }
    }

    /// Ends the stream: what was held back can no longer be completed and becomes U+FFFD.
    pub fn finish(&mut self) -> String {
        let tail = std::mem::take(&mut self.tail);
        String::from_utf8_lossy(&tail).into_owned()
    }
}

/// How many bytes at the end begin a character that more bytes could complete (0 to 3).
fn incomplete_tail(bytes: &[u8]) -> usize {
    // A character has at most four bytes, so an incomplete one starts within the last three.
    let start = bytes.len().saturating_sub(3);
    let lead = bytes[start..].iter().rposition(|&byte| byte >= 0xC0);
    let Some(lead) = lead.map(|offset| start + offset) else {
        return 0;
    };
    match std::str::from_utf8(&bytes[lead..]) {
        // `error_len` is none only where the input ended too early.
        Err(error) if error.valid_up_to() == 0 && error.error_len().is_none() => bytes.len() - lead,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bytes that are often near-valid UTF-8, so that every kind of break is met.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            any::<char>().prop_map(|c| c.to_string().into_bytes()),
            any::<char>().prop_map(|c| {
                let mut bytes = c.to_string().into_bytes();
                bytes.pop();
                bytes
            }),
            proptest::collection::vec(any::<u8>(), 0..4),
            Just(vec![0xE0, 0x80]),
            Just(vec![0xF0, 0x9F, 0xA6]),
            Just(vec![0xED, 0xA0, 0x80]),
            Just(vec![0xF4, 0x90]),
        ];
        proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_chunking_equals_the_whole(bytes in bytes(), sizes in proptest::collection::vec(1usize..6, 1..32)) {
            let mut stitcher = Stitcher::new();
            let mut text = String::new();
            let mut rest = bytes.as_slice();
            for size in sizes.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (chunk, after) = rest.split_at((*size).min(rest.len()));
                text.push_str(&stitcher.push(chunk));
                rest = after;
            }
            text.push_str(&stitcher.finish());
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
        }
    }

    #[test]
    fn a_character_appears_only_when_it_is_whole() {
        let mut stitcher = Stitcher::new();
        let llama = "🦙".as_bytes();
        assert_eq!(stitcher.push(&llama[..2]), "");
        assert_eq!(stitcher.push(&llama[2..3]), "");
        assert_eq!(stitcher.push(&llama[3..]), "🦙");
        assert_eq!(stitcher.push(&llama[..2]), "");
        assert_eq!(stitcher.finish(), "\u{FFFD}");
        assert_eq!(stitcher.finish(), "");
    }
}
