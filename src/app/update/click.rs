//! What clicks do: what a key would do to the same thing.

use crate::app::click::{Click, Drag};
use crate::app::effect::Effect;
use crate::app::state::{Overlay, Scroll, State};
use crate::domain::MessageId;
use crate::domain::sampling::PARAMETERS;
use crate::text::sanitize_copy;

use super::{Outcome, sessions, talk, tune};

/// Something was clicked.
pub(super) fn clicked(state: &mut State, click: Click) -> Outcome {
    match click {
        Click::Message(id) => {
            let same = state.screen.selected == Some(id);
            state.screen.selected = (!same).then_some(id);
        }
        Click::VersionBefore(id) => {
            state.screen.selected = Some(id);
            return talk::previous_version(state);
        }
        Click::VersionAfter(id) => {
            state.screen.selected = Some(id);
            return talk::next_version(state);
        }
        Click::Thinking(id) => toggle(&mut state.screen.thought, id),
        Click::Fold(id) => toggle(&mut state.screen.folds, id),
        Click::Row(row) => return Ok(choose(state, row)),
        Click::Slider(row, thousandths) => return slide(state, row, thousandths),
        Click::More => state.screen.scroll = Scroll::Follow,
        Click::Composer => tune::leave(state),
    }
    Ok(Vec::new())
}

fn toggle(set: &mut std::collections::BTreeSet<MessageId>, id: MessageId) {
    if !set.remove(&id) {
        set.insert(id);
    }
}

/// Folds or unfolds the selected message: what was thought, where it is told of, else the whole.
pub(super) fn fold(state: &mut State) {
    let Some(id) = state.screen.selected else { return };
    let thinks = |answer: &crate::domain::Answer| !answer.thinking.text.is_empty();
    let message = state.conversation.get(id);
    if message.and_then(|message| message.answer.as_ref()).is_some_and(thinks) {
        toggle(&mut state.screen.thought, id);
    } else {
        toggle(&mut state.screen.folds, id);
    }
    state.screen.reveal = Some(id);
}

/// Selects a row; one that is selected is taken.
fn choose(state: &mut State, row: usize) -> Vec<Effect> {
    let selected = match &mut state.screen.overlay {
        Some(Overlay::Picker(picker)) => &mut picker.selected,
        Some(Overlay::Sessions(list)) => &mut list.selected,
        Some(_) => return Vec::new(),
        None => match &mut state.screen.tune {
            Some(panel) => {
                (panel.focused, panel.typing) = (true, None);
                panel.selected = row;
                return Vec::new();
            }
            None => return Vec::new(),
        },
    };
    let by = row as i64 - *selected as i64;
    if by == 0 {
        return super::take(state, false);
    }
    super::pick::step(state, by).unwrap_or_else(|| {
        sessions::step(state, by);
        Vec::new()
    })
}

/// Puts a setting to where its slider was clicked.
fn slide(state: &mut State, row: usize, thousandths: u16) -> Outcome {
    choose(state, row);
    let Some((parameter, slider)) = row
        .checked_sub(1)
        .and_then(|at| PARAMETERS.get(at))
        .and_then(|p| Some((p, p.slider()?)))
    else {
        return Ok(Vec::new());
    };
    let value = slider.min + (slider.max - slider.min) * f32::from(thousandths.min(1000)) / 1000.0;
    // To a small step, as keys go.
    let value = (value / slider.fine).round() * slider.fine;
    tune::put(state, parameter, value)
}

/// The mouse marks a stretch of the screen.
pub(super) fn dragged(state: &mut State, drag: Option<Drag>) {
    state.screen.drag = drag;
}

/// What was marked is copied.
pub(super) fn marked(state: &mut State, text: &str) -> Vec<Effect> {
    state.screen.drag = None;
    if text.trim().is_empty() {
        return Vec::new();
    }
    vec![Effect::Copy(sanitize_copy(text))]
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::app::update::scene::{act, answered, path};
    use crate::app::{Action, CommandId, Msg, update};

    fn click(state: &mut State, click: Click) -> Vec<Effect> {
        update(state, Msg::Click(click))
    }

    #[test]
    fn clicks_do_what_keys_do() {
        let mut state = answered();
        act(&mut state, Action::Run(CommandId::Retry));
        super::super::scene::say(&mut state, 3, "again");
        super::super::scene::finish(&mut state, crate::domain::inference::Finish::EndOfTurn);
        let shown = state.conversation.tip().unwrap();
        click(&mut state, Click::VersionBefore(shown));
        assert_eq!(path(&state), ["hello", "hi"]);
        let first = state.conversation.path()[0].id;
        click(&mut state, Click::Message(first));
        assert_eq!(state.screen.selected, Some(first));
        act(&mut state, Action::Fold);
        assert!(state.screen.folds.contains(&first));
        click(&mut state, Click::Fold(first));
        assert!(state.screen.folds.is_empty());
    }

    #[test]
    fn sliders_and_rows_take_clicks() {
        let mut state = answered();
        act(&mut state, Action::Run(CommandId::Tune));
        click(&mut state, Click::Slider(1, 500));
        assert_eq!(state.tuning.sampling.temperature, 1.0);
        click(&mut state, Click::Row(2));
        assert_eq!(state.screen.tune.as_ref().unwrap().selected, 2);
        act(&mut state, Action::Escape);
        act(&mut state, Action::Palette);
        click(&mut state, Click::Row(3));
        let Some(Overlay::Picker(picker)) = &state.screen.overlay else {
            panic!()
        };
        assert_eq!(picker.selected, 3);
    }

    #[test]
    fn what_is_marked_is_copied() {
        let mut state = answered();
        assert_eq!(
            update(&mut state, Msg::Marked("two\nlines".to_owned())),
            [Effect::Copy("two\nlines".to_owned())]
        );
        assert_eq!(update(&mut state, Msg::Marked("  ".to_owned())), []);
    }
}
