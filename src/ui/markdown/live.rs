//! Markdown that is still being written: blocks that are over keep their lines, and only the last one is rendered again, so a
//! token costs the same at the end of a long answer as at its beginning. Of a block of code the lines that are over stay too:
//! it may be the whole answer.

use std::borrow::Cow;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};
use ratatui::text::Line;

use crate::ui::theme::Theme;

use super::highlight::Highlighter;
use super::render::{OPTIONS, language, render, render_to};

/// A text that grows at its end, and its lines.
#[derive(Debug, Default)]
pub struct Live {
    /// Bytes of the source whose lines stay.
    frozen: usize,
    /// How many of `lines` stay.
    kept: usize,
    /// What must stand before the rest of the source for it to be read as what it is.
    opening: Opening,
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
        let mut text = self.not_frozen(source);
        let last = match end_of_finished(&text) {
            Finished::Until(last) => last,
            Finished::Nothing => {
                (self.frozen, self.kept, self.opening) = (0, 0, Opening::default());
                text = Cow::Borrowed(source);
                0
            }
        };
        let until = if last == 0 { usize::MAX } else { last };
        let words = self.opening.words.clone();
        let (tail, over) = render_to(&text, usize::from(self.width), theme, until, words);
        self.lines.truncate(self.kept);
        let opening = self.opening.lines;
        if self.opening.text.is_empty() && !self.lines.is_empty() && !tail.is_empty() {
            self.lines.push(Line::default());
        }
        if last > 0 && over > 0 {
            self.kept = self.lines.len() + over - opening;
            self.frozen += last - self.opening.text.len();
            self.opening = Opening::default();
        }
        self.lines.extend(tail.into_iter().skip(opening));
        self.freeze_code(source, theme);
    }

    /// Freezes the lines of a block of code that are over, where what is not frozen begins with one.
    fn freeze_code(&mut self, source: &str, theme: &Theme) {
        let text = self.not_frozen(source);
        let Some(CodeSoFar {
            opening,
            language,
            indent,
            over,
        }) = end_of_code(&text)
        else {
            return;
        };
        let width = usize::from(self.width);
        // A block without a line is drawn as one with a blank line.
        let above = render(opening, width, theme).len().saturating_sub(1);
        let mut words = self.opening.words.take().or_else(|| Highlighter::new(language));
        if let Some(words) = &mut words {
            for line in text[opening.len()..over].lines() {
                // As far as the fence is indented, its lines are, too.
                let spaces = line.bytes().take(indent).take_while(|b| *b == b' ').count();
                words.line(&line[spaces..]);
            }
        }
        let rest = format!("{opening}{}", &text[over..]);
        let rest = render_to(&rest, width, theme, usize::MAX, words.clone()).0.len();
        let Some(kept) = (self.lines.len() + above).checked_sub(rest) else {
            return;
        };
        let opening = Opening {
            text: opening.to_owned(),
            lines: above,
            words,
        };
        self.kept = kept;
        self.frozen += over - self.opening.text.len();
        self.opening = opening;
    }

    /// What is not frozen, as a text that can be rendered by itself.
    fn not_frozen<'s>(&self, source: &'s str) -> Cow<'s, str> {
        let rest = &source[self.frozen..];
        if self.opening.text.is_empty() {
            return Cow::Borrowed(rest);
        }
        Cow::Owned(format!("{}{rest}", self.opening.text))
    }
}

/// What opened the block of code within which the frozen part ends; nothing where it ends between blocks.
#[derive(Debug, Default)]
struct Opening {
    /// The source down to the line of the fence.
    text: String,
    /// The lines it is drawn as.
    lines: usize,
    /// Where in its words the frozen part ends, where its language is known.
    words: Option<Highlighter>,
}

/// A block of code that is being written.
struct CodeSoFar<'t> {
    /// What opens it: its source down to the first line of code.
    opening: &'t str,
    /// What it is written in, as the fence says.
    language: &'t str,
    /// Spaces before the fence.
    indent: usize,
    /// Where the last but one of its lines begins.
    over: usize,
}

/// The block of code that a text begins with, if it is fenced and there are lines before its last but one. The last may yet become
/// the fence that closes it, and a block of no lines is not drawn as nothing.
fn end_of_code(text: &str) -> Option<CodeSoFar<'_>> {
    if !text.trim_start().starts_with(['`', '~']) {
        return None;
    }
    let mut events = Parser::new_ext(text, OPTIONS).into_offset_iter();
    let (Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))), block) = events.next()? else {
        return None;
    };
    let begin = block.start + text[block.start..].find('\n')? + 1;
    let code = events.take_while(|(event, _)| matches!(event, Event::Text(_)));
    let end = code.last()?.1.end;
    let line = |end: usize| text[..end].rfind('\n').map_or(0, |at| at + 1);
    // The last line ends with its line feed, or it is not over.
    let last = line(end - usize::from(text[..end].ends_with('\n')));
    let before = line(last.saturating_sub(1));
    let opening = &text[..begin];
    let info = opening[block.start..].trim_start_matches(['`', '~', ' ']).trim_end();
    (before > begin).then(|| CodeSoFar {
        opening,
        language: language(info),
        indent: block.start - text[..block.start].rfind('\n').map_or(0, |at| at + 1),
        over: before,
    })
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
