//! Reads the file of a grammar or a schema. What it means is the engine's business.

use std::fs::File;
use std::io::Read;

use crate::config::from_home;
use crate::domain::sampling::{Grammar, GrammarForm};
use crate::text::sanitize_line;

/// A grammar is a page or two; a schema seldom more than twenty.
const LARGEST: u64 = 1 << 20;

/// The grammar in the file at `path`.
///
/// # Errors
/// Why there is none, in words for the person.
pub fn read_grammar(path: &str, form: GrammarForm) -> Result<Grammar, String> {
    let what = match form {
        GrammarForm::Gbnf => "grammar",
        GrammarForm::JsonSchema => "JSON schema",
    };
    let path = from_home(path);
    let refused = |why: &str| {
        let shown = sanitize_line(&path);
        Err(format!("the {what} '{shown}' cannot be read: {why}"))
    };
    let mut text = String::new();
    let read = File::open(&path).and_then(|file| file.take(LARGEST + 1).read_to_string(&mut text));
    match read {
        Err(error) => refused(&format!("{error}; check its name and who may read it")),
        Ok(bytes) if bytes as u64 > LARGEST => refused("it is larger than 1 MiB; is it the right file?"),
        Ok(_) => Ok(Grammar {
            name: path.clone(),
            form,
            text,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_or_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("yes.gbnf");
        std::fs::write(&path, "root ::= \"yes\"").unwrap();
        let path = path.to_str().unwrap();
        let grammar = read_grammar(path, GrammarForm::Gbnf).unwrap();
        assert_eq!(
            (grammar.name.as_str(), grammar.text.as_str()),
            (path, "root ::= \"yes\"")
        );
        let missing = read_grammar("/nowhere/x.json", GrammarForm::JsonSchema).unwrap_err();
        assert!(
            missing.starts_with("the JSON schema '/nowhere/x.json' cannot be read"),
            "{missing}"
        );
        std::fs::write(path, vec![b'x'; (LARGEST + 1) as usize]).unwrap();
        assert!(
            read_grammar(path, GrammarForm::Gbnf)
                .unwrap_err()
                .contains("larger than 1 MiB")
        );
        std::fs::write(path, [0xff, 0xfe]).unwrap();
        assert!(read_grammar(path, GrammarForm::Gbnf).is_err());
    }
}
