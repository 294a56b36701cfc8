//! The messages that a prompt is made of, and the look at the exact prompt.

use crate::app::effect::Effect;
use crate::app::notice::Level;
use crate::app::state::{Overlay, State};
use crate::domain::inference::{Command, Opening, PromptRequest, PromptView, TurnId};
use crate::domain::{MessageId, Role, replay};

use super::{Outcome, Refusal, answer, model};

/// What the model with this fingerprint is given to answer `end`: the system prompt, if any, and the path.
pub(super) fn request(state: &State, end: Option<MessageId>, fingerprint: &str) -> PromptRequest {
    let talk = &state.conversation;
    PromptRequest {
        messages: replay::messages(talk, end, talk.system(), fingerprint),
        opening: Opening::default(),
        thinking: state.options.thinking,
        overflow: state.options.overflow,
        max_tokens: state.options.max_tokens,
    }
}

/// Asks for the exact prompt of the last question and shows it as soon as it comes.
pub(super) fn show(state: &mut State) -> Outcome {
    answer::idle(state)?;
    let model = model::at_hand(state)?;
    let path = state.conversation.path();
    let Some(question) = path.iter().rev().find(|message| message.role == Role::User) else {
        return Err(Refusal::new(
            Level::Info,
            "there is no prompt yet: the first message makes one",
        ));
    };
    let mut prompt = request(state, Some(question.id), &model.fingerprint);
    prompt.opening.text.clone_from(&state.options.prefill);
    let turn = state.next_turn();
    state.screen.overlay = Some(Overlay::Prompt {
        turn,
        prompt: None,
        top: 0,
    });
    // A look does not wait for what is read to return.
    let mut effects = answer::drop_aside(state);
    effects.push(Effect::Engine(Command::Render { turn, prompt }));
    Ok(effects)
}

/// The prompt came: shows it where it is still wanted.
pub(super) fn rendered(state: &mut State, turn: TurnId, view: PromptView) {
    if let Some(Overlay::Prompt {
        turn: asked, prompt, ..
    }) = &mut state.screen.overlay
        && *asked == turn
    {
        *prompt = Some(view);
    }
}

/// The prompt asked for as `turn` will not come: closes what waits for it. Says whether anything did.
pub(super) fn withdraw(state: &mut State, turn: TurnId) -> bool {
    let waits = waiting(state) == Some(turn);
    if waits {
        state.screen.overlay = None;
    }
    waits
}

/// No prompt will come: closes what waits for one.
pub(super) fn withdraw_any(state: &mut State) {
    if waiting(state).is_some() {
        state.screen.overlay = None;
    }
}

fn waiting(state: &State) -> Option<TurnId> {
    match state.screen.overlay {
        Some(Overlay::Prompt { turn, prompt: None, .. }) => Some(turn),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::app::update::scene::{act, answered, fail, last_notice, loading, message, ready};
    use crate::app::{Action, CommandId, Msg, update};
    use crate::domain::inference::{Event, FailureKind};

    const PROMPT: Action = Action::Run(CommandId::Prompt);

    fn open(turn: u64, prompt: Option<PromptView>) -> Overlay {
        let turn = TurnId(turn);
        Overlay::Prompt { turn, prompt, top: 0 }
    }

    #[test]
    fn the_prompt_of_the_last_question_is_asked_for_and_shown() {
        let mut state = answered();
        let messages = vec![message(Role::User, "hello", None)];
        let render = Command::Render {
            turn: TurnId(3),
            prompt: PromptRequest {
                messages,
                ..PromptRequest::default()
            },
        };
        assert_eq!(act(&mut state, PROMPT), [Effect::Engine(render)]);
        assert_eq!(state.screen.overlay, Some(open(3, None)));
        let view = PromptView {
            template: "chatml".to_owned(),
            ..PromptView::default()
        };
        for (turn, shown) in [(2, None), (3, Some(view.clone()))] {
            let (turn, prompt) = (TurnId(turn), view.clone());
            update(&mut state, Msg::Engine(Event::Rendered { turn, prompt }));
            assert_eq!(state.screen.overlay, Some(open(3, shown)));
        }
        act(&mut state, Action::Escape);
        assert_eq!(state.screen.overlay, None);
    }

    #[test]
    fn a_prompt_that_does_not_come_is_not_waited_for() {
        let mut state = answered();
        act(&mut state, PROMPT);
        assert_eq!(fail(&mut state, TurnId(3), FailureKind::Template, "no such role"), []);
        assert_eq!(state.screen.overlay, None);
        assert_eq!(last_notice(&state), (Level::Error, "no such role"));
        let mut state = answered();
        act(&mut state, PROMPT);
        let reason = "out of memory".to_owned();
        update(&mut state, Msg::Engine(Event::Died { reason }));
        assert_eq!(state.screen.overlay, None);
    }

    #[test]
    fn there_must_be_a_model_and_a_question() {
        let mut state = ready();
        assert_eq!(act(&mut state, PROMPT), []);
        let words = "there is no prompt yet: the first message makes one";
        assert_eq!(last_notice(&state), (Level::Info, words));
        let mut state = loading();
        assert_eq!(act(&mut state, PROMPT), []);
        assert_eq!(
            last_notice(&state).1,
            "the model is still being loaded: try again in a moment"
        );
        assert_eq!(state.screen.overlay, None);
    }
}
