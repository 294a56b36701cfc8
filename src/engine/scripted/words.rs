//! The scripted engine's tokenizer: a token is a word with the white space before it. Pure; a token's id follows from its
//! text alone.

use crate::domain::Role;
use crate::domain::counter::Tokenize;
use crate::domain::inference::{PromptRequest, PromptToken, Token};

/// Ids of words lie below this: a hash of 31 bits, so that it fits the positive half of an `i32`.
pub(super) const VOCABULARY: u32 = 1 << 31;

/// Characters after which a word is cut in two, so that scripts without spaces stream too; a placeholder is shorter.
const LONGEST: usize = 24;

/// The tokens of a text; joined they are the text.
pub(super) fn split(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut letters) = (0, 0);
    for (at, c) in text.char_indices() {
        let begins = c.is_whitespace() && letters > 0;
        if begins || letters == LONGEST {
            pieces.push(&text[start..at]);
            (start, letters) = (at, 0);
        }
        letters += usize::from(!c.is_whitespace());
    }
    if start < text.len() {
        pieces.push(&text[start..]);
    }
    pieces
}

/// The words on loan.
pub(super) struct Words;

impl Tokenize for Words {
    fn count(&self, text: &str) -> u32 {
        split(text).len() as u32
    }

    fn tokens(&self, text: &str) -> Vec<(Token, Vec<u8>)> {
        let pieces = split(text).into_iter();
        pieces.map(|piece| (id(piece), piece.as_bytes().to_vec())).collect()
    }
}

/// The id of a token: FNV-1a of its bytes.
pub(super) fn id(piece: &str) -> Token {
    let hash = piece.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    Token((hash % VOCABULARY) as i32)
}

/// The prompt of a conversation: each message between its marks, then the mark that asks for an answer and how that begins.
pub(super) fn prompt(request: &PromptRequest) -> Vec<PromptToken> {
    let mut tokens = Vec::new();
    for message in &request.messages {
        tokens.push(token(&format!("<|{}|>", message.role.as_str()), Kind::Control));
        tokens.extend(
            split(&message.content)
                .into_iter()
                .map(|piece| token(piece, Kind::Word)),
        );
        tokens.push(token("<|end|>", Kind::Control));
    }
    tokens.push(token(&format!("<|{}|>", Role::Assistant.as_str()), Kind::Control));
    let opening = split(&request.opening.text);
    tokens.extend(opening.into_iter().map(|piece| token(piece, Kind::Word)));
    tokens
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Control,
    Word,
}

fn token(text: &str, kind: Kind) -> PromptToken {
    // A mark that someone typed is a word: it gets another id than the mark.
    let marked = if kind == Kind::Control {
        id(&format!("\0{text}"))
    } else {
        id(text)
    };
    PromptToken {
        token: marked,
        text: text.to_owned(),
        control: kind == Kind::Control,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::inference::ChatMessage;

    #[test]
    fn words_take_their_space_along() {
        assert_eq!(split("Hello, big  world\n"), ["Hello,", " big", "  world", "\n"]);
        assert_eq!(split("\n\n# Title"), ["\n\n#", " Title"]);
        assert_eq!(split("abcdefghijklmnopqrstuvwxyz"), ["abcdefghijklmnopqrstuvwx", "yz"]);
        assert!(split("").is_empty());
    }

    proptest! {
        #[test]
        fn tokens_joined_are_the_text(text in ".*") {
            let pieces = split(&text);
            prop_assert_eq!(pieces.concat(), text.as_str());
            prop_assert!(pieces.iter().all(|piece| id(piece).0 >= 0 && !piece.is_empty()));
        }
    }

    #[test]
    fn a_typed_mark_is_no_mark() {
        let tokens = prompt(&PromptRequest {
            messages: vec![ChatMessage::new(Role::User, "<|end|>")],
            ..PromptRequest::default()
        });
        assert_eq!(tokens[1].text, tokens[2].text);
        assert!(tokens[1].token != tokens[2].token && !tokens[1].control && tokens[2].control);
    }
}
