//! Which key asks for what: a table with contexts, the person's changes over it, and the way back from an action to its keys
//! for help and hints, so that those never lie.

pub mod chord;
mod default;
#[cfg(test)]
mod tests;

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
    /// A message is selected.
    Selected,
    /// The panel of sessions is open.
    Sessions,
    /// A list to choose from is open.
    Picker,
    /// Words are looked for in the transcript.
    Find,
    /// The panel in which sampling is tuned has the keys.
    Tune,
    /// The tokens of an answer are walked.
    Inspect,
    /// Answers are compared.
    Compare,
}

impl Context {
    /// All contexts and their names in the configuration.
    pub const ALL: [(Self, &'static str); 12] = [
        (Self::Chat, "chat"),
        (Self::Empty, "empty"),
        (Self::Edge, "edge"),
        (Self::Completion, "completion"),
        (Self::Overlay, "overlay"),
        (Self::Selected, "selected"),
        (Self::Sessions, "sessions"),
        (Self::Picker, "picker"),
        (Self::Find, "find"),
        (Self::Tune, "tune"),
        (Self::Inspect, "inspect"),
        (Self::Compare, "compare"),
    ];

    /// The name in the configuration.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(context, _)| *context == self)
            .map_or("", |(_, name)| name)
    }

    /// When its keys count, as a heading in the help.
    pub fn title(self) -> &'static str {
        match self {
            Self::Chat => "keys",
            Self::Empty => "keys while nothing is written",
            Self::Edge => "keys on the first and the last line",
            Self::Completion => "keys in the list of completions",
            Self::Overlay => "keys while something is open",
            Self::Selected => "keys while a message is selected",
            Self::Sessions => "keys in the panel of sessions",
            Self::Picker => "keys in a list to choose from",
            Self::Find => "keys while words are looked for",
            Self::Tune => "keys in the panel of sampling",
            Self::Inspect => "keys while tokens are walked",
            Self::Compare => "keys while answers are compared",
        }
    }

    /// Whether characters are written while it counts, so that a key which is one would be lost to writing.
    fn is_written_in(self) -> bool {
        matches!(
            self,
            Self::Chat | Self::Edge | Self::Completion | Self::Sessions | Self::Picker | Self::Find
        )
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
        // A chord that does not parse is dropped here and caught by a test.
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
        let mut own: Vec<(Context, KeyChord, &Change)> = Vec::new();
        for change in changes {
            let (context, action, chords) = match change.read() {
                Ok(read) => read,
                Err(problem) => {
                    problems.push(format!("{}: {problem}", change.place));
                    continue;
                }
            };
            keymap.bindings.retain(|(c, _, a)| (*c, *a) != (context, action));
            for chord in chords {
                let bound = keymap.lookup(&[context], chord);
                let first = own.iter().find(|(c, k, _)| (*c, *k) == (context, chord));
                match (bound, first) {
                    (Some(same), Some(_)) if same == action => {}
                    (Some(other), Some((.., first))) => problems.push(format!(
                        "{}: '{chord}' is bound to '{}' already ({}); give one of them another key, or [] to have none",
                        change.place,
                        other.name(),
                        first.place
                    )),
                    _ => {
                        // A person's key takes the default's place.
                        keymap.bindings.retain(|(c, k, _)| (*c, *k) != (context, chord));
                        keymap.bindings.push((context, chord, action));
                        own.push((context, chord, change));
                    }
                }
            }
        }
        problems.extend(keymap.orphans(changes));
        (keymap, problems)
    }

    /// Words about actions that lost their last key to another although nobody asked for that.
    fn orphans(&self, changes: &[Change]) -> Vec<String> {
        let mut words = Vec::new();
        let mut told = Vec::new();
        for (context, chord, action) in Self::default().bindings {
            let meant = changes.iter().any(|change| change.action == action.name());
            if meant || told.contains(&action) || !self.chords(action).is_empty() {
                continue;
            }
            let Some(taker) = self.lookup(&[context], chord) else {
                continue;
            };
            told.push(action);
            let place = changes.iter().find(|change| change.action == taker.name());
            words.push(format!(
                "{}: '{}' took '{chord}' from '{}', which has no other key; give it one, or write {} = [] to have none",
                place.map_or("keys", |change| change.place.as_str()),
                taker.name(),
                action.name(),
                action.name(),
            ));
        }
        words
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

    /// The same where the keys of `context` count first.
    pub fn hint_in(&self, context: Context, action: Action) -> String {
        let bound = self
            .bindings
            .iter()
            .find(|(c, _, bound)| *c == context && *bound == action);
        bound.map_or_else(|| self.hint(action), |(_, chord, _)| chord.to_string())
    }

    /// What can be asked for in a context and by which chords, in the order of the table.
    pub fn of(&self, context: Context) -> Vec<(Action, Vec<KeyChord>)> {
        let mut rows: Vec<(Action, Vec<KeyChord>)> = Vec::new();
        for (_, chord, action) in self.bindings.iter().filter(|(c, ..)| *c == context) {
            match rows.iter_mut().find(|(known, _)| known == action) {
                Some((_, chords)) => chords.push(*chord),
                None => rows.push((*action, vec![*chord])),
            }
        }
        rows
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
        let mut chords = Vec::with_capacity(self.chords.len());
        for text in &self.chords {
            let chord: KeyChord = text.parse().map_err(|e: chord::NoChord| e.to_string())?;
            if context.is_written_in() && chord.is_text() {
                return Err(format!(
                    "'{text}' could not be written any more; bind it with ctrl or alt, or in [keys.empty] or [keys.overlay]"
                ));
            }
            chords.push(chord);
        }
        Ok((*context, action, chords))
    }
}
