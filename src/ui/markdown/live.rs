//! Markdown that is still being written: blocks that are over keep their lines, and only the last one is rendered again, so a
//! token costs the same at the end of a long answer as at its beginning.

use pulldown_cmark::{Event, Parser, Tag};
use ratatui::text::Line;

use crate::ui::theme::Theme;

use super::render::{OPTIONS, render_to};

/// A text that grows at its end, and its lines.
#[derive(Debug, Default)]
pub struct Live {
    /// Bytes of the source whose lines stay.
    frozen: usize,
    /// How many of `lines` stay.
    kept: usize,
    lines: Vec<Line<'static>>,
    /// The source that the lines are of; to see whether it only grew.
    source: String,
    width: u16,
    theme: Option<Theme>,
}

impl Live {
    /// The lines of `source`. Cheap where it begins with what was given last time, at the same width and theme.
    pub fn update(&mut self, source: &str, width: u16, theme: &Theme) -> &[Line<'static>] {
        let same = self.width == width && self.theme.as_ref() == Some(theme);
        if same && self.source == source {
            return &self.lines;
        }
        if !(same && source.starts_with(&self.source)) {
            *self = Self {
                width,
                theme: Some(theme.clone()),
                ..Self::default()
            };
        }
        self.draw(source, theme);
        self.source.push_str(&source[self.source.len()..]);
        &self.lines
    }

    /// The lines of what was given last.
    pub fn lines(&self) -> &[Line<'static>] {
        &self.lines
    }

    /// Bytes of the source that are not rendered again.
    #[cfg(test)]
    pub(super) fn frozen(&self) -> usize {
        self.frozen
    }

    /// Renders what is not frozen, and freezes what is over.
    fn draw(&mut self, source: &str, theme: &Theme) {
        let last = match end_of_finished(&source[self.frozen..]) {
            Finished::Until(last) => last,
            Finished::Nothing => {
                (self.frozen, self.kept) = (0, 0);
                0
            }
        };
        let until = if last == 0 { usize::MAX } else { last };
        let (tail, over) = render_to(&source[self.frozen..], usize::from(self.width), theme, until);
        self.lines.truncate(self.kept);
        if !self.lines.is_empty() && !tail.is_empty() {
            self.lines.push(Line::default());
        }
        if last > 0 && over > 0 {
            self.kept = self.lines.len() + over;
            self.frozen += last;
        }
        self.lines.extend(tail);
    }
}

/// What of a growing text will look the same whatever follows.
enum Finished {
    /// The blocks before this byte.
    Until(usize),
    /// None of it, not even what was finished before.
    Nothing,
}

/// Finds the line on which the last block of the outermost level begins. A line that may still grow decides nothing: four
/// asterisks are a rule until a word follows. It takes two lines to decide a table.
fn end_of_finished(source: &str) -> Finished {
    let parser = Parser::new_ext(source, OPTIONS);
    // A link's definition changes the blocks before it.
    if parser.reference_definitions().iter().next().is_some() {
        return Finished::Nothing;
    }
    // Where the last line that cannot grow ends, and the one before it.
    let mut ends = source.rmatch_indices('\n').map(|(at, _)| at);
    let (one, two) = (ends.next().unwrap_or(0), ends.next().unwrap_or(0));
    let mut depth = 0_usize;
    let mut last = 0;
    for (event, range) in parser.into_offset_iter() {
        let outermost = depth == 0;
        let decided = match event {
            Event::Start(ref tag) => {
                depth += 1;
                if matches!(tag, Tag::Table(_)) { two } else { one }
            }
            Event::Rule => one,
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                continue;
            }
            _ => continue,
        };
        if outermost && range.start <= decided {
            last = range.start;
        }
    }
    Finished::Until(source[..last].rfind('\n').map_or(0, |line| line + 1))
}
