//! Where every line of the conversation stands. What a message came to is kept until its text, the width or the theme
//! changes; a frame in which nothing changed looks at each message's length and at no text.

use ratatui::text::Line;

use crate::app::State;
use crate::app::click::Click;
use crate::app::state::Scroll;
use crate::domain::compaction::Fold;
use crate::domain::{Conversation, MessageId, Role};
use crate::ui::theme::Theme;
use crate::ui::view::Look;

use super::body::Body;
use super::place::Place;
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

/// The messages of the path that is shown, and nothing else: what is kept is no more than what can be scrolled to.
#[derive(Default)]
pub(super) struct Layout {
    made_for: Option<MadeFor>,
    entries: Vec<Entry>,
    /// What the last summary stands for.
    fold: Option<Fold>,
    /// One more with every change of the lines.
    revision: u64,
    /// What was at the top when the width last changed. It is kept, so that many changes lose no more than one.
    place: Option<Place>,
}

/// What the lines were made for.
#[derive(PartialEq)]
struct MadeFor {
    /// Conversations begun before: message ids begin anew with each.
    begun: u32,
    width: u16,
    theme: Theme,
}

/// A message's part of the transcript.
pub(super) struct Entry {
    pub(super) id: MessageId,
    seen: Option<Seen>,
    pub(super) body: Body,
    /// What the model thought, where it is shown.
    pub(super) thoughts: Body,
    /// The line after its last, counted from the first of the transcript.
    end: u32,
    /// Which version it is, and how the tree was when that was counted.
    version: Option<(u64, Version)>,
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
    fn new(id: MessageId) -> Self {
        Self {
            id,
            seen: None,
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
        self.thinking() + self.shown().len() as u32 + fold + note + AROUND
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

    /// Takes in what changed; says whether anything did.
    fn update(&mut self, state: &State, width: u16, theme: &Theme) -> bool {
        let Some(message) = state.conversation.get(self.id) else {
            return false;
        };
        let running = state.running.as_ref();
        let thinking = message.answer.as_ref().map(|answer| &answer.thinking);
        let thinking = thinking.filter(|thinking| thinking.tokens > 0 || !thinking.text.is_empty());
        let seen = Seen {
            length: message.text.len(),
            thinking: thinking.map(|thinking| thinking.text.len()),
            unfolded: is_open(self.id, state),
            turned: state.screen.folds.contains(&self.id),
            asked: message.role == Role::User,
            summary: message.is_whole_summary(),
            grows: running.is_some_and(|running| running.answer == self.id),
            noted: is_noted(message, state),
            raw: state.screen.raw,
        };
        if self.seen == Some(seen) {
            return false;
        }
        let text = |seen: Seen| (seen.length, seen.grows, seen.raw);
        if self.seen.map(text) != Some(text(seen)) {
            if seen.grows {
                self.body.grow(&message.text, seen.raw, width, theme);
            } else {
                self.body = Body::over(message, seen.raw, width, theme);
            }
        }
        let thoughts = |seen: Seen| (seen.thinking, seen.unfolded, seen.grows);
        if self.seen.map(thoughts) != Some(thoughts(seen)) {
            let narrow = width.saturating_sub(BAR).max(1);
            match thinking.filter(|_| seen.unfolded) {
                Some(thinking) if seen.grows => self.thoughts.grow(&thinking.text, false, narrow, theme),
                Some(thinking) => self.thoughts = Body::thoughts(&thinking.text, narrow, theme),
                None => self.thoughts = Body::default(),
            }
        }
        self.seen = Some(seen);
        true
    }
}

impl Layout {
    /// Takes in what changed since the last frame. Returns the line to be at the top, where one is asked for: the one asked
    /// for, or where its words went with the width.
    pub(super) fn update(&mut self, state: &State, look: Look<'_>, width: u16) -> Option<u32> {
        let made_for = MadeFor {
            begun: state.begun,
            width,
            theme: look.theme.clone(),
        };
        let asked = match state.screen.scroll {
            Scroll::Follow => None,
            Scroll::At(line) => Some(line),
        };
        let anew = self.made_for.as_ref() != Some(&made_for);
        if anew {
            let same = self.made_for.as_ref().is_some_and(|old| old.begun == state.begun);
            self.place = asked.filter(|_| same).and_then(|line| self.place(line));
            self.entries.clear();
            self.revision += 1;
            self.made_for = Some(made_for);
        }
        self.follow(&state.conversation);
        let (mut end, mut question, mut fold) = (0, None, None);
        for (at, entry) in self.entries.iter_mut().enumerate() {
            self.revision += u64::from(entry.update(state, width, look.theme));
            end += entry.height();
            entry.end = end;
            match entry.seen {
                Some(seen) if seen.asked => question = Some(at),
                Some(seen) if seen.summary => {
                    let until = question.unwrap_or(at);
                    fold = Some(Fold { until, at });
                }
                _ => {}
            }
        }
        self.fold = fold;
        let moved = self.place.as_ref().filter(|_| anew);
        let moved = moved.and_then(|place| place.line(&self.entries));
        asked.map(|line| moved.unwrap_or(line))
    }

    /// Tells whether the lines are the same as before.
    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    /// The lines of all texts, with where they stand.
    pub(super) fn texts(&self) -> impl Iterator<Item = (u32, &Line<'static>)> {
        self.texts_from(0)
    }

    /// The same, of the message on this line and those that follow.
    pub(super) fn texts_from(&self, line: u32) -> impl Iterator<Item = (u32, &Line<'static>)> {
        self.from(line).flat_map(|(_, entry)| {
            let thoughts = (entry.start() + 2..).zip(entry.thoughts.lines());
            thoughts.chain((entry.start() + entry.ahead()..).zip(entry.shown()))
        })
    }

    /// What the last summary stands for.
    pub(super) fn fold(&self) -> Option<Fold> {
        self.fold
    }

    /// Lines of the whole.
    pub(super) fn total(&self) -> u32 {
        self.entries.last().map_or(0, |last| last.end)
    }

    /// The messages from the one on this line on, by their index.
    pub(super) fn from(&self, line: u32) -> impl Iterator<Item = (usize, &Entry)> {
        let first = self.entries.partition_point(|entry| entry.end <= line);
        self.entries.iter().enumerate().skip(first)
    }

    /// The first line of a message, and the one after its last.
    pub(super) fn lines_of(&self, id: MessageId) -> Option<(u32, u32)> {
        let entry = self.entries.iter().find(|entry| entry.id == id)?;
        Some((entry.start(), entry.end))
    }

    /// The message at this index.
    pub(super) fn entry(&self, at: usize) -> Option<&Entry> {
        self.entries.get(at)
    }

    /// Which version the message at this index is. It is counted again only where the tree changed.
    pub(super) fn version(&mut self, at: usize, conversation: &Conversation) -> Version {
        let once = Version { number: 1, of: 1 };
        let Some(entry) = self.entries.get_mut(at) else {
            return once;
        };
        let shape = conversation.shape();
        match entry.version {
            Some((then, version)) if then == shape => version,
            _ => {
                let versions = conversation.versions(entry.id);
                let number = versions.iter().position(|id| *id == entry.id).map_or(1, |at| at + 1);
                let version = Version {
                    number,
                    of: versions.len(),
                };
                entry.version = Some((shape, version));
                version
            }
        }
    }

    /// Makes the entries those of the path. An id is given out once and its parent never changes, so the last message tells
    /// the path.
    fn follow(&mut self, conversation: &Conversation) {
        if self.entries.last().map(|last| last.id) == conversation.tip() {
            return;
        }
        let path = conversation.path();
        let same = self.entries.iter().zip(&path).take_while(|(entry, m)| entry.id == m.id);
        let same = same.count();
        self.revision += 1;
        self.entries.truncate(same);
        self.entries
            .extend(path[same..].iter().map(|message| Entry::new(message.id)));
    }

    /// What stands on this line: the place known from before, if it is still there.
    fn place(&self, line: u32) -> Option<Place> {
        let known = self.place.filter(|place| place.line(&self.entries) == Some(line));
        known.or_else(|| Place::of(self.from(line).next()?.1, line))
    }
}
