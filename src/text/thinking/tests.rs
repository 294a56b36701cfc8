//! Every format, cut anywhere, with tags that are tokens and tags that are text.

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;
use crate::domain::inference::{Part, Token};

/// Tags that are tokens of the vocabulary of these tests; their ids are their places.
const MARKS: [&str; 7] = [
    "<|channel|>",
    "<|message|>",
    "<|end|>",
    "<|start|>",
    "<|START_THINKING|>",
    "<|END_THINKING|>",
    "<|START_RESPONSE|>",
];

/// Takes a text apart as a vocabulary with these tokens would.
fn units(marks: &[&str], mut text: &str) -> Vec<Unit> {
    let mut units = Vec::new();
    while let Some(c) = text.chars().next() {
        let mark = marks.iter().position(|mark| text.starts_with(mark));
        units.push(mark.map_or(Unit::Char(c), |id| Unit::Mark(Token(id as i32))));
        text = &text[mark.map_or(c.len_utf8(), |id| marks[id].len())..];
    }
    units
}

fn splitter(marks: &[&str], begun: Option<usize>) -> Splitter {
    Splitter::new(&FORMATS, |tag| units(marks, tag), |_| String::new(), begun)
}

/// What a stream comes to: thinking and answer.
fn split_with(marks: &[&str], begun: Option<usize>, stream: &str) -> (String, String) {
    let mut splitter = splitter(marks, begun);
    let mut parts = Parts::new();
    for unit in units(marks, stream) {
        parts.extend(match unit {
            Unit::Char(c) => splitter.push(&c.to_string()),
            Unit::Mark(token) => splitter.mark(token),
        });
    }
    parts.extend(splitter.finish());
    let of = |part| {
        let said = parts.iter().filter(|(of, _)| *of == part);
        said.map(|(_, text)| text.as_str()).collect()
    };
    (of(Part::Thinking), of(Part::Answer))
}

fn split(stream: &str) -> (String, String) {
    split_with(&[], None, stream)
}

fn two(thinking: &str, answer: &str) -> (String, String) {
    (thinking.to_owned(), answer.to_owned())
}

#[test]
fn every_format_is_told_from_the_answer() {
    for (at, format) in FORMATS.iter().enumerate() {
        let (open, close) = (&format.open, &format.close);
        let stream = format!("{open}\nwhy not\n\nso\n{close}\n\nBecause.\n");
        for marks in [&MARKS[..], &[]] {
            assert_eq!(
                split_with(marks, None, &stream),
                two("why not\n\nso", "Because.\n"),
                "{open}"
            );
            let rest = &stream[open.len()..];
            assert_eq!(
                split_with(marks, Some(at), rest),
                two("why not\n\nso", "Because.\n"),
                "{open}"
            );
        }
    }
}

#[test]
fn channels_and_wrappers_are_no_part_of_the_answer() {
    let harmony = "<|channel|>analysis<|message|>Let me see.<|end|><|start|>assistant<|channel|>final<|message|>Paris.";
    assert_eq!(split_with(&MARKS, None, harmony), two("Let me see.", "Paris."));
    let twice = "<|channel|>analysis<|message|>One.<|end|><|start|>assistant<|channel|>analysis<|message|> Two.<|end|>\
                 <|start|>assistant<|channel|>final<|message|>Three.";
    assert_eq!(split_with(&MARKS, None, twice), two("One.Two.", "Three."));
    let direct = "<|channel|>final<|message|>Paris.";
    assert_eq!(split_with(&MARKS, None, direct), two("", "Paris."));
    let hasty = "<|channel|>analysis<|message|>Hm<|channel|>final<|message|>Paris.";
    assert_eq!(split_with(&MARKS, None, hasty), two("Hm", "Paris."));
    let command = "<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>Paris.<|END_RESPONSE|>";
    assert_eq!(split_with(&MARKS, None, command), two("Hm.", "Paris."));
    assert_eq!(
        split("<think>a</think><response>b</response>"),
        two("a", "b"),
        "spelled wrappers count behind thinking"
    );
    assert_eq!(
        split("<answer>b</answer>"),
        two("", "<answer>b</answer>"),
        "and only there"
    );
}

#[test]
fn an_answer_about_tags_stays_whole() {
    for answer in [
        "The tag <think> begins it, and </think> ends it.",
        "a <",
        "</think>",
        "  indented",
        "\n\n",
        "<thin",
        "<think",
        "",
    ] {
        assert_eq!(split(answer), two("", answer));
    }
    assert_eq!(
        split("<think>a</think>b <think>c</think>"),
        two("a", "b <think>c</think>")
    );
    // As a token it was meant.
    let marks = ["<think>", "</think>"];
    assert_eq!(split_with(&marks, None, "a<think>b</think>c"), two("b", "ac"));
}

#[test]
fn what_is_cut_off_is_kept() {
    assert_eq!(split("<think>half a thou"), two("half a thou", ""));
    assert_eq!(split("<think>why</thin"), two("why</thin", ""));
    assert_eq!(split_with(&[], Some(0), "</think>"), two("", ""));
}

#[test]
fn a_mark_that_is_no_tag_where_it_stands_is_its_text() {
    let marks = ["</think>"];
    let visible = |_| "</think>".to_owned();
    let mut splitter = Splitter::new(&FORMATS, |tag| units(&marks, tag), visible, None);
    assert!(splitter.is_mark(Token(0)) && !splitter.is_mark(Token(1)));
    let parts = [splitter.push("see "), splitter.mark(Token(0))].concat();
    assert_eq!(
        parts.iter().map(|(_, text)| text.as_str()).collect::<String>(),
        "see </think>"
    );
}

proptest! {
    #[test]
    fn a_text_without_tags_comes_through(text in "[a-z<>/ \n]{0,40}") {
        prop_assume!(!text.contains("think"));
        prop_assert_eq!(split(&text), two("", &text));
    }

    #[test]
    fn nothing_but_blanks_and_tags_is_lost(thinking in "[a-z<\n ]{0,20}", answer in "[a-z< \n]{0,20}") {
        let (thought, said) = split(&format!("<think>{thinking}</think>{answer}"));
        prop_assert_eq!(thought, thinking.trim());
        prop_assert_eq!(said, answer.trim_start());
    }
}
