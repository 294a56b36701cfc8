//! The draft under the keys: its history, and the completion that is open over it. The cursor and the editing are the
//! composer's in `ui`.

use crate::app::command;
use crate::app::draft::{Completion, Draft, Known};
use crate::app::effect::Effect;
use crate::app::notice::Level;
use crate::app::state::{Looks, State};
use crate::app::tuning::Tuning;
use crate::domain::sampling::Parameter;

/// What the person means by sending the draft.
pub(super) enum Meant {
    /// This line.
    Line(String),
    /// To go on writing this one: a completion that wants an argument.
    Unfinished(String),
}

/// The composer's text changed under the person's hands.
pub(super) fn edited(state: &mut State, text: String) {
    // An echo of a text that we set is no news; it would open a completion that was closed.
    if text != state.draft.text {
        // Who writes means no message any more, unless it is that one which is written anew.
        if state.screen.editing.is_none() {
            state.screen.selected = None;
        }
        state.draft.edited(text, known(&state.tuning, &state.looks));
    }
}

/// What arguments can name.
fn known<'a>(tuning: &'a Tuning, looks: &'a Looks) -> Known<'a> {
    Known {
        presets: &tuning.presets,
        themes: &looks.themes,
        personas: &looks.personas,
    }
}

/// Replaces the draft.
pub(super) fn set(state: &mut State, text: String) -> Effect {
    state.draft.edited(text.clone(), known(&state.tuning, &state.looks));
    Effect::SetDraft(text)
}

/// The message comes back from an editor, or why not.
pub(super) fn edited_outside(state: &mut State, edited: Result<String, String>) -> Vec<Effect> {
    match edited {
        Ok(text) => vec![set(state, text)],
        Err(words) => {
            state.tell(Level::Warn, words);
            Vec::new()
        }
    }
}

/// Shows what was sent before.
pub(super) fn older(state: &mut State) -> Vec<Effect> {
    state.draft.older().map(Effect::SetDraft).into_iter().collect()
}

/// Shows what was sent after, and at last the draft itself.
pub(super) fn newer(state: &mut State) -> Vec<Effect> {
    state.draft.newer().map(Effect::SetDraft).into_iter().collect()
}

/// Moves the selection in the open completion.
pub(super) fn choose(state: &mut State, by: isize) {
    if let Some(completion) = &mut state.draft.completion {
        completion.step(by);
    }
}

/// Takes the selected completion; where none is open, opens what there is.
pub(super) fn complete(state: &mut State) -> Vec<Effect> {
    if let Some(completion) = &state.draft.completion {
        let taken = completion.choice().map(|choice| choice.text.clone());
        return taken.map(|text| set(state, text)).into_iter().collect();
    }
    let text = state.draft.text.clone();
    state.draft.edited(text, known(&state.tuning, &state.looks));
    Vec::new()
}

/// What is meant by sending: the draft as it stands where it is whole, else what the open completion makes of it.
pub(super) fn meant(draft: &Draft) -> Meant {
    let as_it_stands = || Meant::Line(draft.text.clone());
    let Some(completion) = &draft.completion else {
        return as_it_stands();
    };
    // A selection that was moved is meant, whatever was typed.
    let by_hand = completion.selected > 0;
    match completion.choice() {
        Some(choice) if by_hand || !is_whole(&draft.text, completion) => {
            // A choice that ends in a space wants an argument.
            if choice.text.ends_with(' ') {
                Meant::Unfinished(choice.text.clone())
            } else {
                Meant::Line(choice.text.clone())
            }
        }
        _ => as_it_stands(),
    }
}

/// Whether what was typed so far is a whole word of the kind that is being completed. A bare slash counts as one: it must
/// not run whatever happens to stand first.
fn is_whole(text: &str, completion: &Completion) -> bool {
    let typed = text.strip_prefix('/').unwrap_or(text);
    match typed.split_once(' ') {
        None => typed.is_empty() || command::find(typed).is_some(),
        Some((_, argument)) => {
            let name = Parameter::find(argument).map_or(argument, |parameter| parameter.name);
            argument.is_empty() || completion.choices.iter().any(|c| c.label.eq_ignore_ascii_case(name))
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::app::Action;
    use crate::app::update::scene::{act, draft, edit, last_notice, ready, send};

    #[test]
    fn a_completion_is_taken() {
        let mut state = ready();
        edit(&mut state, "/pr");
        act(&mut state, Action::CompletionNext);
        act(&mut state, Action::CompletionNext);
        assert_eq!(act(&mut state, Action::Complete), [draft("/preset ")]);
        let labels = |state: &State| -> Vec<String> {
            let choices = state.draft.completion.iter().flat_map(|c| &c.choices);
            choices.map(|choice| choice.label.clone()).collect()
        };
        let presets: Vec<_> = state.tuning.presets.iter().map(|p| p.name.clone()).collect();
        assert_eq!(labels(&state), presets);
        act(&mut state, Action::CompletionPrevious);
        assert_eq!(act(&mut state, Action::Complete), [draft("/preset llama.cpp")]);
        act(&mut state, Action::Escape);
        edit(&mut state, "/preset llama.cpp");
        assert_eq!(labels(&state), [""; 0], "the echo of our own text opens nothing");
        assert_eq!(act(&mut state, Action::Complete), []);
        assert_eq!(labels(&state), ["llama.cpp"], "asked for, it opens again");
    }

    #[test]
    fn enter_runs_what_is_whole_and_completes_what_is_not() {
        // What is typed, how far the selection is moved, and what comes of it.
        let help = crate::app::COMMANDS.iter().position(|c| c.name == "help").unwrap();
        let cases = [
            ("/he", 0, vec![draft("")], "", "open"),
            ("/quit", 0, vec![draft(""), Effect::Quit(0)], "", ""),
            ("/exi", 0, vec![draft(""), Effect::Quit(0)], "", ""),
            ("/se", 0, vec![draft("/set ")], "/set ", ""),
            ("/set", 0, vec![draft("")], "", "open"),
            ("/set ", 0, vec![draft("")], "", "open"),
            ("/set ", 1, vec![draft("/set top-k ")], "/set top-k ", ""),
            ("/set top", 0, vec![draft("/set top-k ")], "/set top-k ", ""),
            ("/set temp", 0, vec![draft("")], "", ""),
            ("/preset prec", 0, vec![draft("")], "", ""),
            ("/preset Code", 0, vec![draft("")], "", ""),
            ("/", 0, vec![], "/", ""),
            ("/", help, vec![draft("")], "", "open"),
        ];
        for (typed, moved, effects, stands, overlay) in cases {
            let mut state = ready();
            edit(&mut state, typed);
            (0..moved).for_each(|_| choose(&mut state, 1));
            assert_eq!(act(&mut state, Action::Send), effects, "{typed}");
            assert_eq!(state.draft.text, stands, "{typed}");
            assert_eq!(state.screen.overlay.is_some(), overlay == "open", "{typed}");
        }
    }

    #[test]
    fn the_command_that_ran_is_remembered_whole() {
        let mut state = ready();
        send(&mut state, "/preset prec");
        assert_eq!(state.tuning.label(), "precise");
        assert_eq!(act(&mut state, Action::HistoryPrevious), [draft("/preset precise")]);
        assert_eq!(act(&mut state, Action::HistoryPrevious), []);
        assert_eq!(act(&mut state, Action::HistoryNext), [draft("")]);
        assert_eq!(act(&mut state, Action::HistoryNext), []);
    }

    #[test]
    fn an_unknown_command_is_kept_to_be_mended() {
        let cases = [
            ("/retyr", "there is no command '/retyr': did you mean /retry?"),
            (
                "/xyzzy 1",
                "there is no command '/xyzzy': /help lists them, and // begins a message with a slash",
            ),
            ("/new idea", "/new takes no arguments, and 'idea' stands after it"),
        ];
        for (typed, words) in cases {
            let mut state = ready();
            assert_eq!(send(&mut state, typed), []);
            assert_eq!((state.draft.text.as_str(), last_notice(&state).1), (typed, words));
            assert_eq!(state.draft.history(), [""; 0]);
        }
    }
}
