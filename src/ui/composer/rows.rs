//! How many rows a line takes, before the text area has drawn it. It has to agree with how that wraps: by words, and a word
//! that is wider than the row by characters. A test holds the two against each other.

use ratatui::buffer::CellWidth;
use unicode_segmentation::UnicodeSegmentation;

/// The rows of `line` at this width, at least one; counts no further than `most`.
pub(super) fn count(line: &str, width: usize, tab: u8, most: usize) -> usize {
    let mut full = 0;
    // The columns of the row that is being filled, once something stands on it.
    let mut row: Option<usize> = None;
    for word in line.split_word_bounds() {
        if full + 1 >= most {
            return most;
        }
        let end = advance(word, row.unwrap_or(0), tab);
        if end <= width {
            row = Some(end);
            continue;
        }
        full += usize::from(row.is_some());
        let end = advance(word, 0, tab);
        if end <= width {
            row = Some(end);
        } else {
            // A broken word leaves its row full: what follows begins on the next.
            full += broken(word, width, tab);
            row = None;
        }
    }
    (full + usize::from(row.is_some())).max(1)
}

/// Rows that a word fills which fits on none.
fn broken(word: &str, width: usize, tab: u8) -> usize {
    let (mut rows, mut row) = (1, None);
    for grapheme in word.graphemes(true) {
        let end = advance(grapheme, row.unwrap_or(0), tab);
        if row.is_some() && end > width {
            rows += 1;
            row = Some(advance(grapheme, 0, tab));
        } else {
            row = Some(end);
        }
    }
    rows
}

/// The column behind `text` where it begins at `column`. As the text area adds up, character by character.
fn advance(text: &str, column: usize, tab: u8) -> usize {
    let tab = usize::from(tab);
    text.chars().fold(column, |column, c| match c {
        '\t' => column + tab - column % tab,
        c if c.is_control() => column,
        c => column + usize::from(c.encode_utf8(&mut [0; 4]).cell_width()),
    })
}
