//! Where every line of the conversation stands. What a message came to is kept until its text, the width or the theme
//! changes. What is not seen is laid out a little with every frame, so that neither opening a long conversation nor another
//! width holds anything up; until then its height is a guess, and what is seen keeps its place while guesses come true.

use std::collections::BTreeSet;
use std::ops::Range;

use ratatui::text::Line;

use crate::app::State;
use crate::app::state::Scroll;
use crate::domain::compaction::Fold;
use crate::domain::{Conversation, MessageId};
use crate::ui::theme::Theme;
use crate::ui::view::Look;

use super::entry::Entry;
use super::place::Place;
use super::words::Version;

/// Bytes of text out of sight that a frame lays out: some milliseconds of work, which leaves most of a frame to all else.
const SHARE: usize = 8 * 1024;

/// The messages of the path that is shown, and nothing else: what is kept is no more than what can be scrolled to.
#[derive(Default)]
pub(super) struct Layout {
    made_for: Option<MadeFor>,
    seen: Option<Seen>,
    entries: Vec<Entry>,
    /// What the last summary stands for.
    fold: Option<Fold>,
    /// One more with every change of the lines.
    revision: u64,
    /// Whether there are messages whose lines are still to be made.
    unfinished: bool,
    /// What was at the top when lines above it last changed. It is kept, so that many changes lose no more than one.
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

/// All that decides the lines of the messages before the last. As long as it is the same, a frame need not look at each.
#[derive(PartialEq)]
struct Seen {
    /// Of the conversation.
    shape: u64,
    edits: u64,
    tip: Option<MessageId>,
    running: Option<MessageId>,
    raw: bool,
    /// Which thinking is shown, and what is folded.
    thoughts: bool,
    thought: BTreeSet<MessageId>,
    folds: BTreeSet<MessageId>,
}

impl Seen {
    fn of(state: &State) -> Self {
        let (talk, screen) = (&state.conversation, &state.screen);
        Self {
            shape: talk.shape(),
            edits: talk.edits(),
            tip: talk.tip(),
            running: state.running.as_ref().map(|running| running.answer),
            raw: screen.raw,
            thoughts: screen.thoughts,
            thought: screen.thought.clone(),
            folds: screen.folds.clone(),
        }
    }

    /// Whether another message than the last one changes with the answer under way.
    fn is_answering_elsewhere(&self) -> bool {
        self.running.is_some() && self.running != self.tip
    }
}

/// What a frame has to show.
#[derive(Clone, Copy)]
struct Asked {
    /// The line at the top, where it is not the end that is followed.
    line: Option<u32>,
    /// What stood there before.
    place: Option<Place>,
    /// Lines that are shown.
    viewport: u32,
}

impl Layout {
    /// Takes in what changed since the last frame, for one that shows so many lines. Returns the line at its top: the one asked
    /// for, or where its words went.
    pub(super) fn update(&mut self, state: &State, look: Look<'_>, width: u16, viewport: u32) -> u32 {
        let made_for = MadeFor {
            begun: state.begun,
            width,
            theme: look.theme.clone(),
        };
        let seen = Seen::of(state);
        let line = match state.screen.scroll {
            Scroll::Follow => None,
            Scroll::At(line) => Some(line),
        };
        let anew = self.made_for.as_ref() != Some(&made_for);
        let others = anew || self.seen.as_ref() != Some(&seen) || seen.is_answering_elsewhere();
        let same = self.made_for.as_ref().is_some_and(|old| old.begun == state.begun);
        if others || self.unfinished {
            self.place = line.filter(|_| same).and_then(|line| self.place(line));
        }
        if !same {
            self.entries.clear();
        }
        if anew {
            self.entries.iter_mut().for_each(Entry::forget);
            self.revision += 1;
        }
        (self.made_for, self.seen) = (Some(made_for), Some(seen));
        let asked = Asked {
            line,
            place: self.place.filter(|_| others || self.unfinished),
            viewport,
        };
        if others {
            self.follow(&state.conversation);
            self.entries.iter_mut().for_each(|entry| entry.look(state, width));
            self.fold = Fold::of(&state.conversation.path());
            self.unfinished = true;
            self.measure();
        } else {
            self.grow(state, look, width);
        }
        if self.unfinished {
            self.finish(state, look, width, asked);
        }
        self.top(asked)
    }

    /// Takes in what changed of the last message, where nothing else did.
    fn grow(&mut self, state: &State, look: Look<'_>, width: u16) {
        let Some((last, before)) = self.entries.split_last_mut() else {
            return;
        };
        let summary = last.is_summary();
        last.look(state, width);
        if !last.is_stale() {
            return;
        }
        last.make(state, width, look.theme);
        last.end = before.last().map_or(0, |entry| entry.end) + last.height();
        self.revision += 1;
        if last.is_summary() != summary {
            self.fold = Fold::of(&state.conversation.path());
        }
    }

    /// Makes the lines of what is seen, and of a share of the rest.
    fn finish(&mut self, state: &State, look: Look<'_>, width: u16, asked: Asked) {
        let screen = &state.screen;
        // The search looks at all lines.
        let mut left = if screen.find.is_some() { usize::MAX } else { SHARE };
        // What is made has other heights than was thought, and then other messages are seen.
        loop {
            let mut made = false;
            for at in self.wanted(screen.reveal, asked) {
                let entry = &mut self.entries[at];
                if entry.is_stale() {
                    entry.make(state, width, look.theme);
                    made = true;
                }
            }
            if !made {
                break;
            }
            self.measure();
        }
        // From what is seen upwards, where a reader goes first, then downwards.
        let middle = self.at(self.top(asked));
        for at in (0..middle).rev().chain(middle..self.entries.len()) {
            let entry = &mut self.entries[at];
            if !entry.is_stale() {
                continue;
            }
            entry.make(state, width, look.theme);
            // At least one, so that the longest comes to its turn too.
            let Some(rest) = left.checked_sub(entry.cost()) else {
                break;
            };
            left = rest;
        }
        self.unfinished = self.entries.iter().any(Entry::is_stale);
        self.revision += 1;
        self.measure();
    }

    /// The messages that a frame shows, by their index, and those about one that is to be shown next.
    fn wanted(&self, reveal: Option<MessageId>, asked: Asked) -> Vec<usize> {
        let top = self.top(asked);
        let around =
            |(start, end): (u32, u32)| start.saturating_sub(asked.viewport)..end.saturating_add(asked.viewport);
        let lines = |lines: Range<u32>| {
            let seen = self
                .from(lines.start)
                .take_while(move |(_, entry)| entry.start() < lines.end);
            seen.map(|(at, _)| at)
        };
        let next = reveal.and_then(|id| self.lines_of(id)).map(around);
        let shown = lines(top..top.saturating_add(asked.viewport));
        shown.chain(next.into_iter().flat_map(lines)).collect()
    }

    /// The line at the top.
    fn top(&self, asked: Asked) -> u32 {
        let end = self.total().saturating_sub(asked.viewport);
        let moved = || asked.place.and_then(|place| place.line(&self.entries));
        asked.line.map_or(end, |line| moved().unwrap_or(line).min(end))
    }

    /// Finds where each message ends.
    fn measure(&mut self) {
        let mut end = 0_u32;
        for entry in &mut self.entries {
            end = end.saturating_add(entry.height());
            entry.end = end;
        }
    }

    /// Whether another frame is needed for messages out of sight.
    pub(super) fn is_unfinished(&self) -> bool {
        self.unfinished
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
        self.entries.iter().enumerate().skip(self.at(line))
    }

    /// The index of the message on this line.
    fn at(&self, line: u32) -> usize {
        self.entries.partition_point(|entry| entry.end <= line)
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
