//! What is refused, one change to a sound file at a time.

use std::path::Path;

use super::super::header::Header;
use super::super::tests::file::{F16, Gguf, Meta, sound, text, texts};
use super::*;

/// The words for the file that `change` makes of a sound one; "fine" when it passes.
fn words(change: impl FnOnce(&mut Gguf)) -> String {
    let mut file = sound();
    change(&mut file);
    let bytes = file.bytes();
    let header = Header::parse(&bytes[..], bytes.len() as u64, Path::new("test.gguf")).unwrap();
    match check(&ModelFile::of_header(header)) {
        Ok(()) => "fine".into(),
        Err(fault) => fault.to_string(),
    }
}

/// The words for a sound file with one key set to one value.
fn with(key: &str, value: Meta) -> String {
    words(|file| {
        file.set(key, value);
    })
}

/// The words for a sound file without one key.
fn without(key: &str) -> String {
    words(|file| {
        file.remove(key);
    })
}

#[test]
fn a_sound_file_passes() {
    assert_eq!(words(|_| ()), "fine");
}

#[test]
fn files_that_cannot_chat_say_what_they_are() {
    insta::assert_snapshot!([
        without("general.architecture"),
        with("general.architecture", text("llama9\u{1b}")),
        with("general.architecture", text("bert")),
        with("general.architecture", text("clip")),
        with("general.architecture", text("t5")),
        with("general.architecture", text("dream")),
        with("general.architecture", text("eagle3")),
        with("general.architecture", text("wavtokenizer-dec")),
        with("general.type", text("adapter")),
        with("general.type", text("mmproj")),
        with("general.type", text("imatrix")),
        with("adapter.type", text("lora")),
        words(|file| { file.tensors.clear(); }),
        words(|file| { file.tensors.clear(); file.remove("tokenizer.ggml.tokens"); }),
    ]
    .join("\n"), @r#"
    cannot be used: it does not name its architecture; get another conversion of the model
    needs the architecture 'llama9\u{1b}', which this quipu does not know; a newer quipu may
    cannot chat: it is an embedding model, which turns text into numbers; choose a chat model
    cannot chat: it is a projector (mmproj), the eyes or ears of another model; name that model itself
    cannot chat: it is an encoder-decoder model, which quipu does not run; choose a chat model
    cannot chat: it is a diffusion model, which does not write word by word; choose a chat model
    cannot chat: it is a draft model, which only helps another one; name that model itself
    cannot chat: it is a speech model; choose a chat model
    cannot chat: it is an adapter (LoRA), a change to another model; name that model itself
    cannot chat: it is a projector (mmproj), the eyes or ears of another model; name that model itself
    cannot chat: it is an importance matrix for making models; name the model itself
    cannot chat: it is an adapter (LoRA), a change to another model; name that model itself
    cannot chat: it is a vocabulary without weights; get the whole model
    cannot be used: it holds no weights; get another conversion of the model
    "#);
}

#[test]
fn impossible_networks_are_refused() {
    insta::assert_snapshot!([
        with("llama.block_count", Meta::U32(0xff_ffff)),
        with("llama.block_count", Meta::U32(0)),
        with("llama.block_count", Meta::U64(1)),
        without("llama.block_count"),
        with("llama.context_length", Meta::U32(0)),
        with("llama.context_length", Meta::U32(u32::MAX)),
        with("llama.embedding_length", Meta::U32(0)),
        with("llama.embedding_length", Meta::U32(30)),
        with("llama.nextn_predict_layers", Meta::U32(1)),
        without("llama.attention.head_count"),
        with("llama.attention.head_count", Meta::U32(0)),
        with("llama.attention.head_count", Meta::U32(3)),
        with("llama.attention.head_count", Meta::U32s(vec![4, 4])),
        with("llama.attention.head_count", Meta::I32s(vec![-4])),
        with("llama.attention.head_count", Meta::F32s(vec![4.0])),
        with("llama.attention.head_count_kv", Meta::U32(3)),
        with("llama.attention.head_count_kv", Meta::U32(u32::MAX)),
        with("llama.attention.key_length", Meta::U32(0)),
        with("llama.attention.key_length", Meta::U32(16)),
        with("llama.rope.dimension_count", Meta::U32(4)),
        with("llama.rope.dimension_count", Meta::U32(7)),
    ]
    .join("\n"), @r#"
    cannot be used: 'llama.block_count' is 16777215, not in 1 to 512; get another conversion of the model
    cannot be used: 'llama.block_count' is 0, not in 1 to 512; get another conversion of the model
    cannot be used: 'llama.block_count' is not a 32-bit number; get another conversion of the model
    cannot be used: 'llama.block_count' is missing; get another conversion of the model
    cannot be used: 'llama.context_length' is 0, not in 1 to 2147483647; get another conversion of the model
    cannot be used: 'llama.context_length' is 4294967295, not in 1 to 2147483647; get another conversion of the model
    cannot be used: 'llama.embedding_length' is 0, not in 1 to 1048576; get another conversion of the model
    cannot be used: a width of 30 does not divide by 4 attention heads; get another conversion of the model
    cannot be used: all of its 1 layers would be for guessing ahead; get another conversion of the model
    cannot be used: 'llama.attention.head_count' is missing; get another conversion of the model
    cannot be used: it does not have from 1 to 16384 attention heads in a layer; get another conversion of the model
    cannot be used: 3 attention heads cannot share 2 key-value heads; get another conversion of the model
    cannot be used: 'llama.attention.head_count' has 2 entries for 1 layers; get another conversion of the model
    cannot be used: 'llama.attention.head_count' holds a number below 0; get another conversion of the model
    cannot be used: 'llama.attention.head_count' holds no 32-bit numbers; get another conversion of the model
    cannot be used: 4 attention heads cannot share 3 key-value heads; get another conversion of the model
    cannot be used: it does not have from 1 to 16384 attention heads in a layer; get another conversion of the model
    cannot be used: its attention heads have no sensible length; get another conversion of the model
    cannot be used: its keys have 16 numbers and its values 8; get another conversion of the model
    cannot be used: it would rotate 4 of 8 numbers of every key; get another conversion of the model
    cannot be used: it would rotate 7 of 8 numbers of every key; get another conversion of the model
    "#);
}

#[test]
fn rotation_is_bounded_whatever_the_architecture() {
    let gemma = |key: &str, number: u32| {
        words(|file| {
            for (name, _) in &mut file.pairs {
                *name = name.replace("llama.", "gemma3.");
            }
            file.set("general.architecture", text("gemma3"))
                .set(&format!("gemma3.{key}"), Meta::U32(number));
        })
    };
    assert_eq!(gemma("rope.dimension_count", 4), "fine");
    assert_eq!(gemma("attention.key_length", 16), "fine");
    insta::assert_snapshot!([
        gemma("rope.dimension_count", 10),
        gemma("attention.key_length", 7),
        gemma("rope.dimension_count_swa", 10),
        gemma("rope.dimension_count_swa", 3),
    ]
    .join("\n"), @r#"
    cannot be used: it would rotate 10 of 8 numbers of every key; get another conversion of the model
    cannot be used: it would rotate 7 of 7 numbers of every key; get another conversion of the model
    cannot be used: it would rotate 10 of 8 numbers of every key in a window; get another conversion of the model
    cannot be used: 'gemma3.rope.dimension_count_swa' is not an even number; get another conversion of the model
    "#);
}

#[test]
fn impossible_details_are_refused() {
    insta::assert_snapshot!([
        with("llama.expert_used_count", Meta::U32(2)),
        with("llama.expert_count", Meta::U32(8)),
        with("llama.expert_count", Meta::U32(5000)),
        words(|file| {
            file.set("llama.expert_count", Meta::U32(8))
                .set("llama.expert_used_count", Meta::U32(2))
                .set("llama.expert_group_count", Meta::U32(3));
        }),
        with("llama.expert_group_count", Meta::U32(1)),
        with("llama.rope.scaling.type", text("su")),
        with("llama.rope.scaling.factor", Meta::F32(f32::NAN)),
        with("llama.attention.layer_norm_rms_epsilon", Meta::F32(-1.0)),
        with("llama.rope.dimension_sections", Meta::I32s(vec![-1, 0, 0, 0])),
        words(|file| {
            file.set("llama.attention.sliding_window", Meta::U32(512))
                .set("llama.attention.sliding_window_pattern", Meta::U32(1));
        }),
        with("tokenizer.chat_template", text(&"x".repeat(300_000))),
        with("tokenizer.chat_template", Meta::Raw(8, [&1_u64.to_le_bytes()[..], &[0xff]].concat())),
    ]
    .join("\n"), @r#"
    cannot be used: it would use 2 of 0 experts; get another conversion of the model
    cannot be used: it would use 0 of 8 experts; get another conversion of the model
    cannot be used: it would use 0 of 5000 experts; get another conversion of the model
    cannot be used: it would use 0 of 3 groups of 8 experts; get another conversion of the model
    cannot be used: it would use 0 of 1 groups of 0 experts; get another conversion of the model
    cannot be used: 'llama.rope.scaling.type' is unknown; get another conversion of the model
    cannot be used: 'llama.rope.scaling.factor' is not a number from 0 up; get another conversion of the model
    cannot be used: 'llama.attention.layer_norm_rms_epsilon' is not a number from 0 up; get another conversion of the model
    cannot be used: 'llama.rope.dimension_sections' makes no sense; get another conversion of the model
    cannot be used: it has a sliding window that no layer uses; get another conversion of the model
    cannot be used: its chat template is longer than 256 KiB; get another conversion of the model
    cannot be used: its chat template is not UTF-8 text; get another conversion of the model
    "#);
}

#[test]
fn mixtures_of_experts_and_shared_heads_pass() {
    let experts = words(|file| {
        file.set("llama.expert_count", Meta::U32(8))
            .set("llama.expert_used_count", Meta::U32s(vec![2]))
            .set("llama.expert_group_count", Meta::U32(4))
            .set("llama.expert_group_used_count", Meta::U32(2));
    });
    assert_eq!(experts, "fine");
    assert_eq!(with("llama.attention.head_count_kv", Meta::I32s(vec![1])), "fine");
    assert_eq!(with("llama.rope.scaling.type", text("yarn")), "fine");
}

#[test]
fn what_single_architectures_take_for_granted_must_be_there() {
    let named = |name: &str| {
        words(|file| {
            for (key, _) in &mut file.pairs {
                *key = key.replacen("llama.", &format!("{name}."), 1);
            }
            file.set("general.architecture", text(name));
        })
    };
    assert!(named("smallthinker").contains("made of experts and has none"));
    assert!(named("paddleocr").contains("'paddleocr.rope.dimension_sections' is missing"));
    assert_eq!(named("qwen3"), "fine");
}

#[test]
fn broken_vocabularies_are_refused() {
    insta::assert_snapshot!([
        without("tokenizer.ggml.model"),
        with("tokenizer.ggml.model", text("none")),
        with("tokenizer.ggml.model", text("tiktoken")),
        with("tokenizer.ggml.pre", text("qwen99")),
        without("tokenizer.ggml.tokens"),
        with("tokenizer.ggml.tokens", texts(&[])),
        with("tokenizer.ggml.tokens", Meta::U32s(vec![1; 8])),
        with("tokenizer.ggml.tokens", texts(&["a", "b", "c", "d", "e", "f", "b", "g"])),
        with("tokenizer.ggml.tokens", texts(&["a", "b"])),
        with("tokenizer.ggml.token_type", Meta::I32s(vec![1; 7])),
        with("tokenizer.ggml.token_type", Meta::U32s(vec![1; 8])),
        with("tokenizer.ggml.scores", Meta::F32s(vec![0.0; 3])),
        without("tokenizer.ggml.merges"),
        with("tokenizer.ggml.eos_token_id", Meta::U32(8)),
        words(|file| {
            file.set("tokenizer.ggml.add_bos_token", Meta::Bool(true)).remove("tokenizer.ggml.bos_token_id");
        }),
        words(|file| {
            file.set("tokenizer.ggml.add_eos_token", Meta::Bool(true)).remove("tokenizer.ggml.eos_token_id");
        }),
        with("tokenizer.ggml.model", text("llama")),
    ]
    .join("\n"), @r#"
    cannot be used: it does not name its tokenizer; get another conversion of the model
    cannot be used: it has no vocabulary; get another conversion of the model
    needs the tokenizer 'tiktoken', which this quipu does not know; a newer quipu may
    needs the pre-tokenizer 'qwen99', which this quipu does not know; a newer quipu may
    cannot be used: it has no vocabulary; get another conversion of the model
    cannot be used: its vocabulary is empty; get another conversion of the model
    cannot be used: its vocabulary is empty; get another conversion of the model
    cannot be used: its vocabulary has the token 'b' twice; get another conversion of the model
    cannot be used: its table has 8 rows for a vocabulary of 2 tokens; get another conversion of the model
    cannot be used: 'tokenizer.ggml.token_type' has 7 entries for 8 tokens; get another conversion of the model
    cannot be used: 'tokenizer.ggml.token_type' is not an array of the right type; get another conversion of the model
    cannot be used: 'tokenizer.ggml.scores' has 3 entries for 8 tokens; get another conversion of the model
    cannot be used: its tokenizer has no merges; get another conversion of the model
    cannot be used: 'tokenizer.ggml.eos_token_id' is not among its 8 tokens; get another conversion of the model
    cannot be used: it begins texts with a token that it does not have; get another conversion of the model
    cannot be used: it ends texts with a token that it does not have; get another conversion of the model
    cannot be used: its vocabulary cannot spell the byte 0x00; get another conversion of the model
    "#);
}

#[test]
fn odd_but_working_vocabularies_pass() {
    // Several empty tokens, more types than tokens, an end token of "none", a token that is not UTF-8.
    assert_eq!(
        with("tokenizer.ggml.tokens", texts(&["", "", "c", "d", "e", "f", "g", "h"])),
        "fine"
    );
    // llama.cpp reads a text up to its first zero byte, and names empty ones.
    let named = |first: &str, last: &str| {
        with(
            "tokenizer.ggml.tokens",
            texts(&[first, "", "c", "d", "e", "f", "g", last]),
        )
    };
    assert_eq!(named("\0", "\0x"), "fine");
    assert!(named("a\0b", "a\0c").contains("the token 'a' twice"));
    assert!(named("[EMPTY_1]", "x").contains("the token '[EMPTY_1]' twice"));
    assert_eq!(named("[EMPTY_9]", "x"), "fine");
    assert_eq!(with("tokenizer.ggml.token_type", Meta::I32s(vec![1; 9])), "fine");
    assert_eq!(with("tokenizer.ggml.eot_token_id", Meta::U32(u32::MAX)), "fine");
    let bytes: Vec<Vec<u8>> = (0xf8..=0xff).map(|byte| vec![byte]).collect();
    assert_eq!(with("tokenizer.ggml.tokens", Meta::Texts(bytes)), "fine");
}

#[test]
fn a_sentencepiece_vocabulary_needs_every_byte() {
    let vocabulary = |bytes: std::ops::Range<u32>| {
        words(|file| {
            let mut tokens: Vec<Vec<u8>> = vec![b"<unk>".to_vec(), b"<s>".to_vec(), b"</s>".to_vec()];
            tokens.extend(bytes.map(|byte| format!("<0x{byte:02X}>").into_bytes()));
            tokens.resize_with(300, Vec::new);
            let table = file.tensor("token_embd.weight");
            table.dims = vec![32, 300];
            table.data = vec![0; 32 * 300 * 2];
            file.set("tokenizer.ggml.model", text("llama"))
                .set("tokenizer.ggml.scores", Meta::F32s(vec![0.0; 300]))
                .set("tokenizer.ggml.token_type", Meta::I32s(vec![1; 300]))
                .set("tokenizer.ggml.tokens", Meta::Texts(tokens));
        })
    };
    assert_eq!(vocabulary(0..256), "fine");
    assert!(vocabulary(0..255).contains("cannot spell the byte 0xFF"));
}

#[test]
fn unusable_weights_are_refused() {
    insta::assert_snapshot!([
        words(|file| file.tensor("token_embd.weight").name = "embd".into()),
        with("llama.embedding_length", Meta::U32(64)),
        words(|file| {
            let norm = file.tensor("output_norm.weight");
            norm.kind = F16;
            norm.data.truncate(64);
        }),
        words(|file| {
            let table = file.tensor("token_embd.weight");
            table.kind = 24;
            table.data.truncate(256);
        }),
        words(|file| {
            file.alignment = 8;
            file.set("general.alignment", Meta::U32(8)).set("general.name", text("odd"));
        }),
    ]
    .join("\n"), @r#"
    cannot be used: it has no table of tokens ('token_embd.weight'); get another conversion of the model
    cannot be used: its table is 32 wide and its header says 64; get another conversion of the model
    cannot be used: tensor 'output_norm.weight' is stored as F16, with which it cannot be computed; get another conversion of the model
    cannot be used: tensor 'token_embd.weight' is stored as I8, with which it cannot be computed; get another conversion of the model
    cannot be used: tensor 'token_embd.weight' does not lie on a multiple of 32 bytes; get another conversion of the model
    "#);
}

#[test]
fn every_row_of_the_table_is_of_use() {
    for name in [
        "llama",
        "qwen2",
        "qwen3",
        "gemma3",
        "phi3",
        "mamba",
        "lfm2",
        "gpt-oss",
        "deepseek2",
    ] {
        assert_eq!(Architecture::named(name).unwrap().purpose, Purpose::Chat, "{name}");
    }
    assert_eq!(Architecture::named("(unknown)"), None);
}
