//! Sanitising a text that is still being written, piece by piece. What makes a text harmless is `sanitize`'s business; this
//! file only decides how much of the text can be judged already.

use super::sanitize;

/// Longest escape sequence waited for, in bytes: no honest one is as long, and a text must not hang on a stray byte.
const LONGEST: usize = 4096;

/// Sanitises a stream. The pieces that come out can be printed one after another.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// From a byte on that may begin an escape sequence or half a line end.
    held: String,
}

impl Filter {
    /// Takes the next piece and returns what can be shown by now.
    pub fn push(&mut self, text: &str) -> String {
        self.held.push_str(text);
        let rest = self.held.split_off(self.judged());
        let shown = sanitize(&self.held).into_owned();
        self.held = rest;
        shown
    }

    /// Returns what was still held back.
    pub fn finish(&mut self) -> String {
        sanitize(&std::mem::take(&mut self.held)).into_owned()
    }

    /// How many bytes of what is held can be judged without knowing what follows.
    fn judged(&self) -> usize {
        let whole = self.held.len() - usize::from(self.held.ends_with('\r'));
        match self.held.rfind(introduces) {
            // Text behind a sequence shows that it is complete: an incomplete one swallows all that follows.
            Some(at) if sanitize(&self.held[at..whole]).is_empty() && self.held.len() - at < LONGEST => {
                self.held.find(introduces).unwrap_or(at)
            }
            _ => whole,
        }
    }
}

/// Whether `c` can begin an escape sequence: ESC and the C1 controls.
fn introduces(c: char) -> bool {
    matches!(c, '\u{1b}' | '\u{80}'..='\u{9f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filtered(pieces: &[String]) -> String {
        let mut filter = Filter::default();
        let mut out: String = pieces.iter().map(|piece| filter.push(piece)).collect();
        out.push_str(&filter.finish());
        out
    }

    #[test]
    fn a_sequence_cut_in_two_stays_a_sequence() {
        assert_eq!(
            filtered(&[
                "a\u{1b}[3".into(),
                "1mred\u{1b}]0;ti".into(),
                "tle\u{7}b\r".into(),
                "\nc".into()
            ]),
            "aredb\nc"
        );
    }

    proptest! {
        #[test]
        fn nothing_that_moves_a_cursor_comes_through(pieces in proptest::collection::vec("[\u{1b}\u{9b}\\[\\]0-9;ma-z\u{7}\r\n\\\\]{0,6}", 0..20)) {
            let out = filtered(&pieces);
            prop_assert!(out.chars().all(|c| c == '\n' || !c.is_control()), "{:?}", out);
        }

        #[test]
        fn plain_text_is_never_held_back(pieces in proptest::collection::vec("[a-zé日 \n]{0,8}", 0..20)) {
            let mut filter = Filter::default();
            for piece in &pieces {
                prop_assert_eq!(&filter.push(piece), piece);
            }
        }
    }
}
