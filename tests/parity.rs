//! Ring 7: the same file, prompt and settings give the same token ids as llama.cpp's own program. What that said is in
//! `data/parity.json`, which `scripts/parity` records.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use pretty_assertions::assert_eq;
use quipu::domain::Sampling;
use quipu::domain::inference::LoadOptions;
use quipu::domain::sampling::{Grammar, GrammarForm, Parameter};
use quipu::engine::local::quantize;
use serde::Deserialize;
use tempfile::NamedTempFile;

use crate::engine::{Talk, user};
use crate::{gguf, shapes, vocabulary};

/// Tokens that are the same on every processor, in the greedy case: kernels for other instructions round other last bits, and
/// further on these decide.
const ANYWHERE: usize = 8;

#[derive(Deserialize)]
struct Fixture {
    processor: String,
    prompt: String,
    question: String,
    cases: Vec<Case>,
    models: BTreeMap<String, Said>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    settings: BTreeMap<String, String>,
}

/// What the reference made of the prompt, and said in each case.
#[derive(Deserialize)]
struct Said {
    prompt: Vec<i32>,
    said: BTreeMap<String, Vec<i32>>,
}

/// The instructions that llama.cpp's kernels are chosen by, as `scripts/parity` tells them too.
fn processor() -> String {
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(unused_mut, reason = "only there is more to tell")
    )]
    let mut words = vec![env::consts::ARCH];
    #[cfg(target_arch = "x86_64")]
    for (name, there) in [
        ("avx2", is_x86_feature_detected!("avx2")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
        ("avx512_vnni", is_x86_feature_detected!("avx512vnni")),
        ("avx512_bf16", is_x86_feature_detected!("avx512bf16")),
    ] {
        if there {
            words.push(name);
        }
    }
    words.join(" ")
}

fn fixture() -> Fixture {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parity.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The model that all of them are made of: an older cria, which stays as it is, so that what was recorded holds when the built-in model
/// learns something new.
fn fixed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parity.gguf")
}

/// Writes a model to a path.
type Write = fn(&Path);

/// A file to copy a vocabulary from.
fn donor(file: &gguf::Gguf) -> NamedTempFile {
    let donor = NamedTempFile::new().unwrap();
    file.write(donor.path());
    donor
}

/// Names of the models, and how each is written.
pub(crate) const MODELS: [(&str, Write); 9] = [
    ("cria-q8_0.gguf", |to| {
        fs::copy(fixed(), to).unwrap();
    }),
    ("cria-f16.gguf", |to| quantize(&fixed(), to, "F16").unwrap()),
    ("cria-q6_k.gguf", |to| quantize(&fixed(), to, "Q6_K").unwrap()),
    ("cria-q4_k_m.gguf", |to| quantize(&fixed(), to, "Q4_K_M").unwrap()),
    ("llama-random.gguf", |to| shapes::random_llama(&fixed(), 61).write(to)),
    ("qwen2-random.gguf", |to| {
        shapes::peaked(gguf::tiny_qwen2(&fixed(), 0, 62), 32).write(to);
    }),
    ("qwen2-padded.gguf", |to| {
        shapes::peaked(gguf::tiny_qwen2(&fixed(), 37, 23), 33).write(to);
    }),
    // As many tokens as Qwen2.5 has, and its padding.
    ("qwen2-151936.gguf", |to| {
        let donor = donor(&vocabulary::merged(&fixed(), 151_643));
        shapes::peaked(gguf::tiny_qwen2(donor.path(), 293, 24), 34).write(to);
    }),
    // As many as the first Llamas have.
    ("llama-32000.gguf", |to| {
        let donor = donor(&vocabulary::pieces(&fixed(), 32_000));
        shapes::random_llama(donor.path(), 63).write(to);
    }),
];

fn settings(case: &Case) -> Sampling {
    let mut sampling = Sampling::default();
    for (name, value) in &case.settings {
        if let Some(parameter) = Parameter::find(name) {
            parameter.set(&mut sampling, value).unwrap();
            continue;
        }
        assert_eq!(name, "grammar");
        sampling.grammar = Some(Grammar {
            name: case.name.clone(),
            form: GrammarForm::Gbnf,
            text: value.clone(),
        });
    }
    sampling
}

/// Writes the models for the script that records what the reference says about them.
#[test]
#[ignore = "for scripts/parity"]
fn writes_the_models() {
    let folder = PathBuf::from(env::var_os("QUIPU_PARITY_MODELS").expect("scripts/parity sets it"));
    for (name, write) in MODELS {
        write(&folder.join(name));
    }
}

/// Holds one model to what the reference said.
fn hold(name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let (_, write) = MODELS.into_iter().find(|(known, _)| *known == name).unwrap();
    write(&path);
    let Fixture {
        processor: recorded,
        prompt,
        question,
        cases,
        models,
    } = fixture();
    let expected = &models[name];
    let options = || LoadOptions {
        context: Some(1024),
        ..LoadOptions::default()
    };
    let view = Talk::load(&path, options()).render(&[user(&question)]);
    assert_eq!(
        view.tokens.iter().map(|t| t.token.0).collect::<Vec<_>>(),
        expected.prompt
    );
    // SentencePiece puts a blank before a text, and these templates leave BOS to it.
    let plain = |text: &str| text.trim_start_matches("<s>").replace(' ', "");
    let spelled: String = view.tokens.iter().map(|t| t.text.as_str()).collect();
    assert_eq!(plain(&spelled), plain(&prompt));
    let same_kernels = recorded == processor();
    for case in cases.iter().filter(|case| same_kernels || case.name == "greedy") {
        let mut talk = Talk::load(&path, options());
        let answer = talk.ask(&[user(&question)], settings(case), Some(64));
        let said: Vec<i32> = answer.tokens.iter().map(|t| t.0).collect();
        let reference = &expected.said[&case.name];
        assert!(!reference.is_empty(), "{}", case.name);
        if !same_kernels {
            assert_eq!(said[..ANYWHERE], reference[..ANYWHERE], "{name}");
            continue;
        }
        // The reference counts the token that ends a turn among what was said.
        let (_, but_last) = reference.split_last().unwrap();
        assert!(
            said == *reference || said == but_last,
            "{name}, {}:\nours   {said:?}\ntheirs {reference:?}",
            case.name
        );
    }
}

#[test]
fn cria_in_q8_0() {
    hold("cria-q8_0.gguf");
}

#[test]
fn cria_in_f16() {
    hold("cria-f16.gguf");
}

#[test]
fn cria_in_q6_k() {
    hold("cria-q6_k.gguf");
}

#[test]
fn cria_in_q4_k_m() {
    hold("cria-q4_k_m.gguf");
}

#[test]
fn a_random_llama() {
    hold("llama-random.gguf");
}

#[test]
fn a_random_qwen2() {
    hold("qwen2-random.gguf");
}

#[test]
fn a_qwen2_with_a_padded_vocabulary() {
    hold("qwen2-padded.gguf");
}

#[test]
fn a_qwen2_with_as_many_tokens_as_published_ones() {
    hold("qwen2-151936.gguf");
}

#[test]
fn a_llama_with_as_many_tokens_as_published_ones() {
    hold("llama-32000.gguf");
}

#[test]
fn every_model_and_case_is_recorded() {
    let fixture = fixture();
    assert_eq!(fixture.models.len(), MODELS.len());
    for said in fixture.models.values() {
        assert_eq!(said.said.len(), fixture.cases.len());
    }
}
