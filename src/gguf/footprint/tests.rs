//! Memory needs of shapes whose needs llama.cpp reports, and of shapes at the edges.

use std::path::Path;

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::super::header::Header;
use super::super::tests::file::{Gguf, Meta, sound, text};
use super::*;

fn footprint(file: &Gguf) -> Footprint {
    let bytes = file.bytes();
    let header = Header::parse(&bytes[..], bytes.len() as u64, Path::new("test.gguf")).unwrap();
    ModelFile::of_header(header).footprint()
}

/// A model of an architecture with these numbers as its own keys.
fn shaped(architecture: &str, numbers: &[(&str, u32)]) -> Gguf {
    let mut file = sound();
    file.set("general.architecture", text(architecture));
    for (key, number) in numbers {
        file.set(&format!("{architecture}.{key}"), Meta::U32(*number));
    }
    file
}

const MIB: u64 = 1024 * 1024;

#[test]
fn the_cache_is_as_large_as_llama_cpp_reports() {
    // A shape of 0.5 billion parameters: 96 MiB at 8192 tokens, 12 MiB at 1024.
    let shape = [
        ("block_count", 24),
        ("context_length", 32_768),
        ("embedding_length", 896),
        ("attention.head_count", 14),
        ("attention.head_count_kv", 2),
    ];
    let needs = footprint(&shaped("qwen2", &shape));
    assert_eq!(needs.kv_bytes(8192), 96 * MIB);
    assert_eq!(needs.kv_bytes(1024), 12 * MIB);
    assert_eq!(needs.kv_bytes(1000), 12 * MIB, "rounded up as llama.cpp does");
    assert_eq!(needs.kv_bytes(0), 0);
}

#[test]
fn layers_count_one_by_one() {
    let mut file = shaped(
        "llama",
        &[
            ("block_count", 3),
            ("embedding_length", 32),
            ("attention.head_count", 4),
            ("attention.key_length", 16),
            ("attention.value_length", 8),
        ],
    );
    file.set("llama.attention.head_count_kv", Meta::I32s(vec![4, 0, 2]));
    // (4 + 0 + 2) heads, 24 numbers each, 2 bytes, 256 cells.
    assert_eq!(footprint(&file).kv_bytes(256), 6 * 24 * 2 * 256);
    // The last layer only guesses ahead.
    file.set("llama.nextn_predict_layers", Meta::U32(1));
    assert_eq!(footprint(&file).kv_bytes(256), 4 * 24 * 2 * 256);
}

#[test]
fn sliding_windows_keep_less() {
    let shape = [
        ("block_count", 6),
        ("embedding_length", 64),
        ("attention.head_count", 4),
        ("attention.head_count_kv", 1),
        ("attention.sliding_window", 512),
    ];
    // Five layers of six hold the window and a batch: 1024 tokens. Each token takes 2 · 16 numbers of 2 bytes.
    let windowed = footprint(&shaped("gemma3", &shape));
    assert_eq!(windowed.kv_bytes(8192), (5 * 1024 + 8192) * 64);
    assert_eq!(windowed.kv_bytes(256), 6 * 256 * 64);
    assert_eq!(windowed.kv_bytes_full(8192, F16), 6 * 8192 * 64);
    // An architecture that llama.cpp gives no pattern counts in full.
    assert_eq!(footprint(&shaped("llama", &shape)).kv_bytes(8192), 6 * 8192 * 64);
    // Blocks of 32 numbers take 34 bytes, and a head of 16 does not fill one.
    let eight = (CacheType::Q8_0, CacheType::F16);
    assert_eq!(windowed.kv_bytes_full(256, eight), 6 * 256 * (34 + 32));
    assert_eq!((windowed.unfit_head(F16), windowed.unfit_head(eight)), (None, Some(16)));
    // The file's own pattern goes first.
    let mut file = shaped("gemma3", &shape);
    file.set(
        "gemma3.attention.sliding_window_pattern",
        Meta::Raw(
            9,
            [&7_u32.to_le_bytes()[..], &6_u64.to_le_bytes(), &[1, 1, 1, 0, 0, 0]].concat(),
        ),
    );
    assert_eq!(footprint(&file).kv_bytes(8192), (3 * 1024 + 3 * 8192) * 64);
}

#[test]
fn recurrent_models_do_not_grow() {
    let shape = [
        ("block_count", 2),
        ("embedding_length", 64),
        ("ssm.conv_kernel", 4),
        ("ssm.inner_size", 128),
        ("ssm.state_size", 16),
        ("attention.head_count", 0),
    ];
    let needs = footprint(&shaped("mamba", &shape));
    // Two layers of 3 · 128 convolution numbers and 16 · 128 state numbers in f32.
    assert_eq!(needs.kv_bytes(256), 2 * (3 * 128 + 16 * 128) * 4);
    assert_eq!(needs.kv_bytes(1 << 20), needs.kv_bytes(256));
    // Every fourth layer of this hybrid attends.
    let hybrid = [
        ("block_count", 8),
        ("embedding_length", 64),
        ("attention.head_count", 4),
        ("attention.head_count_kv", 1),
    ];
    assert_eq!(footprint(&shaped("qwen3next", &hybrid)).kv_bytes(256), 2 * 256 * 64);
}

#[test]
fn the_context_follows_the_memory() {
    let needs = footprint(&shaped("llama", &[("context_length", 131_072)]));
    assert_eq!(needs.max_context(u64::MAX), 131_072);
    assert_eq!(needs.max_context(0), 0);
    assert_eq!(needs.max_context(needs.total_bytes(4096)), 4096);
    assert_eq!(needs.max_context(needs.total_bytes(4096) - 1), 4096 - 256);
    // A trained context that is no multiple of 256 is still reached.
    let odd = footprint(&shaped("llama", &[("context_length", 1000)]));
    assert_eq!(odd.max_context(u64::MAX), 1000);
}

proptest! {
    #[test]
    fn what_is_said_to_fit_fits(available in 0_u64..1 << 30, trained in 1_u32..1 << 20) {
        let needs = footprint(&shaped("llama", &[("context_length", trained)]));
        let context = needs.max_context(available);
        prop_assert!(context <= trained);
        prop_assert!(context == 0 || needs.total_bytes(context) <= available);
    }
}
