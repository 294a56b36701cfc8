//! The child's side of a trial. It has nothing to lose and is not to outlive whoever waits for it.

use std::fs;
use std::io::{self, Read, Write};
use std::thread;

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::engine::local::{Trial, attempt};
use crate::run::signals;

use super::word::Word;

/// What the child ends with when nobody waits for it any more: as if the broken pipe had ended it.
const ORPHAN: u8 = 141;

/// Tries a model in this process and says on standard output what came of it. Returns whether the model is sound; it may also
/// not return at all.
pub fn serve(trial: &Trial<'_>) -> bool {
    expendable();
    watch_parent();
    say(&Word::Hello);
    let mut shown = None;
    let mut progress = |part: f32| {
        let percent = (part.clamp(0.0, 1.0) * 100.0) as u8;
        if shown.replace(percent) != Some(percent) {
            say(&Word::At(percent));
        }
    };
    let outcome = attempt(trial, |words| say(&Word::LastWords(words.to_owned())), &mut progress);
    // Everything that can die was dropped by now.
    say(&match &outcome {
        Ok(()) => Word::Sound,
        Err(failure) => Word::Refused(failure.message.clone()),
    });
    outcome.is_ok()
}

/// A death here is expected: no core is left behind, and where memory runs out the system takes this process first.
fn expendable() {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    // Both are courtesies; the trial goes on without.
    let _ = setrlimit(Resource::Core, none);
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
}

/// Ends this process when the parent's end of standard input is closed, by will or by death.
fn watch_parent() {
    let watch = || {
        let mut nothing = [0; 64];
        let mut input = io::stdin().lock();
        while let Ok(1..) = input.read(&mut nothing) {}
        signals::exit_now(ORPHAN);
    };
    // Without a thread the trial ends by itself all the same, only later.
    let _ = thread::Builder::new().name("quipu-parent".to_owned()).spawn(watch);
}

fn say(word: &Word) {
    let mut out = io::stdout().lock();
    // Where nobody reads, nobody needs to know; `watch_parent` ends the process.
    let _ = writeln!(out, "{word}").and_then(|()| out.flush());
}
