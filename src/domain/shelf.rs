//! The models that are on this machine, as a list to choose from. Plain data; finding them is `models`' business.

use serde::{Deserialize, Serialize};

/// Whose folder a model lies in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// None: it is part of quipu.
    #[default]
    BuiltIn,
    /// The one that quipu fetches into.
    Own,
    /// One of the person's own.
    Folder,
    /// The cache of the Hugging Face hub.
    HuggingFace,
    /// The cache of llama.cpp's programs.
    LlamaCpp,
    /// LM Studio's.
    LmStudio,
    /// Ollama's.
    Ollama,
}

impl Origin {
    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BuiltIn => "built in",
            Self::Own => "quipu",
            Self::Folder => "folder",
            Self::HuggingFace => "Hugging Face",
            Self::LlamaCpp => "llama.cpp",
            Self::LmStudio => "LM Studio",
            Self::Ollama => "Ollama",
        }
    }
}

/// A model that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shelved {
    /// What loads it: the name of the built-in one, else its file. Untrusted.
    pub name: String,
    /// What to call it. Untrusted.
    pub label: String,
    /// The repository that it came from, as `OWNER/REPO`, where that is known. Untrusted.
    pub repo: Option<String>,
    /// Where it was found.
    pub origin: Origin,
    /// What its file tells, or in words why it cannot be used.
    pub facts: Result<Facts, String>,
    /// The memory that it takes.
    pub room: Room,
}

/// What the header of a model's file tells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The model's name for itself. Untrusted.
    pub name: String,
    /// The architecture, such as `llama`. Untrusted.
    pub architecture: String,
    /// Numbers in all tensors together.
    pub parameters: u64,
    /// How the weights are stored, such as `Q4_K_M`.
    pub quantization: String,
    /// Bytes of all its files.
    pub bytes: u64,
    /// The context that it was trained with, in tokens.
    pub context_train: Option<u64>,
    /// Layers; 0 where the file does not say.
    pub layers: u64,
    /// Whether it brings a chat template.
    pub has_template: bool,
    /// The licence. Untrusted.
    pub licence: Option<String>,
}

/// What memory a model takes: an estimate from its header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Room {
    /// The context that it gets unless told otherwise, in tokens.
    pub context: u32,
    /// Bytes of the weights.
    pub weights: u64,
    /// Bytes of a conversation that fills that context.
    pub conversation: u64,
    /// Bytes that computing takes beside them.
    pub computing: u64,
    /// The largest context that fits, in tokens; 0 where not even the weights do, `None` where nobody knows what there is.
    pub largest_context: Option<u32>,
    /// Layers, the output among them.
    pub layers: u32,
    /// How many of them fit on graphics cards.
    pub layers_on_cards: u32,
}

impl Room {
    /// Bytes in all, with the usual context.
    pub fn needs(&self) -> u64 {
        let all = [self.weights, self.conversation, self.computing];
        all.into_iter().fold(0, u64::saturating_add)
    }
}

/// The memory of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// Bytes that a process may take; `None` where the system does not say.
    pub free: Option<u64>,
    /// Free bytes on all graphics cards that can be used; 0 without any.
    pub on_cards: u64,
}

/// All that was found, and the memory there was for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shelf {
    /// The models, the built-in one first, then by name.
    pub models: Vec<Shelved>,
    /// The memory.
    pub memory: Memory,
}
