//! Breaking styled text into lines of a width, by what a terminal shows: graphemes and their columns. Knows no markdown.

use ratatui::buffer::CellWidth;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

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

/// Columns of a text: the sum over its graphemes, as ratatui puts them into cells. Measured as a whole, a text with ligatures
/// is narrower than that.
pub(in crate::ui) fn columns(text: &str) -> usize {
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return text.len();
    }
    let shown = text
        .graphemes(true)
        .filter(|grapheme| !grapheme.contains(char::is_control));
    shown.map(|grapheme| usize::from(grapheme.cell_width())).sum()
}

/// The text, or as much of its beginning as fits into `width` columns, with a mark that there is more.
pub(in crate::ui) fn shorten(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut parts = cut(text, width.saturating_sub(1), width);
    if width < 2 {
        return "…".repeat(width);
    }
    parts.swap_remove(0).trim_end().to_owned() + "…"
}

/// Cuts a text anywhere into parts of at most `first` and then `rest` columns. There is always at least one part.
pub(super) fn cut(text: &str, first: usize, rest: usize) -> Vec<String> {
    let whole = std::iter::once(Piece::new(text, Style::default()));
    let joined = |part: Vec<Piece>| part.into_iter().map(|piece| piece.text).collect();
    cut_pieces(whole, first, rest).into_iter().map(joined).collect()
}

/// The same for pieces of text.
pub(super) fn cut_pieces(pieces: impl Iterator<Item = Piece>, first: usize, rest: usize) -> Vec<Vec<Piece>> {
    let mut parts = vec![Vec::<Piece>::new()];
    let mut used = 0;
    for piece in pieces {
        for grapheme in piece.text.graphemes(true) {
            let size = columns(grapheme);
            let most = if parts.len() > 1 { rest } else { first };
            if used + size > most && used > 0 {
                parts.push(Vec::new());
                used = 0;
            }
            used += size;
            let Some(part) = parts.last_mut() else { continue };
            match part.last_mut() {
                Some(last) if last.style == piece.style => last.text.push_str(grapheme),
                _ => part.push(Piece::new(grapheme, piece.style)),
            }
        }
    }
    parts
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
    prefix: &'p Prefix,
    /// Columns for text on the first line, and on each that follows.
    rooms: (usize, usize),
    lines: Vec<Line<'static>>,
    /// The line so far, without its prefix.
    line: Vec<Piece>,
    used: usize,
    /// Where in `line` what may not be parted begins (index of its first piece), and its columns.
    word: Option<(usize, usize)>,
    /// The last character before the line's end.
    last: Option<char>,
}

impl<'p> Breaker<'p> {
    fn new(width: usize, prefix: &'p Prefix) -> Self {
        let room = |before: &[Span<'_>]| {
            let taken: usize = before.iter().map(|span| columns(&span.content)).sum();
            width.saturating_sub(taken).max(1)
        };
        Self {
            prefix,
            rooms: (room(&prefix.first), room(&prefix.rest)),
            lines: Vec::new(),
            line: Vec::new(),
            used: 0,
            word: None,
            last: None,
        }
    }

    /// Columns for text on the line at hand.
    fn room(&self) -> usize {
        if self.lines.is_empty() {
            self.rooms.0
        } else {
            self.rooms.1
        }
    }

    /// Takes a word, a space, a punctuation mark, or a character of a script that is written without spaces.
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
        if may_break(self.last, text) {
            self.word = None;
        }
        if self.used + size > self.room() {
            self.carry();
        }
        // Joined words that are wider than a line are parted where they are joined.
        if self.used + size > self.room() && size <= self.room() {
            self.end();
        }
        if self.used + size <= self.room() {
            let (_, columns) = self.word.get_or_insert((self.line.len(), 0));
            *columns += size;
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
            None => self.end_softly(),
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
        self.last = text.chars().next_back();
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
        let mut spans = before.clone();
        // Words of one style are one span again.
        for same in line.chunk_by(|a, b| a.style == b.style) {
            let text: String = same.iter().map(|piece| piece.text.as_str()).collect();
            spans.push(Span::styled(text, same[0].style));
        }
        self.lines.push(Line::from(spans));
        self.used = 0;
        self.word = None;
        self.last = None;
    }

    fn finish(mut self) -> Vec<Line<'static>> {
        self.end();
        self.lines
    }
}

/// Marks that no line begins with, in text whose lines may break beside any character.
const CLOSING: &str = "、。，．・：；？！）］｝」』】〕〉》〗〙〟ー々〻…‥,.:;?!)]}%";

/// Marks that no line ends with.
const OPENING: &str = "（［｛「『【〔〈《〖〘〝([{";

/// Whether a line may break between a character and the text after it where there is no space: beside characters of scripts
/// that are written without spaces, but not after what opens nor before what closes (the common rule of Chinese and Japanese
/// typesetting; UAX #14, classes ID, OP, CL and NS).
fn may_break(last: Option<char>, text: &str) -> bool {
    let (Some(last), Some(next)) = (last, text.chars().next()) else {
        return true;
    };
    let beside = stands_alone(last) || stands_alone(next);
    last == ' ' || (beside && !OPENING.contains(last) && !CLOSING.contains(next))
}

/// Whether this character is of a script that is written without spaces.
fn stands_alone(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ff9f}' | '\u{20000}'..='\u{3fffd}')
}

/// Whether lines may break within this word.
fn breaks_anywhere(word: &str) -> bool {
    word.chars().next().is_some_and(stands_alone)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;

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
        assert_eq!(lines("한국어 텍스트", 6), ["한국어", "텍스트"]);
        assert_eq!(lines("👩‍👩‍👧 ok", 2), ["👩‍👩‍👧", "ok"]);
    }

    #[test]
    fn no_line_begins_with_what_closes_nor_ends_with_what_opens() {
        assert_eq!(
            lines("これは、テスト(test)です。Rustで書く。", 10),
            ["これは、テ", "スト(test)", "です。Rust", "で書く。"]
        );
        assert_eq!(
            lines("彼は「はい」と言った。", 6),
            ["彼は", "「は", "い」と", "言っ", "た。"]
        );
        assert_eq!(lines("。。。。。", 4), ["。。", "。。", "。"]);
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
        // Lam and alef are one column as a text and two as cells; the marks of halfwidth kana are counted by ratatui alone.
        #[test]
        fn columns_are_the_cells_that_ratatui_fills(text in "[a-zé日لاｶﾞ👍🏽\u{200d}👩\u{301}\u{fe0f}❤한क्षि ]{0,20}") {
            let mut buffer = Buffer::empty(Rect::new(0, 0, 200, 1));
            let (end, _) = buffer.set_stringn(0, 0, &text, usize::MAX, Style::default());
            prop_assert_eq!(columns(&text), usize::from(end));
        }

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
