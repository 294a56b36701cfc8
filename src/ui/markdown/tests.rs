//! Whole pages, hostile nesting, and streaming against rendering.

use proptest::prelude::*;

use super::wrap::columns;
use super::*;
use crate::ui::theme::load;

fn shown(source: &str, width: u16) -> String {
    let (theme, _) = load("quipu", None);
    render(source, width, &theme)
        .iter()
        .map(|line| line.to_string().trim_end().to_owned() + "\n")
        .collect()
}

#[test]
fn a_page_of_everything() {
    let source = "# Title\n\nSome *text* with **weight**, `code` and [a link](https://example.org/far/away).\n\n\
        - one\n- two\n  goes on\n  1. inner\n  2. second\n\n> quoted words that are long enough to wrap\n\n\
        ```rust\nfn main() {}\n    indented\n```\n\n---\n\n- [x] done\n- [ ] open\n\nlast  \nbreak <b>html</b>\n";
    insta::assert_snapshot!(shown(source, 36), @r"
    Title

    Some text with weight, code and a
    link (example.org).

    • one
    • two goes on
      1. inner
      2. second

    ▎ quoted words that are long enough
    ▎ to wrap

    rust
    fn main() {}
        indented

    ────────────────────────────────────

    • ☑ done
    • ☐ open

    last
    break <b>html</b>
    ");
}

#[test]
fn a_table_fits_its_line() {
    let source = "| country | capital |\n|---|--:|\n| France | Paris |\n| Bolivia, which has two of them | Sucre |\n";
    insta::assert_snapshot!(shown(source, 24), @r"
    country        │ capital
    ───────────────┼────────
    France         │   Paris
    Bolivia, which │   Sucre
    has two of     │
    them           │
    ");
}

#[test]
fn code_that_is_too_long_goes_on_with_a_mark() {
    insta::assert_snapshot!(shown("```\nlet value = compute(first, second);\n```", 16), @r"
    let value = comp
    ↪ ute(first, sec
    ↪ ond);
    ");
}

#[test]
fn hostile_nesting_ends_soon() {
    for open in [">", "[", "*", "- ", "![", "`", "_", "<a>"] {
        let source = open.repeat(10_000);
        let (theme, _) = load("quipu", None);
        let lines = render(&source, 20, &theme);
        assert!(lines.iter().all(|line| columns(&line.to_string()) <= 20), "{open}");
    }
}

/// Pieces of markdown that a stream may be cut into.
fn markdown() -> impl Strategy<Value = Vec<String>> {
    let piece = prop_oneof![
        Just("\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("# ".to_owned()),
        Just("- ".to_owned()),
        Just("  - ".to_owned()),
        Just("1. ".to_owned()),
        Just("> ".to_owned()),
        Just("```\n".to_owned()),
        Just("```rust\n".to_owned()),
        Just("    ".to_owned()),
        Just("| a | b |\n".to_owned()),
        Just("|---|---|\n".to_owned()),
        Just("---\n".to_owned()),
        Just("===\n".to_owned()),
        Just("**".to_owned()),
        Just("`".to_owned()),
        Just("[x]: y\n".to_owned()),
        Just("[x]".to_owned()),
        Just("<div>\n".to_owned()),
        "[a-z ]{1,12}",
    ];
    proptest::collection::vec(piece, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn streaming_ends_where_rendering_does(pieces in markdown(), width in 8_u16..50) {
        let (theme, _) = load("quipu", None);
        let mut live = Live::default();
        let mut source = String::new();
        for piece in pieces {
            source.push_str(&piece);
            let streamed: Vec<String> = live.update(&source, width, &theme).iter().map(|l| format!("{l:?}")).collect();
            let whole: Vec<String> = render(&source, width, &theme).iter().map(|l| format!("{l:?}")).collect();
            prop_assert_eq!(streamed, whole, "{:?}", source);
        }
    }

    #[test]
    fn no_line_is_wider_than_the_screen(pieces in markdown(), width in 1_u16..40) {
        let (theme, _) = load("quipu", None);
        for line in render(&pieces.concat(), width, &theme) {
            // A wide character on a line of one column has nowhere else to go.
            prop_assert!(columns(&line.to_string()) <= usize::from(width).max(2), "{:?}", line);
        }
    }
}
