//! The conversation against the context: what is left out, what was forgotten, what is about to be, and the commands that
//! change either side.

use crate::app::notice::Level;
use crate::app::state::State;
use crate::domain::inference::{Overflow, TurnId, Window};
use crate::domain::load_option::LoadOption;

use super::{Outcome, Refusal, answer, compact, model, proposed};

/// The engine leaves messages out of the prompt it is about to read.
pub(super) fn moved(state: &mut State, turn: TurnId, window: Window) {
    if !is_current(state, turn) {
        return;
    }
    if state.window.left_out != window.left_out {
        let Window {
            left_out,
            whole,
            inside,
            context,
        } = window;
        let words = format!(
            "the conversation has {whole} tokens and the context holds {context}: the oldest {} are left out, {inside} tokens \
             go to the model; nothing is deleted",
            messages(left_out)
        );
        state.tell(Level::Warn, words);
    }
    state.window = window;
}

/// The engine is about to forget tokens in the middle of an answer.
pub(super) fn shifted(state: &mut State, turn: TurnId, keep: u32, discard: u32) {
    if !is_current(state, turn) {
        return;
    }
    let words = format!(
        "the context is full: the model keeps the first {keep} tokens, forgets the {discard} after them, and goes on"
    );
    state.tell(Level::Warn, words);
    if let Some(running) = &mut state.running {
        running.shifted = true;
    }
    state.context_used = state.context_used.saturating_sub(discard);
}

/// The next turn will not fit whole. Told while the answer is still the current turn.
pub(super) fn forecast(state: &mut State, turn: TurnId, window: Window) {
    // What stands behind a summary is not known yet.
    if !is_current(state, turn) || compact::under_way(state) || compact::foreseen(state) {
        return;
    }
    let Window {
        left_out,
        whole,
        context,
        ..
    } = window;
    let words = if left_out > 0 {
        let more = left_out.saturating_sub(state.window.left_out);
        let gone = whole.saturating_sub(window.inside);
        if more == 0 {
            return;
        }
        format!(
            "the context is nearly full ({} of {context} tokens): the next message leaves the oldest {} out, {gone} tokens; \
             /overflow stop keeps them all",
            state.context_used,
            messages(left_out)
        )
    } else {
        format!(
            "the context is nearly full ({whole} of {context} tokens): a long message may not fit; /compact sums up \
             old turns, /context N takes a larger one"
        )
    };
    state.tell(Level::Info, words);
}

fn messages(count: u32) -> String {
    match count {
        1 => "message".to_owned(),
        n => format!("{n} messages"),
    }
}

fn is_current(state: &State, turn: TurnId) -> bool {
    answer::asked(state) == Some(turn)
}

/// `/overflow`: shows or chooses what happens when the conversation outgrows the context.
pub(super) fn overflow(state: &mut State, name: &str) -> Outcome {
    let names = Overflow::ALL.iter().map(|(name, _)| *name);
    let now = state.options.overflow.name();
    if name.is_empty() {
        let all: Vec<_> = names.collect();
        state.tell(Level::Info, format!("overflow is {now}; takes {}", all.join(", ")));
        return Ok(Vec::new());
    }
    let Some(policy) = Overflow::named(&name.to_lowercase()) else {
        let words = format!("there is no overflow policy '{name}': {}", proposed(name, names));
        return Err(Refusal::new(Level::Warn, words));
    };
    state.options.overflow = policy;
    state.tell(Level::Info, format!("overflow {now} → {}", policy.name()));
    Ok(Vec::new())
}

/// `/context` and `/template`: changes a load option and loads the model again with it.
pub(super) fn reload_with(state: &mut State, option: &'static str, value: &str) -> Outcome {
    if value.is_empty() {
        let model = model::at_hand(state)?;
        let words = if option == "context" {
            format!("the context holds {} tokens; /context N takes another", model.context)
        } else {
            format!("the chat template is {}; /template NAME takes another", model.template)
        };
        state.tell(Level::Info, words);
        return Ok(Vec::new());
    }
    answer::idle(state)?;
    model::at_hand(state)?;
    let row = LoadOption::find(option).ok_or_else(|| Refusal::new(Level::Error, format!("there is no '{option}'")))?;
    row.set(&mut state.options.load, value)
        .map_err(|refused| Refusal::new(Level::Warn, refused.to_string()))?;
    let name = state.loaded.clone();
    let mut load = answer::drop_aside(state);
    load.push(state.load(name));
    Ok(load)
}

#[cfg(test)]
mod tests {
    use crate::app::effect::Effect;
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::app::update::scene::{answering, last_notice, ready, send};
    use crate::app::{Msg, update};
    use crate::domain::inference::Event;

    const WINDOW: Window = Window {
        left_out: 4,
        whole: 1200,
        inside: 500,
        context: 1024,
    };

    #[test]
    fn what_is_left_out_is_told_with_numbers_when_it_changes() {
        let mut state = answering("");
        let turn = state.running.as_ref().unwrap().turn;
        let told = |state: &mut State, turn, window| update(state, Msg::Engine(Event::Window { turn, window }));
        told(&mut state, TurnId(turn.0 + 7), WINDOW);
        assert_eq!(state.window, Window::default(), "of another turn");
        told(&mut state, turn, WINDOW);
        assert_eq!(state.window, WINDOW);
        let (level, words) = last_notice(&state);
        assert_eq!(level, Level::Warn);
        for number in ["1200", "1024", "4 messages", "500"] {
            assert!(words.contains(number), "{words}");
        }
        let before = state.notices.all().len();
        told(&mut state, turn, WINDOW);
        assert_eq!(state.notices.all().len(), before, "told once");
    }

    #[test]
    fn a_shift_is_told_before_it_happens() {
        let mut state = answering("");
        state.context_used = 1024;
        let turn = state.running.as_ref().unwrap().turn;
        let (keep, discard) = (24, 500);
        update(&mut state, Msg::Engine(Event::Shift { turn, keep, discard }));
        assert!(last_notice(&state).1.contains("first 24 tokens, forgets the 500"));
        assert_eq!(state.context_used, 524);
    }

    #[test]
    fn the_policy_is_shown_chosen_and_corrected() {
        let mut state = ready();
        send(&mut state, "/overflow");
        assert_eq!(
            last_notice(&state).1,
            "overflow is stop; takes stop, drop-oldest, summarise, shift"
        );
        send(&mut state, "/overflow drop-oldest");
        assert_eq!(last_notice(&state).1, "overflow stop → drop-oldest");
        assert_eq!(state.options.overflow, Overflow::DropOldest);
        send(&mut state, "/overflow drop-old");
        assert_eq!(
            last_notice(&state).1,
            "there is no overflow policy 'drop-old': did you mean drop-oldest?"
        );
    }

    #[test]
    fn another_context_loads_the_same_model_again() {
        let mut state = ready();
        state.loaded = Some("mine.gguf".to_owned());
        let effects = send(&mut state, "/context 2048");
        let load = effects.iter().find_map(|effect| match effect {
            Effect::Load { name, options, .. } => Some((name.clone(), options.context)),
            _ => None,
        });
        assert_eq!(load, Some((Some("mine.gguf".to_owned()), Some(2048))));
        let mut state = ready();
        send(&mut state, "/context many");
        assert!(last_notice(&state).1.starts_with("'many' is no value for context"));
    }
}
