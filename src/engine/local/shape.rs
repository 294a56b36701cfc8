//! What a model and its context are made with, in plain numbers. Decides none of them, and calls nothing.

use std::ffi::CString;

use crate::domain::inference::Token;
use crate::domain::loading::{CacheType, FlashAttention, Override, RopeScaling, SplitMode};

/// How a context is made, in tokens and threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shape {
    /// Context length; llama.cpp rounds it up to a multiple of 256.
    pub(super) context: u32,
    /// Most tokens in one decode.
    pub(super) batch: u32,
    /// Most tokens computed at once.
    pub(super) ubatch: u32,
    /// Sequences that share the context.
    pub(super) sequences: u32,
    /// Most tokens of one decode whose logits are kept.
    pub(super) outputs: u32,
    /// Threads for single tokens.
    pub(super) threads: u32,
    /// Threads for batches.
    pub(super) threads_batch: u32,
    /// How keys and values are kept.
    pub(super) cache: (CacheType, CacheType),
    /// Whether they lie with the layers on the graphics card.
    pub(super) kv_offload: bool,
    /// Whether attention is fused.
    pub(super) flash_attention: FlashAttention,
    /// How positions are computed.
    pub(super) rope: Rope,
}

/// How positions are computed; `None` is as the model says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rope {
    /// How positions beyond the trained context are squeezed into it.
    pub(super) scaling: RopeScaling,
    /// Base frequency.
    pub(super) freq_base: Option<f32>,
    /// Factor of the frequencies.
    pub(super) freq_scale: Option<f32>,
    /// The context that YaRN stretches.
    pub(super) yarn_orig_ctx: Option<u32>,
}

/// Where the weights of a model go.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placement {
    /// Layers on graphics cards.
    pub(super) gpu_layers: u32,
    /// Indices of the devices that may be used, as ggml counts; all where it is empty.
    pub(super) devices: Vec<usize>,
    /// How several cards share the model.
    pub(super) split_mode: SplitMode,
    /// The card that takes all where it is not split.
    pub(super) main_gpu: u32,
    /// The cards' shares; by free memory where it is empty.
    pub(super) tensor_split: Vec<f32>,
    /// Whether the file is mapped.
    pub(super) mmap: bool,
    /// Whether memory is locked.
    pub(super) mlock: bool,
    /// Values of the file's metadata to replace.
    pub(super) overrides: Vec<Override>,
    /// The tensors that stay on the CPU, as regular expressions of their names.
    pub(super) on_cpu: Vec<CString>,
}

impl Default for Placement {
    /// All on the CPU, mapped from the file as it is.
    fn default() -> Self {
        Self {
            gpu_layers: 0,
            devices: Vec::new(),
            split_mode: SplitMode::Layer,
            main_gpu: 0,
            tensor_split: Vec::new(),
            mmap: true,
            mlock: false,
            overrides: Vec::new(),
            on_cpu: Vec::new(),
        }
    }
}

/// A token of one of several sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// The token.
    pub(super) token: Token,
    /// Its position, from 0.
    pub(super) position: u32,
    /// The sequence, from 0.
    pub(super) sequence: u32,
}
