//! A message's part of the transcript: its lines once they are made, and a guess at their number until then.

use ratatui::text::Line;

use crate::app::State;
use crate::app::click::Click;
use crate::domain::{MessageId, Role};
use crate::ui::theme::Theme;

use super::body::Body;
use super::words::{Version, is_noted, is_open};

/// Lines of a message besides its text: its header and the blank one at its end.
const AROUND: u32 = 2;

/// Lines about its thinking besides that: the one that sums it up and the blank one at its end.
const AROUND_THOUGHTS: u32 = 2;

/// Lines of a question from which on it is folded by itself, and those that are shown then.
const LONG: usize = 24;
const SHORT: usize = 6;

/// Columns that the bar beside thinking takes.
pub(super) const BAR: u16 = 2;

/// A message's part of the transcript.
pub(super) struct Entry {
    pub(super) id: MessageId,
    /// What is to be shown.
    seen: Option<Seen>,
    /// What the bodies are made of, once they are.
    made: Option<Seen>,
    /// Lines of the text before that: what they were at another width, or what its length lets one think.
    guess: Option<u32>,
    pub(super) body: Body,
    /// What the model thought, where it is shown.
    pub(super) thoughts: Body,
    /// The line after its last, counted from the first of the transcript.
    pub(super) end: u32,
    /// Which version it is, and how the tree was when that was counted.
    pub(super) version: Option<(u64, Version)>,
}

/// What of a message decides its lines.
#[derive(Clone, Copy, PartialEq)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is one thing that the lines hang on, and none implies another"
)]
struct Seen {
    /// Bytes of the text: a text changes only by growing.
    length: usize,
    /// Bytes of the thinking, where there is any.
    thinking: Option<usize>,
    /// Whether it is shown.
    unfolded: bool,
    /// Whether it is the answer under way.
    grows: bool,
    /// Whether a line stands under it.
    noted: bool,
    /// Whether it is shown as it was written.
    raw: bool,
    /// Whether it is folded where it would not be, or the other way round.
    turned: bool,
    /// Whether it is a person's.
    asked: bool,
    /// Whether it is a summary that came to its end.
    summary: bool,
}

impl Entry {
    pub(super) fn new(id: MessageId) -> Self {
        Self {
            id,
            seen: None,
            made: None,
            guess: None,
            body: Body::default(),
            thoughts: Body::default(),
            end: 0,
            version: None,
        }
    }

    /// Lines from its header to the blank one at its end.
    pub(super) fn height(&self) -> u32 {
        let note = u32::from(self.seen.is_some_and(|seen| seen.noted));
        let fold = u32::from(self.folded().is_some());
        self.thinking() + self.text() + fold + note + AROUND
    }

    fn text(&self) -> u32 {
        let guess = self.guess.filter(|_| self.made.is_none());
        guess.unwrap_or_else(|| self.shown().len() as u32)
    }

    /// Lines from its header to its text.
    pub(super) fn ahead(&self) -> u32 {
        1 + self.thinking()
    }

    /// How many lines are not shown, where it is folded.
    pub(super) fn folded(&self) -> Option<usize> {
        let lines = self.body.lines().len();
        let seen = self.seen.filter(|seen| !seen.grows)?;
        // What goes with a question is a page or more, and was read before.
        let (long, most) = (seen.asked && lines > LONG, if seen.asked { SHORT } else { 1 });
        (long != seen.turned && lines > most).then(|| lines - most)
    }

    /// The lines of the text that are shown.
    pub(super) fn shown(&self) -> &[Line<'static>] {
        let lines = self.body.lines();
        &lines[..lines.len() - self.folded().unwrap_or(0)]
    }

    /// What a click means on a line of it, counted from its header.
    pub(super) fn click(&self, line: usize) -> Option<Click> {
        let fold = self.ahead() as usize + self.shown().len();
        match line {
            1 if self.has_thoughts() => Some(Click::Thinking(self.id)),
            _ if line == fold && self.folded().is_some() => Some(Click::Fold(self.id)),
            _ => None,
        }
    }

    /// Whether there is thinking.
    pub(super) fn has_thoughts(&self) -> bool {
        self.seen.is_some_and(|seen| seen.thinking.is_some())
    }

    fn thinking(&self) -> u32 {
        if self.has_thoughts() {
            AROUND_THOUGHTS + self.thoughts.lines().len() as u32
        } else {
            0
        }
    }

    /// Its first line.
    pub(super) fn start(&self) -> u32 {
        self.end.saturating_sub(self.height())
    }

    /// Takes in what is to be shown. Cheap: no text is looked at.
    pub(super) fn look(&mut self, state: &State, width: u16) {
        let Some(message) = state.conversation.get(self.id) else {
            return;
        };
        let running = state.running.as_ref();
        let thinking = message.answer.as_ref().map(|answer| &answer.thinking);
        let thinking = thinking.filter(|thinking| thinking.tokens > 0 || !thinking.text.is_empty());
        self.seen = Some(Seen {
            length: message.text.len(),
            thinking: thinking.map(|thinking| thinking.text.len()),
            unfolded: is_open(self.id, state),
            turned: state.screen.folds.contains(&self.id),
            asked: message.role == Role::User,
            summary: message.is_whole_summary(),
            grows: running.is_some_and(|running| running.answer == self.id),
            noted: is_noted(message, state),
            raw: state.screen.raw,
        });
        self.guess
            .get_or_insert_with(|| 1 + message.text.len() as u32 / u32::from(width.max(1)));
    }

    /// Whether its lines are not those that are to be shown.
    pub(super) fn is_stale(&self) -> bool {
        self.made != self.seen
    }

    /// Whether it is a summary that came to its end.
    pub(super) fn is_summary(&self) -> bool {
        self.seen.is_some_and(|seen| seen.summary)
    }

    /// Bytes of what has to be rendered for its lines.
    pub(super) fn cost(&self) -> usize {
        self.seen.map_or(0, |seen| {
            seen.length + seen.thinking.filter(|_| seen.unfolded).unwrap_or(0)
        })
    }

    /// Lets go of its lines, which were made for another width or theme; how many they were stays as a guess.
    pub(super) fn forget(&mut self) {
        if self.made.take().is_some() {
            self.guess = Some(self.shown().len() as u32);
        }
        (self.body, self.thoughts) = (Body::default(), Body::default());
    }

    /// Makes its lines those that are to be shown.
    pub(super) fn make(&mut self, state: &State, width: u16, theme: &Theme) {
        let (Some(seen), Some(message)) = (self.seen, state.conversation.get(self.id)) else {
            return;
        };
        let text = |seen: Seen| (seen.length, seen.grows, seen.raw);
        if self.made.map(text) != Some(text(seen)) {
            if seen.grows {
                self.body.grow(&message.text, seen.raw, width, theme);
            } else {
                self.body = Body::over(message, seen.raw, width, theme);
            }
        }
        let thoughts = |seen: Seen| (seen.thinking, seen.unfolded, seen.grows);
        if self.made.map(thoughts) != Some(thoughts(seen)) {
            let narrow = width.saturating_sub(BAR).max(1);
            let thinking = message.answer.as_ref().map(|answer| &answer.thinking.text);
            match thinking.filter(|_| seen.unfolded && seen.thinking.is_some()) {
                Some(thinking) if seen.grows => self.thoughts.grow(thinking, false, narrow, theme),
                Some(thinking) => self.thoughts = Body::thoughts(thinking, narrow, theme),
                None => self.thoughts = Body::default(),
            }
        }
        self.made = Some(seen);
    }
}
