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

/// A key and the modifiers held with it.
///
/// ```
/// use quipu::ui::keymap::KeyChord;
/// for text in ["ctrl-p", "alt-enter", "shift-tab", "?", "-", "ctrl--", "f1", "space"] {
///     assert_eq!(text.parse::<KeyChord>().unwrap().to_string(), text);
/// }
/// assert_eq!("Alt-Ctrl-X".parse::<KeyChord>().unwrap().to_string(), "ctrl-alt-x");
/// assert!("ctrl-entre".parse::<KeyChord>().unwrap_err().to_string().contains("'enter'"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyChord {
    /// Control is held.
    ctrl: bool,
    /// Alt or Option is held.
    alt: bool,
    /// Shift is held, with a key that has no upper case.
    shift: bool,
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
        if event.kind == KeyEventKind::Release {
            return None;
        }
        let held = |modifier| event.modifiers.contains(modifier);
        let (ctrl, alt, mut shift) = (
            held(KeyModifiers::CONTROL),
            held(KeyModifiers::ALT),
            held(KeyModifiers::SHIFT),
        );
        let key = match event.code {
            // Terminals differ in whether they tell Shift with a character; the character says it already. With Control
            // they differ in the character's case too.
            KeyCode::Char(c) => {
                shift = false;
                Key::Char(if ctrl { c.to_ascii_lowercase() } else { c })
            }
            KeyCode::BackTab => {
                shift = true;
                Key::Named("tab")
            }
            KeyCode::F(n @ 1..=12) => Key::Function(n),
            code => Key::Named(NAMED.iter().find(|(_, c)| *c == code)?.0),
        };
        Some(Self { ctrl, alt, shift, key })
    }

    /// Whether the key writes a character into the composer when nothing is bound to it.
    pub fn is_text(&self) -> bool {
        matches!(self.key, Key::Char(_)) && !self.ctrl && !self.alt
    }
}

impl fmt::Display for KeyChord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (held, name) in [(self.ctrl, "ctrl-"), (self.alt, "alt-"), (self.shift, "shift-")] {
            if held {
                f.write_str(name)?;
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
        let (mut ctrl, mut alt, mut shift) = (false, false, false);
        let mut rest = text.trim();
        // A single character is a key even where it is the dash that joins modifiers.
        while let Some((held, after)) = rest
            .split_once('-')
            .filter(|(held, after)| !held.is_empty() && !after.is_empty())
        {
            match held.to_ascii_lowercase().as_str() {
                "ctrl" | "control" => ctrl = true,
                "alt" | "option" | "meta" => alt = true,
                "shift" => shift = true,
                _ => break,
            }
            rest = after;
        }
        let mut key = key(rest).ok_or_else(|| NoChord {
            text: text.to_owned(),
            hint: hint(rest),
        })?;
        if let Key::Char(c) = key {
            // Shift with a letter is the upper-case letter, as it comes from the terminal.
            if shift && c.is_ascii_lowercase() {
                key = Key::Char(c.to_ascii_uppercase());
            } else if shift && c != ' ' && !c.is_ascii_uppercase() {
                let hint = format!(": write the character that Shift makes of '{c}'");
                return Err(NoChord {
                    text: text.to_owned(),
                    hint,
                });
            } else if ctrl {
                key = Key::Char(c.to_ascii_lowercase());
            }
            shift = false;
        }
        Ok(Self { ctrl, alt, shift, key })
    }
}

fn key(text: &str) -> Option<Key> {
    let mut chars = text.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        return (!c.is_control()).then_some(Key::Char(c));
    }
    let lower = text.to_ascii_lowercase();
    let number = lower
        .strip_prefix('f')
        .and_then(|n| n.parse().ok())
        .filter(|n| (1..=12).contains(n));
    match (lower.as_str(), number) {
        ("space", _) => Some(Key::Char(' ')),
        ("escape", _) => Some(Key::Named("esc")),
        ("return", _) => Some(Key::Named("enter")),
        (_, Some(n)) => Some(Key::Function(n)),
        _ => NAMED
            .iter()
            .find(|(name, _)| *name == lower)
            .map(|(name, _)| Key::Named(name)),
    }
}

fn hint(text: &str) -> String {
    match nearest(text, NAMED.iter().map(|(name, _)| *name).chain(["space"])) {
        Some(name) => format!("; did you mean '{name}'?"),
        None => ": write it as 'ctrl-p', 'alt-enter', 'f1' or '?'".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(code: KeyCode, modifiers: KeyModifiers) -> String {
        KeyChord::of(KeyEvent::new(code, modifiers)).map_or_else(String::new, |c| c.to_string())
    }

    #[test]
    fn what_terminals_tell_has_one_name() {
        assert_eq!(
            told(KeyCode::Char('R'), KeyModifiers::ALT | KeyModifiers::SHIFT),
            "alt-R"
        );
        assert_eq!(told(KeyCode::Char('P'), KeyModifiers::CONTROL), "ctrl-p");
        assert_eq!(told(KeyCode::Char('?'), KeyModifiers::SHIFT), "?");
        assert_eq!(told(KeyCode::BackTab, KeyModifiers::SHIFT), "shift-tab");
        assert_eq!(told(KeyCode::Enter, KeyModifiers::SHIFT), "shift-enter");
        assert_eq!(told(KeyCode::F(20), KeyModifiers::NONE), "");
    }

    #[test]
    fn the_same_chord_may_be_written_in_several_ways() {
        for (one, other) in [
            ("Ctrl-P", "control-p"),
            ("alt-shift-r", "alt-R"),
            ("escape", "esc"),
            ("Return", "enter"),
        ] {
            assert_eq!(one.parse::<KeyChord>(), other.parse::<KeyChord>());
        }
        for bad in ["", "ctrl-", "hyper-x", "f13", "shift-1", "ctrl-alt"] {
            assert!(bad.parse::<KeyChord>().is_err(), "{bad}");
        }
    }

    proptest::proptest! {
        #[test]
        fn writing_and_reading_agree(ctrl: bool, alt: bool, c in "[ -~é日]") {
            let mut modifiers = KeyModifiers::NONE;
            modifiers.set(KeyModifiers::CONTROL, ctrl);
            modifiers.set(KeyModifiers::ALT, alt);
            let chord = KeyChord::of(KeyEvent::new(KeyCode::Char(c.chars().next().unwrap()), modifiers)).unwrap();
            proptest::prop_assert_eq!(chord.to_string().parse::<KeyChord>(), Ok(chord));
        }
    }
}
