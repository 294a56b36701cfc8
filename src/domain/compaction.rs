//! Summaries in a conversation: which messages one stands for, what a model is given in their place, and what it is asked to
//! make one. A summary is a message of the tree like any other: what it stands for stays above it, and who removes it has
//! all of it back.

use super::conversation::Message;
use super::inference::ChatMessage;
use super::request::ask;
use super::role::Role;

/// What a model is asked for a summary with.
const ASK: &str = "Summarise this conversation so that somebody who has not read it can go on with it: who wants what, the \
                   facts, names and numbers that were settled, and what is still open. Answer with the summary alone.";
/// What stands before a summary in the system prompt.
const HEADING: &str = "Summary of the conversation so far:";

/// What the last summary of a path stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// Messages that it stands for, from the first one on. Those behind them go to the model word by word.
    pub until: usize,
    /// Where on the path it stands.
    pub at: usize,
}

impl Fold {
    /// The fold of a path, if there is a summary on it.
    pub fn of(path: &[&Message]) -> Option<Self> {
        let at = path.iter().rposition(|message| message.is_whole_summary())?;
        let until = last_exchange(&path[..at]);
        Some(Self { until, at })
    }

    /// Whether a model that is not given the first `dropped` of what stands behind the fold does not see the message at
    /// this place of the path.
    pub fn hides(fold: Option<Self>, dropped: usize, at: usize) -> bool {
        let Some(fold) = fold else { return at < dropped };
        // The summary itself goes with the system prompt and is never dropped.
        let end = fold.until + dropped;
        at != fold.at && at < end + usize::from(end > fold.at)
    }
}

/// Where the last exchange of a path begins: with the last question.
fn last_exchange(path: &[&Message]) -> usize {
    let question = path.iter().rposition(|message| message.role == Role::User);
    question.unwrap_or(path.len())
}

/// How many of a path's messages a summary at its end would stand for: all but the last exchange. `None` where that is no
/// more than what the last summary stands for already.
pub fn foldable(path: &[&Message]) -> Option<usize> {
    let before = Fold::of(path).map_or(0, |fold| fold.until);
    Some(last_exchange(path)).filter(|until| *until > before)
}

/// The system prompt with a summary behind it.
pub(super) fn system(system: Option<&str>, summary: Option<&str>) -> Option<String> {
    let summary = summary.map(|summary| format!("{HEADING}\n{}", summary.trim()));
    match (system, summary) {
        (Some(system), Some(summary)) => Some(format!("{system}\n\n{summary}")),
        (Some(system), None) => Some(system.to_owned()),
        (None, summary) => summary,
    }
}

/// Has these messages end with the request for a summary.
pub(super) fn ask_for_one(messages: &mut Vec<ChatMessage>) {
    ask(messages, ASK);
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::domain::inference::Finish;
    use crate::domain::replay::{messages, question};
    use crate::domain::{Answer, Conversation, MessageId};

    /// A conversation of as many exchanges, `q0 a0 q1 a1 …`.
    fn talk(exchanges: usize) -> Conversation {
        let mut talk = Conversation::under(Some("Be kind.".to_owned()));
        for n in 0..exchanges {
            exchange(&mut talk, n);
        }
        talk
    }

    fn exchange(talk: &mut Conversation, n: usize) {
        talk.push(Role::User, format!("q{n}"), 0);
        let id = talk.push(Role::Assistant, format!("a{n}"), 0);
        talk.get_mut(id).unwrap().answer = Some(Answer::default());
    }

    fn sum_up(talk: &mut Conversation, text: &str, finish: Option<Finish>) -> MessageId {
        let id = talk.push(Role::System, text, 0);
        talk.get_mut(id).unwrap().answer = Some(Answer {
            finish,
            ..Answer::default()
        });
        id
    }

    /// What a model is given to answer the end of it.
    fn given(talk: &Conversation) -> Vec<String> {
        let all = messages(talk, talk.tip(), talk.system(), "m");
        all.into_iter().map(|message| message.content).collect()
    }

    #[test]
    fn a_summary_stands_for_all_but_the_last_exchange() {
        let mut talk = talk(3);
        assert_eq!(foldable(&talk.path()), Some(4));
        sum_up(&mut talk, " old things ", Some(Finish::EndOfTurn));
        let head = "Be kind.\n\nSummary of the conversation so far:\nold things";
        assert_eq!(given(&talk), [head, "q2", "a2"]);
        assert_eq!(foldable(&talk.path()), None, "nothing came since");
        exchange(&mut talk, 3);
        assert_eq!(given(&talk), [head, "q2", "a2", "q3", "a3"]);
        assert_eq!(Fold::of(&talk.path()), Some(Fold { until: 4, at: 6 }));
        assert_eq!(foldable(&talk.path()), Some(7), "what the first one kept, and itself");
        let second = sum_up(&mut talk, "older things", Some(Finish::EndOfTurn));
        assert_eq!(given(&talk), [&head.replace("old things", "older things"), "q3", "a3"]);
        let asked = question(&talk, second, talk.system(), "m");
        let asked: Vec<_> = asked.iter().map(|message| message.content.as_str()).collect();
        assert_eq!(asked, [head, "q2", "a2", ASK], "the second is made from the first");
    }

    #[test]
    fn one_that_did_not_come_to_its_end_stands_for_nothing_and_is_not_given() {
        for finish in [None, Some(Finish::Stopped)] {
            let mut talk = talk(2);
            sum_up(&mut talk, "old th", finish);
            assert_eq!(given(&talk), ["Be kind.", "q0", "a0", "q1", "a1"]);
        }
        let mut talk = talk(2);
        talk.push(Role::System, "imported", 0);
        assert_eq!(given(&talk).last().unwrap(), "imported", "no model made it");
    }

    #[test]
    fn one_exchange_is_nothing_old() {
        assert_eq!(foldable(&talk(0).path()), None);
        assert_eq!(foldable(&talk(1).path()), None);
    }

    #[test]
    fn what_the_model_does_not_see_is_known() {
        let hidden = |fold, dropped| (0..8).filter(|at| Fold::hides(fold, dropped, *at)).collect::<Vec<_>>();
        assert_eq!(hidden(None, 2), [0, 1]);
        let fold = Some(Fold { until: 2, at: 4 });
        assert_eq!(hidden(fold, 0), [0, 1]);
        assert_eq!(hidden(fold, 2), [0, 1, 2, 3]);
        assert_eq!(hidden(fold, 3), [0, 1, 2, 3, 5], "the summary stays");
    }
}
