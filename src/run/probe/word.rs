//! What a child says on its standard output, a line for each word. Native libraries may print between them.

use std::fmt;

use crate::text::sanitize_line;

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// It understood what it is to do. A program without this word is not ours, or of another version.
    Hello,
    /// Per cent of the file that were read.
    At(u8),
    /// The file is sound, and everything was cleared away again.
    Sound,
    /// The file is refused in these words.
    Refused(String),
    /// llama.cpp is about to end the process, for this reason.
    LastWords(String),
}

/// Changes whenever a word does.
const HELLO: &str = "quipu-trial 1";

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hello => f.write_str(HELLO),
            Self::At(percent) => write!(f, "at {percent}"),
            Self::Sound => f.write_str("sound"),
            Self::Refused(words) => write!(f, "refused {}", sanitize_line(words)),
            Self::LastWords(words) => write!(f, "last-words {}", sanitize_line(words)),
        }
    }
}

impl Word {
    /// Reads a line; `None` for what someone else printed.
    pub(super) fn read(line: &str) -> Option<Self> {
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        match name {
            _ if line == HELLO => Some(Self::Hello),
            "at" => rest.parse().ok().filter(|percent| *percent <= 100).map(Self::At),
            "sound" if rest.is_empty() => Some(Self::Sound),
            "refused" => Some(Self::Refused(rest.to_owned())),
            "last-words" => Some(Self::LastWords(rest.to_owned())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_as_it_was_said() {
        let words = "a file: 'x' is no good".to_owned();
        let all = [
            Word::Hello,
            Word::At(0),
            Word::At(100),
            Word::Sound,
            Word::Refused(words.clone()),
            Word::LastWords(words),
        ];
        for word in all {
            assert_eq!(Word::read(&word.to_string()), Some(word));
        }
    }

    #[test]
    fn what_others_print_is_no_word() {
        for line in ["", "hello", "at", "at 101", "at all", "sound asleep", "quipu-trial 2"] {
            assert_eq!(Word::read(line), None, "{line}");
        }
        let two = Word::Refused("one\nsound".to_owned()).to_string();
        assert_eq!(two.lines().count(), 1, "words cannot add a line: {two}");
    }
}
