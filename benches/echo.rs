//! How long a key takes from the keyboard to the screen: bytes into a pty, the change in the cells that come out of it. Once while
//! nothing else happens, and once while a model of 200 million weights decodes on all cores. What counts is that the second stays
//! below two frames (33 ms) for 99 keys of 100, and its ratio to the first.

#![allow(clippy::unwrap_used, reason = "a failure here ends the benchmark")]
#![allow(clippy::print_stdout, reason = "its report goes to whoever runs it")]

use std::path::Path;
use std::time::{Duration, Instant};

use crate::gguf::{Meta, Random};
use crate::terminal::Session;

#[path = "../tests/support/gguf.rs"]
mod gguf;
#[path = "../tests/support/pty.rs"]
mod terminal;

/// Width, layers, heads, key-value heads and feed-forward length of the model: 200 million weights of two bytes, more than caches
/// hold.
const SHAPE: [u64; 5] = [1024, 16, 16, 4, 3072];

/// Tokens of its context.
const CONTEXT: u32 = 8192;

/// Keys that are timed.
const KEYS: usize = 1000;

/// Longest pause between two keys.
const PAUSE: Duration = Duration::from_millis(40);

/// What is measured of this many keys.
fn echoes(session: &mut Session, keys: usize, decoding: bool, random: &mut Random) -> Vec<Duration> {
    let mut times = Vec::with_capacity(keys);
    while times.len() < keys {
        if decoding && !session.text().contains("writing") {
            session.send("Go on\r");
            session.wait_text("writing");
        }
        // At any moment of a frame and of a decode, never in their step.
        session.listen(PAUSE.mul_f32(random.unit()));
        // A letter and its way back, so that the line stays as it is.
        for (key, there) in [("\u{f8}", true), ("\u{7f}", false)] {
            let begun = Instant::now();
            session.send(key);
            // In the box and not in the babble above it.
            session.wait_for(key, |screen| screen.contains("\n│ \u{f8}") == there);
            times.push(begun.elapsed());
        }
    }
    times.sort();
    times
}

fn report(name: &str, times: &[Duration]) {
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "{name:<24} p50 {:6.2} ms   p90 {:6.2} ms   p99 {:6.2} ms   most {:6.2} ms   ({} keys)",
        at(0.5),
        at(0.9),
        at(0.99),
        at(1.0),
        times.len()
    );
}

fn main() {
    // Otherwise this is a look at whether it runs: that has no time for what is large.
    let measured = std::env::args().any(|argument| argument == "--bench");
    let (shape, keys) = if measured { (SHAPE, KEYS) } else { (gguf::TINY, 4) };
    let home = tempfile::tempdir().unwrap();
    let donor = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/cria/cria-q8_0.gguf");
    let path = home.path().join("large.gguf");
    let mut file = gguf::random_qwen2(&donor, 0, 1, shape);
    file.set("qwen2.context_length", Meta::U32(CONTEXT));
    file.write(&path);
    drop(file);

    let mut session = Session::start(home.path(), &["--model", path.to_str().unwrap()], 120, 40);
    session.wait_text("ready");
    let random = &mut Random::new(1);
    report("nothing else happens", &echoes(&mut session, keys, false, random));
    report("decoding on all cores", &echoes(&mut session, keys, true, random));
    session.send("\x1b[27u");
    session.wait_text("ready");
    session.send("\u{4}");
    session.end();
}
