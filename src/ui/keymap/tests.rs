//! The default table, a person's changes over it, and every mistake in them.

use pretty_assertions::assert_eq;

use super::*;
use crate::app::action::ACTIONS;

fn change(context: &str, action: &str, chords: &[&str]) -> Change {
    let chords = chords.iter().map(ToString::to_string).collect();
    Change {
        context: context.into(),
        action: action.into(),
        chords,
        place: format!("config.toml, {action}"),
    }
}

fn at(keymap: &Keymap, context: Context, chord: &str) -> Option<Action> {
    keymap.lookup(&[context], chord.parse().unwrap())
}

#[test]
fn the_default_table_is_sound() {
    let keymap = Keymap::default();
    assert_eq!(keymap.bindings.len(), DEFAULT.len(), "a chord does not parse");
    for (n, (context, chord, _)) in keymap.bindings.iter().enumerate() {
        let twice = keymap.bindings[..n].iter().any(|(c, k, _)| (c, k) == (context, chord));
        assert!(!twice, "{chord} is bound twice in {}", context.name());
        assert!(
            !(context.is_written_in() && chord.is_text()),
            "{chord} cannot be written"
        );
    }
    for (action, name, _) in ACTIONS {
        assert!(!keymap.chords(*action).is_empty(), "'{name}' has no key");
    }
}

#[test]
fn the_table_by_contexts_leaves_nothing_out() {
    let keymap = Keymap::default();
    let rows = Context::ALL.iter().flat_map(|(context, _)| keymap.of(*context));
    assert_eq!(rows.map(|(_, chords)| chords.len()).sum::<usize>(), DEFAULT.len());
}

#[test]
fn a_persons_keys_take_the_defaults_place() {
    let (keymap, problems) = Keymap::with(&[change("chat", "retry", &["ctrl-x"]), change("chat", "newline", &[])]);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(at(&keymap, Context::Chat, "ctrl-x"), Action::find("retry"));
    assert_eq!(at(&keymap, Context::Chat, "alt-r"), None);
    assert_eq!(at(&keymap, Context::Chat, "ctrl-j"), None, "an empty list unbinds");
    assert_eq!(keymap.hint(Action::Newline), "");
}

#[test]
fn two_actions_may_swap_their_keys() {
    let (keymap, problems) = Keymap::with(&[
        change("chat", "new", &["alt-r"]),
        change("chat", "retry", &["ctrl-n", "ctrl-n"]),
    ]);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(at(&keymap, Context::Chat, "alt-r"), Action::find("new"));
    assert_eq!(at(&keymap, Context::Chat, "ctrl-n"), Action::find("retry"));
}

#[test]
fn mistakes_are_told_with_place_and_remedy() {
    let (keymap, problems) = Keymap::with(&[
        change("chat", "retri", &["ctrl-r"]),
        change("nowhere", "retry", &["ctrl-r"]),
        change("chat", "new", &["ctrl-entre"]),
        change("chat", "top", &["ctrl-x"]),
        change("chat", "follow", &["ctrl-x"]),
        change("chat", "redraw", &["x"]),
        change("overlay", "follow", &["G"]),
        change("chat", "page-up", &["ctrl-z"]),
    ]);
    insta::assert_snapshot!(problems.join("\n"), @r"
    config.toml, retri: there is no action 'retri'; did you mean 'retry'?
    config.toml, retry: there is no key context 'nowhere': use one of chat, empty, edge, completion, overlay, selected, sessions, picker, find, tune, inspect, compare
    config.toml, new: 'ctrl-entre' is no key; did you mean 'enter'?
    config.toml, follow: 'ctrl-x' is bound to 'top' already (config.toml, top); give one of them another key, or [] to have none
    config.toml, redraw: 'x' could not be written any more; bind it with ctrl or alt, or in [keys.empty] or [keys.overlay]
    config.toml, page-up: 'page-up' took 'ctrl-z' from 'suspend', which has no other key; give it one, or write suspend = [] to have none
    ");
    assert_eq!(at(&keymap, Context::Chat, "ctrl-x"), Some(Action::Top));
    assert_eq!(at(&keymap, Context::Overlay, "G"), Some(Action::Follow));
    assert_eq!(
        at(&keymap, Context::Chat, "ctrl-n"),
        Action::find("new"),
        "a mistake costs only itself"
    );
}
