//! The lines of the transcript with the words that are looked for, and the cells that they take.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use unicode_segmentation::UnicodeSegmentation;

use crate::app::find::{Find, Found};
use crate::ui::markdown::wrap::columns;

/// What was found, until it is looked for something else or the lines are others.
#[derive(Default)]
pub(super) struct Finder {
    made_for: Option<(String, u64)>,
    lines: Vec<u32>,
}

impl Finder {
    /// The line that is meant, among those with the words. `all` gives the lines that have text, with their numbers; `revision` tells
    /// whether they are the same as before.
    pub(super) fn update<'a>(
        &mut self,
        find: &Find,
        revision: u64,
        bottom: u32,
        all: impl Iterator<Item = (u32, &'a Line<'static>)>,
    ) -> Option<Found> {
        let made_for = (find.query.clone(), revision);
        if self.made_for.as_ref() != Some(&made_for) {
            let words = find.query.to_lowercase();
            let has = all.filter(|(_, line)| !words.is_empty() && has(line, &words));
            self.lines = has.map(|(number, _)| number).collect();
            self.made_for = Some(made_for);
        }
        let last = self.lines.len().checked_sub(1)?;
        let near = || self.lines.partition_point(|line| *line < bottom).saturating_sub(1);
        let at = find.at.map_or_else(near, |at| at as usize).min(last);
        Some(Found {
            count: self.lines.len() as u32,
            at: at as u32,
            line: self.lines[at],
        })
    }
}

/// Whether the words stand in the line, whatever their case.
fn has(line: &Line<'_>, words: &str) -> bool {
    let [span] = line.spans.as_slice() else {
        return line.to_string().to_lowercase().contains(words);
    };
    span.content.to_lowercase().contains(words)
}

/// Dresses the cells of a row in which the words stand.
pub(super) fn dress(buffer: &mut Buffer, row: Rect, line: &Line<'_>, words: &str, style: Style) {
    for range in places(&line.to_string(), &words.to_lowercase()) {
        let x = row.x.saturating_add(range.start as u16).min(row.right());
        let width = (range.len() as u16).min(row.right() - x);
        buffer.set_style(Rect { x, width, ..row }, style);
    }
}

/// The columns at which the words, which are of lower case, stand in a text.
fn places(text: &str, words: &str) -> Vec<Range<usize>> {
    if words.is_empty() {
        return Vec::new();
    }
    // The text in lower case, and for each of its bytes the column of the character that it comes from.
    let mut lower = String::with_capacity(text.len());
    let mut at = Vec::with_capacity(text.len() + 1);
    let mut column = 0;
    for grapheme in text.graphemes(true) {
        let small = grapheme.to_lowercase();
        at.extend(std::iter::repeat_n(column, small.len()));
        lower.push_str(&small);
        column += columns(grapheme);
    }
    at.push(column);
    let found = lower
        .match_indices(words)
        .map(|(start, part)| at[start]..at[start + part.len()]);
    found.collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn words_are_found_where_they_are_drawn() {
        let places = |text, words| {
            places(text, words)
                .into_iter()
                .map(|r| (r.start, r.end))
                .collect::<Vec<_>>()
        };
        assert_eq!(places("The capital, the CAPITAL", "capital"), [(4, 11), (17, 24)]);
        assert_eq!(places("日本の Paris", "paris"), [(7, 12)]);
        assert_eq!(
            places("İstanbul ist", "ist"),
            [(9, 12)],
            "a letter that grows in lower case shifts nothing"
        );
        assert_eq!(places("x", ""), []);
    }

    #[test]
    fn the_line_that_is_meant_is_the_nearest_above_the_end() {
        let lines: Vec<Line<'static>> = ["a b", "c", "B", "d", "ab"].map(Line::from).to_vec();
        let all = || lines.iter().enumerate().map(|(n, line)| (n as u32, line));
        let mut finder = Finder::default();
        let mut find = Find {
            query: "b".to_owned(),
            ..Find::default()
        };
        let found = |finder: &mut Finder, find: &Find, bottom| finder.update(find, 1, bottom, all());
        let is = |at, line| Some(Found { count: 3, at, line });
        assert_eq!(found(&mut finder, &find, 4), is(1, 2));
        assert_eq!(found(&mut finder, &find, 9), is(2, 4));
        find.at = Some(0);
        assert_eq!(found(&mut finder, &find, 9), is(0, 0));
        find.query = "nowhere".to_owned();
        assert_eq!(found(&mut finder, &find, 9), None);
    }
}
