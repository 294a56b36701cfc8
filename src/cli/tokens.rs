//! Tokens as a list: `quipu tokenize`, and the listing that `quipu prompt --tokens` prints too.

use std::fmt::Write as _;
use std::io::{self, Read, Write};

use clap::Args;
use serde_json::json;

use crate::engine::local::{Lexicon, Piece, Specials};
use crate::gguf::ModelFile;

use super::exit::{self, Exit, Stop};

/// Most bytes of text: far more than any context holds.
const LARGEST: u64 = 64 << 20;

/// What to tokenize, and how.
#[derive(Args, Clone, Debug)]
pub(super) struct TokenizeArgs {
    /// A GGUF file, with weights or without, or 'cria'
    #[arg(value_name = "MODEL")]
    pub(super) model: String,
    /// The text; standard input without it, or for '-'
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    text: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Take the names of special tokens for text like any other
    #[arg(long)]
    no_parse_special: bool,
    /// Add the tokens that the model wants around a text, such as BOS
    #[arg(long)]
    add_special: bool,
}

/// Tokenizes and prints.
///
/// # Errors
/// When the text cannot be read or the vocabulary cannot be used.
pub(super) fn run(args: &TokenizeArgs, file: &ModelFile, out: impl Write) -> Result<Exit, Stop> {
    let text = match args.text.as_deref() {
        None | Some("-") => standard_input()?,
        Some(text) => text.to_owned(),
    };
    let specials = if args.no_parse_special {
        Specials::Text
    } else {
        Specials::Parsed
    };
    let pieces = Lexicon::open(file)?.tokenize(&text, specials, args.add_special);
    print(&pieces, args.json, out)
}

fn standard_input() -> Result<String, Stop> {
    let mut text = String::new();
    let read = io::stdin().lock().take(LARGEST).read_to_string(&mut text);
    read.map_err(|error| Stop::new(Exit::Usage, format!("standard input cannot be read as text: {error}")))?;
    Ok(text)
}

/// Prints tokens, one a line, or all as JSON.
///
/// # Errors
/// When they cannot be written; a reader that went away is no error.
pub(super) fn print(pieces: &[Piece], as_json: bool, out: impl Write) -> Result<Exit, Stop> {
    let text = if as_json {
        let objects: Vec<_> = pieces.iter().map(object).collect();
        format!("{:#}\n", serde_json::Value::Array(objects))
    } else {
        pieces.iter().map(line).collect()
    };
    exit::print("the tokens", &text, out)
}

fn object(piece: &Piece) -> serde_json::Value {
    let text = str::from_utf8(&piece.bytes).ok();
    json!({ "id": piece.token.0, "piece": text, "bytes": piece.bytes, "special": piece.special })
}

/// Id, quoted piece, and whether it is special, with tabs between.
fn line(piece: &Piece) -> String {
    let special = if piece.special { "\tspecial" } else { "" };
    format!("{}\t'{}'{special}\n", piece.token.0, quoted(&piece.bytes))
}

/// Bytes as one line that harms no terminal and can be read back: what is no printable character is escaped as in Rust.
fn quoted(bytes: &[u8]) -> String {
    let mut quoted = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\'' => quoted.push_str("\\'"),
                '"' => quoted.push('"'),
                c => quoted.extend(c.escape_debug()),
            }
        }
        for byte in chunk.invalid() {
            // A string takes everything.
            let _ = write!(quoted, "\\x{byte:02x}");
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::inference::Token;

    #[test]
    fn a_piece_is_one_harmless_line() {
        let piece = |bytes: &[u8], special| Piece {
            token: Token(7),
            bytes: bytes.to_vec(),
            special,
        };
        assert_eq!(line(&piece(b" it's\n\x1b[2J", false)), "7\t' it\\'s\\n\\u{1b}[2J'\n");
        assert_eq!(line(&piece("é\u{202e}".as_bytes(), true)), "7\t'é\\u{202e}'\tspecial\n");
        assert_eq!(line(&piece(&[0xf0, 0x9f, b'"'], false)), "7\t'\\xf0\\x9f\"'\n");
    }
}
