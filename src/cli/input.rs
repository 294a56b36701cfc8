//! What standard input has to say, when it is not a keyboard.

use std::io::{self, IsTerminal, Read};

use super::exit::{Exit, Stop};

/// Joins the words of the command line and the text on standard input, whichever there are. A question comes first and what
/// it is about after it. `None` where there is neither: then a person wants to talk.
///
/// # Errors
/// A usage error where standard input is no text or is empty while nothing else was asked.
pub(super) fn question(words: &[String]) -> Result<Option<String>, Stop> {
    let asked = words.join(" ");
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Ok(Some(asked).filter(|text| !text.is_empty()));
    }
    let mut bytes = Vec::new();
    let read = stdin.lock().read_to_end(&mut bytes);
    read.map_err(|error| Stop::new(Exit::Failed, format!("cannot read standard input: {error}")))?;
    join(asked, bytes).map(Some)
}

fn join(asked: String, bytes: Vec<u8>) -> Result<String, Stop> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let byte = error.as_bytes().get(at).copied().unwrap_or_default();
        let message = format!(
            "standard input is not UTF-8: byte '0x{byte:02x}' at offset {at}; convert it first, for instance with iconv"
        );
        Stop::new(Exit::Usage, message)
    })?;
    match (asked.is_empty(), text.trim().is_empty()) {
        (true, true) => Err(Stop::new(
            Exit::Usage,
            "nothing was asked: standard input is empty; give a question",
        )),
        (true, false) => Ok(text.trim_end_matches(['\n', '\r']).to_owned()),
        (false, true) => Ok(asked),
        (false, false) => Ok(format!("{asked}\n\n{}", text.trim_end_matches(['\n', '\r']))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_stands_before_what_it_is_about() {
        let join = |asked: &str, text: &str| join(asked.to_owned(), text.as_bytes().to_vec()).ok();
        assert_eq!(join("", "hello\r\n").as_deref(), Some("hello"));
        assert_eq!(join("summarise", "a\nb\n").as_deref(), Some("summarise\n\na\nb"));
        assert_eq!(join("hello", "").as_deref(), Some("hello"));
        assert_eq!(join("", " \n"), None);
    }

    #[test]
    fn what_is_no_text_is_refused_with_its_place() {
        let stop = join(String::new(), b"abc\xff".to_vec()).unwrap_err();
        assert_eq!(stop.exit, Exit::Usage);
        assert!(stop.message.contains("'0xff' at offset 3"), "{}", stop.message);
    }
}
