//! A script: the model that it introduces, and what is answered. Reading it from TOML; playing it is `play.rs`'s business.
//!
//! Every key may be left out, but an answer needs `text` or `echo`:
//! ```toml
//! [model]
//! name = "a script"      # shown as the model's name
//! context = 4096         # tokens (words) that fit
//! bytes = 4_000_000      # what the progress of loading counts up to; by default the bytes of the answers
//! load-ms = 300          # how long loading takes
//! fail = "no such file"  # loading fails with these words
//!
//! [[answer]]             # answers are given in this order; the last one again and again
//! text = "Drawn at {temperature}."  # {temperature} is the temperature in force when this word is said, and so with each parameter
//! echo = false           # true: first says what was asked
//! prefill-ms = 100       # how long reading the prompt takes
//! token-ms = 20          # time before each word
//! prompt-tokens = 900    # told as the prompt's length, instead of its true count
//! spread = [["Paris", 0.6], ["Lyon", 0.1]]  # what each word is shown as drawn from: other words and their probabilities
//! then = "end"           # or "max-tokens", "context-full", "fail", "panic", "abort" (of the whole process)
//! words = "out of luck"  # what "fail" and "panic" say
//! ```

use std::fmt;
use std::time::Duration;

use serde::Deserialize;

/// What the engine plays.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    pub(super) model: Model,
    /// Never empty.
    pub(super) answers: Vec<Answer>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Model {
    pub(super) name: String,
    pub(super) context: u32,
    pub(super) bytes: Option<u64>,
    load_ms: u32,
    pub(super) fail: Option<String>,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            name: "script".to_owned(),
            context: 4096,
            bytes: None,
            load_ms: 0,
            fail: None,
        }
    }
}

impl Model {
    pub(super) fn load(&self) -> Duration {
        Duration::from_millis(self.load_ms.into())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) echo: bool,
    prefill_ms: u32,
    token_ms: u32,
    pub(super) prompt_tokens: Option<u32>,
    pub(super) spread: Vec<(String, f32)>,
    pub(super) then: Then,
    words: Option<String>,
}

impl Answer {
    pub(super) fn prefill(&self) -> Duration {
        Duration::from_millis(self.prefill_ms.into())
    }

    pub(super) fn token(&self) -> Duration {
        Duration::from_millis(self.token_ms.into())
    }

    /// What is said where it fails.
    pub(super) fn words(&self) -> &str {
        self.words.as_deref().unwrap_or("the script says so")
    }
}

/// What happens after the last word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Then {
    /// The answer ends by itself.
    #[default]
    End,
    MaxTokens,
    ContextFull,
    /// The turn fails.
    Fail,
    /// The engine's thread dies.
    Panic,
    /// The process aborts, as llama.cpp does over a broken invariant.
    Abort,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    model: Model,
    #[serde(default)]
    answer: Vec<toml::Spanned<Answer>>,
}

/// Why a script cannot be played. Names the line; who knows the file's name puts it before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong there, and the remedy.
    pub message: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ScriptError {}

impl Script {
    /// Reads a script from TOML.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let wrong = |at: usize, message: String| ScriptError {
            line: 1 + text[..at.min(text.len())].matches('\n').count(),
            message,
        };
        let File { model, answer } = toml::from_str(text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            wrong(span.start, in_words(error.message(), text.get(span).unwrap_or("")))
        })?;
        if model.context == 0 {
            return Err(wrong(0, "'model.context' is 0: give at least 1 token".to_owned()));
        }
        for answer in &answer {
            let at = answer.span().start;
            let Answer {
                text,
                echo,
                then,
                words,
                ..
            } = answer.get_ref();
            if text.is_empty() && !echo && matches!(then, Then::End) {
                let message = "this answer says nothing: give it 'text', or 'echo = true'";
                return Err(wrong(at, message.to_owned()));
            }
            if words.is_some() && !matches!(then, Then::Fail | Then::Panic) {
                let message = "'words' are said only where 'then' is \"fail\" or \"panic\"";
                return Err(wrong(at, message.to_owned()));
            }
        }
        if answer.is_empty() && model.fail.is_none() {
            return Err(wrong(
                0,
                "the script has no answer: add an [[answer]] with a 'text'".to_owned(),
            ));
        }
        let answers: Vec<_> = answer.into_iter().map(toml::Spanned::into_inner).collect();
        Ok(Self::new(model, answers))
    }

    fn new(model: Model, mut answers: Vec<Answer>) -> Self {
        // A model that cannot be loaded is never asked; one answer is kept so that "the last one" always exists.
        if answers.is_empty() {
            answers.push(Answer::default());
        }
        Self { model, answers }
    }

    /// What the progress of loading counts up to.
    pub(super) fn bytes(&self) -> u64 {
        let said: usize = self.answers.iter().map(|answer| answer.text.len()).sum();
        self.model.bytes.unwrap_or(said as u64)
    }
}

/// What stands in for a model where none can be: it says so, and how to get one.
impl Default for Script {
    fn default() -> Self {
        let text = "This quipu was built without llama.cpp, so no model can speak here. These words are a script.\n\n\
                    Build it again with its default features and it talks:\n\n\
                    ```sh\ncargo build --release\n```\n\n\
                    `./scripts/run` does that, and installs what it needs first.";
        let model = Model {
            name: "no model: a script".to_owned(),
            ..Model::default()
        };
        let answer = Answer {
            text: text.to_owned(),
            ..Answer::default()
        };
        Self::new(model, vec![answer])
    }
}

/// The parser's words in our manner: one line, single quotes, and the value that it is about.
fn in_words(message: &str, value: &str) -> String {
    let words = message.replace('`', "'").replace(char::is_control, " ");
    let words = words.replace("u32", "a whole number").replace("u64", "a whole number");
    let value: String = value.trim().chars().take(40).filter(|c| !c.is_control()).collect();
    if value.is_empty() || words.contains(&value) || words.starts_with("unknown") {
        words
    } else {
        format!("{words} at '{value}'")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_script_is_read() {
        let lines = include_str!("script.rs")
            .lines()
            .map(|line| line.trim_start_matches("//!"));
        let inside = lines.skip_while(|line| *line != " ```toml").skip(1);
        let documented = inside.take_while(|line| *line != " ```").collect::<Vec<_>>().join("\n");
        let alive = documented.replace("words =", "# words =");
        let script = Script::parse(&alive).unwrap();
        assert_eq!(script.model.fail.as_deref(), Some("no such file"));
        assert_eq!(script.answers[0].prompt_tokens, Some(900));
        // The words of an answer that neither fails nor panics are never said, and that is told.
        assert_eq!(Script::parse(&documented).unwrap_err().line, 8);
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let told = |text: &str| Script::parse(text).unwrap_err().to_string();
        insta::assert_snapshot!(told("[model]\ncontxt = 3"), @"line 2: unknown field 'contxt', expected one of 'name', 'context', 'bytes', 'load-ms', 'fail'");
        insta::assert_snapshot!(told("[model]\n\ncontext = \"big\""), @r#"line 3: invalid type: string "big", expected a whole number"#);
        insta::assert_snapshot!(told("[[answer]]\ntext = \"a\"\n[[answer]]\nthen = \"explode\""), @"line 4: unknown variant 'explode', expected one of 'end', 'max-tokens', 'context-full', 'fail', 'panic', 'abort'");
        insta::assert_snapshot!(told("[[answer]]\ntext = \"a\"\n\n[[answer]]\ntoken-ms = 1"), @"line 4: this answer says nothing: give it 'text', or 'echo = true'");
        insta::assert_snapshot!(told("[[answer"), @"line 1: unclosed array table, expected ']]'");
        insta::assert_snapshot!(told(""), @"line 1: the script has no answer: add an [[answer]] with a 'text'");
    }

    #[test]
    fn the_stand_in_says_what_it_is() {
        let script = Script::default();
        assert!(script.answers[0].text.contains("without llama.cpp"));
        assert!(script.model.name.contains("script"));
    }
}
