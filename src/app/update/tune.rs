//! The panel in which sampling is tuned: opening and leaving it, and what its keys do to the settings. Every change reaches an
//! answer under way with its next token.

use std::sync::Arc;

use crate::app::effect::Effect;
use crate::app::notice::Level;
use crate::app::sessions::Typed;
use crate::app::state::State;
use crate::app::tune::TunePanel;
use crate::domain::prospect::Prospect;
use crate::domain::sampling::{Kind, Parameter, Refused, Step};

use super::{Outcome, Refusal, inspect, sampling};

/// `/tune`: opens the panel, gives it the keys, or closes it.
pub(super) fn toggle(state: &mut State) -> Vec<Effect> {
    // What is inspected is what one wants to try settings on.
    if let Some(look) = inspect::look(state) {
        state.screen.tune = Some(TunePanel::open());
        state.screen.overlay = None;
        return vec![Effect::Watch(true), look];
    }
    match &mut state.screen.tune {
        Some(panel) if panel.focused => close(state),
        Some(panel) => {
            panel.focused = true;
            Vec::new()
        }
        none => {
            *none = Some(TunePanel::open());
            state.screen.overlay = None;
            vec![Effect::Watch(true)]
        }
    }
}

fn close(state: &mut State) -> Vec<Effect> {
    state.screen.tune = None;
    state.prospect = None;
    vec![Effect::Watch(false)]
}

/// The panel, while keys are for it.
fn focused(state: &mut State) -> Option<&mut TunePanel> {
    let open = state.screen.overlay.is_none();
    state.screen.tune.as_mut().filter(|panel| panel.focused && open)
}

/// Leaves what is typed, else the panel. Says whether there was one.
pub(super) fn escape(state: &mut State) -> Option<Vec<Effect>> {
    let panel = focused(state)?;
    if panel.naming.take().is_some() || panel.typing.take().is_some() {
        return Some(Vec::new());
    }
    Some(close(state))
}

/// Gives the keys to the message; the panel stays.
pub(super) fn leave(state: &mut State) {
    if let Some(panel) = focused(state) {
        (panel.focused, panel.typing, panel.naming) = (false, None, None);
    }
}

/// The engine left another token's logits.
pub(super) fn seen(state: &mut State, prospect: Arc<Prospect>) {
    if state.screen.tune.is_some() {
        state.prospect = Some(prospect);
    }
}

/// Moves the selection by rows. Says whether the panel has the keys.
pub(super) fn step(state: &mut State, rows: i64) -> bool {
    let Some(panel) = focused(state) else { return false };
    panel.typing = None;
    let last = TunePanel::ROWS as i64 - 1;
    panel.selected = (panel.selected as i64).saturating_add(rows).clamp(0, last) as usize;
    true
}

/// The person types a value or a name. Says whether the panel has the keys.
pub(super) fn typed(state: &mut State, typed: &Typed) -> bool {
    let Some(panel) = focused(state) else { return false };
    if let Some(line) = panel.line() {
        typed.to(line);
    } else if panel.parameter().is_some() {
        typed.to(panel.typing.insert(String::new()));
    }
    true
}

/// Changes the selected setting by a step.
pub(super) fn go(state: &mut State, step: Step) -> Outcome {
    let Some(panel) = focused(state) else {
        return Ok(Vec::new());
    };
    panel.typing = None;
    match panel.parameter() {
        Some(parameter) => change(state, parameter, |settings| parameter.go(settings, step)),
        None => Ok(other_preset(state, step)),
    }
}

/// Takes the preset before or after.
fn other_preset(state: &mut State, step: Step) -> Vec<Effect> {
    let by = if matches!(step, Step::Up | Step::FarUp) { 1 } else { -1 };
    let presets = &state.tuning.presets;
    let at = presets.iter().position(|p| p.name == state.tuning.preset).unwrap_or(0) as i64;
    let next = (at + by).rem_euclid(presets.len().max(1) as i64) as usize;
    if let Some(name) = presets.get(next).map(|preset| preset.name.clone()) {
        state.tuning.choose(&name);
    }
    sampling::tune(state)
}

/// Enter: takes what is typed, or begins to type.
pub(super) fn take(state: &mut State) -> Outcome {
    let Some(panel) = focused(state) else {
        return Ok(Vec::new());
    };
    if let Some(name) = panel.naming.take() {
        return sampling::save_preset(state, name.trim());
    }
    let (parameter, typing) = (panel.parameter(), panel.typing.take());
    match (parameter, typing) {
        (Some(parameter), Some(text)) => change(state, parameter, |settings| parameter.set(settings, &text)),
        (Some(parameter), None) => {
            let value = parameter.get(&state.tuning.sampling).to_string();
            if let Some(panel) = focused(state) {
                panel.typing = Some(value);
            }
            Ok(Vec::new())
        }
        (None, _) => Ok(Vec::new()),
    }
}

/// Gives a parameter this value.
pub(super) fn put(state: &mut State, parameter: &'static Parameter, value: f32) -> Outcome {
    let text = match parameter.kind {
        Kind::Whole { .. } => format!("{value:.0}"),
        // Through text, so that 0.8 stays 0.8.
        _ => format!("{value:.2}").parse::<f32>().unwrap_or(value).to_string(),
    };
    change(state, parameter, |settings| parameter.set(settings, &text))
}

/// Changes a setting; says why where it is refused.
fn change(
    state: &mut State,
    parameter: &'static Parameter,
    set: impl FnOnce(&mut crate::domain::Sampling) -> Result<(), Refused>,
) -> Outcome {
    let changed = state.tuning.change(parameter, set);
    let changed = changed.map_err(|refused| Refusal::new(Level::Warn, refused.to_string()))?;
    Ok(changed.map_or_else(Vec::new, |_| sampling::tune(state)))
}

/// Begins to type a name to keep the settings by.
pub(super) fn name(state: &mut State) {
    if let Some(panel) = focused(state) {
        panel.naming = Some(String::new());
    }
}

/// Puts the selected setting back to what the preset says.
pub(super) fn reset(state: &mut State) -> Vec<Effect> {
    let Some(panel) = focused(state) else { return Vec::new() };
    panel.typing = None;
    match panel.parameter() {
        Some(parameter) => {
            state.tuning.reset(parameter);
            sampling::tune(state)
        }
        None => reset_all(state),
    }
}

/// Puts all of them back.
pub(super) fn reset_all(state: &mut State) -> Vec<Effect> {
    if focused(state).is_none() {
        return Vec::new();
    }
    let preset = state.tuning.preset.clone();
    state.tuning.choose(&preset);
    sampling::tune(state)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::app::update::scene::{act, answering, last_notice, ready};
    use crate::app::{Action, CommandId, Msg, update};
    use crate::domain::Sampling;
    use crate::domain::inference::Command;

    const TUNE: Action = Action::Run(CommandId::Tune);

    fn type_over(state: &mut State, text: &str) -> Vec<Effect> {
        update(state, Msg::TypedOver(Typed::Text(text.to_owned())))
    }

    #[test]
    fn keys_turn_what_is_selected_and_a_running_answer_hears_of_it() {
        let mut state = answering("hi");
        assert_eq!(act(&mut state, TUNE), [Effect::Watch(true)]);
        let tuned = |temperature| {
            let settings = Sampling {
                temperature,
                ..Sampling::default()
            };
            [Effect::Engine(Command::Tune(settings))]
        };
        assert_eq!(act(&mut state, Action::Raise), tuned(0.85));
        assert_eq!(act(&mut state, Action::LowerFar), tuned(0.6));
        assert_eq!(state.tuning.label(), "balanced*");
        assert_eq!(act(&mut state, Action::ResetSetting), tuned(0.8));
        act(&mut state, Action::LineDown);
        act(&mut state, Action::Raise);
        assert_eq!(state.tuning.sampling.top_k, 41);
        act(&mut state, Action::ResetSettings);
        assert_eq!(state.tuning.label(), "balanced");
    }

    #[test]
    fn a_number_is_typed_and_a_wrong_one_refused() {
        let mut state = ready();
        act(&mut state, TUNE);
        type_over(&mut state, "1.3");
        act(&mut state, Action::Take);
        assert_eq!(state.tuning.sampling.temperature, 1.3);
        type_over(&mut state, "hot");
        act(&mut state, Action::Take);
        assert_eq!(
            last_notice(&state).1,
            "'hot' is no value for temperature: give a number from 0 to 5"
        );
        assert_eq!(state.tuning.sampling.temperature, 1.3);
        act(&mut state, Action::Take);
        assert_eq!(
            state.screen.tune.as_ref().unwrap().typing.as_deref(),
            Some("1.3"),
            "what is there is edited"
        );
        act(&mut state, Action::Escape);
        assert!(state.screen.tune.is_some(), "only the typing is left");
        assert_eq!(act(&mut state, Action::Escape), [Effect::Watch(false)]);
        assert_eq!(state.screen.tune, None);
    }

    #[test]
    fn presets_are_gone_through_and_kept() {
        let mut state = ready();
        act(&mut state, TUNE);
        act(&mut state, Action::LineUp);
        act(&mut state, Action::Raise);
        assert_eq!(state.tuning.label(), "creative");
        act(&mut state, Action::NamePreset);
        type_over(&mut state, "mine");
        let effects = act(&mut state, Action::Take);
        assert!(matches!(effects.as_slice(), [Effect::Save(_)]), "{effects:?}");
        assert_eq!(state.tuning.label(), "mine");
    }

    #[test]
    fn the_panel_may_stay_while_one_writes() {
        let mut state = ready();
        act(&mut state, TUNE);
        act(&mut state, Action::Unfocus);
        act(&mut state, Action::Raise);
        assert_eq!(state.tuning.sampling, Sampling::default(), "keys are not for it");
        act(&mut state, TUNE);
        act(&mut state, Action::Raise);
        assert_eq!(state.tuning.sampling.temperature, 0.85);
        assert_eq!(act(&mut state, TUNE), [Effect::Watch(false)]);
    }
}
