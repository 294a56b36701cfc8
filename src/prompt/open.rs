//! Prompts that end inside the last message, for an answer that goes on behind it.

use std::collections::BTreeSet;

use super::markers::Markers;
use super::{Content, Rendered, cuts};
use crate::domain::thinking::Part;

/// Ends a prompt where the content of message number `last`, its last one, ends in it. `None` where that is not known.
pub(super) fn at_content(mut rendered: Rendered, last: usize, content: &str) -> Option<Rendered> {
    let is_last = |found: &&mut Content| found.message == last && found.part == Part::Answer;
    let found = rendered
        .contents
        .iter_mut()
        .filter(is_last)
        .max_by_key(|found| found.range.end)?;
    let end = found.range.end;
    let text = rendered.text.get(..end)?;
    // A template that says it in other words leaves nothing to go on from.
    text.trim_end().ends_with(content.trim()).then_some(())?;
    let blanks = |text: &str| text.len() - text.trim_end().len();
    // Templates trim what they are given; an answer goes on behind its blanks all the same.
    let trimmed = content
        .get(content.len() - blanks(content) + blanks(text)..)
        .unwrap_or_default();
    found.range.end += trimmed.len();
    rendered.text.truncate(end);
    rendered.text.push_str(trimmed);
    rendered.cuts.retain(|cut| *cut < end);
    rendered.contents.retain(|content| content.range.start < end);
    Some(rendered)
}

/// Puts the content of message number `last` behind the prompt of those before it.
pub(super) fn behind(mut rendered: Rendered, last: usize, content: &str, markers: &Markers) -> Rendered {
    let start = rendered.text.len();
    rendered.text.push_str(content);
    let range = start..rendered.text.len();
    let mut cuts: BTreeSet<usize> = rendered.cuts.into_iter().collect();
    cuts::protect(markers, &rendered.text, std::slice::from_ref(&range), &mut cuts);
    rendered.cuts = cuts
        .into_iter()
        .filter(|&at| at > 0 && at < rendered.text.len())
        .collect();
    rendered.contents.push(Content {
        message: last,
        part: Part::Answer,
        range,
    });
    rendered
}
