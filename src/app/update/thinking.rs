//! `/thinking`: whether models think before they answer, and for how long.

use crate::app::notice::Level;
use crate::app::state::State;
use crate::domain::inference::Thinking;

use super::{Outcome, Refusal, model};

/// Shows or changes it, from the next answer on.
pub(super) fn command(state: &mut State, args: &str) -> Outcome {
    let before = in_force(state);
    if args.is_empty() {
        state.tell(
            Level::Info,
            format!("thinking is {before}; takes on, off, low, medium, high, auto, a number of tokens, or unlimited"),
        );
        return Ok(Vec::new());
    }
    let switched = Thinking::named(args);
    match (switched, args.parse::<u32>()) {
        (Ok(thinking), _) => state.options.thinking = thinking,
        (Err(_), Ok(tokens)) => state.options.thinking_budget = Some(tokens),
        (Err(_), Err(_)) if args.eq_ignore_ascii_case("unlimited") => state.options.thinking_budget = None,
        (Err(_), Err(_)) => {
            let words = format!(
                "'{args}' is no value for thinking: give on, off, low, medium, high, auto, a number of tokens, or unlimited"
            );
            return Err(Refusal::new(Level::Warn, words));
        }
    }
    let words = format!("thinking {before} → {}, from the next answer on", in_force(state));
    match state.engine.model() {
        Some(loaded) if matches!(switched, Ok(Some(wish)) if !loaded.thinking.can(wish)) => {
            state.tell(Level::Warn, format!("{words}: {}", model::NO_SWITCH));
        }
        _ => state.tell(Level::Info, words),
    }
    Ok(Vec::new())
}

fn in_force(state: &State) -> String {
    let switch = Thinking::name(state.options.thinking);
    match state.options.thinking_budget {
        Some(tokens) => format!("{switch}, for {tokens} tokens at most"),
        None => switch.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::update::scene::{last_notice, ready, send};

    #[test]
    fn it_is_shown_and_set() {
        let mut state = ready();
        send(&mut state, "/thinking");
        assert_eq!(
            last_notice(&state).1,
            "thinking is auto; takes on, off, low, medium, high, auto, a number of tokens, or unlimited"
        );
        send(&mut state, "/think 300");
        assert_eq!(state.options.thinking_budget, Some(300));
        send(&mut state, "/thinking OFF");
        assert_eq!(state.options.thinking, Some(Thinking::Off));
        assert_eq!(
            last_notice(&state),
            (
                Level::Warn,
                "thinking auto, for 300 tokens at most → off, for 300 tokens at most, from the next answer on: this model's \
                 template cannot set its thinking so; '/thinking TOKENS' limits it, 0 ends it where it begins"
            )
        );
        send(&mut state, "/thinking unlimited");
        send(&mut state, "/thinking auto");
        assert_eq!((state.options.thinking, state.options.thinking_budget), (None, None));
        send(&mut state, "/thinking maybe");
        assert_eq!(
            last_notice(&state).1,
            "'maybe' is no value for thinking: give on, off, low, medium, high, auto, a number of tokens, or unlimited"
        );
    }
}
