//! Any text in any place of the screen: what reaches the terminal is made of what frames are made of.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

#[path = "../../tests/support/allowed.rs"]
#[allow(dead_code, reason = "the corpus is the tests'")]
mod allowed;
#[path = "../../tests/support/places.rs"]
mod places;

use places::{PLACES, SIZES, alarms, state_with, written};

fuzz_target!(|data: &[u8]| -> Corpus {
    // The first two bytes choose where; the text follows, so that a change of it changes nothing else.
    let [place, size, text @ ..] = data else {
        return Corpus::Reject;
    };
    let (place, size) = (usize::from(*place) % PLACES, SIZES[usize::from(*size) % SIZES.len()]);
    let text = String::from_utf8_lossy(text);
    let bytes = written(&state_with(place, &text), size);
    let (breaches, alarms) = (allowed::breaches(&bytes), alarms(&bytes, size));
    assert!(
        breaches.is_empty() && alarms.is_empty(),
        "in place {place}: {breaches:?} {alarms:?}"
    );
    Corpus::Keep
});
