//! Ring 7: damaged files. Sound models are changed in one to three places; what the header's reader lets through is tried by a
//! child, as it is at a first load. A few always run; `cargo test --test quipu mutants:: -- --ignored` with `QUIPU_MUTANTS`
//! runs as many as it says and keeps what killed a child.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use quipu::engine::local::{Depth, Prober, Trial, Verdict};
use quipu::gguf::ModelFile;
use quipu::run::probe::ChildProber;

use crate::engine::cria;
use crate::gguf::{Gguf, Meta, Random, TINY, random_qwen2, text};
use crate::shapes;

/// The models that are damaged: attention with and without biases, and a state.
fn sound_models() -> Vec<Gguf> {
    vec![
        random_qwen2(&cria(), 5, 1, TINY),
        shapes::random_llama(&cria(), 2),
        shapes::mamba(&cria(), 3),
    ]
}

/// Numbers at which arithmetic goes wrong.
const NUMBERS: [u32; 18] = [
    0,
    1,
    2,
    3,
    5,
    7,
    16,
    31,
    63,
    64,
    100,
    512,
    1023,
    4096,
    0xffff,
    0x00ff_ffff,
    0x7fff_ffff,
    0xffff_ffff,
];

/// Keys that a model may have and these do not, behind the architecture's name.
const KEYS: [&str; 26] = [
    "expert_count",
    "expert_used_count",
    "expert_group_count",
    "leading_dense_block_count",
    "nextn_predict_layers",
    "attention.sliding_window",
    "attention.sliding_window_pattern",
    "attention.key_length",
    "attention.value_length",
    "attention.key_length_swa",
    "attention.kv_lora_rank",
    "attention.q_lora_rank",
    "attention.causal",
    "attention.clamp_kqv",
    "attention.max_alibi_bias",
    "attention.scale",
    "rope.dimension_count",
    "rope.dimension_sections",
    "rope.scaling.type",
    "rope.scaling.factor",
    "rope.scaling.original_context_length",
    "rope.freq_base",
    "pooling_type",
    "vocab_size",
    "logit_scale",
    "full_attention_interval",
];

/// Keys of the vocabulary.
const VOCABULARY: [&str; 14] = [
    "tokenizer.ggml.bos_token_id",
    "tokenizer.ggml.eos_token_id",
    "tokenizer.ggml.eot_token_id",
    "tokenizer.ggml.eom_token_id",
    "tokenizer.ggml.unknown_token_id",
    "tokenizer.ggml.separator_token_id",
    "tokenizer.ggml.padding_token_id",
    "tokenizer.ggml.mask_token_id",
    "tokenizer.ggml.fim_pre_token_id",
    "tokenizer.ggml.add_bos_token",
    "tokenizer.ggml.add_eos_token",
    "tokenizer.ggml.add_sep_token",
    "tokenizer.ggml.add_space_prefix",
    "tokenizer.ggml.token_type_count",
];

fn pick<T: Copy>(from: &[T], random: &mut Random) -> T {
    from[random.bits() as usize % from.len()]
}

/// Any value.
fn value(random: &mut Random) -> Meta {
    let number = pick(&NUMBERS, random);
    match random.bits() % 12 {
        0..=4 => Meta::U32(number),
        5 => Meta::I32(number as i32),
        6 => Meta::F32(pick(&[0.0, -1.0, 1e-30, 1e30, f32::NAN, f32::INFINITY, 1.0], random)),
        7 => Meta::Bool(random.bits().is_multiple_of(2)),
        8 => Meta::U32s(vec![number; 2]),
        9 => Meta::I32s(vec![number as i32; 4]),
        10 => text(pick(&["", "none", "yarn", "linear", "longrope", "\u{0}", "x"], random)),
        _ => Meta::U64(u64::from(number) << 8),
    }
}

/// Changes one thing.
fn damage(file: &mut Gguf, random: &mut Random) {
    let architecture = match file.pairs.iter().find(|(key, _)| key == "general.architecture") {
        Some((_, Meta::Text(name))) => name.clone(),
        _ => "llama".to_owned(),
    };
    let (at, tensor) = (random.bits() as usize, random.bits() as usize);
    match random.bits() % 12 {
        0..=2 if !file.pairs.is_empty() => {
            let at = at % file.pairs.len();
            file.pairs[at].1 = value(random);
        }
        3 if !file.pairs.is_empty() => {
            file.pairs.remove(at % file.pairs.len());
        }
        4 | 5 => {
            let key = format!("{architecture}.{}", pick(&KEYS, random));
            file.set(&key, value(random));
        }
        6 => {
            file.set(pick(&VOCABULARY, random), value(random));
        }
        7 if !file.tensors.is_empty() => {
            file.tensors.remove(tensor % file.tensors.len());
        }
        8 if !file.tensors.is_empty() => {
            // The same numbers in another shape.
            let tensor = tensor % file.tensors.len();
            file.tensors[tensor].dims.reverse();
        }
        9 if !file.tensors.is_empty() => {
            let tensor = tensor % file.tensors.len();
            let dims = &mut file.tensors[tensor].dims;
            let last = dims.len() - 1;
            dims[last] = u64::from(pick(&NUMBERS, random));
            let bytes = fitting(&file.tensors[tensor]);
            file.tensors[tensor].data.resize(bytes, 0);
        }
        10 => {
            let one = |file: &Gguf, at: usize| at % file.tensors.len().max(1);
            let (a, b) = (one(file, at), one(file, tensor));
            if a != b {
                let name = std::mem::take(&mut file.tensors[a].name);
                let other = std::mem::replace(&mut file.tensors[b].name, name);
                file.tensors[a].name = other;
            }
        }
        _ => bytes_of_a_value(file, at, random),
    }
}

/// How many bytes a tensor of these dimensions takes, as far as that is sensible.
fn fitting(tensor: &crate::gguf::Weights) -> usize {
    let count = tensor.dims.iter().fold(1_u64, |count, dim| count.saturating_mul(*dim));
    let bytes = count.saturating_mul(if tensor.kind == crate::gguf::F16 { 2 } else { 4 });
    usize::try_from(bytes).unwrap_or(0).min(1 << 22)
}

/// Changes a byte of a value that was copied from the donor: of a token's text, a score, a type.
fn bytes_of_a_value(file: &mut Gguf, at: usize, random: &mut Random) {
    let mut raw: Vec<_> = file
        .pairs
        .iter_mut()
        .filter(|(_, v)| matches!(v, Meta::Raw(..)))
        .collect();
    let count = raw.len().max(1);
    if let Some((_, Meta::Raw(_, bytes))) = raw.get_mut(at % count)
        && !bytes.is_empty()
    {
        let place = random.bits() as usize % bytes.len();
        bytes[place] = pick(&[0, 1, 0x7f, 0x80, 0xff, b'<', b'\n'], random);
    }
}

/// The mutant of that number.
fn mutant(models: &[Gguf], number: u64) -> Gguf {
    let mut random = Random::new(number.wrapping_mul(0x9e37_79b9) + 7);
    let mut file = models[number as usize % models.len()].clone();
    for _ in 0..=random.bits() % 3 {
        damage(&mut file, &mut random);
    }
    file
}

/// What became of mutants.
#[derive(Debug, Default)]
struct Tally {
    rejected: u32,
    sound: u32,
    refused: u32,
    gave_up: BTreeMap<String, Vec<u64>>,
}

/// Tries mutants until `wanted` of them went through the header's reader, or the numbers are over.
fn run(numbers: impl Iterator<Item = u64>, wanted: u32, keep: Option<&Path>) -> Tally {
    let models = sound_models();
    let folder = tempfile::tempdir().unwrap();
    let prober = ChildProber::new(Path::new(env!("CARGO_BIN_EXE_quipu")), folder.path());
    let path = folder.path().join("mutant.gguf");
    let mut tally = Tally::default();
    for number in numbers {
        if tally.sound + tally.refused + tally.gave_up.len() as u32 >= wanted {
            break;
        }
        mutant(&models, number).write(&path);
        let accepted = ModelFile::open(&path).and_then(|file| file.check().map(|()| file.fingerprint()));
        let Ok(Ok(fingerprint)) = accepted else {
            tally.rejected += 1;
            continue;
        };
        let trial = Trial {
            path: &path,
            fingerprint: &fingerprint,
            gpu_layers: 0,
            overrides: "",
            depth: Depth::Compute,
        };
        match prober.probe(&trial, &mut |_| true) {
            Verdict::Sound => tally.sound += 1,
            Verdict::Refused(_) => tally.refused += 1,
            Verdict::GaveUp(why) => {
                if let Some(keep) = keep {
                    fs::copy(&path, keep.join(format!("mutant-{number}.gguf"))).unwrap();
                }
                tally.gave_up.entry(why).or_default().push(number);
            }
            other => panic!("mutant {number}: {other:?}"),
        }
    }
    tally
}

#[test]
fn damaged_files_are_refused_or_end_a_child_and_nothing_else() {
    let tally = run(0.., 40, None);
    assert!(tally.rejected > 0 && tally.sound > 0 && tally.refused > 0, "{tally:?}");
    assert!(tally.gave_up.is_empty(), "the header's reader should know: {tally:?}");
}

#[test]
#[ignore = "takes as long as it is told to: QUIPU_MUTANTS=FROM-TO, QUIPU_MUTANTS_KEEP=FOLDER"]
fn many_damaged_files() {
    let range = std::env::var("QUIPU_MUTANTS").unwrap_or_else(|_| "0-1000".to_owned());
    let (from, to) = range.split_once('-').unwrap();
    let keep = std::env::var_os("QUIPU_MUTANTS_KEEP");
    let numbers = from.parse().unwrap()..to.parse().unwrap();
    let tally = run(numbers, u32::MAX, keep.as_ref().map(Path::new));
    println!("{tally:#?}");
    assert!(tally.gave_up.is_empty(), "{tally:?}");
}

#[test]
#[ignore = "takes minutes: a model under every name of an architecture and of a tokenizer"]
fn every_name_of_an_architecture_and_of_a_tokenizer() {
    // An rwkv's tokenizer over another vocabulary throws; what it needs of a vocabulary is known only to it.
    const CAUGHT: [&str; 1] = ["it met something that it had no answer to (a C++ exception)"];
    let table = include_str!("../src/gguf/architecture.rs");
    let rows = table.lines().filter_map(|line| line.trim().strip_prefix("row(\""));
    let architectures: Vec<_> = rows
        .filter_map(|row| row.split_once("\", Chat").map(|(name, _)| name))
        .collect();
    let tokenizers = [
        "llama",
        "gpt2",
        "hybriddna",
        "whitespace",
        "gemma4",
        "t5",
        "rwkv",
        "plamo2",
    ];
    assert!(architectures.len() > 100);
    let folder = tempfile::tempdir().unwrap();
    let prober = ChildProber::new(Path::new(env!("CARGO_BIN_EXE_quipu")), folder.path());
    let path = folder.path().join("named.gguf");
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for model in sound_models() {
        let Some((_, Meta::Text(own))) = model.pairs.iter().find(|(key, _)| key == "general.architecture") else {
            panic!("a model without a name")
        };
        let renamed = architectures.iter().map(|name| (*name, "gpt2"));
        let retokenized = tokenizers.iter().map(|name| (own.as_str(), *name));
        for (architecture, tokenizer) in renamed.chain(retokenized) {
            let mut file = model.clone();
            for (key, _) in &mut file.pairs {
                *key = key.replacen(&format!("{own}."), &format!("{architecture}."), 1);
            }
            file.set("general.architecture", text(architecture))
                .set("tokenizer.ggml.model", text(tokenizer));
            file.write(&path);
            let Ok(Ok(())) = ModelFile::open(&path).map(|file| file.check()) else {
                continue;
            };
            let trial = Trial {
                path: &path,
                fingerprint: "never remembered twice",
                gpu_layers: 0,
                overrides: "",
                depth: Depth::Compute,
            };
            let name = match prober.probe(&trial, &mut |_| true) {
                Verdict::GaveUp(why) => why,
                Verdict::Sound => {
                    fs::remove_file(folder.path().join("known-models")).unwrap();
                    "sound".to_owned()
                }
                Verdict::Refused(_) => "refused".to_owned(),
                other => panic!("{other:?}"),
            };
            found
                .entry(name)
                .or_default()
                .push(format!("{own} as {architecture}/{tokenizer}"));
        }
    }
    println!("{found:#?}");
    found.retain(|name, _| !matches!(name.as_str(), "sound" | "refused") && !CAUGHT.contains(&name.as_str()));
    assert!(found.is_empty(), "{found:#?}");
}
