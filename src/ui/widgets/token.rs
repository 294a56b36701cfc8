//! A token's text where it stands by itself or among others: nothing of it is hidden, and nothing of it does harm.

use crate::text::sanitize_line;

/// Stands for a token without a text.
const EMPTY: &str = "∅";

/// A token among others: its line feeds are seen, its blanks part words.
pub(super) fn in_line(text: &str) -> String {
    if text.is_empty() {
        return EMPTY.to_owned();
    }
    sanitize_line(&text.replace('\n', "⏎").replace('\t', "⇥")).into_owned()
}

/// A token by itself: the blanks at its ends are seen, too.
pub(super) fn visible(text: &str) -> String {
    let clean = in_line(text);
    let begins = clean.len() - clean.trim_start_matches(' ').len();
    let (blank, rest) = clean.split_at(begins);
    let end = rest.trim_end_matches(' ');
    let behind = rest.len() - end.len();
    ["␣".repeat(blank.len()).as_str(), end, "␣".repeat(behind).as_str()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_of_a_token_is_shown() {
        assert_eq!(visible(" the"), "␣the");
        assert_eq!(visible("\n\n"), "⏎⏎");
        assert_eq!(visible("\u{1b}[31m"), "");
        assert_eq!(visible("  "), "␣␣");
        assert_eq!((visible(""), in_line(" a\t")), (EMPTY.to_owned(), " a⇥".to_owned()));
    }
}
