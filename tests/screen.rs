//! Reading, finding and copying, by keys: the whole program on the scripted engine, without a terminal.

use crossterm::event::{Event, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use pretty_assertions::assert_eq;
use quipu::app::state::Scroll;
use quipu::run::Happening;

use crate::harness::Harness;

/// A long answer with the word `needle` on a few of its lines.
fn long() -> String {
    let lines: String = (0..60)
        .map(|n| {
            if n % 20 == 5 {
                format!("- {n} a Needle here\n")
            } else {
                format!("- {n}\n")
            }
        })
        .collect();
    format!("[[answer]]\ntext = \"\"\"{lines}\"\"\"")
}

#[test]
fn words_are_found_line_by_line() {
    let mut quipu = Harness::new(&long());
    quipu.keys("Go<enter>").keys("<ctrl-f>needle");
    quipu.shows("find: needle").shows("3/3").shows("45 a Needle here");
    quipu.keys("<enter>").shows("1/3").shows("5 a Needle here");
    quipu.keys("<enter>").shows("2/3").shows("25 a Needle here");
    quipu.keys("<up>").shows("1/3");
    assert!(matches!(quipu.state().screen.scroll, Scroll::At(_)));
    quipu.keys("xyz").shows("nothing");
    quipu.keys("<esc>").shows("● ready");
    assert_eq!(quipu.shell.composed(), "", "nothing of it was written into the message");
    quipu.keys("/find 25 a<enter>").shows("1/1").shows("25 a Needle here");
}

#[test]
fn an_answer_is_seen_as_it_was_written() {
    let mut quipu = Harness::new("[[answer]]\ntext = \"So **bold** and $x^2$.\"");
    quipu.keys("Go<enter>").shows("So bold and x².");
    quipu.keys("<alt-v>").shows("So **bold** and $x^2$.");
    quipu.keys("<alt-v>").shows("So bold and x².");
}

#[test]
fn what_is_copied_goes_through_the_terminal() {
    let mut quipu = Harness::new("[[answer]]\ntext = \"Run\\n```sh\\nls\\u001b[31m\\n```\"");
    quipu.keys("Go<enter>").keys("<ctrl-y>");
    quipu.shows("copied");
    quipu.keys("/copy code<enter>");
    let copied = quipu.shell.surface().copied();
    assert_eq!(copied.len(), 2);
    // Base64 of "ls" and a line feed: nothing of what steers a terminal is left in it.
    assert_eq!(copied[1], "\u{1b}]52;c;bHMK\u{1b}\\");
}

#[test]
fn a_command_is_found_by_a_few_letters() {
    let mut quipu = Harness::new("[[answer]]\ntext = \"x\"");
    quipu
        .keys("<ctrl-p>")
        .shows("commands")
        .shows("begin a new conversation");
    quipu.keys("thght").shows("thoughts");
    quipu.keys("<enter>");
    assert!(quipu.state().screen.thoughts);
    quipu.keys("<ctrl-p>zzz").shows("nothing like it");
    quipu.keys("<esc>");
    quipu.keys("/svp").shows("/save-preset NAME");
}

#[test]
fn the_tokens_of_an_answer_are_walked_and_another_is_gone_on_from() {
    let script = "[[answer]]\ntext = \"It is Paris\"\nspread = [[\" Lyon\", 0.2]]\n[[answer]]\ntext = \" of course\"\n";
    let mut quipu = Harness::new(script);
    quipu.keys("Where?<enter>").shows("It is Paris");
    quipu
        .keys("<ctrl-o>")
        .shows("token 3 of 3")
        .shows("Lyon")
        .shows("perplexity");
    quipu.keys("<left>").shows("token 2 of 3");
    quipu.keys("<right>").shows("token 3 of 3");
    quipu.keys("s").shows("shaded by entropy");
    quipu.keys("<enter>").shows("this one was said");
    quipu.keys("<down><enter>").shows("It is Lyon").shows("‹ 2/2 ›");
    quipu.keys("<ctrl-o>").shows("shaded by probability");
    quipu.keys("<ctrl-o>").shows("‹ 2/2 ›");
}

#[test]
fn what_was_sent_comes_back_by_a_few_letters() {
    let mut quipu = Harness::new("[[answer]]\necho = true\ntext = \"\"");
    quipu.keys("the first one<enter>").keys("another<enter>");
    quipu.keys("<ctrl-r>").shows("sent before");
    quipu.keys("frst<enter>");
    assert_eq!(quipu.shell.composed(), "the first one");
}

#[test]
fn a_theme_is_seen_while_one_chooses() {
    let mut quipu = Harness::new("[[answer]]\ntext = \"x\"");
    let ground = |quipu: &Harness| quipu.shell.surface().buffer()[(0, 0)].bg;
    let before = ground(&quipu);
    quipu.keys("/theme<enter>").keys("night");
    quipu.until(|shell| shell.surface().buffer()[(0, 0)].bg != before);
    quipu.keys("<esc>");
    quipu.until(|shell| shell.surface().buffer()[(0, 0)].bg == before);
    quipu.keys("/theme paper<enter>");
    quipu.until(|shell| shell.surface().buffer()[(0, 0)].bg != before);
    assert_eq!(quipu.state().looks.theme, "paper");
}

#[test]
fn notices_can_be_read_again() {
    let mut quipu = Harness::new("[[answer]]\ntext = \"x\"");
    quipu
        .keys("/set top-k 7<enter>")
        .keys("/set top-k 8<enter>")
        .keys("/notices<enter>");
    quipu.shows("top-k 40 → 7").shows("top-k 7 → 8");
}

#[test]
fn a_message_is_edited_outside() {
    let mut quipu = Harness::new("[[answer]]\ntext = \"x\"");
    quipu.keys("my words<ctrl-g>");
    quipu.until(|shell| shell.composed() != "my words");
    assert_eq!(quipu.shell.composed(), "my words (edited)");
    assert!(quipu.shell.surface().is_held(), "the terminal is ours again");
}

#[test]
fn the_tokens_of_a_message_are_counted_as_it_is_written() {
    let mut quipu = Harness::new("[[answer]]\ntext = \"x\"");
    quipu.keys("one two three").shows(" 3 tokens ");
    quipu.keys(" four").shows(" 4 tokens ");
}

#[test]
fn a_file_goes_with_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("note.txt");
    std::fs::write(&path, "the knotted cords\n").unwrap();
    let mut quipu = Harness::new("[[answer]]\ntext = \"x\"");
    quipu.keys(&format!("/attach {}<enter>", path.display()));
    quipu.until_shown("attached 'note.txt', 18 B").shows("▤");
    quipu.keys("What is it?<enter>");
    assert_eq!(
        quipu.said()[0],
        "note.txt:\n```txt\nthe knotted cords\n```\nWhat is it?"
    );
    quipu.keys("/attach /nowhere<enter>").until_shown("cannot be attached");
}

#[test]
fn settings_that_are_saved_hold_at_once() {
    let mut quipu = Harness::new("[[answer]]\ntext = \"x\"");
    let before = quipu.shell.surface().buffer()[(0, 0)].bg;
    quipu.happen(Happening::SettingsSaved);
    quipu.until(|shell| shell.surface().buffer()[(0, 0)].bg != before);
    quipu.until_shown("a mistake on line 3");
    assert_eq!(quipu.state().looks.theme, "night");
}

/// The left button at a cell.
fn mouse(quipu: &mut Harness, kind: MouseEventKind, (column, row): (u16, u16)) {
    let event = MouseEvent {
        kind,
        column,
        row,
        modifiers: KeyModifiers::NONE,
    };
    quipu.happen(Happening::Input(Event::Mouse(event)));
    quipu.rest();
}

/// Where these words stand.
fn place(quipu: &Harness, words: &str) -> (u16, u16) {
    let screen = quipu.screen();
    let (row, line) = screen
        .lines()
        .enumerate()
        .find(|(_, line)| line.contains(words))
        .unwrap();
    let column = line[..line.find(words).unwrap()].chars().count();
    (column as u16, row as u16)
}

fn click(quipu: &mut Harness, words: &str) {
    let at = place(quipu, words);
    mouse(quipu, MouseEventKind::Down(MouseButton::Left), at);
    mouse(quipu, MouseEventKind::Up(MouseButton::Left), at);
}

#[test]
fn what_is_clicked_does_what_its_key_does() {
    let mut quipu =
        Harness::new("[[answer]]\ntext = \"the first\"\n[[answer]]\ntext = \"<think>so be it</think>the second\"");
    quipu.keys("Go<enter>").keys("<alt-r>");
    click(&mut quipu, "▸ thought");
    quipu.shows("so be it");
    click(&mut quipu, "‹ 2/2 ›");
    quipu.shows("the first");
    quipu.keys("<esc><ctrl-t>");
    click(&mut quipu, "top-k");
    assert_eq!(quipu.state().screen.tune.as_ref().unwrap().selected, 2);
    quipu.keys("<esc><ctrl-p>");
    click(&mut quipu, "answer again");
    click(&mut quipu, "answer again");
    assert_eq!(quipu.said().len(), 2, "another version");
    quipu.shows("3/3");
}

#[test]
fn what_the_mouse_marks_is_copied() {
    let mut quipu = Harness::new("[[answer]]\ntext = \"knotted cords of wool\"");
    quipu.keys("Go<enter>");
    let (column, row) = place(&quipu, "knotted");
    mouse(&mut quipu, MouseEventKind::Down(MouseButton::Left), (column, row));
    mouse(&mut quipu, MouseEventKind::Drag(MouseButton::Left), (column + 6, row));
    mouse(&mut quipu, MouseEventKind::Up(MouseButton::Left), (column + 6, row));
    // Base64 of "knotted".
    assert_eq!(quipu.shell.surface().copied(), ["\u{1b}]52;c;a25vdHRlZA==\u{1b}\\"]);
}

#[test]
fn messages_fold() {
    let text = "- line\\n".repeat(40);
    let mut quipu = Harness::new(&format!("[[answer]]\ntext = \"{text}\""));
    quipu.paste(&"word\n".repeat(50)).keys("<enter>");
    quipu.keys("<alt-up><enter>").shows("▸ 39 more lines");
    quipu.keys("<alt-up>").shows("▸ 44 more lines");
    click(&mut quipu, "▸ 44 more lines");
    quipu.keys("<esc>");
    assert!(!quipu.screen().contains("44 more lines"));
}

#[test]
fn messages_are_edited_as_in_vi_where_that_is_wanted() {
    let mut quipu = Harness::new("[[answer]]\necho = true\ntext = \"\"");
    quipu.vi();
    quipu
        .keys("one two<esc>bcwthree<esc>")
        .shows("NORMAL")
        .shows("one three");
    quipu.keys("x<enter>");
    assert_eq!(quipu.said()[0], "one thre", "Enter sends from any mode");
    quipu.keys("again").shows("again");
}

#[test]
fn a_model_is_unloaded_and_loaded_again() {
    let mut quipu = Harness::new("[[answer]]\ntext = \"one two\"");
    quipu
        .keys("Go<enter>")
        .keys("/stats<enter>")
        .shows("tokens said")
        .shows("answers         1");
    quipu.keys("<esc>/unload<enter>").shows("no model");
    quipu.keys("/model script<enter>").keys("Again<enter>");
    assert_eq!(quipu.said().len(), 4);
}
