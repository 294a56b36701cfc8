//! Whether an answer goes round in circles, seen while it grows: on the ids of its tokens, where a loop repeats them one by one, and
//! on its words, where a counter or one word changes from time to time. What is done about it is not decided here.
//!
//! A loop is told only when it is certain:
//! - three whole periods of at most [`tail::LONGEST`] tokens, and at least [`PROSE`] of them: shorter ones are what refrains and litanies
//!   are made of;
//! - in a block of code, or where most tokens have no letter, as in markup, at least [`CODE`]: data and tests repeat lines on purpose;
//! - at least [`RULE`] where it is of signs alone, as rules are, and [`DRAWING`] where it is of several lines of them;
//! - with something that changes, three whole periods of at least [`FRAME`] words, [`DISTINCT`] of them different, outside of code:
//!   shorter frames are lists; in code as many words as [`CODE`] times four.

mod tail;
#[cfg(test)]
mod tests;

use crate::domain::inference::Token;

use tail::{Periodic, Tail};

/// Tokens of a loop with letters.
const PROSE: usize = 64;
/// The same in a block of code.
const CODE: usize = 256;
/// The same without letters, on one line.
const RULE: usize = 512;
/// The same on several.
const DRAWING: usize = 2048;
/// Words of a period in which something changes.
const FRAME: usize = 12;
/// Different words among them.
const DISTINCT: usize = 8;

/// What repeats at the end of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repetition {
    /// What is said over and over, as it was said last.
    pub unit: String,
    /// How often it was said, whole.
    pub times: usize,
    /// The token that it began with, from 0.
    pub first: usize,
    /// Tokens from there to the end.
    pub tokens: usize,
    /// Bytes of text from there to the end.
    pub bytes: usize,
    /// Whether something in it changes from time to time.
    pub changing: bool,
}

/// What of an answer was seen so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Watch {
    tokens: Tail,
    words: Words,
    text: String,
    /// Where in the text each token begins.
    starts: Vec<usize>,
    /// How many tokens up to each, with it, have a letter.
    letters: Vec<usize>,
    /// Whether there was a loop a token ago: it is not news again.
    told: bool,
}

impl Default for Watch {
    fn default() -> Self {
        Self {
            tokens: Tail::strict(),
            words: Words::default(),
            text: String::new(),
            starts: Vec::new(),
            letters: Vec::new(),
            told: false,
        }
    }
}

impl Watch {
    /// Takes the next token with the text that became clear with it, either of which may be missing. Returns the loop that it
    /// makes certain, once.
    pub fn push(&mut self, token: Option<Token>, text: &str) -> Option<Repetition> {
        let at = self.text.len();
        self.text.push_str(text);
        if let Some(Token(id)) = token {
            self.starts.push(at);
            let letters = self.letters.last().copied().unwrap_or(0);
            self.letters
                .push(letters + usize::from(text.contains(char::is_alphabetic)));
            self.tokens.push(id.cast_unsigned());
        }
        let words = self.words.push(text, at);
        let found = self.exact().or_else(|| self.framed());
        // Between two words nothing is known of the frame yet.
        if found.is_none() && !words {
            return None;
        }
        let told = std::mem::replace(&mut self.told, found.is_some());
        found.filter(|_| !told).map(|found| self.repetition(found))
    }

    /// A loop of tokens.
    fn exact(&self) -> Option<Found> {
        let periodic = self.tokens.periodic(1, PROSE)?;
        let begin = |back: usize| self.starts.len().checked_sub(back);
        let (first, last) = (begin(periodic.length())?, begin(periodic.period)?);
        let unit = self.starts[last];
        let before = last.checked_sub(1).map_or(0, |before| self.letters[before]);
        let letters = self.letters.last()? - before;
        let enough = match letters {
            0 if self.text[unit..].contains('\n') => DRAWING,
            0 => RULE,
            _ if self.words.in_code || 2 * letters < periodic.period => CODE,
            _ => PROSE,
        };
        (periodic.length() >= enough).then_some(Found { periodic, first, unit })
    }

    /// A loop of words in which something changes.
    fn framed(&self) -> Option<Found> {
        let words = &self.words;
        let least = if words.in_code { 4 * CODE } else { 3 * FRAME };
        let periodic = words.tail.periodic(FRAME, least)?;
        let mut distinct = words.tail.last(periodic.period).to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() < DISTINCT {
            return None;
        }
        let start = |back: usize| words.starts.get(words.starts.len().checked_sub(back)?).copied();
        let (begin, unit) = (start(periodic.length())?, start(periodic.period)?);
        let first = self.starts.partition_point(|start| *start <= begin).checked_sub(1)?;
        Some(Found { periodic, first, unit })
    }

    fn repetition(&self, Found { periodic, first, unit }: Found) -> Repetition {
        let unit = &self.text[unit..];
        let once = once(unit);
        Repetition {
            unit: once.to_owned(),
            times: periodic.times() * (unit.len() / once.len().max(1)).max(1),
            first,
            tokens: self.starts.len() - first,
            bytes: self.text.len() - self.starts[first],
            changing: periodic.changing,
        }
    }
}

/// A loop, and where it stands.
struct Found {
    periodic: Periodic,
    /// The token that it begins with.
    first: usize,
    /// Where in the text its last period begins.
    unit: usize,
}

/// The words of a text, in which all numbers are one and case and signs are none.
#[derive(Clone, Debug, PartialEq)]
struct Words {
    tail: Tail,
    /// Where in the text each begins.
    starts: Vec<usize>,
    /// How many words ended.
    ended: usize,
    /// The word under way: where it begins, and what its letters come to.
    word: Option<(usize, u32)>,
    /// Whether the last one was a number: several in a row are one.
    number: bool,
    /// What of the line under way tells a fence, and whether one is open.
    line: Line,
    in_code: bool,
}

/// What a line begins with.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Line {
    /// So many marks of a fence, behind blanks.
    Marks(u8),
    Other,
}

/// What numbers come to.
const NUMBER: u32 = 1;

/// The beginning and the factor of FNV-1a in 32 bits (Fowler, Noll and Vo).
const OFFSET: u32 = 0x811c_9dc5;
const PRIME: u32 = 0x0100_0193;

impl Default for Words {
    fn default() -> Self {
        Self {
            tail: Tail::lenient(),
            starts: Vec::new(),
            ended: 0,
            word: None,
            number: false,
            line: Line::Marks(0),
            in_code: false,
        }
    }
}

impl Words {
    /// Takes more of the text, which begins at `at`; says whether a word ended.
    fn push(&mut self, text: &str, at: usize) -> bool {
        let before = self.ended;
        for (offset, c) in text.char_indices() {
            self.fence(c);
            let at = at + offset;
            if is_alone(c) {
                self.end();
                self.word = Some((at, hash(OFFSET, c)));
                self.end();
            } else if c.is_alphabetic() {
                if self.word.is_some_and(|(_, word)| word == NUMBER) {
                    self.end();
                }
                let (start, word) = self.word.unwrap_or((at, OFFSET));
                self.word = Some((start, hash(word, c)));
            } else if c.is_numeric() && self.word.is_none() {
                self.word = Some((at, NUMBER));
            } else if !c.is_alphanumeric() {
                self.end();
            }
        }
        self.ended > before
    }

    fn end(&mut self) {
        let Some((start, word)) = self.word.take() else { return };
        let number = word == NUMBER;
        if !(number && self.number) {
            self.tail.push(word);
            self.starts.push(start);
            self.ended += 1;
        }
        self.number = number;
    }

    /// Follows the fences of code. What opens one is at least three marks at the beginning of a line; so does what closes it.
    fn fence(&mut self, c: char) {
        self.line = match (c, self.line) {
            ('\n', _) | (' ', Line::Marks(0)) => Line::Marks(0),
            ('`' | '~', Line::Marks(2)) => {
                self.in_code = !self.in_code;
                // What repeats in code is no evidence outside of it, nor the other way round.
                (self.tail, self.starts, self.word) = (Tail::lenient(), Vec::new(), None);
                Line::Other
            }
            ('`' | '~', Line::Marks(marks)) => Line::Marks(marks + 1),
            _ => Line::Other,
        };
    }
}

/// The text that this one is a number of copies of: several tokens may come to the same words several times.
fn once(text: &str) -> &str {
    let again = [text, text].concat();
    let second = text.chars().next().map_or(0, char::len_utf8);
    let period = again
        .get(second..)
        .and_then(|rest| rest.find(text))
        .map_or(text.len(), |at| at + second);
    &text[..period.min(text.len())]
}

/// Whether a letter is a word by itself: in scripts that are written without blanks.
fn is_alone(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9d}' | '\u{20000}'..='\u{3ffff}')
}

fn hash(word: u32, c: char) -> u32 {
    c.to_lowercase()
        .fold(word, |word, c| (word ^ u32::from(c)).wrapping_mul(PRIME))
}
