//! Has the loaded model examined on a thread of its own, and tells the core how far it is.

use tokio::sync::mpsc::UnboundedSender;

use crate::app::Msg;
use crate::app::ward::Word;
use crate::domain::inference::{Cancel, LoadOptions, ModelSource, TurnId};

use super::happening::Happening;

/// Examines, and tells. Ends early where `turn` is cancelled.
pub(super) fn examine(
    source: &ModelSource,
    options: &LoadOptions,
    (turn, cancel): (TurnId, &Cancel),
    to: &UnboundedSender<Happening>,
) {
    words(source, options, &mut |word| {
        let told = to.send(told(turn, word));
        told.is_ok() && !cancel.is_stopped(turn)
    });
}

/// A word for the core.
pub(super) fn told(turn: TurnId, word: Word) -> Happening {
    Happening::Message(Box::new(Msg::Examined(turn, Box::new(word))))
}

/// Examines; `tell` takes every word, and answers whether to go on.
#[cfg(feature = "llama")]
pub fn words(source: &ModelSource, options: &LoadOptions, tell: &mut dyn FnMut(Word) -> bool) {
    use crate::doctor::{self, Order, Progress};

    let order = Order {
        path: &source.path,
        options,
        // It is loaded already.
        prober: None,
        tokenizer: None,
        against: None,
    };
    let found = doctor::examine(&order, &mut |progress| {
        tell(match progress {
            Progress::Begins(check) => Word::Begins(check),
            Progress::Part(check, part) => Word::Part(check, part),
            Progress::Found(finding) => Word::Found(finding.clone()),
        })
    });
    if found.is_some() {
        tell(Word::Over);
    }
}

/// Without llama.cpp nothing can be examined.
#[cfg(not(feature = "llama"))]
pub fn words(_: &ModelSource, _: &LoadOptions, tell: &mut dyn FnMut(Word) -> bool) {
    tell(Word::Failed(
        "this quipu was built without llama.cpp, which computes what is examined".to_owned(),
    ));
}
