//! Models of other shapes for the tests: one without attention, and files to lay over a model. Random weights, cria's tokens.

#![allow(dead_code, reason = "every including program uses another part")]
#![allow(unreachable_pub, reason = "included as a private module")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test support: a failure here fails the test"
)]

use std::fs;
use std::path::Path;

use crate::gguf::{CHATML, F32, Gguf, Meta, Random, copy_vocabulary, text};

/// A mamba of random weights: a recurrent model, whose memory of a text is one state that every token overwrites.
pub fn mamba(donor: &Path, seed: u64) -> Gguf {
    let (width, layers, convolution, state, rank) = (64_u64, 2_u64, 4_u64, 8_u64, 4_u64);
    let inner = 2 * width;
    let mut file = Gguf::new();
    file.set("general.architecture", text("mamba"))
        .set("general.name", text("Tiny Mamba"))
        .set("mamba.block_count", Meta::U32(layers as u32))
        .set("mamba.context_length", Meta::U32(1024))
        .set("mamba.embedding_length", Meta::U32(width as u32))
        .set("mamba.feed_forward_length", Meta::U32(0))
        .set("mamba.attention.head_count", Meta::U32(0))
        .set("mamba.attention.layer_norm_rms_epsilon", Meta::F32(1e-5))
        .set("mamba.ssm.conv_kernel", Meta::U32(convolution as u32))
        .set("mamba.ssm.inner_size", Meta::U32(inner as u32))
        .set("mamba.ssm.state_size", Meta::U32(state as u32))
        .set("mamba.ssm.time_step_rank", Meta::U32(rank as u32));
    let tokens = copy_vocabulary(&fs::read(donor).unwrap(), 0, &mut file);
    file.set("tokenizer.chat_template", text(CHATML));
    let random = &mut Random::new(seed);
    file.random("token_embd.weight", &[width, tokens], random)
        .ones("output_norm.weight", &[width]);
    for layer in 0..layers {
        let name = |part: &str| format!("blk.{layer}.{part}");
        file.ones(&name("attn_norm.weight"), &[width])
            .random(&name("ssm_in.weight"), &[width, 2 * inner], random)
            .filled(&name("ssm_conv1d.weight"), &[convolution, inner], 0.25)
            .filled(&name("ssm_conv1d.bias"), &[inner], 0.0)
            .random(&name("ssm_x.weight"), &[inner, rank + 2 * state], random)
            .filled(&name("ssm_dt.weight"), &[rank, inner], 0.1)
            .filled(&name("ssm_dt.bias"), &[inner], 0.5)
            .filled(&name("ssm_a"), &[state, inner], -0.5)
            .filled(&name("ssm_d"), &[inner], 1.0)
            .random(&name("ssm_out.weight"), &[inner, width], random);
    }
    file
}

/// A mamba2 of random weights whose state has `heads` heads and `groups` groups. It is sound where both divide 128; llama.cpp
/// takes for granted that they do.
pub fn mamba2(donor: &Path, heads: u64, groups: u64) -> Gguf {
    let (width, convolution, state) = (64_u64, 4_u64, 8_u64);
    let inner = 2 * width;
    let channels = inner + 2 * groups * state;
    let mut file = Gguf::new();
    file.set("general.architecture", text("mamba2"))
        .set("general.name", text("Tiny Mamba 2"))
        .set("mamba2.block_count", Meta::U32(1))
        .set("mamba2.context_length", Meta::U32(1024))
        .set("mamba2.embedding_length", Meta::U32(width as u32))
        .set("mamba2.feed_forward_length", Meta::U32(0))
        .set("mamba2.attention.head_count", Meta::U32(0))
        .set("mamba2.attention.layer_norm_rms_epsilon", Meta::F32(1e-5))
        .set("mamba2.ssm.conv_kernel", Meta::U32(convolution as u32))
        .set("mamba2.ssm.inner_size", Meta::U32(inner as u32))
        .set("mamba2.ssm.state_size", Meta::U32(state as u32))
        .set("mamba2.ssm.time_step_rank", Meta::U32(heads as u32))
        .set("mamba2.ssm.group_count", Meta::U32(groups as u32));
    let tokens = copy_vocabulary(&fs::read(donor).unwrap(), 0, &mut file);
    file.set("tokenizer.chat_template", text(CHATML));
    let random = &mut Random::new(4);
    file.random("token_embd.weight", &[width, tokens], random)
        .ones("output_norm.weight", &[width])
        .ones("blk.0.attn_norm.weight", &[width])
        .random("blk.0.ssm_in.weight", &[width, inner + channels + heads], random)
        .filled("blk.0.ssm_conv1d.weight", &[convolution, channels], 0.25)
        .filled("blk.0.ssm_conv1d.bias", &[channels], 0.0)
        .filled("blk.0.ssm_dt.bias", &[heads], 0.5)
        .filled("blk.0.ssm_a", &[1, heads], -0.5)
        .filled("blk.0.ssm_d", &[1, heads], 1.0)
        .ones("blk.0.ssm_norm.weight", &[inner / groups.max(1), groups.max(1)])
        .random("blk.0.ssm_out.weight", &[inner, width], random);
    file
}

/// A LoRA of random weights over the attention's outputs of the first two layers.
pub fn lora(architecture: &str, width: u64, seed: u64) -> Gguf {
    let random = &mut Random::new(seed);
    let mut file = Gguf::new();
    file.set("general.type", text("adapter"))
        .set("general.architecture", text(architecture))
        .set("adapter.type", text("lora"))
        .set("adapter.lora.alpha", Meta::F32(2000.0));
    for layer in ["blk.0", "blk.1"] {
        file.random(&format!("{layer}.attn_output.weight.lora_a"), &[width, 2], random)
            .random(&format!("{layer}.attn_output.weight.lora_b"), &[2, width], random);
    }
    file
}

/// A control vector that pushes the outputs of layers 1 and 2 in random directions.
pub fn control_vector(width: u64, strength: f32) -> Gguf {
    let random = &mut Random::new(9);
    let mut direction = || {
        (0..width)
            .flat_map(|_| (random.normal() * strength).to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let mut file = Gguf::new();
    file.set("general.architecture", text("controlvector"))
        .push("direction.1", &[width], F32, direction())
        .push("direction.2", &[width], F32, direction());
    file
}

/// A llama of random weights.
pub fn random_llama(donor: &Path, seed: u64) -> Gguf {
    let (width, layers, heads, kv_heads, feed_forward) = (64_u64, 2_u64, 4_u64, 2_u64, 128_u64);
    let mut file = Gguf::new();
    file.set("general.architecture", text("llama"))
        .set("general.name", text("Tiny Llama"))
        .set("llama.block_count", Meta::U32(layers as u32))
        .set("llama.context_length", Meta::U32(1024))
        .set("llama.embedding_length", Meta::U32(width as u32))
        .set("llama.feed_forward_length", Meta::U32(feed_forward as u32))
        .set("llama.attention.head_count", Meta::U32(heads as u32))
        .set("llama.attention.head_count_kv", Meta::U32(kv_heads as u32))
        .set("llama.attention.layer_norm_rms_epsilon", Meta::F32(1e-5))
        .set("llama.rope.dimension_count", Meta::U32((width / heads) as u32))
        .set("llama.rope.freq_base", Meta::F32(10_000.0));
    let tokens = copy_vocabulary(&fs::read(donor).unwrap(), 0, &mut file);
    file.set("tokenizer.chat_template", text(CHATML));
    let random = &mut Random::new(seed);
    let kv = kv_heads * (width / heads);
    file.random("token_embd.weight", &[width, tokens], random);
    for layer in 0..layers {
        let name = |part: &str| format!("blk.{layer}.{part}.weight");
        file.ones(&name("attn_norm"), &[width])
            .random(&name("attn_q"), &[width, width], random)
            .random(&name("attn_k"), &[width, kv], random)
            .random(&name("attn_v"), &[width, kv], random)
            .random(&name("attn_output"), &[width, width], random)
            .ones(&name("ffn_norm"), &[width])
            .random(&name("ffn_gate"), &[width, feed_forward], random)
            .random(&name("ffn_up"), &[width, feed_forward], random)
            .random(&name("ffn_down"), &[feed_forward, width], random);
    }
    file.ones("output_norm.weight", &[width]);
    peaked(file, seed + 1)
}

/// The same with an output of its own, so that it does not say again what it heard, and with logits thirty times as far apart:
/// random weights leave them so close that the last bits decide.
pub fn peaked(mut file: Gguf, seed: u64) -> Gguf {
    let norm = file.tensor("output_norm.weight");
    norm.data = norm.data.chunks(4).flat_map(|_| 30.0_f32.to_le_bytes()).collect();
    let dims = file.tensor("token_embd.weight").dims.clone();
    file.random("output.weight", &dims, &mut Random::new(seed));
    file
}
