//! How much memory a model takes, from its header alone. Arithmetic only: what memory the machine has is asked elsewhere.
//!
//! Three parts, after llama-kv-cache.cpp, llama-memory-recurrent.cpp and llama-graph.cpp:
//! - weights: the bytes of all tensors;
//! - memory of the conversation: for every attention layer, `cells · (keys + values)` numbers of the cache's types, where
//!   `keys` is the layer's key-value heads times the key length, `values` likewise, and `cells` is the context, or
//!   for a sliding-window layer the window plus one batch; for every recurrent layer a state of fixed size in f32;
//! - compute buffers: an estimate, see [`Footprint::compute_bytes`].
//!
//! Products saturate: a header that promises more than 2^64 bytes fits into no memory, which is the right answer.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::architecture::{Architecture, Memory};
use super::metadata::Metadata;
use super::model::ModelFile;
use super::value::Value;
use crate::domain::loading::CacheType;

/// llama.cpp rounds the context up to this many tokens.
const CELLS_STEP: u64 = 256;
/// What llama.cpp keeps keys and values in unless told otherwise.
const F16: (CacheType, CacheType) = (CacheType::F16, CacheType::F16);
/// Kept free on a graphics card for its driver and for compute buffers, in bytes; llama.cpp keeps as much.
pub const CARD_MARGIN: u64 = 1 << 30;
/// Bytes of a number while computing, and in recurrent states (f32).
const FLOAT_BYTES: u64 = 4;
/// Tokens that llama.cpp computes at a time unless told otherwise (`n_ubatch`).
pub const UBATCH: u64 = 512;

/// The memory needs of one model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Footprint {
    /// Bytes of all tensors.
    pub weights: u64,
    /// Bytes of recurrent state that every conversation has, whatever its length.
    pub recurrent: u64,
    /// The context that the model was trained with, in tokens.
    pub context_train: u64,
    /// Cached numbers per token of every attention layer, with its sliding window if it has one.
    layers: Vec<LayerCache>,
    embedding: u64,
    feed_forward: u64,
    vocabulary: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LayerCache {
    /// Numbers in the keys of a token.
    keys: u64,
    /// Numbers in the values of a token.
    values: u64,
    /// Numbers in one head's key and value: blocks must not span two heads.
    head: (u64, u64),
    window: Option<u64>,
}

impl LayerCache {
    /// Bytes of a token's keys and values; a part of a block counts as a block.
    fn bytes(&self, (key, value): (CacheType, CacheType)) -> u64 {
        let of = |numbers: u64, kind: CacheType| {
            let (block, bytes) = kind.block();
            numbers.div_ceil(block).saturating_mul(bytes)
        };
        of(self.keys, key).saturating_add(of(self.values, value))
    }
}

impl ModelFile {
    /// The memory needs of this model. Meant for models that passed [`ModelFile::check`]; others get a useless answer.
    pub fn footprint(&self) -> Footprint {
        Footprint::new(self)
    }
}

impl Footprint {
    fn new(model: &ModelFile) -> Self {
        let metadata = model.metadata();
        let number = |key: &str| metadata.own_u64(key).unwrap_or(0);
        // Bounded as `check` bounds it, for models that were not checked.
        let total = number("block_count").min(512) as usize;
        let ahead = number("nextn_predict_layers").min(512) as usize;
        let layers = Layers::new(metadata, total.saturating_sub(ahead));
        let dense = (0..total).filter_map(|layer| metadata.own_of_layer("feed_forward_length", layer));
        let experts = number("expert_feed_forward_length")
            .saturating_mul(metadata.own_of_layer("expert_used_count", 0).unwrap_or(0));
        Self {
            weights: model.tensors().fold(0, |sum, tensor| sum.saturating_add(tensor.bytes)),
            recurrent: layers.recurrent_bytes(),
            context_train: number("context_length"),
            layers: (0..layers.count).filter_map(|layer| layers.cache(layer)).collect(),
            embedding: number("embedding_length"),
            feed_forward: dense.max().unwrap_or(0).max(experts),
            vocabulary: metadata.vocabulary_size() as u64,
        }
    }

    /// Bytes of keys, values and states for a conversation of `context` tokens, computed [`UBATCH`] at a time.
    pub fn kv_bytes(&self, context: u32) -> u64 {
        let cells = u64::from(context).next_multiple_of(CELLS_STEP);
        self.layers.iter().fold(self.recurrent, |sum, layer| {
            let held = match layer.window {
                Some(window) => cells.min(
                    window
                        .saturating_add(UBATCH)
                        .div_ceil(CELLS_STEP)
                        .saturating_mul(CELLS_STEP),
                ),
                None => cells,
            };
            sum.saturating_add(layer.bytes(F16).saturating_mul(held))
        })
    }

    /// The same with keys and values of these types, where sliding-window layers hold the whole context too, as they must for
    /// any part of it to be forgotten and computed again (llama.cpp's `swa_full`).
    pub fn kv_bytes_full(&self, context: u32, types: (CacheType, CacheType)) -> u64 {
        let cells = u64::from(context).next_multiple_of(CELLS_STEP);
        let token = self
            .layers
            .iter()
            .fold(0_u64, |sum, layer| sum.saturating_add(layer.bytes(types)));
        token.saturating_mul(cells).saturating_add(self.recurrent)
    }

    /// How many of so many layers, the output among them, fit on graphics cards with so many free bytes, each with its part of a
    /// conversation of `context` tokens.
    pub fn layers_on_cards(&self, layers: u32, context: u32, types: (CacheType, CacheType), free: u64) -> u32 {
        let all = self.weights.saturating_add(self.kv_bytes_full(context, types));
        let layer = all.checked_div(u64::from(layers)).unwrap_or(0);
        let fit = free.saturating_sub(CARD_MARGIN) / layer.max(1);
        u32::try_from(fit).unwrap_or(layers).min(layers)
    }

    /// The numbers in a head's key or value that do not fill whole blocks of the type they are to be kept in, which llama.cpp
    /// refuses.
    pub fn unfit_head(&self, (key, value): (CacheType, CacheType)) -> Option<u64> {
        let unfit = |head: u64, kind: CacheType| (!head.is_multiple_of(kind.block().0)).then_some(head);
        let heads = self.layers.iter().map(|layer| layer.head);
        heads
            .into_iter()
            .find_map(|(k, v)| unfit(k, key).or_else(|| unfit(v, value)))
    }

    /// An estimate of the bytes that computing `ubatch` tokens at a time takes, with logits for `outputs` of them: six
    /// vectors of the network's width and three of the feed-forward's for each token, an attention mask in f32, and the
    /// logits. Somewhat more than llama.cpp reports for llama and qwen2 shapes, since it lets buffers share their place.
    /// Flash attention is taken for granted; without it, every head needs a matrix as large as the mask.
    pub fn compute_bytes(&self, context: u32, ubatch: u64, outputs: u64) -> u64 {
        let vectors = self
            .embedding
            .saturating_mul(6)
            .saturating_add(self.feed_forward.saturating_mul(3));
        let mask = u64::from(context).next_multiple_of(CELLS_STEP);
        let per_token = vectors.saturating_add(mask);
        ubatch
            .saturating_mul(per_token)
            .saturating_add(outputs.saturating_mul(self.vocabulary))
            .saturating_mul(FLOAT_BYTES)
    }

    /// Bytes of everything for a conversation of `context` tokens, with logits for one token at a time.
    pub fn total_bytes(&self, context: u32) -> u64 {
        self.weights
            .saturating_add(self.kv_bytes(context))
            .saturating_add(self.compute_bytes(context, UBATCH, 1))
    }

    /// The largest context, at most the trained one and a multiple of 256 tokens below that, with which everything fits
    /// into `available` bytes; 0 when not even the weights fit.
    pub fn max_context(&self, available: u64) -> u32 {
        let trained = u32::try_from(self.context_train).unwrap_or(u32::MAX);
        if self.total_bytes(trained) <= available {
            return trained;
        }
        // The need grows with the context, so halving finds the border.
        let step = CELLS_STEP as u32;
        let (mut fits, mut too_many) = (0, trained.div_ceil(step));
        while fits + 1 < too_many {
            let middle = u32::midpoint(fits, too_many);
            if self.total_bytes(middle.saturating_mul(step)) <= available {
                fits = middle;
            } else {
                too_many = middle;
            }
        }
        fits.saturating_mul(step)
    }
}

/// What each layer of a model remembers.
struct Layers<'a> {
    metadata: &'a Metadata,
    memory: Memory,
    /// Layers that run for every token: all but those for guessing ahead.
    count: usize,
}

impl<'a> Layers<'a> {
    fn new(metadata: &'a Metadata, count: usize) -> Self {
        let known = metadata.architecture().and_then(Architecture::named);
        Self {
            metadata,
            memory: known.map_or(Memory::Attention, |architecture| architecture.memory),
            count,
        }
    }

    fn number(&self, key: &str) -> u64 {
        self.metadata.own_u64(key).unwrap_or(0)
    }

    /// What an attention layer caches; `None` for a layer that caches nothing.
    fn cache(&self, layer: usize) -> Option<LayerCache> {
        let heads = self.metadata.own_of_layer("attention.head_count", layer)?;
        let shared = self
            .metadata
            .own_of_layer("attention.head_count_kv", layer)
            .unwrap_or(heads);
        if shared == 0 || !self.attends(layer) {
            return None;
        }
        let window = self.window(layer);
        let fallback = self.number("embedding_length").checked_div(heads).unwrap_or(0);
        let length = |key: &str| {
            let full = self.metadata.own_u64(key).unwrap_or(fallback);
            let windowed = self.metadata.own_u64(&format!("{key}_swa")).unwrap_or(full);
            if window.is_some() { windowed } else { full }
        };
        // Latent attention (MLA) computes values from the cached keys.
        let latent = self.metadata.own("attention.key_length_mla").is_some();
        let values = if latent { 0 } else { length("attention.value_length") };
        let keys = length("attention.key_length");
        Some(LayerCache {
            keys: shared.saturating_mul(keys),
            values: shared.saturating_mul(values),
            head: (keys, values),
            window,
        })
    }

    /// Whether the layer has keys and values of its own.
    fn attends(&self, layer: usize) -> bool {
        if self.memory == Memory::Recurrent {
            return false;
        }
        // The last layers of some models use the cache of earlier ones.
        let borrowed = self.number("attention.shared_kv_layers") as usize;
        if layer >= self.count.saturating_sub(borrowed) {
            return false;
        }
        let every = self.metadata.own_u64("full_attention_interval").or(match self.name() {
            "qwen3next" | "qwen35" | "qwen35moe" | "qwen4exp" => Some(4),
            "minimax-01" => Some(8),
            _ => None,
        });
        every.is_none_or(|every| (layer as u64 + 1).checked_rem(every) == Some(0))
    }

    /// The sliding window of the layer, if it has one. Where the file gives no pattern, llama.cpp's own of the
    /// architecture counts; an unknown one counts as no window, which asks for too much memory rather than too little.
    fn window(&self, layer: usize) -> Option<u64> {
        let window = self
            .metadata
            .own_u64("attention.sliding_window")
            .filter(|&size| size > 0)?;
        let every = match self.metadata.own("attention.sliding_window_pattern") {
            Some(Value::Array(array)) => {
                let here = array.get(layer)?;
                let slides = here.as_bool().unwrap_or(here.as_u64() != Some(0));
                return slides.then_some(window);
            }
            Some(value) => value.as_u64()?,
            None => match self.name() {
                "gemma2" | "gpt-oss" => 2,
                "afmoe" | "cohere2" | "exaone4" | "exaone-moe" | "mellum" | "muse-glimmer" | "olmo2" => 4,
                "gemma3n" => 5,
                "gemma3" => 6,
                "plamo3" => 8,
                _ => return None,
            },
        };
        // In each group of `every` layers, all but the last slide; a group of 0 means all layers.
        let full = (layer as u64 + 1).checked_rem(every) == Some(0);
        (!full).then_some(window)
    }

    fn name(&self) -> &str {
        self.metadata.architecture().unwrap_or_default()
    }

    /// Bytes of all recurrent states (`n_embd_r` and `n_embd_s` of llama-hparams.cpp, by the family the keys tell). For
    /// hybrids every layer counts, which is too much by the few that attend.
    fn recurrent_bytes(&self) -> u64 {
        if self.memory == Memory::Attention {
            return 0;
        }
        let width = self.number("embedding_length");
        let heads = self.metadata.own_of_layer("attention.head_count", 0).unwrap_or(0);
        let kernel = self.number("ssm.conv_kernel").saturating_sub(1);
        let (wkv, short, linear) = (
            self.number("wkv.head_size"),
            self.number("shortconv.l_cache"),
            self.number("kda.head_dim"),
        );
        let numbers = if wkv > 0 {
            let shifts = self.metadata.own_u64("token_shift_count").unwrap_or(2);
            width.saturating_mul(shifts.saturating_add(wkv))
        } else if short > 0 {
            width.saturating_mul(short - 1)
        } else if linear > 0 {
            let inner = heads.saturating_mul(linear);
            inner.saturating_mul(kernel.max(1).saturating_mul(3).saturating_add(linear))
        } else {
            let (inner, state) = (self.number("ssm.inner_size"), self.number("ssm.state_size"));
            let groups = self.number("ssm.group_count").saturating_mul(state).saturating_mul(2);
            let convolution = kernel.saturating_mul(inner.saturating_add(groups));
            convolution.saturating_add(state.saturating_mul(inner))
        };
        numbers.saturating_mul(FLOAT_BYTES).saturating_mul(self.count as u64)
    }
}
