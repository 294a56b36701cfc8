//! The draft: what stands in the composer, what was sent before, and what completes it. The editing itself (cursor, lines,
//! undo) is the composer's in `ui`; this file only knows the text.

use crate::domain::Preset;
use crate::domain::sampling::{PARAMETERS, Parameter};
use crate::text::fuzzy;

use super::command::{self, COMMANDS, Completes};

/// What there is that an argument can name.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// The presets.
    pub presets: &'a [Preset],
    /// The themes.
    pub themes: &'a [String],
    /// The personas: names and system prompts.
    pub personas: &'a [(String, String)],
}

/// What is being written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// The text in the composer.
    pub text: String,
    /// What completes it, while it is a slash command.
    pub completion: Option<Completion>,
    history: Vec<String>,
    /// What came into the history and the store does not have.
    news: Vec<String>,
    /// One more with every change of the text.
    revision: u64,
    /// Tokens that the text took, and at which revision.
    pub tokens: Option<(u64, u32)>,
    /// Where in the history we are, and the draft that was left for it.
    browsing: Option<(usize, String)>,
}

/// Entries of the history kept: weeks of use, and bounded.
const HISTORY: usize = 1000;

impl Draft {
    /// Takes the new text of the composer and looks for completions.
    pub fn edited(&mut self, text: String, known: Known<'_>) {
        let shown = self.browsing.as_ref().and_then(|(at, _)| self.history.get(*at));
        if shown != Some(&text) {
            self.stop_browsing();
        }
        self.completion = if self.browsing.is_some() {
            None
        } else {
            Completion::of(&text, known)
        };
        self.text = text;
        self.revision += 1;
    }

    /// Tells whether the text is the same as before.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// What came into the history since this was last asked.
    pub fn take_news(&mut self) -> Vec<String> {
        std::mem::take(&mut self.news)
    }

    /// Takes in what was sent in other chats, oldest first. What was sent here stays the newest.
    pub fn recall(&mut self, sent: Vec<String>) {
        self.stop_browsing();
        let own = std::mem::replace(&mut self.history, sent);
        for text in own {
            self.history.retain(|known| *known != text);
            self.history.push(text);
        }
        let over = self.history.len().saturating_sub(HISTORY);
        self.history.drain(..over);
    }

    /// Remembers what was sent and empties the draft.
    pub fn sent(&mut self) {
        self.stop_browsing();
        let text = std::mem::take(&mut self.text);
        self.revision += 1;
        self.remember(text);
        self.completion = None;
    }

    /// What was sent before and what was given up, oldest first.
    pub fn history(&self) -> &[String] {
        &self.history
    }

    /// Forgets where in the history we are. The draft that was left for it is remembered, so that it can be found again.
    fn stop_browsing(&mut self) {
        if let Some((_, left)) = self.browsing.take() {
            self.remember(left);
        }
    }

    fn remember(&mut self, text: String) {
        if !text.trim().is_empty() && self.history.last() != Some(&text) {
            self.news.push(text.clone());
            self.history.push(text);
        }
        if self.history.len() > HISTORY {
            self.history.remove(0);
        }
    }

    /// Steps back to what was sent before; `None` at the oldest.
    pub fn older(&mut self) -> Option<String> {
        let at = match &self.browsing {
            Some((at, _)) => at.checked_sub(1)?,
            None => self.history.len().checked_sub(1)?,
        };
        let left = self.browsing.take().map_or_else(|| self.text.clone(), |(_, left)| left);
        self.browsing = Some((at, left));
        self.show(at)
    }

    /// Steps forward again, at the end to the draft that was left; `None` where one is not in the history.
    pub fn newer(&mut self) -> Option<String> {
        let (at, left) = self.browsing.take()?;
        if at + 1 < self.history.len() {
            self.browsing = Some((at + 1, left));
            return self.show(at + 1);
        }
        self.text.clone_from(&left);
        self.revision += 1;
        Some(left)
    }

    fn show(&mut self, at: usize) -> Option<String> {
        self.completion = None;
        self.text = self.history.get(at)?.clone();
        self.revision += 1;
        Some(self.text.clone())
    }
}

/// One thing that the draft can be completed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What is shown.
    pub label: String,
    /// One line of help.
    pub help: String,
    /// The whole text of the composer once it is taken.
    pub text: String,
}

/// What the draft can be completed to, best first; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The choices.
    pub choices: Vec<Choice>,
    /// The selected one.
    pub selected: usize,
}

impl Completion {
    /// The completions of `text`: command names while one is typed, then what the command says its argument is.
    pub fn of(text: &str, known: Known<'_>) -> Option<Self> {
        let typed = text
            .strip_prefix('/')
            .filter(|rest| !rest.starts_with('/') && !rest.contains('\n'))?;
        let choices = match typed.split_once(' ') {
            None => commands(typed),
            Some((name, args)) if !args.contains(' ') => arguments(name, args, known),
            Some(_) => Vec::new(),
        };
        (!choices.is_empty()).then_some(Self { choices, selected: 0 })
    }

    /// Moves the selection, round and round.
    pub fn step(&mut self, by: isize) {
        self.selected = (self.selected as isize + by).rem_euclid(self.choices.len() as isize) as usize;
    }

    /// The selected choice.
    pub fn choice(&self) -> Option<&Choice> {
        self.choices.get(self.selected)
    }
}

/// Those of `all` whose name begins with what is typed, or where there are none those that have its letters in order.
fn fitting<T: Copy>(all: &[T], typed: &str, names: impl Fn(T) -> Vec<String>) -> Vec<T> {
    let typed = typed.to_lowercase();
    let begins = |item: &T| names(*item).iter().any(|name| name.to_lowercase().starts_with(&typed));
    let mut seen = Vec::new();
    let (mut first, rest): (Vec<T>, Vec<T>) = all.iter().copied().partition(begins);
    // A few letters in order are in nearly everything: they count where nothing begins with them.
    if first.is_empty() {
        let names: Vec<(usize, String)> = (rest.iter().enumerate())
            .flat_map(|(at, item)| names(*item).into_iter().map(move |name| (at, name)))
            .collect();
        for near in fuzzy(&typed, names.iter().map(|(_, name)| name.as_str())) {
            let at = names[near].0;
            if !seen.contains(&at) {
                seen.push(at);
                first.push(rest[at]);
            }
        }
    }
    first
}

fn commands(typed: &str) -> Vec<Choice> {
    let all: Vec<&command::Command> = COMMANDS.iter().collect();
    let names = |c: &command::Command| {
        c.aliases
            .iter()
            .chain([&c.name])
            .map(|name| (*name).to_owned())
            .collect()
    };
    let choice = |c: &command::Command| Choice {
        label: format!("/{} {}", c.name, c.args).trim_end().to_owned(),
        help: c.help.to_owned(),
        text: format!("/{}{}", c.name, if c.args.is_empty() { "" } else { " " }),
    };
    fitting(&all, typed, names).into_iter().map(choice).collect()
}

fn arguments(name: &str, typed: &str, known: Known<'_>) -> Vec<Choice> {
    let Some(command) = command::find(name) else {
        return Vec::new();
    };
    let choice = |label: &str, help: &str, space: &str| Choice {
        label: label.to_owned(),
        help: help.to_owned(),
        text: format!("/{name} {label}{space}"),
    };
    match command.completes {
        Completes::Nothing => Vec::new(),
        Completes::Parameter => {
            let all: Vec<&Parameter> = PARAMETERS.iter().collect();
            let names = |p: &Parameter| {
                p.aliases
                    .iter()
                    .chain([&p.name])
                    .map(|name| (*name).to_owned())
                    .collect()
            };
            let fits = fitting(&all, typed, names).into_iter();
            fits.map(|p| choice(p.name, p.help, " ")).collect()
        }
        Completes::Preset => {
            let all: Vec<&Preset> = known.presets.iter().collect();
            let fits = fitting(&all, typed, |p| vec![p.name.clone()]).into_iter();
            fits.map(|p| choice(&p.name, "sampling preset", "")).collect()
        }
        Completes::Persona => {
            let all: Vec<&(String, String)> = known.personas.iter().collect();
            let fits = fitting(&all, typed, |(name, _)| vec![name.clone()]).into_iter();
            fits.map(|(name, text)| choice(name, text.lines().next().unwrap_or_default(), ""))
                .collect()
        }
        Completes::Theme => {
            let all: Vec<&String> = known.themes.iter().collect();
            let fits = fitting(&all, typed, |name| vec![name.clone()]).into_iter();
            fits.map(|name| choice(name, "theme", "")).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_gives_back_the_draft_it_was_left_for() {
        let mut draft = Draft::default();
        for text in ["one", "two"] {
            draft.edited(text.to_owned(), Known::default());
            draft.sent();
        }
        draft.edited("unsent".to_owned(), Known::default());
        assert_eq!(draft.older().as_deref(), Some("two"));
        assert_eq!(draft.older().as_deref(), Some("one"));
        assert_eq!(draft.older(), None);
        assert_eq!(draft.newer().as_deref(), Some("two"));
        assert_eq!(draft.newer().as_deref(), Some("unsent"));
        assert_eq!(draft.newer(), None);
    }

    #[test]
    fn a_draft_left_for_the_history_can_be_found_again() {
        let mut draft = Draft::default();
        draft.edited("one".to_owned(), Known::default());
        draft.sent();
        draft.edited("unsent".to_owned(), Known::default());
        draft.older();
        draft.edited("one and a half".to_owned(), Known::default());
        assert_eq!(draft.history(), ["one", "unsent"]);
        assert_eq!(draft.older().as_deref(), Some("unsent"));
    }

    #[test]
    fn completions_follow_what_is_typed() {
        let labels = |text: &str| -> Vec<String> {
            Completion::of(
                text,
                Known {
                    presets: &Preset::shipped(),
                    themes: &["quipu".to_owned(), "night".to_owned()],
                    personas: &[],
                },
            )
            .map_or(vec![], |c| c.choices.into_iter().map(|c| c.label).collect())
        };
        assert_eq!(labels("/ret"), ["/retry"]);
        assert_eq!(labels("/resu"), ["/sessions [NAME|N]"], "by another name");
        assert_eq!(labels("/set top-p"), ["top-p"]);
        assert_eq!(labels("/preset c"), ["creative", "code"]);
        assert_eq!(labels("/theme n"), ["night"]);
        assert_eq!(labels("/svpr"), ["/save-preset NAME"], "by a few letters");
        assert_eq!(
            labels("/"),
            COMMANDS
                .iter()
                .map(|c| format!("/{} {}", c.name, c.args).trim_end().to_owned())
                .collect::<Vec<_>>()
        );
        assert!(labels("hello").is_empty() && labels("//x").is_empty() && labels("/set top-p 1").is_empty());
    }
}
