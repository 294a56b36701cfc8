//! `/set` and `/preset`. A change reaches an answer under way with its next token.

use crate::app::effect::Effect;
use crate::app::nearest::nearest;
use crate::app::notice::Level;
use crate::app::state::{Overlay, State};
use crate::domain::inference::Command;
use crate::domain::sampling::{PARAMETERS, Parameter};

use super::{Outcome, Refusal, answer, listing};

/// `/set`: lists the parameters, explains one, or sets one.
pub(super) fn set(state: &mut State, args: &str) -> Outcome {
    let (name, value) = assignment(args);
    if name.is_empty() {
        return Ok(show(state, "sampling", listing::parameters(&state.tuning)));
    }
    let parameter = Parameter::find(name).ok_or_else(|| unknown(name))?;
    let old = parameter.get(&state.tuning.sampling);
    let Parameter { name, kind, help, .. } = parameter;
    if value.is_empty() {
        let default = parameter.default();
        state.tell(
            Level::Info,
            format!("{name} is {old}, by default {default}; takes {kind}: {help}"),
        );
        return Ok(Vec::new());
    }
    let refused = |refused: crate::domain::sampling::Refused| Refusal::new(Level::Warn, refused.to_string());
    parameter.set(&mut state.tuning.sampling, value).map_err(refused)?;
    let new = parameter.get(&state.tuning.sampling);
    if new == old {
        state.tell(Level::Info, format!("{name} is {old} already"));
        return Ok(Vec::new());
    }
    state.tell(Level::Info, format!("{name} {old} → {new}"));
    Ok(tune(state))
}

/// Reads `NAME`, `NAME VALUE` and `NAME=VALUE`, each also after the word `parameter`. What is missing is empty.
fn assignment(args: &str) -> (&str, &str) {
    let parts = |text: &str| text.find(|c: char| c == '=' || c.is_whitespace());
    let args = match args.strip_prefix("parameter") {
        Some(rest) if rest.is_empty() || rest.starts_with(char::is_whitespace) => rest.trim_start(),
        _ => args,
    };
    let (name, value) = args.split_at(parts(args).unwrap_or(args.len()));
    (name, value.trim_matches(|c: char| c == '=' || c.is_whitespace()))
}

fn unknown(name: &str) -> Refusal {
    let names = PARAMETERS.iter().flat_map(|p| p.aliases.iter().chain([&p.name]));
    let near = nearest(&name.replace('_', "-"), names.copied()).and_then(Parameter::find);
    let remedy = near.map_or("/set lists them".to_owned(), |p| format!("did you mean {}?", p.name));
    Refusal::new(Level::Warn, format!("there is no parameter '{name}': {remedy}"))
}

/// `/preset`: lists the presets, or takes the settings of one.
pub(super) fn preset(state: &mut State, name: &str) -> Outcome {
    if name.is_empty() {
        return Ok(show(state, "presets", listing::presets(&state.tuning)));
    }
    let old = state.tuning.label();
    if !state.tuning.choose(name) {
        let near = nearest(name, state.tuning.presets.iter().map(|p| p.name.as_str()));
        let remedy = near.map_or("/preset lists them".to_owned(), |near| format!("did you mean {near}?"));
        return Err(Refusal::new(
            Level::Warn,
            format!("there is no preset '{name}': {remedy}"),
        ));
    }
    let new = state.tuning.label();
    state.tell(Level::Info, format!("preset {old} → {new}"));
    Ok(tune(state))
}

/// Tells the engine the settings where it is answering.
fn tune(state: &State) -> Vec<Effect> {
    let sampling = || Effect::Engine(Command::Tune(state.tuning.sampling.clone()));
    answer::asked(state).map(|_| sampling()).into_iter().collect()
}

fn show(state: &mut State, title: &str, text: String) -> Vec<Effect> {
    state.screen.overlay = Some(Overlay::Text {
        title: title.to_owned(),
        text,
        top: 0,
    });
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::assignment;

    #[test]
    fn assignments_are_read_as_people_write_them() {
        for text in [
            "top-k 5",
            "top-k=5",
            "top-k = 5",
            "parameter top-k 5",
            "parameter top-k=5",
        ] {
            assert_eq!(assignment(text), ("top-k", "5"), "{text}");
        }
        assert_eq!(assignment("top-k"), ("top-k", ""));
        assert_eq!(assignment("top-k="), ("top-k", ""));
        assert_eq!(assignment("parameter"), ("", ""));
        assert_eq!(assignment("parameters"), ("parameters", ""));
        assert_eq!(assignment("=5"), ("", "5"));
    }
}
