//! What it costs to draw a token from 151,936 logits, the vocabulary of today's larger models, and to report on it. A report
//! is to cost less than a millisecond; what counts besides is its ratio to the draw alone.

#![allow(clippy::unwrap_used, reason = "a failure here ends the benchmark")]

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use quipu::domain::Sampling;
use quipu::domain::sampling::{Parameter, Seed};
use quipu::engine::local::{Drawing, Lexicon};
use quipu::gguf::ModelFile;

const VOCABULARY: u32 = 151_936;

/// Logits as models have them: most of them in a bell around -2, a few high. The same every time.
fn logits() -> Vec<f32> {
    // A walk by Knuth's multiplier, and four of its values for a bell.
    let noise = |n: u32| (n.wrapping_mul(2_654_435_761) >> 8) as f32 / 16_777_216.0;
    let bell = |id: u32| (0..4).map(|part| noise(id * 4 + part + 1)).sum::<f32>();
    let peak = |id: u32| if id % 9973 == 17 { 9.0 * noise(id) } else { 0.0 };
    (0..VOCABULARY).map(|id| bell(id) * 4.0 - 10.0 + peak(id)).collect()
}

/// Names of settings, and what they change.
const WAYS: [(&str, &[(&str, &str)]); 4] = [
    ("default", &[]),
    ("greedy", &[("temperature", "0"), ("stages", "temperature")]),
    ("biased", &[("logit-bias", "#5=-inf,#4000=2")]),
    ("no-top-k", &[("stages", "min-p,temperature"), ("min-p", "0.02")]),
];

fn draws(criterion: &mut Criterion) {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/cria/cria-q8_0.gguf");
    let lexicon = Lexicon::open(&ModelFile::open(&model).unwrap()).unwrap();
    let logits = logits();
    let mut group = criterion.benchmark_group("draw");
    for (name, changes) in WAYS {
        let mut settings = Sampling {
            seed: Seed::Fixed(1),
            ..Sampling::default()
        };
        for (parameter, value) in changes {
            Parameter::find(parameter).unwrap().set(&mut settings, value).unwrap();
        }
        let alone = Drawing::new(&lexicon, &settings).unwrap();
        let reporting = Drawing::new(&lexicon, &settings).unwrap().reporting();
        for (how, mut drawing) in [("alone", alone), ("reported", reporting)] {
            group.bench_function(format!("{name}/{how}"), |bencher| {
                bencher.iter(|| drawing.draw(black_box(&logits)).unwrap());
            });
        }
    }
    group.finish();
}

criterion_group!(benches, draws);
criterion_main!(benches);
