//! The tags around a model's reasoning. Templates look for them in the model's own messages, so they stay whole there.

use std::ops::Range;

use crate::text::thinking::{FORMATS, Format};

/// Whether this is exactly a reasoning tag.
pub(super) fn is_tag(text: &str) -> bool {
    tags().any(|tag| tag == text)
}

/// The tags that templates split the model's messages at. Words that a person could say, and channels that are more than a tag,
/// are not among them.
fn tags() -> impl Iterator<Item = &'static str> {
    let both = FORMATS
        .iter()
        .flat_map(|format| [format.open.as_ref(), format.close.as_ref()]);
    both.filter(|tag| !tag.contains(' ') && !tag.contains("<|") && !tag.contains("|>"))
        // Gemma 4's template looks for the beginning of the channel alone.
        .chain(["<|channel>", "<channel|>"])
}

/// The stretches between reasoning tags; one that is the whole text where there are none.
pub(super) fn between_tags(text: &str) -> Vec<Range<usize>> {
    let mut tags: Vec<_> = tags()
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

/// The ways in which a model with this template may mark its thinking: all that are known, and tags of its own that the template
/// takes out of the model's messages.
pub(super) fn formats(template: &str) -> Vec<Format> {
    let mut formats = FORMATS.to_vec();
    for (at, _) in template.match_indices("</") {
        let rest = &template[at + 2..];
        let Some(name) = rest.find('>').and_then(|end| rest.get(..end)) else {
            continue;
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':');
        let says_so = ["think", "thought", "reason", "reflect"]
            .iter()
            .any(|word| name.to_ascii_lowercase().contains(word));
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        let known = formats.iter().any(|format| format.open == open);
        if says_so && name.len() < LONGEST && name.chars().all(plain) && template.contains(&open) && !known {
            formats.push(Format::tags(&open, &close));
        }
    }
    formats
}

/// A tag's name is a word or two, in bytes.
const LONGEST: usize = 40;

/// The format whose thinking the prompt has begun already, by its index: templates of models that always think do so.
pub fn begun(formats: &[Format], prompt: &str) -> Option<usize> {
    let prompt = prompt.trim_end();
    formats.iter().position(|format| prompt.ends_with(format.open.as_ref()))
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

    #[test]
    fn a_template_tells_of_tags_of_its_own() {
        let template = "{{ m.content.split('</my_reasoning>')[-1] }}{{ '<my_reasoning>' }}</html></think>";
        let formats = formats(template);
        let own: Vec<_> = formats[FORMATS.len()..]
            .iter()
            .map(|format| format.open.as_ref())
            .collect();
        assert_eq!(own, ["<my_reasoning>"]);
        assert_eq!(begun(&formats, "model\n<my_reasoning>\n"), Some(FORMATS.len()));
        assert_eq!(begun(&formats, "model\n<think>\n\n</think>\n\n"), None);
    }
}
