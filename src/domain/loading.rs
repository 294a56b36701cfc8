//! How a model is loaded: every option with its default, and the table of them from which flags, configuration, environment
//! and documentation are made.
//!
//! This file says what can be asked. What a machine and a model allow is the engine's business.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// How much of a model to give to graphics cards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GpuLayers {
    /// All that fit; all of them where the backend decides.
    #[default]
    Auto,
    /// This many layers; 0 keeps the model on the CPU.
    Count(u32),
}

/// How keys or values are kept in the KV cache, in ggml's names. Smaller ones save memory and cost precision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CacheType {
    /// 32-bit floats.
    F32,
    /// 16-bit floats.
    #[default]
    F16,
    /// Brain floats of 16 bits.
    Bf16,
    /// Blocks of 32 at 8.5 bits each.
    Q8_0,
    /// Blocks of 32 at 6 bits each, with a minimum.
    Q5_1,
    /// Blocks of 32 at 5.5 bits each.
    Q5_0,
    /// Blocks of 32 at 5 bits each, with a minimum.
    Q4_1,
    /// Blocks of 32 at 4.5 bits each.
    Q4_0,
    /// Blocks of 32 at 4.5 bits each, on an uneven scale.
    Iq4Nl,
}

impl CacheType {
    /// All of them, largest first.
    pub const ALL: [Self; 9] = [
        Self::F32,
        Self::F16,
        Self::Bf16,
        Self::Q8_0,
        Self::Q5_1,
        Self::Q5_0,
        Self::Q4_1,
        Self::Q4_0,
        Self::Iq4Nl,
    ];

    /// ggml's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::Q8_0 => "q8_0",
            Self::Q5_1 => "q5_1",
            Self::Q5_0 => "q5_0",
            Self::Q4_1 => "q4_1",
            Self::Q4_0 => "q4_0",
            Self::Iq4Nl => "iq4_nl",
        }
    }

    /// Numbers in a block, and bytes of the block.
    pub const fn block(self) -> (u64, u64) {
        match self {
            Self::F32 => (1, 4),
            Self::F16 | Self::Bf16 => (1, 2),
            Self::Q8_0 => (32, 34),
            Self::Q5_1 => (32, 24),
            Self::Q5_0 => (32, 22),
            Self::Q4_1 => (32, 20),
            Self::Q4_0 | Self::Iq4Nl => (32, 18),
        }
    }

    /// Whether numbers are kept in blocks that share a scale.
    pub const fn is_quantized(self) -> bool {
        self.block().0 > 1
    }
}

/// Whether attention is computed in one fused step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlashAttention {
    /// Where the backend can.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never; quantized values in the KV cache need it.
    Off,
}

/// How a model is spread over several graphics cards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SplitMode {
    /// Whole layers to each.
    #[default]
    Layer,
    /// The rows of each layer's matrices.
    Row,
    /// One card takes all; see [`LoadOptions::main_gpu`].
    None,
}

/// How positions beyond the trained context are squeezed into it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RopeScaling {
    /// As the model says.
    #[default]
    Model,
    /// Not at all.
    None,
    /// All positions by the same factor.
    Linear,
    /// YaRN: by frequency, as Peng et al. 2023 describe it (arXiv 2309.00071).
    Yarn,
}

/// A file that is laid over a model: a LoRA adapter or a control vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Adapter {
    /// The GGUF file.
    pub path: PathBuf,
    /// How strongly it counts; 1 is as it was trained, 0 not at all.
    pub scale: f32,
}

/// What to do when a conversation outgrows the context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overflow {
    /// Refuse, and leave it to the person.
    #[default]
    Stop,
    /// Leave the oldest turns out of the prompt, whole ones, never the system prompt.
    DropOldest,
    /// Have the model sum up old turns between answers, as soon as the context gets scarce; refuse what does not fit all the
    /// same.
    Summarise,
    /// Like [`Overflow::DropOldest`] between answers; within one, forget the oldest half of what stands behind the system
    /// prompt and go on, as llama.cpp's context shift does.
    Shift,
}

impl Overflow {
    /// All of them with the names that people write.
    pub const ALL: [(&'static str, Self); 4] = [
        ("stop", Self::Stop),
        ("drop-oldest", Self::DropOldest),
        ("summarise", Self::Summarise),
        ("shift", Self::Shift),
    ];

    /// The name that people write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::DropOldest => "drop-oldest",
            Self::Summarise => "summarise",
            Self::Shift => "shift",
        }
    }

    /// Whether the engine refuses what does not fit whole.
    pub const fn refuses(self) -> bool {
        matches!(self, Self::Stop | Self::Summarise)
    }

    /// The policy of that name.
    pub fn named(name: &str) -> Option<Self> {
        choose(name, &Self::ALL)
    }
}

/// How to load a model. `None` and empty lists mean: decide from the model and the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadOptions {
    /// Layers on graphics cards.
    pub gpu_layers: GpuLayers,
    /// The devices that may be used, by the names that `quipu devices` tells; all where none is named.
    pub devices: Vec<String>,
    /// How several cards share the model.
    pub split_mode: SplitMode,
    /// The card that takes all where the model is not split, counted from 0.
    pub main_gpu: u32,
    /// The cards' shares, in any unit; by free memory where none are given.
    pub tensor_split: Vec<f32>,
    /// Whether weights are mapped from the file instead of copied into memory.
    pub mmap: bool,
    /// Whether the system is kept from swapping the weights out.
    pub mlock: bool,
    /// Threads while generating; physical cores by default.
    pub threads: Option<u32>,
    /// Threads while reading a prompt; physical cores by default.
    pub threads_batch: Option<u32>,
    /// Context in tokens; min(trained, 8192, what memory allows) by default.
    pub context: Option<u32>,
    /// Tokens of a prompt handed to llama.cpp at once, 1 to context; 512 by default. Also how soon progress is seen.
    pub batch: Option<u32>,
    /// Tokens computed at once, 1 to batch; 512 by default.
    pub ubatch: Option<u32>,
    /// How keys are kept.
    pub cache_type_k: CacheType,
    /// How values are kept.
    pub cache_type_v: CacheType,
    /// Whether the KV cache lies with the layers on the graphics card.
    pub kv_offload: bool,
    /// Whether attention is fused.
    pub flash_attention: FlashAttention,
    /// How the context is stretched.
    pub rope_scaling: RopeScaling,
    /// Base frequency of the positions; the model's by default.
    pub rope_freq_base: Option<f32>,
    /// Factor of the frequencies: 0.5 doubles the context; the model's by default.
    pub rope_freq_scale: Option<f32>,
    /// The context that YaRN stretches, in tokens; the trained one by default.
    pub yarn_orig_ctx: Option<u32>,
    /// LoRA adapters.
    pub lora: Vec<Adapter>,
    /// Control vectors.
    pub control_vectors: Vec<Adapter>,
    /// The layers that control vectors act on, first and last, counted from 1; all by default.
    pub control_vector_layers: Option<(u32, u32)>,
    /// A chat template to use instead of the model's own.
    pub template: Option<TemplateChoice>,
    /// Values of the file's metadata to replace.
    pub overrides: Vec<Override>,
    /// The first layers of a mixture whose experts stay on the CPU, counted; [`LoadOptions::ALL_LAYERS`] for all.
    pub n_cpu_moe: u32,
    /// Tags around thinking besides those that are known, what opens it and what closes it.
    pub thinking_tags: Option<(String, String)>,
}

/// A value of a file's metadata, replaced. `Display` writes it as it is given.
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    /// The key: at most [`Override::LONGEST`] bytes.
    pub key: String,
    /// The value instead.
    pub value: OverrideValue,
}

/// What a value is replaced with.
#[derive(Clone, Debug, PartialEq)]
pub enum OverrideValue {
    /// A whole number of 32 bits.
    Int(u32),
    /// A number.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A text of at most [`Override::LONGEST`] bytes.
    Text(String),
}

impl Override {
    /// Bytes that llama.cpp has room for in a key and in a text.
    pub const LONGEST: usize = 127;

    /// Reads `KEY=TYPE:VALUE`, with the types `int`, `float`, `bool` and `str`. `None` where it is not that.
    pub fn read(text: &str) -> Option<Self> {
        let (key, typed) = text.split_once('=')?;
        let (kind, value) = typed.split_once(':')?;
        let fits = |text: &str| text.len() <= Self::LONGEST && !text.contains('\0');
        let value = match kind {
            "int" => OverrideValue::Int(value.parse().ok()?),
            "float" => OverrideValue::Float(value.parse().ok().filter(|value: &f64| value.is_finite())?),
            "bool" => OverrideValue::Bool(value.parse().ok()?),
            "str" if fits(value) => OverrideValue::Text(value.to_owned()),
            _ => return None,
        };
        let key = key.trim();
        (fits(key) && !key.is_empty()).then(|| Self {
            key: key.to_owned(),
            value,
        })
    }
}

impl fmt::Display for Override {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=", self.key)?;
        match &self.value {
            OverrideValue::Int(value) => write!(f, "int:{value}"),
            OverrideValue::Float(value) => write!(f, "float:{value}"),
            OverrideValue::Bool(value) => write!(f, "bool:{value}"),
            OverrideValue::Text(value) => write!(f, "str:{value}"),
        }
    }
}

/// A chat template instead of the model's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateChoice {
    /// One that is built in, by name, or a file of jinja text.
    Named(String),
    /// Jinja text.
    Source(String),
}

impl LoadOptions {
    /// Every layer that a model has.
    pub const ALL_LAYERS: u32 = u32::MAX;
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            gpu_layers: GpuLayers::Auto,
            devices: Vec::new(),
            split_mode: SplitMode::Layer,
            main_gpu: 0,
            tensor_split: Vec::new(),
            mmap: true,
            mlock: false,
            threads: None,
            threads_batch: None,
            context: None,
            batch: None,
            ubatch: None,
            cache_type_k: CacheType::F16,
            cache_type_v: CacheType::F16,
            kv_offload: true,
            flash_attention: FlashAttention::Auto,
            rope_scaling: RopeScaling::Model,
            rope_freq_base: None,
            rope_freq_scale: None,
            yarn_orig_ctx: None,
            lora: Vec::new(),
            control_vectors: Vec::new(),
            control_vector_layers: None,
            template: None,
            overrides: Vec::new(),
            n_cpu_moe: 0,
            thinking_tags: None,
        }
    }
}

/// The value that goes with a word.
pub(super) fn choose<T: Copy>(word: &str, choices: &[(&'static str, T)]) -> Option<T> {
    choices.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
}
