//! Looking for words in all messages. What is found is told newest first: that is what one remembers, and the index gives it
//! without weighing all that matches.

use rusqlite::{Connection, Row, params};

use crate::domain::MessageId;
use crate::domain::session::{Hit, SessionId};

use super::error::StoreError;
use super::tables::role_of;

/// Most messages that are told.
const MOST: i64 = 100;
/// Words around what was found.
const AROUND: i64 = 12;
/// What stands around a match in a snippet. A text may have the same in it: then too much is shown as found, and no more.
const MARKS: [char; 2] = ['\u{2}', '\u{3}'];

/// The messages with all these words, the last of which may be the beginning of one.
pub(super) fn search(connection: &Connection, text: &str) -> Result<Vec<Hit>, StoreError> {
    match query(text) {
        Some(query) => indexed(connection, &query),
        None => scanned(connection, text.trim()),
    }
}

/// The words in the index's own language: each in quotes, so that none of them is a word of it. `None` where a word has no
/// letters that it would split at blanks, as in Chinese or Japanese, or nothing that it keeps.
fn query(text: &str) -> Option<String> {
    let words: Vec<_> = text.split_whitespace().collect();
    let kept = |word: &&str| word.chars().any(char::is_alphanumeric);
    if words.is_empty() || !words.iter().all(kept) || text.chars().any(is_unspaced) {
        return None;
    }
    let quoted = words.iter().map(|word| format!("\"{}\"", word.replace('"', "\"\"")));
    Some(format!("{}*", quoted.collect::<Vec<_>>().join(" ")))
}

/// Whether it belongs to a script that is written without blanks between words.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..='\u{a4cf}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

fn indexed(connection: &Connection, query: &str) -> Result<Vec<Hit>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT session.id, session.title, message.id, message.role, message.at, snippet(said, 0, ?2, ?3, '…', ?4)
         FROM said JOIN message ON message.row = said.rowid JOIN session ON session.id = message.session
         WHERE said MATCH ?1 AND NOT message.buried AND session.deleted IS NULL
         ORDER BY said.rowid DESC LIMIT ?5",
    )?;
    let [open, close] = MARKS.map(String::from);
    let hits = statement.query_map(params![query, open, close, AROUND, MOST], |row| hit(row, marked))?;
    Ok(hits.collect::<rusqlite::Result<_>>()?)
}

/// Looks into every message: for scripts whose words the index does not know apart.
fn scanned(connection: &Connection, text: &str) -> Result<Vec<Hit>, StoreError> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare_cached(
        "SELECT session.id, session.title, message.id, message.role, message.at,
             substr(text, max(1, instr(text, ?1) - 30), 100)
         FROM message JOIN session ON session.id = message.session
         WHERE instr(text, ?1) AND NOT message.buried AND session.deleted IS NULL
         ORDER BY message.row DESC LIMIT ?2",
    )?;
    let hits = statement.query_map(params![text, MOST], |row| hit(row, |around| split_at(around, text)))?;
    Ok(hits.collect::<rusqlite::Result<_>>()?)
}

fn hit(row: &Row<'_>, snippet: impl Fn(&str) -> Vec<(bool, String)>) -> rusqlite::Result<Hit> {
    let role: String = row.get(3)?;
    let around: String = row.get(5)?;
    Ok(Hit {
        session: SessionId(row.get(0)?),
        title: row.get(1)?,
        message: MessageId(row.get(2)?),
        role: role_of(&role),
        at: row.get(4)?,
        snippet: snippet(&around),
    })
}

/// A snippet in pieces, by its marks.
fn marked(snippet: &str) -> Vec<(bool, String)> {
    let mut pieces = Vec::new();
    let mut found = false;
    let mut rest = snippet;
    while let Some(at) = rest.find(MARKS) {
        let (piece, after) = rest.split_at(at);
        push(&mut pieces, found, piece);
        found = after.starts_with(MARKS[0]);
        rest = after.trim_start_matches(if found { MARKS[0] } else { MARKS[1] });
    }
    push(&mut pieces, found, rest);
    pieces
}

/// The same for a text in which `wanted` stands as it is.
fn split_at(around: &str, wanted: &str) -> Vec<(bool, String)> {
    let mut pieces = Vec::new();
    match around.split_once(wanted) {
        Some((before, after)) => {
            push(&mut pieces, false, before);
            push(&mut pieces, true, wanted);
            push(&mut pieces, false, after);
        }
        None => push(&mut pieces, false, around),
    }
    pieces
}

fn push(pieces: &mut Vec<(bool, String)>, found: bool, text: &str) {
    if !text.is_empty() {
        pieces.push((found, text.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_never_a_language() {
        assert_eq!(
            query("knot OR \"cord"),
            Some("\"knot\" \"OR\" \"\"\"cord\"*".to_owned())
        );
        assert_eq!(query(" * "), None);
        assert_eq!(query("結縄"), None);
    }

    #[test]
    fn a_snippet_is_told_in_pieces() {
        let pieces = marked("a \u{2}knot\u{3} of \u{2}cords\u{3}");
        let told: Vec<_> = pieces.iter().map(|(found, text)| (*found, text.as_str())).collect();
        assert_eq!(told, [(false, "a "), (true, "knot"), (false, " of "), (true, "cords")]);
        assert_eq!(split_at("一二三", "二").len(), 3);
    }
}
