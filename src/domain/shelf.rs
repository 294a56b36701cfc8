//! The models that are on this machine, as a list to choose from. Plain data; finding them is `models`' business.

/// A model that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shelved {
    /// What loads it: the name of the built-in one, else its file. Untrusted.
    pub name: String,
    /// What to call it. Untrusted.
    pub label: String,
    /// What its file tells, or in words why it cannot be used.
    pub facts: Result<Facts, String>,
}

/// What the header of a model's file tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
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
    /// Whether it brings a chat template.
    pub has_template: bool,
    /// Bytes of memory that it takes with the context that it gets unless told otherwise: an estimate.
    pub needs: u64,
}

/// All that was found, and the memory there was for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shelf {
    /// The models, the built-in one first, then by name.
    pub models: Vec<Shelved>,
    /// Bytes of memory that a process may take; `None` where the system does not say.
    pub free: Option<u64>,
}
