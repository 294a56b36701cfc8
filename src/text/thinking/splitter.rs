//! Tells the thinking in a stream from the answer, wherever the pieces were cut. A tag that is a token of the vocabulary counts
//! wherever it comes; one that is spelled in text counts only where an answer begins, so that an answer *about* such tags stays
//! whole.

use std::collections::VecDeque;

use super::{Format, WRAPPERS};
use crate::domain::inference::{Part, Token};

/// What a stream is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A character of text.
    Char(char),
    /// A token that is a tag, or a piece of one.
    Mark(Token),
}

/// What a pattern means when it is complete.
#[derive(Clone, Copy, Debug)]
enum Does {
    /// Thinking in the format of this index begins.
    Open(usize),
    /// It ends.
    Close(usize),
    /// The answer begins inside the wrapper of this index.
    Begin(usize),
    /// The wrapper ends.
    End(usize),
}

#[derive(Clone, Debug)]
struct Pattern {
    units: Vec<Unit>,
    does: Does,
}

impl Pattern {
    fn is_marked(&self) -> bool {
        matches!(self.units.first(), Some(Unit::Mark(_)))
    }
}

/// Reads a stream and says of its text which part it belongs to. Blanks around thinking belong to neither.
#[derive(Clone, Debug, Default)]
pub struct Splitter {
    patterns: Vec<Pattern>,
    /// The text of marks that are no tags where they stand; those without one are control tokens.
    visible: Vec<(Token, String)>,
    /// The format of the thinking under way.
    thinking: Option<usize>,
    /// Whether there was any.
    thought: bool,
    /// The wrapper that the answer is in.
    wrapped: Option<usize>,
    /// Whether the part under way has only blanks so far.
    fresh: bool,
    /// Blanks that count only if something follows.
    blanks: String,
    /// What may be the beginning of a tag.
    held: VecDeque<Unit>,
}

/// Text by part, in order; neighbours differ in part.
pub type Parts = Vec<(Part, String)>;

impl Splitter {
    /// A splitter for these formats. `units` takes a tag apart as the vocabulary does; `visible` is the text of a token where
    /// it is shown; `begun` is the format of the thinking that the prompt began already.
    pub fn new(
        formats: &[Format],
        units: impl Fn(&str) -> Vec<Unit>,
        visible: impl Fn(Token) -> String,
        begun: Option<usize>,
    ) -> Self {
        let tags = formats.iter().enumerate().flat_map(|(at, format)| {
            [
                (format.open.as_ref(), Does::Open(at)),
                (format.close.as_ref(), Does::Close(at)),
            ]
        });
        let wrappers = WRAPPERS.iter().enumerate();
        let wrappers = wrappers.flat_map(|(at, (begin, end))| [(*begin, Does::Begin(at)), (*end, Does::End(at))]);
        let patterns: Vec<_> = tags
            .chain(wrappers)
            .map(|(text, does)| Pattern {
                units: units(text),
                does,
            })
            .filter(|pattern| !pattern.units.is_empty())
            .collect();
        let mut marks: Vec<Token> = patterns
            .iter()
            .flat_map(|pattern| &pattern.units)
            .filter_map(|unit| match unit {
                Unit::Mark(token) => Some(*token),
                Unit::Char(_) => None,
            })
            .collect();
        marks.sort_unstable();
        marks.dedup();
        Self {
            patterns,
            visible: marks.into_iter().map(|token| (token, visible(token))).collect(),
            thinking: begun,
            thought: begun.is_some(),
            fresh: true,
            ..Self::default()
        }
    }

    /// Whether a token is a tag or a piece of one, and comes as a mark instead of as its text.
    pub fn is_mark(&self, token: Token) -> bool {
        self.visible.binary_search_by_key(&token, |(token, _)| *token).is_ok()
    }

    /// The format of the thinking under way, by its index.
    pub fn thinking(&self) -> Option<usize> {
        self.thinking
    }

    /// Takes text.
    pub fn push(&mut self, text: &str) -> Parts {
        let mut parts = Parts::new();
        for c in text.chars() {
            self.take(Unit::Char(c), &mut parts);
        }
        parts
    }

    /// Takes a token that [`is_mark`](Self::is_mark).
    pub fn mark(&mut self, token: Token) -> Parts {
        let mut parts = Parts::new();
        self.take(Unit::Mark(token), &mut parts);
        parts
    }

    /// The end of the stream: what was held back is text after all.
    pub fn finish(&mut self) -> Parts {
        let mut parts = Parts::new();
        while !self.held.is_empty() {
            self.advance(&mut parts);
        }
        let blanks = std::mem::take(&mut self.blanks);
        if self.thinking.is_none() && !self.thought {
            put(&mut parts, Part::Answer, &blanks);
        }
        parts
    }

    fn take(&mut self, unit: Unit, parts: &mut Parts) {
        self.held.push_back(unit);
        // The longer of two tags that begin alike is waited for.
        while !self.held.is_empty() && !self.is_undecided() {
            self.advance(parts);
        }
    }

    /// Whether what is held back is the beginning of a tag.
    fn is_undecided(&self) -> bool {
        let begins = |pattern: &&Pattern| {
            let units = pattern.units.iter();
            pattern.units.len() > self.held.len() && self.held.iter().zip(units).all(|(a, b)| a == b)
        };
        self.patterns.iter().filter(begins).any(|pattern| self.counts(pattern))
    }

    /// Takes from what is held back the longest tag that it begins with, or the first unit, which is none.
    fn advance(&mut self, parts: &mut Parts) {
        let begins = |pattern: &&Pattern| {
            let units = pattern.units.iter();
            pattern.units.len() <= self.held.len() && self.held.iter().zip(units).all(|(a, b)| a == b)
        };
        let tags = self
            .patterns
            .iter()
            .filter(begins)
            .filter(|pattern| self.counts(pattern));
        match tags.max_by_key(|pattern| pattern.units.len()) {
            Some(tag) => {
                let does = tag.does;
                self.held.drain(..tag.units.len());
                self.turn(does);
            }
            None => {
                if let Some(first) = self.held.pop_front() {
                    self.release(first, parts);
                }
            }
        }
    }

    /// Whether a pattern means anything here.
    fn counts(&self, pattern: &Pattern) -> bool {
        let answering = self.thinking.is_none();
        match pattern.does {
            Does::Open(_) => answering && (pattern.is_marked() || self.fresh),
            Does::Close(at) => self.thinking == Some(at),
            Does::Begin(_) => pattern.is_marked() || answering && self.fresh && self.thought,
            Does::End(at) => answering && self.wrapped == Some(at),
        }
    }

    fn turn(&mut self, does: Does) {
        match does {
            Does::Open(at) => {
                self.thinking = Some(at);
                self.thought = true;
                self.wrapped = None;
            }
            Does::Close(_) => self.thinking = None,
            Does::Begin(at) => {
                self.thinking = None;
                self.wrapped = Some(at);
            }
            Does::End(_) => self.wrapped = None,
        }
        self.blanks.clear();
        self.fresh = true;
    }

    fn release(&mut self, unit: Unit, parts: &mut Parts) {
        match unit {
            Unit::Char(c) => self.say(c, parts),
            Unit::Mark(token) => {
                let known = self.visible.binary_search_by_key(&token, |(token, _)| *token);
                let text = known.ok().and_then(|at| self.visible.get(at));
                let text = text.map_or_else(String::new, |(_, text)| text.clone());
                for c in text.chars() {
                    self.say(c, parts);
                }
            }
        }
    }

    fn say(&mut self, c: char, parts: &mut Parts) {
        let part = match self.thinking {
            Some(_) => Part::Thinking,
            None => Part::Answer,
        };
        // Blanks wait at the beginning of a part, and in thinking everywhere, since they may be its end.
        if c.is_whitespace() && (self.fresh || part == Part::Thinking) {
            self.blanks.push(c);
            return;
        }
        let blanks = std::mem::take(&mut self.blanks);
        if !(self.fresh && self.thought) {
            put(parts, part, &blanks);
        }
        self.fresh = false;
        put(parts, part, c.encode_utf8(&mut [0; 4]));
    }
}

fn put(parts: &mut Parts, part: Part, text: &str) {
    match parts.last_mut() {
        Some((last, said)) if *last == part => said.push_str(text),
        _ if text.is_empty() => {}
        _ => parts.push((part, text.to_owned())),
    }
}
