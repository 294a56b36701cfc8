//! `/persona`: system prompts by name, as the configuration has them.

use crate::app::notice::Level;
use crate::app::state::{Overlay, State};
use crate::text::nearest;

use super::{Outcome, Refusal, talk};

/// Lists the personas, or takes one.
pub(super) fn command(state: &mut State, name: &str) -> Outcome {
    let personas = &state.looks.personas;
    if name.is_empty() {
        if personas.is_empty() {
            let words = "there is no persona yet: write NAME = \"You are …\" under [personas] in the configuration";
            return Err(Refusal::new(Level::Info, words));
        }
        let row = |(name, text): &(String, String)| {
            let mark = if state.conversation.system() == Some(text.as_str()) {
                "* "
            } else {
                "  "
            };
            format!("{mark}{name}: {}\n", text.replace('\n', " "))
        };
        let text = personas.iter().map(row).collect();
        state.screen.overlay = Some(Overlay::Text {
            title: "personas".to_owned(),
            text,
            top: 0,
        });
        return Ok(Vec::new());
    }
    let Some((known, text)) = personas
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .cloned()
    else {
        let near = nearest(name, personas.iter().map(|(name, _)| name.as_str()));
        let remedy = near.map_or("/persona lists them".to_owned(), |near| format!("did you mean {near}?"));
        return Err(Refusal::new(
            Level::Warn,
            format!("there is no persona '{name}': {remedy}"),
        ));
    };
    talk::system(state, &text);
    state.tell(Level::Info, format!("'{known}' speaks from the next message on"));
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::update::scene::{draft, last_notice, ready, send};

    #[test]
    fn a_persona_is_a_system_prompt_by_name() {
        let mut state = ready();
        send(&mut state, "/persona");
        assert!(last_notice(&state).1.starts_with("there is no persona yet"));
        state.looks.personas = vec![("poet".to_owned(), "You rhyme.".to_owned())];
        assert_eq!(send(&mut state, "/persona Poet"), [draft("")]);
        assert_eq!(state.conversation.system(), Some("You rhyme."));
        send(&mut state, "/persona");
        let Some(Overlay::Text { text, .. }) = &state.screen.overlay else {
            panic!()
        };
        assert_eq!(text, "* poet: You rhyme.\n");
        send(&mut state, "/persona peot");
        assert_eq!(last_notice(&state).1, "there is no persona 'peot': did you mean poet?");
    }
}
