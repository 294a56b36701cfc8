//! The tokenizers that this build's llama.cpp knows (llama-vocab.cpp, llama-cpp-sys-2 0.1.161): their names, and what each
//! takes for granted. A table, to be read again whenever llama.cpp is updated.

/// A kind of tokenizer, the value of `tokenizer.ggml.model`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tokenizer {
    /// Its name.
    pub(super) name: &'static str,
    /// Whether it merges pairs and so needs `tokenizer.ggml.merges` and a known pre-tokenizer.
    pub(super) merges: bool,
    /// Whether it spells unknown characters with 256 byte tokens and ends the process where one is missing.
    pub(super) bytes: bool,
    /// Whether it begins every text with a BOS token unless the file says otherwise.
    pub(super) adds_bos: bool,
    /// The BOS token where the file names none.
    pub(super) bos: Option<u64>,
    /// The EOS token where the file names none.
    pub(super) eos: Option<u64>,
}

impl Tokenizer {
    /// The tokenizer of that name.
    pub(super) fn named(name: &str) -> Option<Self> {
        TOKENIZERS.iter().copied().find(|known| known.name == name)
    }
}

const fn pairs(name: &'static str) -> Tokenizer {
    Tokenizer {
        name,
        merges: true,
        bytes: false,
        adds_bos: false,
        bos: Some(11),
        eos: Some(11),
    }
}

const fn plain(name: &'static str) -> Tokenizer {
    Tokenizer {
        name,
        merges: false,
        bytes: false,
        adds_bos: false,
        bos: None,
        eos: None,
    }
}

/// Every tokenizer but `bert`'s, `test` and `none`, with which no model chats.
const TOKENIZERS: [Tokenizer; 8] = [
    Tokenizer {
        bytes: true,
        adds_bos: true,
        bos: Some(1),
        eos: Some(2),
        ..plain("llama")
    },
    pairs("gpt2"),
    pairs("hybriddna"),
    pairs("whitespace"),
    Tokenizer {
        adds_bos: true,
        bos: None,
        eos: None,
        ..pairs("gemma4")
    },
    Tokenizer {
        eos: Some(1),
        ..plain("t5")
    },
    plain("rwkv"),
    Tokenizer {
        bos: Some(1),
        eos: Some(2),
        ..plain("plamo2")
    },
];

/// Whether a pre-tokenizer, the value of `tokenizer.ggml.pre`, is known. An empty name means the default one.
pub(super) fn knows_pre(name: &str) -> bool {
    name.is_empty() || PRE_TOKENIZERS.contains(&name)
}

/// Every pre-tokenizer.
#[rustfmt::skip]
const PRE_TOKENIZERS: &[&str] = &[
    "a.x-4.0", "afmoe", "bailingmoe", "bailingmoe2", "bloom", "chameleon", "chatglm-bpe",
    "codeshell", "cohere2moe", "command-r", "dbrx", "deepseek-coder", "deepseek-llm",
    "deepseek-r1-qwen", "deepseek-v3", "default", "exaone", "exaone-moe", "exaone4", "f2llmv2",
    "falcon", "falcon-h1", "falcon3", "gemma4", "gigachat", "glm4", "glm5", "gpt-2", "gpt-4o",
    "gpt3-finnish", "granite-docling", "granite-embed-multi-311m", "granite-embed-multi-97m",
    "grok-2", "hunyuan", "hunyuan-dense", "hy_v4", "jais", "jais-2", "jina-de", "jina-es",
    "jina-v1-en", "jina-v2-code", "jina-v2-de", "jina-v2-es", "jina-v5-nano", "joyai-llm",
    "kanana2", "kimi-k2", "kormo", "laguna", "lfm2", "llada-moe", "llama-bpe", "llama-v3",
    "llama3", "llama4", "megrez", "mellum", "mellum2", "midm-2.0", "minerva-7b", "minicpm5",
    "minimax-m2", "mmbert", "modern-bert", "mpt", "olmo", "phi-2", "pixtral", "poro-chat",
    "qwen2", "qwen35", "refact", "roberta-bpe", "sarvam-moe", "seed-coder", "smaug-bpe", "smollm",
    "solar-open", "spark2_5", "stablelm2", "starcoder", "superbpe", "talkie", "tekken",
    "tiny_aya", "trillion", "ufakzeka", "viking", "whitespace", "youtu",
];
