//! What a search over a hundred thousand messages costs while one types: every prefix of many queries, the 95th percentile of which
//! is what a person waits for. `cargo bench --bench search` prints it.
#![allow(missing_docs, reason = "a benchmark has no interface")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark tells on standard output, and stops when it cannot"
)]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use quipu::domain::session::{Details, Whole};
use quipu::domain::{Conversation, Role};
use quipu::store::{Archive, StoreOptions};

const SESSIONS: usize = 1000;
/// As many as it takes to see that it works.
const FEW: usize = 3;
const MESSAGES: usize = 100;

/// Words of very different frequency, as in a language: the n-th is about n times rarer than the first.
const WORDS: &[&str] = &[
    "the",
    "and",
    "of",
    "to",
    "in",
    "that",
    "is",
    "was",
    "for",
    "with",
    "cord",
    "knot",
    "people",
    "number",
    "because",
    "between",
    "colour",
    "mountain",
    "llama",
    "harvest",
    "village",
    "messenger",
    "empire",
    "tribute",
    "decimal",
    "pendant",
    "subsidiary",
    "khipukamayuq",
    "chasqui",
    "tawantinsuyu",
];

fn message(n: usize) -> String {
    let mut state = n as u64 + 1;
    let mut word = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let part = (state >> 33) as f64 / f64::from(1_u32 << 31);
        // Zipf's law, roughly.
        let at = (WORDS.len() as f64).powf(part) - 1.0;
        WORDS[(at as usize).min(WORDS.len() - 1)]
    };
    let mut text = (0..60).map(|_| word()).collect::<Vec<_>>().join(" ");
    let _ = write!(text, " message {n}");
    text
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions {
        folder: folder.path().to_owned(),
        trace_days: 30,
        states: None,
    };
    let mut archive = Archive::open(&options).unwrap();
    // Cargo says '--bench' where it is to be measured, and nothing where it is only to run.
    let measured = std::env::args().any(|arg| arg == "--bench");
    let sessions = if measured { SESSIONS } else { FEW };
    let began = Instant::now();
    for session in 0..sessions {
        let mut conversation = Conversation::default();
        for n in 0..MESSAGES {
            let role = if n % 2 == 0 { Role::User } else { Role::Assistant };
            conversation.push(role, message(session * MESSAGES + n), 1);
        }
        let details = Details {
            title: format!("session {session}"),
            ..Details::default()
        };
        let whole = Whole {
            details,
            created: 1,
            conversation,
        };
        archive.keep(whole).unwrap();
    }
    println!(
        "{} messages written in {:.1} s",
        sessions * MESSAGES,
        began.elapsed().as_secs_f64()
    );
    let queries = WORDS.iter().map(|word| (*word).to_owned());
    let pairs = WORDS.windows(2).map(|pair| pair.join(" "));
    let rare = (0..20).map(|n| format!("message {}", n * 4999));
    let mut times: Vec<(Duration, String)> = Vec::new();
    for query in queries.chain(pairs).chain(rare) {
        for end in 1..=query.len() {
            let typed = &query[..end];
            let began = Instant::now();
            let hits = archive.search(typed).unwrap();
            times.push((began.elapsed(), typed.to_owned()));
            std::hint::black_box(hits);
        }
    }
    times.sort();
    let at = |part: f64| &times[((times.len() - 1) as f64 * part) as usize];
    for (name, part) in [("median", 0.5), ("95th percentile", 0.95), ("slowest", 1.0)] {
        let (time, query) = at(part);
        println!("{name:<16} {:>8.2} ms  ('{query}')", time.as_secs_f64() * 1000.0);
    }
}
