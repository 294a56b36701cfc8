//! What a turn has come to so far: its tokens as text, told apart into thinking and answer, its counts and times. Computes nothing
//! and tells nobody.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::domain::inference::{Finish, Part, Stats, Token, TurnId};
use crate::text::thinking::{Format, Parts, Splitter};
use crate::text::{Stitcher, Stops};

use super::vocabulary::Vocabulary;

/// A turn under way.
pub(super) struct Turn {
    pub(super) id: TurnId,
    pub(super) stats: Stats,
    /// What was said behind the opening text, the thinking included.
    pub(super) said: Vec<Token>,
    /// The thinking so far.
    pub(super) thinking: String,
    /// The answer so far, without the text that it was made to start with.
    pub(super) answer: String,
    began: Instant,
    first: Option<Instant>,
    last: Instant,
    stitcher: Stitcher,
    splitter: Splitter,
    stops: Stops,
    /// Tokens of the thinking that were said before this turn.
    thought_before: u32,
    /// What is said next without being drawn.
    forced: VecDeque<Token>,
    /// Whether the thinking under way was told to end: once, whatever the model makes of it.
    ending: bool,
}

/// What saying a token made clear.
pub(super) struct Spoken {
    /// Where the token belongs.
    pub(super) part: Part,
    pub(super) parts: Parts,
    /// Whether a stop text ended the answer.
    pub(super) stopped: bool,
}

impl Turn {
    /// A turn that begins now and ends at one of these texts.
    pub(super) fn new(id: TurnId, stops: &[String]) -> Self {
        let now = Instant::now();
        Self {
            id,
            stats: Stats::default(),
            said: Vec::new(),
            thinking: String::new(),
            answer: String::new(),
            began: now,
            first: None,
            last: now,
            stitcher: Stitcher::default(),
            splitter: Splitter::default(),
            stops: Stops::new(stops),
            thought_before: 0,
            forced: VecDeque::new(),
            ending: false,
        }
    }

    /// Tells thinking from answer with this splitter.
    pub(super) fn listen(&mut self, splitter: Splitter) {
        self.splitter = splitter;
    }

    /// Takes in what was said before this turn. Returns the thinking and the text that it came to.
    pub(super) fn resume(&mut self, vocabulary: &Vocabulary, said: &[Token]) -> (String, String) {
        for &token in said {
            let (part, parts) = self.part_of(vocabulary, token);
            self.thought_before += u32::from(part == Part::Thinking);
            self.keep(&parts);
        }
        self.said.extend_from_slice(said);
        (self.thinking.clone(), self.answer.clone())
    }

    /// Watches for other texts from now on.
    pub(super) fn stop_at(&mut self, texts: &[String]) {
        self.stops.watch_for(texts);
    }

    /// The prompt was read.
    pub(super) fn has_read(&mut self) {
        self.last = Instant::now();
        self.stats.prefill = self.last - self.began;
    }

    /// A token was drawn.
    pub(super) fn has_drawn(&mut self) {
        let now = Instant::now();
        if self.is_thinking() {
            self.stats.thinking += now - self.last;
        }
        self.last = now;
        if self.first.is_none() {
            self.first = Some(now);
            self.stats.first_token = now - self.began;
        }
    }

    /// Says a token.
    pub(super) fn speak(&mut self, vocabulary: &Vocabulary, token: Token) -> Spoken {
        self.said.push(token);
        self.stats.generated += 1;
        let (part, parts) = self.part_of(vocabulary, token);
        self.stats.thinking_tokens += u32::from(part == Part::Thinking);
        let (parts, stopped) = self.until_stop(parts);
        self.keep(&parts);
        Spoken { part, parts, stopped }
    }

    /// What was held back until the end.
    pub(super) fn rest(&mut self, finish: Finish) -> Parts {
        if finish == Finish::StopText {
            return Parts::new();
        }
        // Half a character at the very end is no stop any more.
        let stitched = self.stitcher.finish();
        let mut parts = self.splitter.push(&stitched);
        parts.extend(self.splitter.finish());
        let (mut parts, _) = self.until_stop(parts);
        let held = self.stops.finish();
        if !held.is_empty() {
            parts.push((Part::Answer, held));
        }
        self.keep(&parts);
        parts
    }

    /// Counts and times so far.
    pub(super) fn stats(&self) -> Stats {
        let first = self.first.unwrap_or(self.last);
        Stats {
            decode: self.last.saturating_duration_since(first).max(Duration::ZERO),
            ..self.stats
        }
    }

    /// Whether the next token belongs to the thinking.
    pub(super) fn is_thinking(&self) -> bool {
        self.splitter.thinking().is_some()
    }

    /// Tokens of the thinking, those said before this turn included.
    pub(super) fn thought(&self) -> u32 {
        self.thought_before + self.stats.thinking_tokens
    }

    /// Has the next tokens end the thinking, where there is any under way that was not told to end already. Says whether it does.
    pub(super) fn end_thinking(&mut self, formats: &[Format], tokens: impl Fn(&str) -> Vec<Token>) -> bool {
        let format = self.splitter.thinking().and_then(|at| formats.get(at));
        let begins = format.filter(|_| !self.ending);
        if let Some(format) = begins {
            self.forced.extend(tokens(&format.end));
        }
        let ends = begins.is_some();
        self.ending = format.is_some();
        ends
    }

    /// The next token, where it is not to be drawn.
    pub(super) fn forced(&mut self) -> Option<Token> {
        self.forced.pop_front()
    }

    /// Where a token belongs, and the text that becomes clear with it.
    fn part_of(&mut self, vocabulary: &Vocabulary, token: Token) -> (Part, Parts) {
        let before = self.is_thinking();
        let parts = if self.splitter.is_mark(token) {
            // A mark is no half of a character.
            let cut_off = self.stitcher.finish();
            let mut parts = self.splitter.push(&cut_off);
            parts.extend(self.splitter.mark(token));
            parts
        } else {
            let text = self.stitcher.push(&vocabulary.bytes(token));
            self.splitter.push(&text)
        };
        let part = if before || self.is_thinking() {
            Part::Thinking
        } else {
            Part::Answer
        };
        (part, parts)
    }

    /// What is clear of these texts now that stop texts in the answer were looked for, and whether one was found.
    fn until_stop(&mut self, parts: Parts) -> (Parts, bool) {
        let mut clear = Parts::new();
        for (part, text) in parts {
            let (text, stopped) = match part {
                Part::Thinking => (text, false),
                Part::Answer => self.stops.push(&text),
            };
            if !text.is_empty() {
                clear.push((part, text));
            }
            if stopped {
                return (clear, true);
            }
        }
        (clear, false)
    }

    fn keep(&mut self, parts: &Parts) {
        for (part, text) in parts {
            match part {
                Part::Thinking => self.thinking.push_str(text),
                Part::Answer => self.answer.push_str(text),
            }
        }
    }
}
