//! Markdown that is still being written: blocks that are over keep their lines, and only the last one is rendered again, so a
//! token costs the same at the end of a long answer as at its beginning.

use pulldown_cmark::{Event, Parser};
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
    theme: String,
}

impl Live {
    /// The lines of `source`. Cheap where it begins with what was given last time, at the same width and theme.
    pub fn update(&mut self, source: &str, width: u16, theme: &Theme) -> &[Line<'static>] {
        let same = self.width == width && self.theme == theme.name;
        if same && self.source == source {
            return &self.lines;
        }
        // A link's definition may come after its use: such a text has no part that is over before its end.
        let local = !source.contains("]:");
        if !(same && local && source.starts_with(&self.source)) {
            *self = Self {
                width,
                theme: theme.name.clone(),
                ..Self::default()
            };
        }
        let rest = &source[self.frozen..];
        let last = if local { last_block(rest).unwrap_or(0) } else { 0 };
        let (tail, over) = render_to(
            rest,
            usize::from(width),
            theme,
            if last == 0 { usize::MAX } else { last },
        );
        self.lines.truncate(self.kept);
        if !self.lines.is_empty() && !tail.is_empty() {
            self.lines.push(Line::default());
        }
        if last > 0 && over > 0 {
            self.kept = self.lines.len() + over;
            self.frozen += last;
        }
        self.lines.extend(tail);
        self.source.clear();
        self.source.push_str(source);
        &self.lines
    }
}

/// Where the line begins on which the last block of the outermost level begins. A line that may still grow decides nothing:
/// four asterisks are a rule until a word follows.
fn last_block(source: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut last = None;
    for (event, range) in Parser::new_ext(source, OPTIONS).into_offset_iter() {
        let decided = source[range.start..].contains('\n');
        match event {
            Event::Start(_) => {
                if depth == 0 && decided {
                    last = Some(range.start);
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Rule if depth == 0 && decided => last = Some(range.start),
            _ => {}
        }
    }
    last.map(|at| source[..at].rfind('\n').map_or(0, |line| line + 1))
}
