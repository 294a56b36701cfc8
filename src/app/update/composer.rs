//! The draft under the keys: its history, and the completion that is open over it. The cursor and the editing are the
//! composer's in `ui`.

use crate::app::command;
use crate::app::draft::{Completion, Draft};
use crate::app::effect::Effect;
use crate::app::state::State;
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
        state.draft.edited(text, &state.tuning.presets);
    }
}

/// Replaces the draft.
pub(super) fn set(state: &mut State, text: String) -> Effect {
    state.draft.edited(text.clone(), &state.tuning.presets);
    Effect::SetDraft(text)
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
    state.draft.edited(text, &state.tuning.presets);
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
