//! What watching an answer for loops costs at every token: next to nothing, however long the answer is, and whether it nearly
//! repeats or not. `cargo bench --bench guard` prints it beside the draw of a token, which it is to be small against.

#![allow(missing_docs, reason = "a benchmark has no interface")]
#![allow(clippy::print_stdout, reason = "a benchmark tells on standard output")]

use std::hint::black_box;
use std::time::Instant;

use quipu::domain::inference::Token;
use quipu::text::looping::Watch;

/// Tokens of the longest answer.
const LONG: u32 = 128 * 1024;
/// As many as it takes to see that it works.
const FEW: u32 = 2048;

/// What an answer says at a place: an id, and its text.
type Answer = fn(u32) -> (u32, String);

/// Answers of every kind that makes the watch work.
const ANSWERS: [(&str, Answer); 4] = [
    ("prose", |at| {
        // Knuth's multiplier: no two stretches are alike.
        let word = (at.wrapping_mul(2_654_435_761) >> 16) % 5000;
        (word, format!(" w{word}"))
    }),
    ("one line with a counter", |at| {
        if at % 16 == 15 {
            (20_000 + at, format!(" {at}.\n"))
        } else {
            (at % 16, format!(" word{}", at % 16))
        }
    }),
    ("loops of 511 that break", |at| {
        let word = if at % 1400 == 0 { 30_000 + at } else { at % 511 };
        (word, format!(" w{word}"))
    }),
    ("code", |at| match at % 8 {
        0 if at == 0 => (1, "```rust\n".to_owned()),
        7 => (2, "\n".to_owned()),
        part => (3 + part + at / 8 % 4000, format!(" x{}", part + at / 8 % 4000)),
    }),
];

fn main() {
    let most = if std::env::args().any(|arg| arg == "--bench") {
        LONG
    } else {
        FEW
    };
    println!(
        "{:<26} {:>10} {:>12} {:>16}",
        "answer", "tokens", "ns a token", "against 2048"
    );
    for (name, answer) in ANSWERS {
        let mut first = None;
        for tokens in [FEW, FEW * 8, LONG].into_iter().filter(|tokens| *tokens <= most) {
            let said: Vec<_> = (0..tokens).map(answer).collect();
            let mut watch = Watch::default();
            let begun = Instant::now();
            for (id, text) in &said {
                black_box(watch.push(Some(Token(*id as i32)), text));
            }
            let each = begun.elapsed().as_secs_f64() * 1e9 / f64::from(tokens);
            let ratio = each / *first.get_or_insert(each);
            println!("{name:<26} {tokens:>10} {each:>12.0} {ratio:>16.2}");
        }
    }
}
