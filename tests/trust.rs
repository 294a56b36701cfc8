//! Whatever a text says, and wherever it stands, a frame is made of the few sequences that frames are made of: random hostile text through
//! the real backend, read by a list of what is allowed and by a terminal emulator. `fuzz/` goes on where this ends.

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::allowed::{HOSTILE, breaches};
use crate::places::{PLACES, SIZES, alarms, state_with, written};

/// Pieces of the corpus between words and marks of markdown.
fn hostile() -> impl Strategy<Value = String> {
    let between = [
        "", " ", "word", "\n", "**", "`", "```\n", "| ", "$", "\\(", "[^1]", "](", "# ", "- ", "<b>",
    ];
    let piece = prop_oneof![
        3 => proptest::sample::select(HOSTILE.to_vec()),
        2 => proptest::sample::select(between.to_vec()),
    ];
    proptest::collection::vec(piece, 1..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn frames_are_made_of_what_is_allowed(
        text in hostile(),
        place in 0..PLACES,
        size in proptest::sample::select(SIZES.to_vec()),
    ) {
        let bytes = written(&state_with(place, &text), size);
        prop_assert_eq!(breaches(&bytes), BTreeSet::default(), "in place {}", place);
        prop_assert_eq!(alarms(&bytes, size), Vec::<String>::new(), "in place {}", place);
    }
}

#[test]
fn the_list_lets_frames_through_and_nothing_else() {
    for good in [
        "text",
        "\x1b[1;2H",
        "\x1b[38;2;1;2;3m",
        "\x1b[0m",
        "\x1b[?2026h",
        "\x1b[?25l",
        "\x1b[2J",
    ] {
        assert!(breaches(good.as_bytes()).is_empty(), "{good:?}");
    }
    for bad in HOSTILE.iter().filter(|piece| piece.contains('\x1b')) {
        let harmless = [
            "\x1b[2J",
            "\x1b[H",
            "\x1b[31m",
            "\x1b[8m",
            "\x1b[1;1H",
            "\x1b[?1049l",
            "\x1b[?2004l",
            "\x1b[?1003h",
        ];
        assert_eq!(breaches(bad.as_bytes()).is_empty(), harmless.contains(bad), "{bad:?}");
    }
}
