//! Keys in, text and cursor out, as hands know them from vi.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::{Composer, Mode};

/// The text with a bar where the cursor stands after these keys, which begin in normal mode at the bar of `before`; `\u{1b}` is Esc.
fn after(before: &str, keys: &str) -> String {
    let at = before.find('|').unwrap();
    let mut composer = Composer::default();
    composer.set_vi(true);
    composer.set_text(&before.replace('|', ""));
    composer.escape();
    let (row, line) = (
        before[..at].matches('\n').count(),
        before[..at].rfind('\n').map_or(0, |end| end + 1),
    );
    let column = before[line..at].chars().count();
    composer.jump(row, column);
    for c in keys.chars() {
        let code = if c == '\u{1b}' { KeyCode::Esc } else { KeyCode::Char(c) };
        if code == KeyCode::Esc {
            composer.escape();
        } else {
            composer.key(KeyEvent::new(code, KeyModifiers::NONE));
        }
    }
    let mut text = composer.text();
    let (row, column) = composer.place();
    let line: usize = text.split('\n').take(row).map(|line| line.len() + 1).sum();
    let within = text[line..]
        .char_indices()
        .nth(column)
        .map_or(text.len() - line, |(at, _)| at);
    text.insert(line + within, '|');
    text
}

#[test]
fn letters_move_and_change() {
    for (before, keys, expected) in [
        ("one| two", "x", "one|two"),
        ("|one two", "2x", "|e two"),
        ("|one two", "dw", "|two"),
        ("|one two three", "2dw", "|three"),
        ("one |two\nthree", "dw", "one |\nthree"),
        ("|one two three", "d2w", "|three"),
        ("one |two three", "cwx\u{1b}", "one |x three"),
        ("one tw|o", "db", "one |o"),
        ("one |two", "D", "one |"),
        ("one |two", "Cx\u{1b}", "one |x"),
        ("|one two", "wiA\u{1b}", "one |Atwo"),
        ("one |two", "0", "|one two"),
        ("|one two", "$", "one two|"),
        ("|one two", "ftx", "one |wo"),
        ("|one two", "2l", "on|e two"),
        ("|abc", "rx", "|xbc"),
        ("|abc", "2rx", "x|xc"),
        ("a\n|b\nc", "dd", "a\n|c"),
        ("a\nb\n|c", "dd", "a\n|b"),
        ("|a\nb\nc", "2dd", "|c"),
        ("|a", "dd", "|"),
        ("a\n|b\nc", "ccx\u{1b}", "a\n|x\nc"),
        ("|a\nb", "yyjp", "a\nb\n|a"),
        ("a\n|b", "yyP", "a\n|b\nb"),
        ("|ab", "xp", "b|a"),
        ("one |two", "yw0P", "tw|oone two"),
        ("|a\nb", "J", "a| b"),
        ("|a\nb", "ox\u{1b}", "a\n|x\nb"),
        ("a\n|b", "Ox\u{1b}", "a\n|x\nb"),
        ("|a\nb\nc", "G", "a\nb\n|c"),
        ("a\nb\n|c", "gg", "|a\nb\nc"),
        ("|one two", "vld", "|e two"),
        ("|one two", "vecx\u{1b}", "|x two"),
        ("|one two", "dwu", "one |two"),
        ("|日本語", "x", "|本語"),
    ] {
        assert_eq!(after(before, keys), expected, "{before:?} {keys:?}");
    }
}

#[test]
fn a_message_begins_in_insert_mode_and_esc_leaves_it() {
    let mut composer = Composer::default();
    composer.set_vi(true);
    assert_eq!(composer.mode(), Some(Mode::Insert));
    composer.key(KeyEvent::from(KeyCode::Char('x')));
    assert_eq!(composer.text(), "x");
    assert!(composer.wants_escape());
    composer.escape();
    assert_eq!(composer.mode(), Some(Mode::Normal));
    assert!(!composer.wants_escape(), "the next Esc is the screen's");
    composer.set_text("");
    assert_eq!(composer.mode(), Some(Mode::Insert));
    composer.set_vi(false);
    assert_eq!((composer.mode(), composer.wants_escape()), (None, false));
}

proptest! {
    #[test]
    fn any_keys_will_do(text in "[a-c \n日]{0,20}", keys in "[a-zA-Z0-9$^ \u{1b}]{0,30}") {
        let shown = after(&format!("|{text}"), &keys);
        prop_assert!(shown.contains('|'));
    }
}
