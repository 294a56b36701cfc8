//! The doctor: healthy models pass, and each fault that it knows is found in a model made for it, and named right.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, thread};

use quipu::doctor::{self, Order, Progress};
use quipu::domain::examination::{Check, Examination, Finding, Verdict};
use quipu::domain::inference::{LoadOptions, Token};
use quipu::engine::local::Patient;
use quipu::gguf::ModelFile;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::engine::cria;
use crate::gguf::{Gguf, Meta, Random, text};
use crate::parity::MODELS;
use crate::{shapes, vocabulary};

fn order<'a>(path: &'a Path, options: &'a LoadOptions) -> Order<'a> {
    Order {
        path,
        options,
        prober: None,
        tokenizer: None,
        against: None,
    }
}

fn examine(order: &Order<'_>) -> Examination {
    doctor::examine(order, &mut |_| true).unwrap()
}

fn finding(found: &Examination, check: Check) -> &Finding {
    found.findings.iter().find(|finding| finding.check == check).unwrap()
}

/// A file in a folder of its own.
fn written(file: &Gguf) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    file.write(&path);
    (folder, path)
}

/// What is found of a model that is sick; asserts that the check fails, and in these words.
#[track_caller]
fn sick(file: &Gguf, check: Check, words: &str) -> Examination {
    let (_folder, path) = written(file);
    let found = examine(&order(&path, &LoadOptions::default()));
    let Finding {
        verdict,
        evidence,
        remedy,
        ..
    } = finding(&found, check);
    assert_eq!(*verdict, Verdict::Failed, "{found:#?}");
    assert!(evidence.contains(words), "{evidence}");
    assert!(!remedy.is_empty());
    found
}

/// The checks that fail.
fn failed(found: &Examination) -> Vec<Check> {
    let failed = found
        .findings
        .iter()
        .filter(|finding| finding.verdict == Verdict::Failed);
    failed.map(|finding| finding.check).collect()
}

#[test]
fn nothing_fails_on_healthy_models() {
    for (name, write) in MODELS {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        write(&path);
        let found = examine(&order(&path, &LoadOptions::default()));
        assert_eq!(failed(&found), [], "{name}: {found:#?}");
        let asked = [
            Check::Steps,
            Check::Rewind,
            Check::Restore,
            Check::Shift,
            Check::Logits,
            Check::Template,
        ];
        for check in asked {
            assert_eq!(
                finding(&found, check).verdict,
                Verdict::Ok,
                "{name}: {:?}",
                finding(&found, check)
            );
        }
        assert!(!found.positions.is_empty() && !found.layers.is_empty(), "{name}");
    }
}

#[test]
fn every_check_is_made_once_and_in_order() {
    let mut begun = Vec::new();
    let found = doctor::examine(&order(&cria(), &LoadOptions::default()), &mut |progress| {
        if let Progress::Begins(check) = progress {
            begun.push(check);
        }
        true
    });
    let found: Vec<_> = found.unwrap().findings.iter().map(|finding| finding.check).collect();
    assert_eq!((begun.as_slice(), found.as_slice()), (&Check::ALL[..], &Check::ALL[..]));
}

#[test]
fn it_stops_when_told_to() {
    let mut told = 0;
    let found = doctor::examine(&order(&cria(), &LoadOptions::default()), &mut |_| {
        told += 1;
        told < 7
    });
    assert_eq!((found, told), (None, 7));
}

#[test]
fn a_model_without_attention_is_asked_what_it_can_be_asked() {
    let (_folder, path) = written(&shapes::mamba(&cria(), 3));
    let found = examine(&order(&path, &LoadOptions::default()));
    for check in [Check::Rewind, Check::Shift, Check::Attention] {
        assert_eq!(finding(&found, check).verdict, Verdict::NotApplicable, "{check:?}");
    }
    assert_eq!(finding(&found, Check::Restore).verdict, Verdict::Ok);
    assert_eq!(finding(&found, Check::Steps).verdict, Verdict::Ok);
}

#[test]
fn wrong_output_rows_are_found() {
    let mut file = shapes::random_llama(&cria(), 7);
    let output = file.tensor("output.weight");
    output.dims[1] -= 12;
    output.data.truncate((output.dims[0] * output.dims[1] * 2) as usize);
    let found = sick(
        &file,
        Check::Vocabulary,
        "'output.weight' has 4084 rows for 4096 tokens: 12 tokens have no row",
    );
    // llama.cpp refuses it, and what cannot be asked then is not asked.
    assert_eq!(finding(&found, Check::Load).verdict, Verdict::Failed);
    assert_eq!(finding(&found, Check::Steps).verdict, Verdict::NotApplicable);
}

#[test]
fn a_vocabulary_padded_beyond_its_tokens_is_found() {
    let mut file = shapes::random_llama(&cria(), 7);
    for name in ["token_embd.weight", "output.weight"] {
        let table = file.tensor(name);
        table.dims[1] += 293;
        table.data.resize((table.dims[0] * table.dims[1] * 2) as usize, 0);
    }
    sick(
        &file,
        Check::Vocabulary,
        "4389 rows for 4096 tokens: 293 rows name no token",
    );
}

#[test]
fn a_vocabulary_without_an_end_is_found() {
    let mut file = Gguf::read(&cria());
    let renamed = |name: Vec<u8>| match name.as_slice() {
        b"<|im_end|>" => b"<|said|>".to_vec(),
        b"<|endoftext|>" => b"<|text|>".to_vec(),
        _ => name,
    };
    let tokens = vocabulary::texts_of(&file, "tokenizer.ggml.tokens");
    file.set(
        "tokenizer.ggml.tokens",
        Meta::Texts(tokens.into_iter().map(renamed).collect()),
    )
    .set(
        "tokenizer.chat_template",
        text(&crate::gguf::CHATML.replace("<|im_end|>", "<|said|>")),
    )
    .remove("tokenizer.ggml.eos_token_id")
    .remove("tokenizer.ggml.eot_token_id");
    sick(&file, Check::Specials, "ends an answer");
}

#[test]
fn a_template_that_ends_elsewhere_is_found() {
    let mut file = Gguf::read(&cria());
    file.set(
        "tokenizer.chat_template",
        text(&crate::gguf::CHATML.replace("<|im_end|>", "<|im_start|>")),
    );
    let found = sick(&file, Check::Template, "ends an answer with '<|im_start|>'");
    assert_eq!(failed(&found), [Check::Template]);
}

#[test]
fn a_template_of_another_model_is_found() {
    let mut file = Gguf::read(&cria());
    file.set(
        "tokenizer.chat_template",
        text(&crate::gguf::CHATML.replace("<|im_start|>", "<|turn|>")),
    );
    sick(&file, Check::Template, "writes '<|turn|>'");
}

#[test]
fn a_truncated_tensor_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.gguf");
    let whole = fs::read(cria()).unwrap();
    fs::write(&path, &whole[..whole.len() - 1000]).unwrap();
    let found = examine(&order(&path, &LoadOptions::default()));
    assert_eq!(failed(&found), [Check::File]);
    let evidence = &finding(&found, Check::File).evidence;
    assert!(evidence.contains("is cut short"), "{evidence}");
}

#[test]
fn a_weight_that_is_no_number_is_found_and_what_it_does() {
    let mut file = Gguf::read(&cria());
    // The scale of a block of Q8_0.
    file.tensor("blk.3.ffn_down.weight").data[..2].copy_from_slice(&0x7e00_u16.to_le_bytes());
    let found = sick(&file, Check::Weights, "'blk.3.ffn_down.weight' has 1 values");
    assert_eq!(failed(&found), [Check::Weights, Check::Logits]);
}

#[test]
fn a_hole_in_the_weights_is_found() {
    let mut file = Gguf::read(&cria());
    file.tensor("blk.4.attn_v.weight").data.fill(0);
    let (_folder, path) = written(&file);
    let found = examine(&order(&path, &LoadOptions::default()));
    let weights = finding(&found, Check::Weights);
    assert_eq!(weights.verdict, Verdict::Warning);
    assert!(
        weights
            .evidence
            .contains("'blk.4.attn_v.weight' holds nothing but zeros"),
        "{}",
        weights.evidence
    );
}

#[test]
fn shuffled_merges_are_found_also_by_the_publishers_tokenizer() {
    let mut file = Gguf::read(&cria());
    let mut merges = vocabulary::texts_of(&file, "tokenizer.ggml.merges");
    let mut random = Random::new(5);
    for at in (1..merges.len()).rev() {
        merges.swap(at, random.bits() as usize % (at + 1));
    }
    file.set("tokenizer.ggml.merges", Meta::Texts(merges));
    let (_folder, path) = written(&file);
    let options = LoadOptions::default();
    let tokenizer = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/cria/tokenizer.json");
    let with = |path| {
        examine(&Order {
            tokenizer: Some(&tokenizer),
            ..order(path, &options)
        })
    };
    let found = with(&path);
    assert_eq!(failed(&found), [Check::Merges, Check::Tokenizer], "{found:#?}");
    let healthy = with(&cria());
    let tokenizer = finding(&healthy, Check::Tokenizer);
    assert_eq!(tokenizer.verdict, Verdict::Ok, "{}", tokenizer.evidence);
    assert!(tokenizer.evidence.starts_with("40 of 40"), "{}", tokenizer.evidence);
}

#[test]
fn a_wrong_rope_base_is_found_against_a_server_and_the_right_one_named() {
    let url = server();
    let mut file = Gguf::read(&cria());
    file.set("llama.rope.freq_base", Meta::F32(500_000.0));
    let (_folder, path) = written(&file);
    let options = LoadOptions::default();
    let against = |path| {
        examine(&Order {
            against: Some(&url),
            ..order(path, &options)
        })
    };
    let found = against(&path);
    let reference = finding(&found, Check::Reference);
    assert_eq!(failed(&found), [Check::Reference], "{found:#?}");
    let words = "with a RoPE base of 10000 instead of 500000 they agree";
    assert!(reference.evidence.contains(words), "{}", reference.evidence);
    assert!(
        reference.remedy.contains("--rope-freq-base 10000"),
        "{}",
        reference.remedy
    );

    let healthy = against(&cria());
    let reference = finding(&healthy, Check::Reference);
    assert_eq!(reference.verdict, Verdict::Ok, "{}", reference.evidence);
    assert!(
        reference.evidence.starts_with("16 greedy tokens are the same"),
        "{}",
        reference.evidence
    );
}

/// A server that answers greedily with cria as it is, in the words of llama.cpp's own. It ends with the tests.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1/", listener.local_addr().unwrap());
    thread::spawn(move || {
        let file = ModelFile::open(&cria()).unwrap();
        let patient = Patient::admit(file, &LoadOptions::default(), None, &mut |_| true).unwrap();
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            let mut length = 0;
            loop {
                let mut header = String::new();
                stream.read_line(&mut header).unwrap();
                let header = header.trim().to_lowercase();
                if let Some(given) = header.strip_prefix("content-length:") {
                    length = given.trim().parse().unwrap();
                }
                if header.is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            let answer = if line.starts_with("POST /v1/completions ") {
                said(&patient, &serde_json::from_slice(&body).unwrap())
            } else {
                json!({ "data": [{ "id": "cria" }] })
            }
            .to_string();
            let length = answer.len();
            write!(
                stream.get_mut(),
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{answer}"
            )
            .unwrap();
        }
    });
    url
}

/// What cria goes on with behind the ids of a request.
fn said(patient: &Patient, request: &Value) -> Value {
    assert_eq!(
        (&request["model"], &request["temperature"]),
        (&json!("cria"), &json!(0))
    );
    let prompt: Vec<Token> = serde_json::from_value(request["prompt"].clone()).unwrap();
    let mut run = patient.run(1).unwrap();
    run.feed(&prompt).unwrap();
    let mut content = Vec::new();
    for _ in 0..request["max_tokens"].as_u64().unwrap() {
        let logits = run.logits();
        let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let id = logits.iter().position(|logit| *logit == highest).unwrap();
        let sum: f32 = logits.iter().map(|logit| (logit - highest).exp()).sum();
        let piece = patient.piece(Token(id as i32));
        content.push(json!({ "id": id, "token": String::from_utf8_lossy(&piece.bytes), "logprob": -sum.ln() }));
        run.feed(&[Token(id as i32)]).unwrap();
    }
    json!({ "choices": [{ "text": "", "logprobs": { "content": content } }] })
}

#[test]
fn a_server_that_is_not_there_is_told() {
    let (path, options) = (cria(), LoadOptions::default());
    let order = Order {
        against: Some("http://127.0.0.1:1"),
        ..order(&path, &options)
    };
    let found = examine(&order);
    let reference = finding(&found, Check::Reference);
    assert_eq!(reference.verdict, Verdict::Failed);
    assert!(reference.evidence.contains("cannot be asked"), "{}", reference.evidence);
}

#[test]
fn every_flag_that_it_names_is_one() {
    // A flag stands between quotes, perhaps with its value behind it.
    let named = |text: &str| -> Vec<String> {
        let parts = text.split("'--").skip(1);
        parts
            .map(|part| {
                part.chars()
                    .take_while(|c| c.is_ascii_lowercase() || *c == '-')
                    .collect()
            })
            .collect()
    };
    let grammar = quipu::cli::command();
    let doctor = grammar.find_subcommand("doctor").unwrap();
    let known: Vec<&str> = [&grammar, doctor]
        .into_iter()
        .flat_map(clap::Command::get_arguments)
        .flat_map(|arg| arg.get_long_and_visible_aliases().unwrap_or_default())
        .collect();
    let mut count = 0;
    for file in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/doctor")).unwrap() {
        let path = file.unwrap().path();
        for flag in named(&fs::read_to_string(&path).unwrap()) {
            count += 1;
            assert!(known.contains(&flag.as_str()), "{}: --{flag}", path.display());
        }
    }
    assert!(count > 10, "{count} flags are named");
}

#[test]
fn the_command_prints_lines_or_json_and_ends_as_it_should() {
    let home = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quipu"));
        command.arg("doctor").args(args).env("QUIPU_HOME", home.path());
        command.output().unwrap()
    };
    let healthy = run(&["cria", "--deep"]);
    let printed = String::from_utf8(healthy.stdout).unwrap();
    assert_eq!(healthy.status.code(), Some(0), "{printed}");
    assert!(
        printed.contains("ok       steps") && printed.contains("position  probability"),
        "{printed}"
    );

    let mut file = Gguf::read(&cria());
    file.tensor("blk.0.ffn_up.weight").data[..2].copy_from_slice(&0x7c00_u16.to_le_bytes());
    let (_folder, path) = written(&file);
    let sick = run(&[path.to_str().unwrap(), "--json"]);
    assert_eq!(sick.status.code(), Some(1));
    let printed: Value = serde_json::from_slice(&sick.stdout).unwrap();
    assert_eq!(printed["verdict"], "failed");
    let weights = &printed["findings"][3];
    assert_eq!(
        (&weights["check"], &weights["verdict"]),
        (&json!("weights"), &json!("failed"))
    );

    let missing = run(&["no-such.gguf"]);
    assert_eq!(missing.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("'no-such.gguf'"));
}
