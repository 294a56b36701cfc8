//! The special-token texts of a vocabulary, and where a text spells them. Knows nothing of templates.

use std::ops::Range;

use aho_corasick::AhoCorasick;

use super::error::TemplateError;
use crate::text::sanitize_line;

/// What a vocabulary says a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerKind {
    /// Control or unknown: never ordinary text.
    Control,
    /// Matched in any text by llama.cpp. Some are turn markers that a converter mislabelled, others ordinary text such as
    /// runs of blanks and HTML tags.
    UserDefined,
}

/// Texts that must not become one token where a person typed them.
#[derive(Clone, Debug, Default)]
pub struct Markers {
    texts: Vec<String>,
    /// None where there is nothing to find.
    finder: Option<AhoCorasick>,
}

impl Markers {
    /// No markers: for vocabularies without special tokens, and for looking at a template alone.
    pub fn none() -> Self {
        Self::default()
    }

    /// Builds the search from the texts of all control, unknown and user-defined tokens. Texts of one character cannot be
    /// cut and are left out; so are user-defined tokens that are ordinary text.
    pub fn new<T: AsRef<str>>(tokens: impl IntoIterator<Item = (T, MarkerKind)>) -> Result<Self, TemplateError> {
        let mut texts: Vec<String> = tokens
            .into_iter()
            .filter(|(text, kind)| {
                let text = text.as_ref();
                text.chars().nth(1).is_some() && (*kind == MarkerKind::Control || is_structural(text))
            })
            .map(|(text, _)| text.as_ref().to_owned())
            .collect();
        texts.sort_unstable();
        texts.dedup();
        if texts.is_empty() {
            return Ok(Self::none());
        }
        let finder = AhoCorasick::new(&texts).map_err(|error| TemplateError::Markers {
            said: sanitize_line(&error.to_string()).into_owned(),
        })?;
        Ok(Self {
            texts,
            finder: Some(finder),
        })
    }

    /// The texts, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(String::as_str)
    }

    /// Every place where the text spells a marker, overlapping ones too, in order of their ends; of those with one end the
    /// longest first.
    pub(super) fn occurrences<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
        self.finder
            .iter()
            .flat_map(move |finder| finder.find_overlapping_iter(text).map(|found| found.range()))
    }

    /// Whether text that comes before this content could make a marker with its beginning.
    pub(super) fn may_reach_in_from_left(&self, content: &str) -> bool {
        self.splits()
            .any(|(_, end)| content.starts_with(end) || end.starts_with(content))
    }

    /// Whether text that comes after this content could make a marker with its end.
    pub(super) fn may_reach_in_from_right(&self, content: &str) -> bool {
        self.splits()
            .any(|(start, _)| content.ends_with(start) || start.ends_with(content))
    }

    /// Every marker, split in two at every place.
    fn splits(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts
            .iter()
            .flat_map(|text| text.char_indices().skip(1).map(|(at, _)| text.split_at(at)))
    }
}

/// Elements that vocabularies list as user-defined tokens for the sake of web pages, not to structure a conversation.
const HTML: [&str; 34] = [
    "a",
    "b",
    "blockquote",
    "body",
    "br",
    "caption",
    "code",
    "div",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "hr",
    "html",
    "i",
    "li",
    "ol",
    "p",
    "s",
    "span",
    "strong",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
];

/// Whether a user-defined token has the look of a marker: brackets or bars around it, and not plain HTML.
fn is_structural(text: &str) -> bool {
    let bracketed = text.contains(['<', '>', '[', ']', '{', '}', '|', '｜', '◁', '▷']);
    let element = text
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'))
        .map(|name| name.strip_prefix('/').unwrap_or(name))
        .is_some_and(|name| HTML.contains(&name) || name == "u" || name == "ul");
    bracketed && !element
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn ordinary_text_is_no_marker() {
        let user = [
            "<table>",
            "</h1>",
            "  ",
            "\n\n",
            "für",
            "<|start|>",
            "</think>",
            "[INST]",
            "ab",
        ];
        let markers = Markers::new(user.map(|text| (text, MarkerKind::UserDefined))).unwrap();
        assert_eq!(markers.texts, ["</think>", "<|start|>", "[INST]"]);
        // In a Llama vocabulary this is no strikethrough.
        let control = [
            ("<s>", MarkerKind::Control),
            ("x", MarkerKind::Control),
            ("", MarkerKind::Control),
        ];
        assert_eq!(Markers::new(control).unwrap().texts, ["<s>"]);
        assert_eq!(Markers::none().occurrences("<s>").count(), 0);
    }

    #[test]
    fn overlapping_occurrences_are_all_found() {
        let markers = Markers::new(["aba", "ba", "bab"].map(|text| (text, MarkerKind::Control))).unwrap();
        let found: Vec<_> = markers.occurrences("ababa").collect();
        assert_eq!(found, [0..3, 1..3, 1..4, 2..5, 3..5]);
    }

    #[test]
    fn knows_which_edges_could_be_completed() {
        let markers = Markers::new([("<|end|>", MarkerKind::Control)]).unwrap();
        assert!(markers.may_reach_in_from_left("d|> and more") && markers.may_reach_in_from_left("n"));
        assert!(!markers.may_reach_in_from_left("<|end|") && !markers.may_reach_in_from_left("hello"));
        assert!(markers.may_reach_in_from_right("so: <|") && markers.may_reach_in_from_right("end"));
        assert!(!markers.may_reach_in_from_right("|end|>") && !markers.may_reach_in_from_right("hello"));
    }
}
