//! What listing a thousand models costs: cold, where every header is read, and after that, where only names, sizes and times are looked
//! at. `cargo bench --bench listing` prints both and their ratio. The headers lie in the memory of the system already, so that reading
//! them from a slow disk comes on top.
#![allow(clippy::unwrap_used, reason = "a failure here ends the benchmark")]
#![allow(clippy::print_stdout, reason = "its report goes to whoever runs it")]

use std::fs;
use std::path::Path;
use std::time::Instant;

use quipu::domain::shelf::Memory;
use quipu::models::{Places, shelf};

#[path = "../tests/support/gguf.rs"]
mod gguf;

const FILES: usize = 1000;
/// As many as it takes to see that it works.
const FEW: usize = 3;

/// Tokens of each vocabulary, as llama 2 has them; a header is as long as its vocabulary.
const VOCABULARY: usize = 32_000;
/// Tokens of cria's vocabulary, which is filled up.
const OF_CRIA: usize = 4096;

fn main() {
    // Cargo says '--bench' where it is to be measured, and nothing where it is only to run.
    let measured = std::env::args().any(|arg| arg == "--bench");
    let files = if measured { FILES } else { FEW };
    let home = tempfile::tempdir().unwrap();
    let models = home.path().join("models");
    fs::create_dir(&models).unwrap();
    let cria = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/cria/cria-q8_0.gguf");
    let first = home.path().join("first.gguf");
    gguf::tiny_qwen2(&cria, VOCABULARY - OF_CRIA, 1).write(&first);
    for n in 0..files {
        // One file under many names: each is a path of its own, and its header is read as often.
        fs::hard_link(&first, models.join(format!("model-{n}.gguf"))).unwrap();
    }
    let places = Places {
        folders: vec![models],
        ..Places::only(home.path())
    };
    let listed = |when| {
        let began = Instant::now();
        let found = shelf(&places, Memory::default()).models.len();
        let took = began.elapsed().as_secs_f64();
        println!("{when:<6} {found} models in {:8.1} ms", took * 1e3);
        took
    };
    let (cold, again) = (listed("cold"), listed("again"));
    println!("       {:.1} times as fast", cold / again);
}
