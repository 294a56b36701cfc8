//! What the layers tell: how widely heads look, how long layers take, whether a card computes what the processor does, and whether
//! all of it is as fast as the memory lets it be.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use crate::domain::Bytes;
use crate::domain::examination::Layer;
use crate::domain::inference::Failure;
use crate::engine::local::{Inside, Patient, usual_threads};
use crate::gguf::ModelFile;

use super::chart::Opinion;
use super::distribution::divergence;
use super::numbers::{Reading, Said};

/// Tokens that the layers are watched with.
const WATCHED: usize = 32;

/// Watches the layers.
pub(super) fn look(patient: &Patient, reading: &Reading) -> Result<Inside, Failure> {
    let tokens = reading.tokens.get(..WATCHED).unwrap_or(&reading.tokens);
    patient.look_inside(tokens)
}

/// The same for telling.
pub(super) fn layers(inside: &Inside) -> Vec<Layer> {
    let layer = |seen: &crate::engine::local::LayerSeen| Layer {
        heads: seen.heads.clone(),
        micros: seen
            .time
            .map(|time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX)),
    };
    inside.layers.iter().map(layer).collect()
}

/// Whether the heads look at something: neither at everything alike, nor all of them at one token.
pub(super) fn attention(inside: &Inside) -> Opinion {
    let all = || inside.layers.iter().flat_map(|layer| &layer.heads).copied();
    let count = all().count();
    if count == 0 {
        return Opinion::not_applicable("this model has no attention that can be looked at");
    }
    let broken = all().filter(|share| !share.is_finite()).count();
    if broken > 0 {
        let evidence = format!("{broken} of {count} heads weigh with what are no numbers");
        return Opinion::failed(
            evidence,
            "weights of queries or keys are broken: download the model again",
        );
    }
    let (low, high) = all().fold((1.0_f32, 0.0_f32), |(low, high), x| (low.min(x), high.max(x)));
    let mean = all().sum::<f32>() / count as f32;
    let evidence = format!(
        "{count} heads in {} layers: entropy from {low:.2} to {high:.2} of the possible, {mean:.2} on average",
        inside.layers.len()
    );
    let remedy = "weights that were never trained look so, or queries and keys that do not arrive: if answers are nonsense, get \
                  another conversion";
    if low > 0.999 {
        Opinion::warning(format!("{evidence}: every head looks at all tokens alike"), remedy)
    } else if high < 0.001 {
        Opinion::warning(format!("{evidence}: every head looks at one token only"), remedy)
    } else {
        Opinion::ok(evidence)
    }
}

/// Whether a graphics card computes what the processor does.
pub(super) fn cards(patient: &Patient, file: ModelFile, reading: &Reading) -> Result<Opinion, Failure> {
    /// Cards round otherwise than processors, at half precision: up to here it is that.
    const ROUNDING: f64 = 0.05;
    let Some(on_cpu) = patient.on_cpu(file) else {
        return Ok(Opinion::not_applicable("nothing of the model lies on a graphics card"));
    };
    let there = Reading::new(&on_cpu?)?;
    let apart = reading.rows.iter().zip(&there.rows).map(|(a, b)| divergence(b, a));
    let apart = apart.fold(0.0, |worst: f64, next| if worst >= next { worst } else { next });
    let evidence = format!(
        "{} layers on the card: {apart:.1e} nats from the processor at most",
        patient.gpu_layers
    );
    Ok(if apart <= ROUNDING {
        Opinion::ok(evidence)
    } else {
        Opinion::failed(
            evidence,
            "the card or its driver computes wrongly: update the driver, or use '--gpu-layers 0'",
        )
    })
}

/// Weights of less than this may lie in the processor's cache, in bytes: the memory does not bound them.
const CACHED: u64 = 128 << 20;

/// How fast text is read and said, against the memory that every weight must come through for every token.
pub(super) fn speed(patient: &Patient, file: &ModelFile, reading: &Reading, said: &Said) -> Opinion {
    let rate = |count: usize, time: Duration| count as f64 / time.as_secs_f64().max(1e-9);
    let prompt = rate(reading.tokens.len(), reading.time);
    if said.tokens.is_empty() {
        return Opinion::ok(format!(
            "prompt {prompt:.0} tokens/s; it had nothing to say that could be timed"
        ));
    }
    let generation = rate(said.tokens.len(), said.time);
    let weights = per_token(file);
    let told = format!("prompt {prompt:.0} tokens/s, generation {generation:.1} tokens/s");
    if patient.gpu_layers > 0 || weights < CACHED {
        let why = if patient.gpu_layers > 0 {
            "on a card"
        } else {
            "small enough for the processor's cache"
        };
        return Opinion::ok(format!("{told}; {} of weights a token, {why}", Bytes(weights)));
    }
    let bandwidth = bandwidth();
    let bound = bandwidth / weights as f64;
    let share = 100.0 * generation / bound;
    let evidence = format!(
        "{told}: {share:.0} % of the {bound:.1} that {} a second of memory allow",
        Bytes(bandwidth as u64)
    );
    if share < 25.0 {
        Opinion::warning(
            evidence,
            "something else uses this machine, or '--threads' is not the number of its cores",
        )
    } else {
        Opinion::ok(evidence)
    }
}

/// Bytes of weights that one token needs: all but the table of tokens, of which it needs a row, unless that is the output too; and
/// of experts those that are asked.
fn per_token(file: &ModelFile) -> u64 {
    let metadata = file.metadata();
    let own_output = file.tensor("output.weight").is_some();
    let experts = metadata.own_u64("expert_count").unwrap_or(0).max(1);
    let used = metadata
        .own_u64("expert_used_count")
        .unwrap_or(experts)
        .clamp(1, experts);
    let bytes = file.tensors().map(|tensor| match tensor.name.as_str() {
        "token_embd.weight" if own_output => 0,
        name if name.contains("_exps.") => tensor.bytes / experts * used,
        _ => tensor.bytes,
    });
    bytes.fold(0, u64::saturating_add)
}

/// Bytes a second that come from memory when every core reads: the best of a few times.
fn bandwidth() -> f64 {
    /// Words of eight bytes that one thread reads: more than its share of any cache.
    const WORDS: usize = 8 << 20;
    const TIMES: usize = 3;
    let threads = usual_threads() as usize;
    let buffers: Vec<Vec<u64>> = (0..threads).map(|at| vec![at as u64; WORDS]).collect();
    let best = (0..TIMES).map(|_| {
        let began = Instant::now();
        thread::scope(|scope| {
            for buffer in &buffers {
                scope.spawn(|| black_box(buffer.iter().fold(0_u64, |sum, word| sum.wrapping_add(*word))));
            }
        });
        began.elapsed()
    });
    let best = best.min().unwrap_or_default();
    (threads * WORDS * 8) as f64 / best.as_secs_f64().max(1e-9)
}
