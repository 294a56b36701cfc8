//! Loops that are planted are found, and answers that only look like loops are not.

#![allow(clippy::format_collect, reason = "texts of a few lines")]

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::tail::LONGEST;
use super::*;

/// Tokens as vocabularies make them, near enough: words with their blank and at most four letters, digits and signs by themselves.
fn split(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut last = ' ';
    for (at, c) in text.char_indices() {
        let joins = c.is_alphabetic() && (last.is_alphabetic() || last == ' ') && at - start < 5;
        let blanks = c == ' ' && last == ' ';
        if at > start && !joins && !blanks {
            pieces.push(&text[start..at]);
            start = at;
        }
        last = c;
    }
    pieces.push(&text[start..]);
    pieces
}

fn token(piece: &str) -> Token {
    Token(piece.chars().fold(OFFSET, hash).cast_signed())
}

/// What is told of a text, and behind how many tokens.
fn told(text: &str) -> Option<(usize, Repetition)> {
    let mut watch = Watch::default();
    let pieces = split(text);
    let mut pieces = pieces.iter().enumerate();
    pieces.find_map(|(at, piece)| Some((at + 1, watch.push(Some(token(piece)), piece)?)))
}

/// Numbers that are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        // Knuth's MMIX generator; its upper bits are the better ones.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

const NOUNS: [&str; 24] = [
    "cord", "knot", "river", "llama", "weaver", "count", "wool", "morning", "village", "road", "stone", "harvest",
    "potter", "letter", "bridge", "market", "song", "window", "boat", "valley", "teacher", "garden", "mirror", "lamp",
];
const VERBS: [&str; 12] = [
    "carries",
    "reads",
    "follows",
    "mends",
    "leaves",
    "remembers",
    "colours",
    "finds",
    "draws",
    "keeps",
    "counts",
    "answers",
];
const ADJECTIVES: [&str; 10] = [
    "old", "long", "quiet", "red", "narrow", "heavy", "bright", "early", "distant", "plain",
];

fn sentence(dice: &mut Dice) -> String {
    format!(
        "The {} {} {} the {} near a {} {}, and the {} {} it. ",
        dice.of(&ADJECTIVES),
        dice.of(&NOUNS),
        dice.of(&VERBS),
        dice.of(&NOUNS),
        dice.of(&ADJECTIVES),
        dice.of(&NOUNS),
        dice.of(&NOUNS),
        dice.of(&VERBS),
    )
}

fn prose(dice: &mut Dice, sentences: usize) -> String {
    (0..sentences).map(|_| sentence(dice)).collect()
}

/// An answer that has no loop, however it looks: one of many kinds, each with its own numbers and words.
#[allow(clippy::too_many_lines, reason = "one kind after another")]
fn harmless(kind: usize, dice: &mut Dice) -> String {
    let lines = 4 + dice.below(20);
    let noun = dice.of(&NOUNS);
    let body: String = match kind {
        0 => prose(dice, lines),
        // Three verses with a refrain of two lines between them, the last time twice.
        1 => {
            let refrain = format!("O {noun}, my {noun}, come home to me,\ncome home, come home, come home to me.\n\n");
            let verse = |dice: &mut Dice| format!("{}\n{}\n\n", sentence(dice), sentence(dice));
            let verses: String = (0..3).map(|_| verse(dice) + &refrain).collect();
            verses + &refrain
        }
        // A litany: every line begins and ends in the same way.
        2 => (0..lines)
            .map(|_| {
                format!(
                    "For the {} that {}, we give thanks.\n",
                    dice.of(&NOUNS),
                    dice.of(&VERBS)
                )
            })
            .collect(),
        3 => format!(
            "She laughed: {}and {}.\n",
            "ha ".repeat(3 + dice.below(12)),
            "no, ".repeat(dice.below(9))
        ),
        // A table of numbers.
        4 => {
            let row = |n: usize| format!("| {n} | {} | {} | {} |\n", n * 7, n * n, 1000 - n);
            "| n | times seven | square | left |\n|---|---|---|---|\n".to_owned()
                + &(1..3 * lines).map(row).collect::<String>()
        }
        5 => (1..=12).map(|n| format!("7 x {n} = {}\n", 7 * n)).collect(),
        // A table in which most cells are alike.
        6 => {
            let row = |dice: &mut Dice| format!("| {} | yes | no | yes | yes |\n", dice.of(&NOUNS));
            (0..lines).map(|_| row(dice)).collect()
        }
        // Zeros, as matrices have them.
        7 => format!(
            "```c\nint m[8][8] = {{\n{}}};\n```\n",
            format!("  {{{}}},\n", "0, ".repeat(8)).repeat(8)
        ),
        8 => {
            let test = |n: usize| format!("    assert_eq!(add({n}, 2), {});\n", n + 2);
            format!(
                "```rust\nfn adds() {{\n{}}}\n```\n",
                (0..lines).map(test).collect::<String>()
            )
        }
        9 => {
            let item = |n: usize| format!("  {{\"id\": {n}, \"name\": \"{noun}\", \"active\": true, \"tags\": []}},\n");
            format!("```json\n[\n{}]\n```\n", (0..lines).map(item).collect::<String>())
        }
        10 => "<tr><td></td><td></td><td></td></tr>\n".repeat(2 + dice.below(4)) + &prose(dice, 2),
        // A box, a rule and steps.
        11 => {
            let wide = 10 + dice.below(40);
            let edge = format!("+{}+\n", "-".repeat(wide));
            let wall = format!("|{}|\n", " ".repeat(wide)).repeat(lines);
            format!("{edge}{wall}{edge}{}\n", "=".repeat(80))
        }
        12 => (1..lines).map(|n| "#".repeat(n) + "\n").collect(),
        // What a drawing of waves is.
        13 => format!("{}\n", "~^".repeat(40)).repeat(lines),
        // A plan: days with a counter, and little else.
        14 => (1..=30)
            .map(|day| format!("Day {day}: walk {} km, rest {} minutes.\n", day + 2, 5 * day))
            .collect(),
        15 => (0..lines)
            .map(|n| format!("{}. **{}**: {}\n", n + 1, dice.of(&NOUNS), sentence(dice)))
            .collect(),
        // Countries and their capitals: two words change.
        16 => (0..lines)
            .map(|_| {
                format!(
                    "The capital of the {} of {} is {}. ",
                    dice.of(&NOUNS),
                    dice.of(&NOUNS),
                    dice.of(&NOUNS)
                )
            })
            .collect(),
        17 => (0..lines)
            .map(|n| format!("{}/0{}/2024,{}.5,{}.25\n", n % 28 + 1, n % 9 + 1, n * 3, n * 11))
            .collect(),
        18 => {
            let step = |n: usize| format!("    case {n}: return \"{noun}\"; break;\n");
            format!(
                "```c\nswitch (n) {{\n{}}}\n```\n",
                (0..lines).map(step).collect::<String>()
            )
        }
        _ => (0..lines)
            .map(|_| format!("「{noun}」と「{}」です。\n", dice.of(&NOUNS)))
            .collect(),
    };
    prose(dice, 2) + "\n\n" + &body + "\n" + &prose(dice, 2)
}

#[test]
fn a_thousand_answers_without_a_loop_raise_no_alarm() {
    let dice = &mut Dice(1);
    for n in 0..1000 {
        let text = harmless(n % 20, dice);
        assert_eq!(told(&text), None, "kind {}: {text}", n % 20);
    }
}

/// Tokens of a loop that make it certain: three of its periods, and no fewer than there must be.
fn certain(period: usize, least: usize) -> usize {
    (3 * period).max(least)
}

#[test]
fn every_planted_loop_is_found_within_three_periods() {
    let dice = &mut Dice(2);
    for period in (1..=LONGEST).filter(|period| *period < 40 || period.is_multiple_of(23) || *period == LONGEST) {
        let before = prose(dice, 3);
        // Words that are no others' beginnings, one token each.
        let unit: String = (0..period)
            .map(|n| format!(" {}{}", dice.of(&["ka", "le", "mi", "no"]), n))
            .collect();
        let unit: Vec<&str> = unit.split_inclusive(|c: char| c.is_ascii_digit()).collect();
        let unit = &unit[..period];
        let mut watch = Watch::default();
        for piece in split(&before) {
            assert_eq!(watch.push(Some(token(piece)), piece), None);
        }
        let first = split(&before).len();
        let found = (1..)
            .zip(unit.iter().cycle())
            .find_map(|(at, piece)| Some((at, watch.push(Some(token(piece)), piece)?)));
        let (at, found) = found.expect("an endless loop");
        assert!(
            at <= certain(period, PROSE),
            "period {period} was found after {at} tokens"
        );
        assert_eq!(found.first, first, "period {period}");
        assert_eq!(
            found.bytes,
            unit.iter().cycle().take(at).map(|piece| piece.len()).sum::<usize>()
        );
    }
}

#[test]
fn a_word_over_and_over_is_a_loop() {
    for word in ["rect ", "wort", "日本"] {
        let (at, found) = told(&("The capital is ".to_owned() + &word.repeat(200))).expect(word);
        assert!(at < 200 && found.times >= 3 && !found.changing, "{word}: {found:?}");
        assert_eq!(found.unit.len(), word.len(), "{word}: {found:?}");
    }
}

/// One sentence of a near loop.
type Frame = fn(usize, &mut Dice) -> String;

#[test]
fn a_counter_or_a_word_that_changes_hides_no_loop() {
    let dice = &mut Dice(3);
    let frames: [Frame; 3] = [
        |n, _| {
            format!("Step {n}: take the long cord in your left hand and tie the next knot just below the last one.\n")
        },
        |n, _| {
            format!("On day {n} we went down to the river, washed the wool, and came back before the evening bell.\n")
        },
        |_, dice| {
            format!(
                "I think that the {} is what we were looking for all along, so let me check it again.\n",
                dice.of(&NOUNS)
            )
        },
    ];
    for frame in frames {
        let text = prose(dice, 2) + &(8..40).map(|n| frame(n, dice)).collect::<String>();
        let (at, found) = told(&text).expect("a near loop");
        let (before, period) = (split(&prose(&mut Dice(3), 2)).len(), split(&frame(9, dice)).len());
        assert!(found.changing, "{found:?}");
        // The word that ends the third period is known by what follows it.
        assert!(at <= before + 3 * period + period / 2, "{at} tokens: {found:?}");
        assert!(text[text.find(&found.unit).expect("said")..].starts_with(&found.unit));
    }
}

#[test]
fn a_loop_in_code_takes_longer_to_be_certain() {
    let text = format!("```c\n{}", "    printf(\"knot\\n\");\n".repeat(100));
    let (at, found) = told(&text).expect("a loop");
    assert!((CODE..CODE + 30).contains(&at), "{at}: {found:?}");
    for (signs, least) in [("!", RULE), ("-+", RULE), ("|x|\n".replace('x', " ").as_str(), DRAWING)] {
        let text = format!("So:\n{}", signs.repeat(5000));
        let (at, _) = told(&text).expect("a loop of signs");
        assert!((least..least + 10).contains(&at), "{signs}: {at}");
    }
}

#[test]
fn a_loop_is_told_once_and_the_next_one_again() {
    let loops = ["rect ".repeat(200), prose(&mut Dice(4), 4), "wort ".repeat(200)].concat();
    let mut watch = Watch::default();
    let found: Vec<_> = split(&loops)
        .into_iter()
        .filter_map(|piece| watch.push(Some(token(piece)), piece))
        .collect();
    assert_eq!(found.len(), 2, "{found:?}");
}

proptest! {
    #[test]
    fn any_text_in_any_pieces_is_watched(pieces in proptest::collection::vec((any::<Option<i32>>(), "\\PC{0,6}|[a-c 0-9`\n]{0,6}"), 0..200)) {
        let mut watch = Watch::default();
        let mut text = String::new();
        for (id, piece) in pieces {
            text.push_str(&piece);
            if let Some(found) = watch.push(id.map(|id| Token(id % 3)), &piece) {
                prop_assert!(found.times >= 3 && text.is_char_boundary(text.len() - found.bytes), "{:?}", found);
            }
        }
    }
}
