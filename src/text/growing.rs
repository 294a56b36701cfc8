//! Sanitising a text that grows at its end, so that what was added costs and not what was there. What makes a text harmless
//! is `sanitize`'s business; this file only remembers how far it got. Unlike [`Filter`](super::Filter) it never waits: at
//! any moment its text is that of the whole, sanitised at once.

use super::sanitize;

/// A growing text, sanitised.
#[derive(Clone, Debug, Default)]
pub struct Growing {
    /// Bytes of the source that are whole lines: nothing that follows changes what they came to.
    whole: usize,
    /// Bytes of `clean` that are theirs.
    kept: usize,
    clean: String,
}

impl Growing {
    /// The whole of `source` as [`sanitize()`] makes it. It must begin with what was given last time, as a text that grows does.
    ///
    /// A line break ends every control sequence, and nothing is remembered beyond it, so that lines can be taken one by one;
    /// only the last, which may still grow, is taken again.
    pub fn update(&mut self, source: &str) -> &str {
        let rest = source.get(self.whole..).unwrap_or_else(|| {
            *self = Self::default();
            source
        });
        let (lines, last) = rest.split_at(rest.rfind('\n').map_or(0, |at| at + 1));
        self.clean.truncate(self.kept);
        self.clean.push_str(&sanitize(lines));
        self.whole += lines.len();
        self.kept = self.clean.len();
        self.clean.push_str(&sanitize(last));
        &self.clean
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_that_are_over_are_not_taken_again() {
        let mut growing = Growing::default();
        assert_eq!(growing.update("a\tb\n\u{1b}[31"), "a   b\n");
        assert_eq!(growing.whole, 4);
        assert_eq!(growing.update("a\tb\n\u{1b}[31mred\r\nx"), "a   b\nred\nx");
        assert_eq!(growing.update("less"), "less");
    }

    proptest! {
        #[test]
        fn at_any_moment_it_is_the_whole_text_sanitised(
            pieces in proptest::collection::vec("[\u{1b}\u{9b}\u{9d}\\[\\]0;m\u{7}\r\n\t\\\\a日\u{301}\u{200d}\u{fe0f}👩\u{202e}\u{2028}]{0,6}", 0..20)
        ) {
            let (mut growing, mut source) = (Growing::default(), String::new());
            for piece in &pieces {
                source.push_str(piece);
                prop_assert_eq!(growing.update(&source), sanitize(&source), "{:?}", source);
            }
        }
    }
}
