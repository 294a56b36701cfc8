//! Folding old turns into a summary that the model makes: on request, or where that is the policy and the context gets
//! scarce. What a summary stands for is `domain::compaction`'s.

use crate::app::effect::Effect;
use crate::app::notice::Level;
use crate::app::state::State;
use crate::domain::inference::{Finish, GenerateRequest, Opening, Overflow, PromptRequest, Thinking};
use crate::domain::sampling::Sampling;
use crate::domain::{Message, MessageId, Role, compaction, replay};

use super::{Outcome, Refusal, answer};

/// Tokens of a summary, at most; and the share of the context that it may fill.
const LONGEST: u32 = 512;
const SHARE: u32 = 4;

/// `/compact`: has the model sum up all but the last exchange. The summary stands in the conversation and goes to the model in
/// place of what it sums up, from the next message on.
pub(super) fn begin(state: &mut State) -> Outcome {
    answer::may_begin(state)?;
    if compaction::foldable(&state.conversation.path()).is_none() {
        let words = "there is nothing old to sum up: the last exchange goes to the model word by word";
        return Err(Refusal::new(Level::Info, words));
    }
    let (before, now) = (state.conversation.tip(), state.clock());
    state.conversation.begin_step();
    let summary = state.conversation.push(Role::System, "", now);
    Ok(again(state, summary, before))
}

/// Begins the summary that stands empty at the tip. What the next answer was to start with waits for that.
pub(super) fn again(state: &mut State, summary: MessageId, before: Option<MessageId>) -> Vec<Effect> {
    let prefill = std::mem::take(&mut state.options.prefill);
    let effects = answer::begin(state, summary, before);
    state.options.prefill = prefill;
    effects
}

/// What the model with this fingerprint is asked for a summary. A person's settings are for what is said to a person: a
/// grammar would forbid a summary, and a high temperature spoil it.
pub(super) fn request(state: &State, summary: MessageId, opening: Opening, fingerprint: &str) -> GenerateRequest {
    let talk = &state.conversation;
    let model = state.engine.model();
    let longest = model.map_or(LONGEST, |model| LONGEST.min(model.context / SHARE).max(1));
    let switch = model.is_some_and(|model| model.thinking.switch);
    GenerateRequest {
        prompt: PromptRequest {
            messages: replay::question(talk, summary, talk.system(), fingerprint),
            opening,
            thinking: switch.then_some(Thinking::Off),
            // Where all of it does not fit any more, the later part is worth more than nothing.
            overflow: Overflow::DropOldest,
            max_tokens: Some(longest),
        },
        sampling: Sampling {
            temperature: 0.0,
            ..Sampling::default()
        },
        thinking_budget: Some(0),
        report: state.options.trace > 0,
        ..GenerateRequest::default()
    }
}

/// The context gets scarce: where that is the policy, old turns are summed up as soon as the answer is there.
pub(super) fn foreseen(state: &mut State) -> bool {
    state.compacting = state.options.overflow == Overflow::Summarise;
    state.compacting
}

/// An answer is there: sums up where that was foreseen.
pub(super) fn due(state: &mut State, finish: Finish) -> Vec<Effect> {
    let foreseen = std::mem::take(&mut state.compacting);
    // Who stopped an answer wants to say something.
    if !foreseen || finish == Finish::Stopped {
        return Vec::new();
    }
    let begun = begin(state);
    let words = if begun.is_ok() {
        "the context is nearly full: old turns are being summed up; Esc leaves them as they are"
    } else {
        "the context is nearly full, and there is nothing old to sum up: /context N takes a larger one"
    };
    state.tell(Level::Info, words);
    begun.unwrap_or_default()
}

/// Whether the answer under way is a summary.
pub(super) fn under_way(state: &State) -> bool {
    let running = state.running.as_ref();
    let message = running.and_then(|running| state.conversation.get(running.answer));
    message.is_some_and(Message::is_summary)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::app::Msg;
    use crate::app::update;
    use crate::app::update::scene::{answered, finish, last_notice, say, send, turn};
    use crate::domain::inference::{Command, Event, Stats, Window};

    /// Two exchanges.
    fn talked() -> State {
        let mut state = answered();
        send(&mut state, "and now?");
        say(&mut state, 8, "now this");
        finish(&mut state, Finish::EndOfTurn);
        state
    }

    fn asked(effects: &[Effect]) -> GenerateRequest {
        let asked = effects.iter().find_map(|effect| match effect {
            Effect::Engine(Command::Generate { request, .. }) => Some(request.clone()),
            _ => None,
        });
        asked.expect("something is asked")
    }

    fn words(request: &GenerateRequest) -> Vec<&str> {
        let words = request.prompt.messages.iter().map(|message| message.content.as_str());
        words.map(|text| text.split(" so that").next().unwrap()).collect()
    }

    #[test]
    fn old_turns_are_summed_up_and_the_summary_goes_in_their_place() {
        let mut state = talked();
        state.options.prefill = "Well".to_owned();
        state.tuning.sampling.temperature = 2.0;
        let request = asked(&send(&mut state, "/compact"));
        assert_eq!(words(&request), ["hello", "hi", "Summarise this conversation"]);
        assert_eq!(request.prompt.opening, Opening::default());
        assert!(request.sampling.temperature <= 0.0, "whatever the person plays with");
        assert_eq!(request.prompt.max_tokens, Some(256), "a quarter of the context");
        say(&mut state, 9, "They greeted.");
        finish(&mut state, Finish::EndOfTurn);
        assert!(last_notice(&state).1.contains("in place of"));
        assert_eq!(state.options.prefill, "Well", "it waits for an answer");
        state.options.prefill.clear();
        let request = asked(&send(&mut state, "go on"));
        assert_eq!(
            words(&request),
            [
                "Summary of the conversation so far:\nThey greeted.",
                "and now?",
                "now this",
                "go on"
            ]
        );
        assert_eq!(state.conversation.path().len(), 7, "nothing is gone");
    }

    #[test]
    fn one_that_is_stopped_or_undone_leaves_all_as_it_was() {
        let mut state = talked();
        let before = state.conversation.tip();
        send(&mut state, "/compact");
        say(&mut state, 9, "They gr");
        finish(&mut state, Finish::Stopped);
        assert_eq!(state.conversation.tip(), before);
        send(&mut state, "/compact");
        say(&mut state, 9, "They greeted.");
        finish(&mut state, Finish::EndOfTurn);
        assert_ne!(state.conversation.tip(), before);
        send(&mut state, "/undo");
        assert_eq!(state.conversation.tip(), before);
        assert_eq!(state.draft.text, "", "no question is given back");
    }

    #[test]
    fn another_can_be_asked_for() {
        let mut state = talked();
        send(&mut state, "/compact");
        say(&mut state, 9, "They greeted.");
        finish(&mut state, Finish::EndOfTurn);
        let first = state.conversation.tip().unwrap();
        let request = asked(&send(&mut state, "/retry"));
        assert_eq!(words(&request), ["hello", "hi", "Summarise this conversation"]);
        assert_eq!(state.conversation.versions(first).len(), 2);
    }

    #[test]
    fn one_exchange_is_not_summed_up() {
        let mut state = answered();
        send(&mut state, "/compact");
        assert!(last_notice(&state).1.contains("nothing old"));
    }

    /// Asks, and has the engine foresee that the next question hardly fits.
    fn nearly_full(state: &mut State) -> Vec<Effect> {
        send(state, "more");
        say(state, 9, "more");
        let window = Window {
            whole: 1000,
            inside: 1000,
            context: 1024,
            ..Window::default()
        };
        let turn = turn(state);
        update(state, Msg::Engine(Event::Forecast { turn, window }));
        let ended = Event::Finished {
            turn,
            finish: Finish::EndOfTurn,
            stats: Stats {
                generated: 1,
                ..Stats::default()
            },
        };
        update(state, Msg::Engine(ended))
    }

    #[test]
    fn the_policy_sums_up_as_soon_as_the_context_gets_scarce() {
        let mut state = talked();
        let effects = nearly_full(&mut state);
        assert!(!effects.iter().any(|e| matches!(e, Effect::Engine(_))), "{effects:?}");
        assert!(last_notice(&state).1.contains("/compact"));
        send(&mut state, "/overflow summarise");
        let request = asked(&nearly_full(&mut state));
        assert_eq!(
            words(&request).last(),
            Some(&"Summarise this conversation"),
            "right behind the answer"
        );
        assert!(last_notice(&state).1.contains("being summed up"));
    }
}
