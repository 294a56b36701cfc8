//! Reads a file that goes with a message. Only text does, and not too much of it: a model reads every word.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::app::msg::Attachment;
use crate::config::from_home;
use crate::domain::Bytes;
use crate::domain::counter::Counter;
use crate::text::sanitize_line;

/// More than any model on one's own machine reads in a few minutes.
const LARGEST: u64 = 1 << 20;

/// The text of the file at `path`, with the tokens that it takes.
///
/// # Errors
/// Why it cannot go with a message, in words for the person.
pub fn read(path: &str, counter: &Counter) -> Result<Attachment, String> {
    let path = from_home(path);
    let shown = sanitize_line(&path).into_owned();
    let not = |why: String| Err(format!("'{shown}' cannot be attached: {why}"));
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) => return not(format!("{error}; check its name and who may read it")),
    };
    match file.metadata() {
        // Reading from a pipe or a device may never end.
        Ok(known) if !known.is_file() => return not("it is no file; name one".to_owned()),
        Ok(known) if known.len() > LARGEST => {
            let (size, most) = (Bytes(known.len()), Bytes(LARGEST));
            return not(format!("it has {size}, and {most} is the most; attach a part of it"));
        }
        _ => {}
    }
    let mut bytes = Vec::new();
    if let Err(error) = file.take(LARGEST).read_to_end(&mut bytes) {
        return not(error.to_string());
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => text,
        _ => return not("it is no text in UTF-8".to_owned()),
    };
    let name = Path::new(&path)
        .file_name()
        .map_or_else(|| shown.clone(), |name| name.to_string_lossy().into_owned());
    Ok(Attachment {
        name: sanitize_line(&name).into_owned(),
        tokens: counter.count(&text),
        text,
    })
}

#[cfg(test)]
mod tests {
    /// Counts words.
    struct Words;

    impl crate::domain::counter::Tokenize for Words {
        fn count(&self, text: &str) -> u32 {
            text.split(' ').count() as u32
        }

        fn tokens(&self, _: &str) -> Vec<(crate::domain::inference::Token, Vec<u8>)> {
            Vec::new()
        }
    }

    use super::*;

    #[test]
    fn text_is_read_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let counter = Counter::default();
        counter.set(Some(Box::new(Words)));
        let attachment = read(&file("a\u{1b}[31m.txt", b"one two"), &counter).unwrap();
        assert_eq!((attachment.name.as_str(), attachment.tokens), ("a.txt", Some(2)));
        for (path, why) in [
            (file("b.png", b"\x89PNG\0"), "it is no text"),
            (file("zero", b"a\0b"), "it is no text"),
            (file("large", &vec![b'x'; LARGEST as usize + 1]), "is the most"),
            (folder.path().to_str().unwrap().to_owned(), "it is no file"),
            ("/nowhere/at/all".to_owned(), "check its name"),
        ] {
            let error = read(&path, &counter).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
