//! The tags around a model's reasoning. Templates look for them in the model's own messages, so they stay whole there.

use std::ops::Range;

/// Tags that published templates split assistant messages at.
const TAGS: [&str; 14] = [
    "<think>",
    "</think>",
    "<thinking>",
    "</thinking>",
    "<reasoning>",
    "</reasoning>",
    "<seed:think>",
    "</seed:think>",
    "[THINK]",
    "[/THINK]",
    "◁think▷",
    "◁/think▷",
    "<|channel>",
    "<channel|>",
];

/// Whether this is exactly a reasoning tag.
pub(super) fn is_tag(text: &str) -> bool {
    TAGS.contains(&text)
}

/// The stretches between reasoning tags; one that is the whole text where there are none.
pub(super) fn between_tags(text: &str) -> Vec<Range<usize>> {
    let mut tags: Vec<_> = TAGS
        .iter()
        .flat_map(|tag| text.match_indices(tag))
        .map(|(at, tag)| at..at + tag.len())
        .collect();
    // No tag can overlap another: each has its first character nowhere else in it, and none begins with another.
    tags.sort_unstable_by_key(|tag| tag.start);
    let starts = std::iter::once(0).chain(tags.iter().map(|tag| tag.end));
    let ends = tags.iter().map(|tag| tag.start).chain([text.len()]);
    starts
        .zip(ends)
        .filter(|(start, end)| start < end)
        .map(|(start, end)| start..end)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_is_between_tags() {
        let text = "<think>\nwhy</think></think>yes";
        let parts: Vec<_> = between_tags(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(parts, ["\nwhy", "yes"]);
        assert_eq!(between_tags("no tags"), vec![0..7]);
        assert!(between_tags("").is_empty());
    }
}
