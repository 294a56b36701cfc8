//! Breaking styled text into lines of a width, by what a terminal shows: graphemes and their columns. Knows no markdown.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// A piece of text of one style.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::ui) struct Piece {
    /// The text; a line feed breaks the line.
    pub(in crate::ui) text: String,
    /// How it looks.
    pub(in crate::ui) style: Style,
}

impl Piece {
    pub(in crate::ui) fn new(text: impl Into<String>, style: Style) -> Self {
        Self {
            text: text.into(),
            style,
        }
    }
}

/// What stands before the lines of a paragraph: before the first, and before each that follows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::ui) struct Prefix {
    pub(in crate::ui) first: Vec<Span<'static>>,
    pub(in crate::ui) rest: Vec<Span<'static>>,
}

/// Columns of a text.
pub(in crate::ui) fn columns(text: &str) -> usize {
    text.width()
}

/// Breaks `pieces` at spaces into lines of at most `width` columns with their prefix; a word longer than that is broken where
/// it must be. There is always at least one line, and always room for one grapheme on it.
pub(in crate::ui) fn wrap(pieces: &[Piece], width: usize, prefix: &Prefix) -> Vec<Line<'static>> {
    let mut lines = Breaker::new(width, prefix);
    for piece in pieces {
        for (n, text) in piece.text.split('\n').enumerate() {
            if n > 0 {
                lines.end();
            }
            for word in text.split_word_bounds() {
                if breaks_anywhere(word) {
                    word.graphemes(true)
                        .for_each(|grapheme| lines.word(grapheme, piece.style));
                } else {
                    lines.word(word, piece.style);
                }
            }
        }
    }
    lines.finish()
}

/// The line that is being filled.
struct Breaker<'p> {
    width: usize,
    prefix: &'p Prefix,
    lines: Vec<Line<'static>>,
    /// The line so far, without its prefix.
    line: Vec<Piece>,
    used: usize,
    /// Where in `line` the word begins that is not ended yet (index of its first piece), and its columns.
    word: Option<(usize, usize)>,
}

impl<'p> Breaker<'p> {
    fn new(width: usize, prefix: &'p Prefix) -> Self {
        Self {
            width,
            prefix,
            lines: Vec::new(),
            line: Vec::new(),
            used: 0,
            word: None,
        }
    }

    /// Columns for text on the line at hand.
    fn room(&self) -> usize {
        let before = if self.lines.is_empty() {
            &self.prefix.first
        } else {
            &self.prefix.rest
        };
        let taken: usize = before.iter().map(|span| columns(&span.content)).sum();
        self.width.saturating_sub(taken).max(1)
    }

    /// Takes a word, a space or a punctuation mark.
    fn word(&mut self, text: &str, style: Style) {
        let size = columns(text);
        if text.trim().is_empty() {
            self.word = None;
            // A space at the end of a line is what the break is made of.
            if self.used + size <= self.room() {
                self.put(text, size, style);
            } else {
                self.end_softly();
            }
            return;
        }
        if self.used + size > self.room() {
            self.carry();
        }
        // Joined words that are wider than a line are parted where they are joined.
        if self.used + size > self.room() && size <= self.room() {
            self.end();
        }
        if self.used + size <= self.room() {
            if breaks_anywhere(text) {
                self.word = None;
            } else if self.word.is_none() {
                self.word = Some((self.line.len(), 0));
            }
            if let Some((_, columns)) = &mut self.word {
                *columns += size;
            }
            self.put(text, size, style);
        } else {
            self.break_up(text, style);
        }
    }

    /// Ends the line before the word that has begun on it, which goes to the next.
    fn carry(&mut self) {
        match self.word.take() {
            Some((at, size)) if at > 0 => {
                let word = self.line.split_off(at);
                self.end();
                self.used = size;
                self.line = word;
                self.word = Some((0, size));
            }
            None if self.used > 0 => self.end_softly(),
            _ => {}
        }
    }

    /// Fills lines with a word that fits on none.
    fn break_up(&mut self, text: &str, style: Style) {
        for grapheme in text.graphemes(true) {
            let size = columns(grapheme);
            if self.used + size > self.room() && self.used > 0 {
                self.end();
            }
            self.put(grapheme, size, style);
        }
        self.word = None;
    }

    fn put(&mut self, text: &str, size: usize, style: Style) {
        let begins_word = self.word.is_some_and(|(at, _)| at == self.line.len());
        match self.line.last_mut() {
            Some(last) if last.style == style && !begins_word => last.text.push_str(text),
            _ => self.line.push(Piece::new(text, style)),
        }
        self.used += size;
    }

    /// Ends a line at a space that fits no more.
    fn end_softly(&mut self) {
        if self.used > 0 {
            self.end();
        }
    }

    fn end(&mut self) {
        let before = if self.lines.is_empty() {
            &self.prefix.first
        } else {
            &self.prefix.rest
        };
        let mut line = std::mem::take(&mut self.line);
        while let Some(last) = line.last_mut() {
            last.text.truncate(last.text.trim_end_matches(' ').len());
            if !last.text.is_empty() {
                break;
            }
            line.pop();
        }
        let spans = line.into_iter().map(|piece| Span::styled(piece.text, piece.style));
        self.lines
            .push(Line::from(before.iter().cloned().chain(spans).collect::<Vec<_>>()));
        self.used = 0;
        self.word = None;
    }

    fn finish(mut self) -> Vec<Line<'static>> {
        self.end();
        self.lines
    }
}

/// Whether lines may break beside this word without a space: scripts that are written without spaces.
fn breaks_anywhere(word: &str) -> bool {
    word.chars()
        .next()
        .is_some_and(|c| matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3fffd}'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(text: &str, width: usize) -> Vec<String> {
        let pieces = [Piece::new(text, Style::default())];
        wrap(&pieces, width, &Prefix::default())
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn lines_break_at_spaces_and_long_words_where_they_must() {
        assert_eq!(lines("the quick brown fox", 10), ["the quick", "brown fox"]);
        assert_eq!(lines("a bracketed-word, yes", 12), ["a", "bracketed-", "word, yes"]);
        assert_eq!(lines("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(lines("日本語のテキスト", 6), ["日本語", "のテキ", "スト"]);
        assert_eq!(lines("a\n\nb", 5), ["a", "", "b"]);
        assert_eq!(lines("👩‍👩‍👧 ok", 2), ["👩‍👩‍👧", "ok"]);
    }

    #[test]
    fn a_word_of_two_styles_stays_one_word() {
        let bold = Style::default().bold();
        let pieces = [Piece::new("one tw", Style::default()), Piece::new("o three", bold)];
        let wrapped = wrap(&pieces, 8, &Prefix::default());
        assert_eq!(
            wrapped.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["one two", "three"]
        );
        let wrapped = wrap(&pieces, 6, &Prefix::default());
        assert_eq!(
            wrapped.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["one", "two", "three"]
        );
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_is_too_wide(text in "[a-zé日👍 .\n-]{0,80}", width in 1_usize..30) {
            let wrapped = lines(&text, width);
            let squeeze = |s: &str| s.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(squeeze(&wrapped.concat()), squeeze(&text));
            for line in wrapped {
                prop_assert!(columns(&line) <= width.max(2), "{:?} at {}", line, width);
            }
        }
    }
}
