//! A key with its modifiers, in our own words: how it is written in the configuration, shown in the help and told by the
//! terminal. What it does is the keymap's business.

use std::fmt;
use std::str::FromStr;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::text::nearest;

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// A character as it is typed, upper case included.
    Char(char),
    /// One of the keys with a name.
    Named(&'static str),
    /// F1 to F12.
    Function(u8),
}

/// The keys with names, and the terminal's words for them.
const NAMED: [(&str, KeyCode); 14] = [
    ("enter", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("tab", KeyCode::Tab),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
];

/// The modifiers and the other names that keyboards and people have for them; the first is ours.
const MODIFIERS: [(&[&str], KeyModifiers); 4] = [
    (&["ctrl", "control"], KeyModifiers::CONTROL),
    (&["alt", "option", "meta"], KeyModifiers::ALT),
    (&["shift"], KeyModifiers::SHIFT),
    (&["super", "cmd", "command", "win"], KeyModifiers::SUPER),
];

/// A key and the modifiers held with it.
///
/// ```
/// use quipu::ui::keymap::KeyChord;
/// for text in ["ctrl-p", "alt-enter", "shift-tab", "super-k", "?", "-", "ctrl--", "f1", "space"] {
///     assert_eq!(text.parse::<KeyChord>().unwrap().to_string(), text);
/// }
/// assert_eq!("Alt-Ctrl-X".parse::<KeyChord>().unwrap().to_string(), "ctrl-alt-x");
/// assert_eq!("alt-shift-r".parse::<KeyChord>(), "alt-R".parse());
/// assert!("ctrl-entre".parse::<KeyChord>().unwrap_err().to_string().contains("'enter'"));
/// assert!("ctlr-p".parse::<KeyChord>().unwrap_err().to_string().contains("'ctrl'"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyChord {
    /// What is held; Shift only with a key that has no upper case.
    held: KeyModifiers,
    /// The key.
    key: Key,
}

/// A text that names no chord.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is no key{hint}")]
pub struct NoChord {
    text: String,
    hint: String,
}

impl KeyChord {
    /// What the terminal told, where it is a key that can be bound.
    pub fn of(event: KeyEvent) -> Option<Self> {
        let mut held = event.modifiers;
        // Hyper and Meta proper have no name here: such a chord must not pass for the key without them.
        if event.kind == KeyEventKind::Release || !bindable().contains(held) {
            return None;
        }
        let key = match event.code {
            KeyCode::Char(c) => {
                let shift = held.contains(KeyModifiers::SHIFT);
                held.remove(KeyModifiers::SHIFT);
                Key::Char(as_typed(c, held.contains(KeyModifiers::CONTROL), shift))
            }
            KeyCode::BackTab => {
                held.insert(KeyModifiers::SHIFT);
                Key::Named("tab")
            }
            KeyCode::F(n @ 1..=12) => Key::Function(n),
            code => Key::Named(NAMED.iter().find(|(_, c)| *c == code)?.0),
        };
        Some(Self { held, key })
    }

    /// Whether the key writes a character into the composer when nothing is bound to it.
    pub fn is_text(&self) -> bool {
        matches!(self.key, Key::Char(_)) && self.held.is_empty()
    }
}

/// The modifiers that a chord may have.
fn bindable() -> KeyModifiers {
    MODIFIERS.iter().map(|(_, modifier)| *modifier).collect()
}

/// The character that a chord is known by. Terminals differ in whether they tell Shift beside an upper-case letter, instead
/// of it, or not at all; with Control most cannot tell it, so there the case means nothing.
fn as_typed(c: char, ctrl: bool, shift: bool) -> char {
    let mut upper = c.to_uppercase();
    match (ctrl, shift, upper.next(), upper.next()) {
        (true, ..) => c.to_ascii_lowercase(),
        (false, true, Some(upper), None) => upper,
        _ => c,
    }
}

impl fmt::Display for KeyChord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (names, modifier) in MODIFIERS {
            if self.held.contains(modifier) {
                write!(f, "{}-", names[0])?;
            }
        }
        match self.key {
            Key::Char(' ') => f.write_str("space"),
            Key::Char(c) => write!(f, "{c}"),
            Key::Named(name) => f.write_str(name),
            Key::Function(n) => write!(f, "f{n}"),
        }
    }
}

impl FromStr for KeyChord {
    type Err = NoChord;

    fn from_str(text: &str) -> Result<Self, NoChord> {
        let wrong = |hint| NoChord {
            text: text.to_owned(),
            hint,
        };
        let mut held = KeyModifiers::NONE;
        let mut rest = text.trim();
        // A single character is a key even where it is the dash that joins modifiers.
        while let Some((name, after)) = rest
            .split_once('-')
            .filter(|(name, after)| !name.is_empty() && !after.is_empty())
        {
            held |= modifier(name).ok_or_else(|| wrong(modifier_hint(name)))?;
            rest = after;
        }
        let mut key = key(rest).ok_or_else(|| wrong(key_hint(rest)))?;
        if let Key::Char(c) = key {
            let (ctrl, shift) = (held.contains(KeyModifiers::CONTROL), held.contains(KeyModifiers::SHIFT));
            let typed = as_typed(c, ctrl, shift);
            if shift && ctrl {
                return Err(wrong(format!(
                    ": with Ctrl a terminal tells no Shift; write 'ctrl-{typed}'"
                )));
            }
            // What Shift makes of a digit or a mark depends on the keyboard.
            if shift && typed == c && !c.is_uppercase() && c != ' ' {
                return Err(wrong(format!(": write the character that Shift makes of '{c}'")));
            }
            held.remove(KeyModifiers::SHIFT);
            key = Key::Char(typed);
        }
        Ok(Self { held, key })
    }
}

fn modifier(name: &str) -> Option<KeyModifiers> {
    let lower = name.to_ascii_lowercase();
    let known = MODIFIERS.iter().find(|(names, _)| names.contains(&lower.as_str()));
    known.map(|(_, modifier)| *modifier)
}

fn key(text: &str) -> Option<Key> {
    let mut chars = text.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        return (!c.is_control()).then_some(Key::Char(c));
    }
    let lower = text.to_ascii_lowercase();
    match lower.as_str() {
        "space" => Some(Key::Char(' ')),
        "escape" => Some(Key::Named("esc")),
        "return" => Some(Key::Named("enter")),
        name => (1..=12)
            .find(|n| name == format!("f{n}"))
            .map(Key::Function)
            .or_else(|| {
                NAMED
                    .iter()
                    .find(|(known, _)| *known == name)
                    .map(|(known, _)| Key::Named(known))
            }),
    }
}

fn modifier_hint(name: &str) -> String {
    match nearest(name, MODIFIERS.iter().map(|(names, _)| names[0])) {
        Some(near) => format!(": '{name}' is no modifier; did you mean '{near}'?"),
        None => format!(": '{name}' is no modifier; they are ctrl, alt, shift and super"),
    }
}

fn key_hint(text: &str) -> String {
    let number = text.strip_prefix(['f', 'F']).filter(|n| !n.is_empty());
    if number.is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit())) {
        return ": function keys go from 'f1' to 'f12'".to_owned();
    }
    if modifier(text.trim_end_matches('-')).is_some() {
        return ": a key has to follow the modifiers".to_owned();
    }
    match nearest(text, NAMED.iter().map(|(name, _)| *name).chain(["space"])) {
        Some(name) => format!("; did you mean '{name}'?"),
        None => ": write it as 'ctrl-p', 'alt-enter', 'f1' or '?'".to_owned(),
    }
}

#[cfg(test)]
#[path = "chord_tests.rs"]
mod tests;
