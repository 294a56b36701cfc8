//! Which key asks for what: a table with contexts, the person's changes over it, and the way back from an action to its keys
//! for help and hints, so that those never lie.

pub mod chord;
mod default;

use crate::app::Action;

pub use chord::KeyChord;
pub use default::DEFAULT;

/// Where a key counts. The narrower context is asked first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Context {
    /// Everywhere.
    Chat,
    /// Nothing is written.
    Empty,
    /// The cursor is on the first line (going up) or the last (going down).
    Edge,
    /// Completions are shown.
    Completion,
    /// Something lies over the transcript.
    Overlay,
}

impl Context {
    /// All contexts and their names in the configuration.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Chat, "chat"),
        (Self::Empty, "empty"),
        (Self::Edge, "edge"),
        (Self::Completion, "completion"),
        (Self::Overlay, "overlay"),
    ];

    /// The name in the configuration.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(context, _)| *context == self)
            .map_or("", |(_, name)| name)
    }
}

/// A person's change: in this context these chords, and no others, ask for this action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The context's name.
    pub context: String,
    /// The action's name.
    pub action: String,
    /// The chords; none takes all keys away.
    pub chords: Vec<String>,
    /// Where it was written, for the words about a mistake.
    pub place: String,
}

/// The keys in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keymap {
    bindings: Vec<(Context, KeyChord, Action)>,
}

impl Default for Keymap {
    fn default() -> Self {
        // A chord that does not parse is dropped here and caught by the test below.
        let parsed = DEFAULT
            .iter()
            .filter_map(|(context, chord, action)| Some((*context, chord.parse().ok()?, *action)));
        Self {
            bindings: parsed.collect(),
        }
    }
}

impl Keymap {
    /// The default keys with a person's changes. What cannot be used is told, and costs only itself.
    pub fn with(changes: &[Change]) -> (Self, Vec<String>) {
        let mut keymap = Self::default();
        let mut problems = Vec::new();
        let mut own: Vec<(Context, KeyChord, Action, &Change)> = Vec::new();
        for change in changes {
            match change.read() {
                Ok((context, action, chords)) => {
                    keymap.bindings.retain(|(c, _, a)| (*c, *a) != (context, action));
                    for chord in chords {
                        let taken = own.iter().find(|(c, k, ..)| (*c, *k) == (context, chord));
                        if let Some((.., other, first)) = taken {
                            problems.push(format!(
                                "{}: '{chord}' is bound to '{}' already ({}); give one of them another key, or [] to have none",
                                change.place,
                                other.name(),
                                first.place
                            ));
                            continue;
                        }
                        // A person's key takes the default's place.
                        keymap.bindings.retain(|(c, k, _)| (*c, *k) != (context, chord));
                        keymap.bindings.push((context, chord, action));
                        own.push((context, chord, action, change));
                    }
                }
                Err(problem) => problems.push(format!("{}: {problem}", change.place)),
            }
        }
        (keymap, problems)
    }

    /// What a chord asks for in the first of `contexts` that knows it.
    pub fn lookup(&self, contexts: &[Context], chord: KeyChord) -> Option<Action> {
        let bound = |context: &Context| self.bindings.iter().find(|(c, k, _)| c == context && *k == chord);
        contexts.iter().find_map(bound).map(|(.., action)| *action)
    }

    /// The chords of an action, each once, in the order of the table.
    pub fn chords(&self, action: Action) -> Vec<KeyChord> {
        let mut chords = Vec::new();
        for (_, chord, bound) in &self.bindings {
            if *bound == action && !chords.contains(chord) {
                chords.push(*chord);
            }
        }
        chords
    }

    /// The first chord of an action as it is shown in a hint; empty where it has none.
    pub fn hint(&self, action: Action) -> String {
        self.chords(action)
            .first()
            .map_or_else(String::new, ToString::to_string)
    }

    /// Actions that have a key, each once, in the order of the table.
    pub fn actions(&self) -> Vec<Action> {
        let mut seen = Vec::new();
        for (.., action) in &self.bindings {
            if !seen.contains(action) {
                seen.push(*action);
            }
        }
        seen
    }
}

impl Change {
    fn read(&self) -> Result<(Context, Action, Vec<KeyChord>), String> {
        let known = Context::ALL.iter().find(|(_, name)| *name == self.context);
        let (context, _) = known.ok_or_else(|| {
            let names: Vec<_> = Context::ALL.iter().map(|(_, name)| *name).collect();
            format!(
                "there is no key context '{}': use one of {}",
                self.context,
                names.join(", ")
            )
        })?;
        let action = Action::find(&self.action).ok_or_else(|| {
            let near = Action::nearest(&self.action).map_or_else(String::new, |n| format!("; did you mean '{n}'?"));
            format!("there is no action '{}'{near}", self.action)
        })?;
        let chords = self
            .chords
            .iter()
            .map(|chord| chord.parse::<KeyChord>().map_err(|e| e.to_string()));
        Ok((*context, action, chords.collect::<Result<_, _>>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(context: &str, action: &str, chords: &[&str]) -> Change {
        let chords = chords.iter().map(ToString::to_string).collect();
        Change {
            context: context.into(),
            action: action.into(),
            chords,
            place: "config.toml:1".into(),
        }
    }

    #[test]
    fn the_default_table_is_sound() {
        let keymap = Keymap::default();
        assert_eq!(keymap.bindings.len(), DEFAULT.len(), "a chord does not parse");
        for (n, (context, chord, _)) in keymap.bindings.iter().enumerate() {
            let twice = keymap.bindings[..n].iter().any(|(c, k, _)| (c, k) == (context, chord));
            assert!(!twice, "{chord} is bound twice in {}", context.name());
        }
        let bound = keymap.actions();
        for (action, name, _) in crate::app::action::ACTIONS {
            assert!(bound.contains(action), "'{name}' has no key");
        }
    }

    #[test]
    fn a_persons_keys_take_the_defaults_place() {
        let (keymap, problems) = Keymap::with(&[change("chat", "retry", &["ctrl-r"]), change("chat", "newline", &[])]);
        assert_eq!(problems, Vec::<String>::new());
        let at = |chord: &str| keymap.lookup(&[Context::Chat], chord.parse().unwrap());
        assert_eq!(at("ctrl-r"), Action::find("retry"));
        assert_eq!(at("alt-r"), None);
        assert_eq!(at("ctrl-j"), None, "an empty list unbinds");
        assert_eq!(keymap.hint(Action::Newline), "");
    }

    #[test]
    fn mistakes_are_told_with_place_and_remedy() {
        let (keymap, problems) = Keymap::with(&[
            change("chat", "retri", &["ctrl-r"]),
            change("nowhere", "retry", &["ctrl-r"]),
            change("chat", "new", &["ctrl-entre"]),
            change("chat", "top", &["ctrl-t"]),
            change("chat", "follow", &["ctrl-t"]),
        ]);
        assert_eq!(problems.len(), 4, "{problems:?}");
        assert!(problems[0].contains("did you mean 'retry'") && problems[0].starts_with("config.toml:1"));
        assert!(problems[2].contains("did you mean 'enter'"));
        assert!(problems[3].contains("is bound to 'top' already"));
        assert_eq!(
            keymap.lookup(&[Context::Chat], "ctrl-t".parse().unwrap()),
            Some(Action::Top)
        );
    }
}
