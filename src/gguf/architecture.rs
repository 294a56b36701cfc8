//! Every architecture that this build's llama.cpp can load (`LLM_ARCH_NAMES` in llama-arch.cpp, llama-cpp-sys-2 0.1.161),
//! with what decides whether and how it can chat. A table, to be read again whenever llama.cpp is updated.

use std::fmt;

use Heads::{Any, Equal, Rotated};
use Memory::{Attention, Hybrid, Recurrent};
use Purpose::{Chat, Diffusion, Draft, Embedding, EncoderDecoder, Projector, Speech};

/// What models of an architecture are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Continuing a text, token by token: what quipu needs.
    Chat,
    /// Turning a text into a vector or a class.
    Embedding,
    /// Reading with one half and writing with the other.
    EncoderDecoder,
    /// Writing all words at once and refining them.
    Diffusion,
    /// Seeing or hearing for another model.
    Projector,
    /// Guessing ahead for another model.
    Draft,
    /// Making sounds.
    Speech,
    /// A small change to another model, such as a `LoRA`.
    Adapter,
    /// A vocabulary with no weights.
    Vocabulary,
    /// Statistics for making quantized models.
    ImportanceMatrix,
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Chat => "a chat model",
            Self::Embedding => "an embedding model, which turns text into numbers; choose a chat model",
            Self::EncoderDecoder => "an encoder-decoder model, which quipu does not run; choose a chat model",
            Self::Diffusion => "a diffusion model, which does not write word by word; choose a chat model",
            Self::Projector => "a projector (mmproj), the eyes or ears of another model; name that model itself",
            Self::Draft => "a draft model, which only helps another one; name that model itself",
            Self::Speech => "a speech model; choose a chat model",
            Self::Adapter => "an adapter (LoRA), a change to another model; name that model itself",
            Self::Vocabulary => "a vocabulary without weights; get the whole model",
            Self::ImportanceMatrix => "an importance matrix for making models; name the model itself",
        })
    }
}

/// What a model keeps of the tokens that it has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Keys and values of every token.
    Attention,
    /// A state of fixed size.
    Recurrent,
    /// Some layers one, some the other.
    Hybrid,
}

/// What llama.cpp takes for granted of the attention heads, ending the process where it does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Heads {
    /// Nothing in common for all models of the architecture.
    Any,
    /// Keys are as long as values.
    Equal,
    /// Moreover, all of a key is rotated.
    Rotated,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Architecture {
    /// The name in `general.architecture`.
    pub name: &'static str,
    /// What its models are for.
    pub purpose: Purpose,
    /// What its models remember.
    pub memory: Memory,
    pub(super) heads: Heads,
}

impl Architecture {
    /// The architecture of that name, if this build knows it.
    pub fn named(name: &str) -> Option<&'static Self> {
        TABLE.iter().find(|row| row.name == name)
    }
}

const fn row(name: &'static str, purpose: Purpose, memory: Memory, heads: Heads) -> Architecture {
    Architecture {
        name,
        purpose,
        memory,
        heads,
    }
}

/// In llama.cpp's order. The last column is read from the assertions that open each architecture's graph in src/models.
const TABLE: &[Architecture] = &[
    row("clip", Projector, Attention, Any),
    row("llama", Chat, Attention, Rotated),
    row("llama4", Chat, Attention, Rotated),
    row("deci", Chat, Attention, Rotated),
    row("falcon", Chat, Attention, Rotated),
    row("grok", Chat, Attention, Rotated),
    row("gpt2", Chat, Attention, Equal),
    row("gptneox", Chat, Attention, Equal),
    row("mpt", Chat, Attention, Equal),
    row("baichuan", Chat, Attention, Rotated),
    row("starcoder", Chat, Attention, Equal),
    row("refact", Chat, Attention, Equal),
    row("bert", Embedding, Attention, Any),
    row("modern-bert", Embedding, Attention, Any),
    row("nomic-bert", Embedding, Attention, Any),
    row("nomic-bert-moe", Embedding, Attention, Any),
    row("neo-bert", Embedding, Attention, Any),
    row("jina-bert-v2", Embedding, Attention, Any),
    row("jina-bert-v3", Embedding, Attention, Any),
    row("eurobert", Embedding, Attention, Any),
    row("bloom", Chat, Attention, Equal),
    row("stablelm", Chat, Attention, Equal),
    row("qwen", Chat, Attention, Equal),
    row("qwen2", Chat, Attention, Rotated),
    row("qwen2moe", Chat, Attention, Rotated),
    row("qwen2vl", Chat, Attention, Rotated),
    row("qwen3", Chat, Attention, Rotated),
    row("qwen3moe", Chat, Attention, Rotated),
    row("qwen3next", Chat, Hybrid, Equal),
    row("qwen3vl", Chat, Attention, Rotated),
    row("qwen3vlmoe", Chat, Attention, Rotated),
    row("qwen35", Chat, Hybrid, Equal),
    row("qwen35moe", Chat, Hybrid, Equal),
    row("clef", Embedding, Attention, Any),
    row("qwen4exp", Chat, Hybrid, Equal),
    row("phi2", Chat, Attention, Equal),
    row("phi3", Chat, Attention, Equal),
    row("phimoe", Chat, Attention, Equal),
    row("plamo", Chat, Attention, Rotated),
    row("plamo2", Chat, Hybrid, Any),
    row("plamo3", Chat, Attention, Any),
    row("codeshell", Chat, Attention, Rotated),
    row("orion", Chat, Attention, Rotated),
    row("internlm2", Chat, Attention, Rotated),
    row("minicpm", Chat, Attention, Rotated),
    row("minicpm3", Chat, Attention, Any),
    row("gemma", Chat, Attention, Any),
    row("gemma2", Chat, Attention, Any),
    row("gemma3", Chat, Attention, Any),
    row("gemma3n", Chat, Attention, Any),
    row("gemma4", Chat, Attention, Any),
    row("gemma4-assistant", Draft, Attention, Any),
    row("gemma-embedding", Embedding, Attention, Any),
    row("starcoder2", Chat, Attention, Rotated),
    row("mamba", Chat, Recurrent, Any),
    row("mamba2", Chat, Recurrent, Any),
    row("maple", Chat, Attention, Equal),
    row("jamba", Chat, Hybrid, Any),
    row("falcon-h1", Chat, Hybrid, Any),
    row("xverse", Chat, Attention, Rotated),
    row("command-r", Chat, Attention, Equal),
    row("cohere2", Chat, Attention, Equal),
    row("cohere2moe", Chat, Attention, Rotated),
    row("dbrx", Chat, Attention, Rotated),
    row("olmo", Chat, Attention, Rotated),
    row("olmo2", Chat, Attention, Rotated),
    row("olmoe", Chat, Attention, Rotated),
    row("muse-glimmer", Chat, Attention, Equal),
    row("openelm", Chat, Attention, Equal),
    row("arctic", Chat, Attention, Rotated),
    row("deepseek", Chat, Attention, Rotated),
    row("deepseek2", Chat, Attention, Any),
    row("deepseek2-ocr", Chat, Attention, Any),
    row("deepseek32", Chat, Attention, Any),
    row("deepseek4", Chat, Hybrid, Any),
    row("chatglm", Chat, Attention, Equal),
    row("glm4", Chat, Attention, Equal),
    row("glm4moe", Chat, Attention, Equal),
    row("glm-dsa", Chat, Attention, Any),
    row("bitnet", Chat, Attention, Equal),
    row("t5", EncoderDecoder, Attention, Any),
    row("t5encoder", Embedding, Attention, Any),
    row("jais", Chat, Attention, Equal),
    row("jais2", Chat, Attention, Rotated),
    row("nemotron", Chat, Attention, Equal),
    row("nemotron_h", Chat, Hybrid, Equal),
    row("nemotron_h_moe", Chat, Hybrid, Equal),
    row("exaone", Chat, Attention, Rotated),
    row("exaone4", Chat, Attention, Rotated),
    row("exaone-moe", Chat, Attention, Rotated),
    row("rwkv6", Chat, Recurrent, Any),
    row("rwkv6qwen2", Chat, Recurrent, Any),
    row("rwkv7", Chat, Recurrent, Any),
    row("arwkv7", Chat, Recurrent, Any),
    row("granite", Chat, Attention, Rotated),
    row("granitemoe", Chat, Attention, Rotated),
    row("granitehybrid", Chat, Hybrid, Equal),
    row("graniteswitch", Chat, Attention, Rotated),
    row("granite_swa", Chat, Attention, Rotated),
    row("chameleon", Chat, Attention, Rotated),
    row("wavtokenizer-dec", Speech, Attention, Any),
    row("plm", Chat, Attention, Any),
    row("bailingmoe", Chat, Attention, Any),
    row("bailingmoe2", Chat, Attention, Equal),
    row("bailingmoe3", Chat, Hybrid, Any),
    row("dots1", Chat, Attention, Rotated),
    row("dots3note", Chat, Attention, Any),
    row("arcee", Chat, Attention, Rotated),
    row("afmoe", Chat, Attention, Equal),
    row("laguna", Chat, Attention, Equal),
    row("ernie4_5", Chat, Attention, Rotated),
    row("ernie4_5-moe", Chat, Attention, Rotated),
    row("hunyuan-moe", Chat, Attention, Rotated),
    row("hunyuan-dense", Chat, Attention, Rotated),
    row("hunyuan_vl", Chat, Attention, Rotated),
    row("hy_v3", Chat, Attention, Rotated),
    row("hy_v4", Chat, Attention, Any),
    row("smollm3", Chat, Attention, Rotated),
    row("gpt-oss", Chat, Attention, Any),
    row("lfm2", Chat, Hybrid, Any),
    row("lfm2moe", Chat, Hybrid, Any),
    row("dream", Diffusion, Attention, Any),
    row("smallthinker", Chat, Attention, Rotated),
    row("llada", Diffusion, Attention, Any),
    row("llada-moe", Diffusion, Attention, Any),
    row("seed_oss", Chat, Attention, Rotated),
    row("grovemoe", Chat, Attention, Rotated),
    row("apertus", Chat, Attention, Rotated),
    row("minimax-01", Chat, Hybrid, Equal),
    row("hrm_text", Chat, Attention, Any),
    row("minimax-m2", Chat, Attention, Equal),
    row("minimax-m3", Chat, Attention, Equal),
    row("cogvlm", Chat, Attention, Rotated),
    row("rnd1", Diffusion, Attention, Any),
    row("pangu-embedded", Chat, Attention, Rotated),
    row("mistral3", Chat, Attention, Rotated),
    row("eagle3", Draft, Attention, Any),
    row("dflash", Draft, Attention, Any),
    row("mistral4", Chat, Attention, Any),
    row("paddleocr", Chat, Attention, Rotated),
    row("mimo2", Chat, Attention, Any),
    row("step35", Chat, Attention, Any),
    row("spark2_5", Chat, Attention, Equal),
    row("llama-embed", Embedding, Attention, Any),
    row("maincoder", Chat, Attention, Rotated),
    row("kimi-linear", Chat, Hybrid, Any),
    row("kimi-k3", Chat, Hybrid, Any),
    row("glm5-next", Chat, Hybrid, Any),
    row("talkie", Chat, Attention, Rotated),
    row("mellum", Chat, Attention, Rotated),
    row("nanbeige", Chat, Attention, Equal),
    row("qwen3tts", Speech, Attention, Any),
    row("pockettts", Speech, Attention, Any),
];
