//! `/attach`: the text of a file as a part of the message. Reading the file is the shell's business.

use crate::app::effect::Effect;
use crate::app::msg::Attachment;
use crate::app::notice::Level;
use crate::app::state::State;
use crate::domain::Bytes;

use super::{Outcome, Refusal};

/// Has the file read.
pub(super) fn attach(path: &str) -> Outcome {
    if path.is_empty() {
        return Err(Refusal::new(
            Level::Info,
            "name a file: /attach FILE, or @FILE before a message",
        ));
    }
    Ok(vec![Effect::ReadFile(path.to_owned())])
}

/// The file that a message begins with as `@FILE`, and what follows. What has neither a dot nor a slash is somebody's name.
pub(super) fn named(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix('@')?;
    let (name, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    name.contains(['.', '/']).then_some((name, rest.trim_start()))
}

/// The file was read, or could not be, in words.
pub(super) fn attached(state: &mut State, read: Result<Attachment, String>) -> Vec<Effect> {
    let Attachment { name, text, tokens } = match read {
        Ok(attachment) => attachment,
        Err(words) => {
            state.tell(Level::Warn, words);
            return Vec::new();
        }
    };
    let context = state.engine.model().map(|model| model.context);
    if let (Some(tokens), Some(context)) = (tokens, context)
        && tokens >= context
    {
        let words = format!(
            "'{name}' takes {tokens} tokens and the context holds {context}: attach a part of it, or take a larger one by \
             /context N"
        );
        state.tell(Level::Warn, words);
        return Vec::new();
    }
    let size = Bytes(text.len() as u64);
    let tokens = tokens.map_or_else(String::new, |tokens| format!(", {tokens} tokens"));
    state.tell(
        Level::Info,
        format!("attached '{name}', {size}{tokens}: it goes with the message"),
    );
    vec![Effect::Fold(block(&name, &text))]
}

/// The text between fences that are longer than any in it, under the file's name.
fn block(name: &str, text: &str) -> String {
    let longest = text.lines().map(|line| {
        let line = line.trim_start();
        line.chars().take_while(|c| *c == '`').count()
    });
    let fence = "`".repeat(longest.max().unwrap_or(0).max(2) + 1);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let ending = if ending.chars().all(char::is_alphanumeric) {
        ending
    } else {
        ""
    };
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{name}:\n{fence}{ending}\n{text}{end}{fence}\n")
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::app::update::scene::{draft, last_notice, ready, send};
    use crate::app::{Msg, update};

    fn file(text: &str, tokens: u32) -> Msg {
        Msg::Attached(Ok(Attachment {
            name: "a.rs".to_owned(),
            text: text.to_owned(),
            tokens: Some(tokens),
        }))
    }

    #[test]
    fn a_file_goes_with_the_message() {
        let mut state = ready();
        let read = |path: &str| Effect::ReadFile(path.to_owned());
        assert_eq!(send(&mut state, "/attach ~/a.rs")[1], read("~/a.rs"));
        assert_eq!(send(&mut state, "/read a.rs")[1], read("a.rs"));
        let effects = send(&mut state, "@src/a.rs what is it?");
        assert_eq!(effects, [draft(""), draft("what is it?"), read("src/a.rs")]);
        let effects = update(&mut state, file("fn main() {}", 4));
        assert_eq!(effects, [Effect::Fold("a.rs:\n```rs\nfn main() {}\n```\n".to_owned())]);
        assert_eq!(
            last_notice(&state).1,
            "attached 'a.rs', 12 B, 4 tokens: it goes with the message"
        );
        let effects = update(&mut state, file("````\nx\n````\n", 4));
        assert_eq!(
            effects,
            [Effect::Fold("a.rs:\n`````rs\n````\nx\n````\n`````\n".to_owned())]
        );
    }

    #[test]
    fn what_cannot_be_attached_is_refused_with_a_reason() {
        let mut state = ready();
        assert_eq!(update(&mut state, file("x", 1024)), []);
        assert!(
            last_notice(&state)
                .1
                .contains("takes 1024 tokens and the context holds 1024")
        );
        assert_eq!(update(&mut state, Msg::Attached(Err("'x' is no text".to_owned()))), []);
        assert_eq!(last_notice(&state), (Level::Warn, "'x' is no text"));
        assert_eq!(named("@ada look"), None, "somebody's name");
    }
}
