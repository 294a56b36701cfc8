//! What hands do in the composer, and how it wraps, folds and counts.

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Position;

use super::*;
use crate::ui::theme;

/// Draws at this size; returns the rows and where the cursor is.
fn drawn(composer: &Composer, columns: u16, rows: u16) -> (Vec<String>, Position) {
    let (theme, _) = theme::load("quipu", None);
    // A column more, for the cursor behind a full row.
    let mut terminal = Terminal::new(TestBackend::new(columns + 1, rows)).unwrap();
    let area = Rect::new(0, 0, columns, rows);
    terminal
        .draw(|frame| {
            composer.draw(frame, area, &theme, "write");
            composer.place_cursor(frame, area);
        })
        .unwrap();
    let buffer = terminal.backend().buffer();
    let row = |y| (0..columns).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    let shown = (0..rows).map(|y| row(y).trim_end().to_owned()).collect();
    (shown, terminal.backend().cursor_position())
}

fn written(text: &str) -> Composer {
    let mut composer = Composer::default();
    composer.set_text(text);
    composer
}

fn press_all(composer: &mut Composer, chords: &[&str]) {
    for chord in chords {
        press(composer, chord);
    }
}

fn press(composer: &mut Composer, chord: &str) -> bool {
    let mut modifiers = KeyModifiers::NONE;
    let mut name = chord;
    for (prefix, modifier) in [("ctrl-", KeyModifiers::CONTROL), ("alt-", KeyModifiers::ALT)] {
        if let Some(rest) = name.strip_prefix(prefix) {
            (modifiers, name) = (modifiers | modifier, rest);
        }
    }
    let code = match name {
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "up" => KeyCode::Up,
        "backspace" => KeyCode::Backspace,
        "delete" => KeyCode::Delete,
        c => KeyCode::Char(c.chars().next().unwrap()),
    };
    composer.key(KeyEvent::new(code, modifiers))
}

#[test]
fn every_editing_key_does_what_the_help_says() {
    // The bar is where the cursor stands afterwards, from the end of "two" in "one two| three".
    let effect = |chord: &str| match chord {
        "ctrl-a" => "|one two three",
        "ctrl-e" => "one two three|",
        "alt-b" => "one |two three",
        "alt-f" => "one two |three",
        "ctrl-w" => "one | three",
        "alt-d" | "ctrl-k" => "one two|",
        "ctrl-u" => "| three",
        "alt-y" | "ctrl-_" | "alt-_" => "one two| three",
        other => panic!("{other} is not tried"),
    };
    for (chord, _) in EDITING {
        let mut composer = written("one two three");
        press_all(&mut composer, &["left"; 6]);
        match *chord {
            "alt-y" | "ctrl-_" => press_all(&mut composer, &["ctrl-w"]),
            "alt-_" => press_all(&mut composer, &["x", "backspace", "ctrl-_"]),
            _ => {}
        }
        press(&mut composer, chord);
        let mut seen = composer.text();
        seen.insert(composer.area.cursor().1, '|');
        assert_eq!(seen, effect(chord), "{chord}");
    }
}

#[test]
fn a_paste_is_text_and_nothing_else() {
    let mut composer = written("a");
    assert!(composer.paste("b\r\nc\rd\n\u{1b}[31me\u{7}\tf"));
    assert_eq!(composer.text(), "ab\nc\nd\n[31me\tf");
    assert!(!composer.paste("\u{0}\u{1b}"));
    assert!(!composer.key(KeyEvent::new(KeyCode::Char('v'), KeyModifiers::SUPER)));
    assert!(press(&mut composer, "ctrl-alt-@"), "AltGr writes");
    assert_eq!(composer.text(), "ab\nc\nd\n[31me\tf@");
}

#[test]
fn the_cursor_stands_behind_what_is_drawn() {
    for (text, column, row) in [
        ("", 0, 0),
        ("ab", 2, 0),
        ("日本", 4, 0),
        ("👩‍👩‍👧", 2, 0),
        ("e\u{301}x", 2, 0),
        ("a\tb", 5, 0),
        ("0123456789", 10, 0),
        ("0123456789a", 1, 1),
        ("one two three", 5, 1),
        ("a\n\nb", 1, 2),
    ] {
        let (shown, cursor) = drawn(&written(text), 10, 4);
        assert_eq!((cursor.x, cursor.y), (column, row), "{text:?}: {shown:?}");
    }
}

#[test]
fn keys_go_over_what_people_see_as_one_character() {
    let mut composer = written("a👩‍👩‍👧b");
    press(&mut composer, "left");
    press(&mut composer, "left");
    assert_eq!(composer.area.cursor().1, 1);
    press(&mut composer, "right");
    assert!(press(&mut composer, "backspace"));
    assert_eq!(composer.text(), "ab");
    assert!(press(&mut composer, "ctrl-_"));
    assert_eq!(composer.text(), "a👩‍👩‍👧b");
}

#[test]
fn the_edges_are_those_of_the_screen() {
    let mut composer = written("one two three four");
    drawn(&composer, 10, 4);
    assert!(composer.at_last_row() && !composer.at_first_row());
    press(&mut composer, "up");
    assert!(!composer.at_last_row() && composer.at_first_row());
}

#[test]
fn a_megabyte_is_folded_and_told_whole() {
    for long in ["x".repeat(1 << 20), "line\n".repeat(200_000), "\n".repeat(1 << 20)] {
        let mut composer = written("look: ");
        assert!(composer.paste(&long));
        let before = composer.bytes();
        for c in " why?".chars() {
            assert!(composer.key(KeyEvent::from(KeyCode::Char(c))));
        }
        assert_eq!(composer.bytes(), before + 5, "what is edited stays small");
        assert_eq!(composer.text(), format!("look: {long} why?"));
        let (shown, cursor) = drawn(&composer, 20, 2);
        assert_eq!(shown, ["look: ▤ why?", ""]);
        assert_eq!(cursor.x, 12);
        assert_eq!(composer.folded().unwrap().bytes, long.len());
        // It comes back from the history as it was, and goes and comes like a character.
        let whole = composer.text();
        composer.set_text("");
        assert!(composer.folded().is_none());
        composer.set_text(&whole);
        assert_eq!(drawn(&composer, 20, 1).0, ["look: ▤ why?"]);
        press_all(&mut composer, &["left"; 5]);
        assert!(press(&mut composer, "backspace"));
        assert_eq!(composer.text(), "look:  why?");
        assert!(press(&mut composer, "ctrl-_"));
        assert_eq!(composer.text(), whole);
    }
}

#[test]
fn private_characters_come_out_as_they_went_in() {
    let mut composer = written("a\u{100000}b");
    composer.paste("\u{100001}");
    composer.paste(&"y".repeat(MOST));
    let whole = format!("a\u{100000}b\u{100001}{}", "y".repeat(MOST));
    assert_eq!(composer.text(), whole);
    composer.set_text(&whole);
    assert_eq!(composer.text(), whole);
}

#[test]
fn putting_back_again_and_again_stays_bounded() {
    let mut composer = written(&"z".repeat(MOST - 10));
    press(&mut composer, "ctrl-u");
    for _ in 0..10 {
        press(&mut composer, "ctrl-y");
    }
    assert_eq!(composer.text().len(), 10 * (MOST - 10));
    assert!(composer.bytes() <= 2 * MOST + 2);
}

proptest! {
    #[test]
    fn the_height_is_what_is_drawn(text in "[a-c \t日👍é\u{301}\u{200d}ﾞ.\n-]{0,60}", width in 1_u16..24) {
        let composer = written(&text);
        drawn(&composer, width, 3);
        // The cursor is at the end.
        let rows = composer.area.screen_cursor().row + 1;
        prop_assert_eq!(usize::from(composer.height(width, u16::MAX)), rows);
        prop_assert_eq!(usize::from(composer.height(width, 2)), rows.min(2));
        prop_assert!(composer.at_last_row());
    }

    #[test]
    fn whatever_is_pasted_is_told(texts in proptest::collection::vec("[a-z\u{100000}\n]{0,40}", 0..6), at in 0..9_usize) {
        let mut composer = Composer::default();
        let mut whole = String::new();
        for text in texts {
            composer.paste(&text);
            whole.push_str(&text);
            prop_assert_eq!(&composer.text(), &whole);
        }
        press_all(&mut composer, &["left"].repeat(at));
        composer.set_text(&whole);
        prop_assert_eq!(composer.text(), whole);
    }
}
