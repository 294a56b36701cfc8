//! What terminals tell, what people write, and that both come to the same chord.

use proptest::prelude::*;

use super::*;

fn told(code: KeyCode, modifiers: KeyModifiers) -> String {
    KeyChord::of(KeyEvent::new(code, modifiers)).map_or_else(String::new, |c| c.to_string())
}

#[test]
fn what_terminals_tell_has_one_name() {
    const ALT: KeyModifiers = KeyModifiers::ALT;
    const CTRL: KeyModifiers = KeyModifiers::CONTROL;
    const SHIFT: KeyModifiers = KeyModifiers::SHIFT;
    // Old terminals tell the letter, those with the kitty protocol the key and Shift.
    assert_eq!(told(KeyCode::Char('R'), ALT | SHIFT), "alt-R");
    assert_eq!(told(KeyCode::Char('R'), ALT), "alt-R");
    assert_eq!(told(KeyCode::Char('r'), ALT | SHIFT), "alt-R");
    assert_eq!(told(KeyCode::Char('P'), CTRL), "ctrl-p");
    assert_eq!(told(KeyCode::Char('p'), CTRL | SHIFT), "ctrl-p");
    assert_eq!(told(KeyCode::Char('?'), SHIFT), "?");
    assert_eq!(told(KeyCode::Char('ß'), SHIFT), "ß");
    assert_eq!(told(KeyCode::BackTab, SHIFT), "shift-tab");
    assert_eq!(told(KeyCode::BackTab, KeyModifiers::NONE), "shift-tab");
    assert_eq!(told(KeyCode::Enter, SHIFT), "shift-enter");
    // Line feed and backspace are also letters with Control; they stay apart from the keys.
    assert_eq!(told(KeyCode::Char('j'), CTRL), "ctrl-j");
    assert_eq!(told(KeyCode::Enter, KeyModifiers::NONE), "enter");
    assert_eq!(told(KeyCode::Char('h'), CTRL), "ctrl-h");
    assert_eq!(told(KeyCode::Backspace, KeyModifiers::NONE), "backspace");
    assert_eq!(told(KeyCode::F(20), KeyModifiers::NONE), "");
}

#[test]
fn a_held_modifier_is_never_overlooked() {
    assert_eq!(told(KeyCode::Char('c'), KeyModifiers::SUPER), "super-c");
    assert_eq!(told(KeyCode::Char('c'), KeyModifiers::HYPER), "");
    assert!(!"super-c".parse::<KeyChord>().unwrap().is_text());
    assert!("c".parse::<KeyChord>().unwrap().is_text());
    let release = KeyEvent::new_with_kind(KeyCode::Enter, KeyModifiers::NONE, KeyEventKind::Release);
    assert_eq!(KeyChord::of(release), None);
}

#[test]
fn the_same_chord_may_be_written_in_several_ways() {
    for (one, other) in [
        ("Ctrl-P", "control-p"),
        ("ctrl-p", "ctrl-P"),
        ("alt-shift-r", "alt-R"),
        ("shift-é", "É"),
        ("cmd-k", "super-k"),
        ("shift-space", "space"),
        ("escape", "esc"),
        ("Return", "enter"),
    ] {
        assert!(one.parse::<KeyChord>().is_ok(), "{one}");
        assert_eq!(one.parse::<KeyChord>(), other.parse::<KeyChord>());
    }
}

#[test]
fn a_mistake_comes_with_its_remedy() {
    let words = |text: &str| text.parse::<KeyChord>().unwrap_err().to_string();
    insta::assert_snapshot!(
        ["", "ctrl-", "hyper-x", "crtl-x", "f13", "shift-1", "ctrl-shift-p", "ctrl-alt", "pgup"].map(words).join("\n"),
        @r"
    '' is no key: write it as 'ctrl-p', 'alt-enter', 'f1' or '?'
    'ctrl-' is no key: a key has to follow the modifiers
    'hyper-x' is no key: 'hyper' is no modifier; did you mean 'super'?
    'crtl-x' is no key: 'crtl' is no modifier; did you mean 'ctrl'?
    'f13' is no key: function keys go from 'f1' to 'f12'
    'shift-1' is no key: write the character that Shift makes of '1'
    'ctrl-shift-p' is no key: with Ctrl a terminal tells no Shift; write 'ctrl-p'
    'ctrl-alt' is no key: a key has to follow the modifiers
    'pgup' is no key; did you mean 'pageup'?
    "
    );
}

/// A key event of any kind that can be bound.
fn event() -> impl Strategy<Value = KeyEvent> {
    let code = prop_oneof![
        "[ -~éÉß日]".prop_map(|c| KeyCode::Char(c.chars().next().unwrap())),
        (1_u8..=12).prop_map(KeyCode::F),
        (0..NAMED.len()).prop_map(|n| NAMED[n].1),
        Just(KeyCode::BackTab),
    ];
    let held = (0_u8..16).prop_map(|bits| {
        let pick = MODIFIERS.iter().enumerate().filter(|(n, _)| bits & (1 << n) != 0);
        pick.map(|(_, (_, modifier))| *modifier).collect::<KeyModifiers>()
    });
    (code, held).prop_map(|(code, held)| KeyEvent::new(code, held))
}

proptest! {
    #[test]
    fn writing_and_reading_agree(event in event()) {
        let chord = KeyChord::of(event).unwrap();
        prop_assert_eq!(chord.to_string().parse::<KeyChord>(), Ok(chord));
    }

    #[test]
    fn no_text_is_too_odd_to_read(text in ".{0,12}") {
        if let Ok(chord) = text.parse::<KeyChord>() {
            prop_assert_eq!(chord.to_string().parse::<KeyChord>(), Ok(chord));
        }
    }
}
