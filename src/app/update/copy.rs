//! `/copy`: what is put on the clipboard. How it gets there is the shell's business.

use crate::app::effect::Effect;
use crate::app::notice::Level;
use crate::app::state::State;
use crate::domain::{Message, Role};
use crate::text::{fenced, sanitize_copy};

use super::{Outcome, Refusal, select};

/// Copies the selected message or the last answer, the last block of code in it, or its block of this number.
pub(super) fn copy(state: &mut State, args: &str) -> Outcome {
    let spoken = |message: &Message| message.role == Role::Assistant && !message.text.is_empty();
    let Some(message) = select::meant(state, spoken) else {
        return Err(Refusal::new(Level::Info, "there is nothing to copy yet"));
    };
    if args.is_empty() {
        return Ok(vec![Effect::Copy(sanitize_copy(&message.text))]);
    }
    let blocks = fenced(&message.text);
    let number = match args {
        "code" => blocks.len(),
        _ => args.parse().map_err(|_| {
            let words =
                format!("'{args}' is no part of a message: /copy takes 'code', or the number of a block of code");
            Refusal::new(Level::Warn, words)
        })?,
    };
    match number.checked_sub(1).and_then(|at| blocks.get(at)) {
        Some(code) => Ok(vec![Effect::Copy(sanitize_copy(code))]),
        None if blocks.is_empty() => Err(Refusal::new(Level::Info, "there is no block of code in the message")),
        None => Err(Refusal::new(
            Level::Warn,
            format!("there is no block '{args}': the message has {}", blocks.len()),
        )),
    }
}

/// It is on the clipboard, or why not.
pub(super) fn copied(state: &mut State, copied: Result<String, String>) {
    match copied {
        Ok(words) => state.tell(Level::Info, words),
        Err(words) => state.tell(Level::Warn, words),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::app::update::scene::{answering, draft, last_notice, ready, send};

    #[test]
    fn an_answer_is_copied_or_a_block_of_it() {
        let mut state = ready();
        assert_eq!(send(&mut state, "/copy"), []);
        assert_eq!(last_notice(&state).1, "there is nothing to copy yet");
        let text = "See:\n```sh\none\n```\nor\n```\ntwo\n```\n";
        let mut state = answering(text);
        let copy = |text: &str| [draft(""), Effect::Copy(text.to_owned())];
        assert_eq!(send(&mut state, "/copy"), copy(text));
        assert_eq!(send(&mut state, "/copy code"), copy("two\n"));
        assert_eq!(send(&mut state, "/copy 1"), copy("one\n"));
        assert_eq!(send(&mut state, "/copy 3"), []);
        assert_eq!(last_notice(&state).1, "there is no block '3': the message has 2");
        assert_eq!(send(&mut state, "/copy it"), []);
    }
}
