//! Having the model examined: beginning it, taking in what is found, and ending it with the panel that shows it.

use crate::app::effect::Effect;
use crate::app::state::{Overlay, State};
use crate::app::ward::{Ward, Word};
use crate::domain::inference::TurnId;

use super::{Outcome, answer, model};

/// `/doctor`: has the loaded model examined.
pub(super) fn open(state: &mut State) -> Outcome {
    answer::idle(state)?;
    let name = model::at_hand(state)?.name.clone();
    let turn = state.next_turn();
    state.screen.overlay = Some(Overlay::Doctor(Box::new(Ward::new(turn, name))));
    state.examining = Some(turn);
    // An examination does not wait for what is read to return.
    let mut effects = answer::drop_aside(state);
    effects.push(Effect::Examine {
        turn,
        name: state.loaded.clone(),
        options: state.options.load.clone(),
    });
    Ok(effects)
}

/// The doctor told something.
pub(super) fn told(state: &mut State, turn: TurnId, news: Word) {
    if matches!(news, Word::Over | Word::Failed(_)) {
        state.examining.take_if(|examining| *examining == turn);
    }
    let Some(Overlay::Doctor(ward)) = &mut state.screen.overlay else {
        return;
    };
    if ward.turn != turn {
        return;
    }
    match news {
        Word::Begins(check) => ward.now = Some((check, None)),
        Word::Part(check, part) => ward.now = Some((check, Some(part))),
        Word::Found(finding) => {
            ward.now = None;
            ward.findings.push(finding);
        }
        Word::Over => ward.end = Some(Ok(())),
        Word::Failed(words) => ward.end = Some(Err(words)),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::app::update::scene::{act, last_notice, loading, ready, send};
    use crate::app::{Action, CommandId, Msg, update};
    use crate::domain::examination::{Check, Finding, Verdict};

    fn ward(state: &State) -> &Ward {
        match &state.screen.overlay {
            Some(Overlay::Doctor(ward)) => ward,
            other => panic!("{other:?}"),
        }
    }

    fn begun() -> (State, TurnId) {
        let mut state = ready();
        state.loaded = Some("/m/condor.gguf".to_owned());
        let effects = send(&mut state, "/doctor");
        let turn = ward(&state).turn;
        let examine = Effect::Examine {
            turn,
            name: Some("/m/condor.gguf".to_owned()),
            options: state.options.load.clone(),
        };
        assert!(effects.contains(&examine), "{effects:?}");
        (state, turn)
    }

    fn tell(state: &mut State, turn: TurnId, word: Word) -> Vec<Effect> {
        update(state, Msg::Examined(turn, Box::new(word)))
    }

    fn found() -> Finding {
        Finding {
            check: Check::File,
            verdict: Verdict::Ok,
            evidence: "whole".to_owned(),
            remedy: String::new(),
        }
    }

    #[test]
    fn what_is_found_is_shown_as_it_comes() {
        let (mut state, turn) = begun();
        tell(&mut state, turn, Word::Begins(Check::File));
        assert_eq!(ward(&state).now, Some((Check::File, None)));
        tell(&mut state, turn, Word::Part(Check::File, 0.5));
        assert_eq!(ward(&state).now, Some((Check::File, Some(0.5))));
        tell(&mut state, turn, Word::Found(found()));
        // An old one's words are nobody's.
        tell(&mut state, TurnId(0), Word::Found(found()));
        assert_eq!(
            (ward(&state).now, ward(&state).findings.as_slice()),
            (None, &[found()][..])
        );
        tell(&mut state, turn, Word::Over);
        assert_eq!(ward(&state).end, Some(Ok(())));
        // What is over need not be ended.
        assert_eq!(act(&mut state, Action::Escape), []);
        assert_eq!(state.screen.overlay, None);
    }

    #[test]
    fn it_ends_with_its_panel() {
        for close in [Action::Escape, Action::Run(CommandId::Help)] {
            let (mut state, turn) = begun();
            assert!(act(&mut state, close).contains(&Effect::Cancel(turn)), "{close:?}");
            assert!(tell(&mut state, turn, Word::Found(found())).is_empty());
            assert!(!matches!(state.screen.overlay, Some(Overlay::Doctor(_))));
        }
    }

    #[test]
    fn there_must_be_a_model() {
        let mut state = loading();
        send(&mut state, "/doctor");
        assert_eq!(state.screen.overlay, None);
        assert_eq!(
            last_notice(&state).1,
            "the model is still being loaded: try again in a moment"
        );
    }
}
