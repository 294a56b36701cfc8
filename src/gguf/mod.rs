//! Reading and validating a GGUF header in safe Rust. The file is untrusted: every number is checked before it is used.
//! Never loads weights.
//!
//! [`ModelFile::open`] reads the headers of a model, [`ModelFile::check`] tells whether llama.cpp can be trusted with it,
//! [`ModelFile::summary`], [`ModelFile::footprint`] and [`ModelFile::fingerprint`] tell more. Texts from inside the file
//! are handed out as they are: sanitise them before showing them.

mod adapter;
mod architecture;
mod error;
mod fingerprint;
mod footprint;
mod header;
mod metadata;
mod model;
mod sniff;
mod source;
mod split;
mod summary;
mod tensor;
mod tokenizers;
mod validate;
mod value;

#[cfg(test)]
pub(crate) mod tests;

pub use adapter::ControlVector;
pub use architecture::{Architecture, Memory, Purpose};
pub use error::{Fault, GgufError};
pub(crate) use fingerprint::hexadecimal;
pub use footprint::{CARD_MARGIN, Footprint, UBATCH};
pub use header::Header;
pub use metadata::Metadata;
pub use model::ModelFile;
pub use sniff::Foreign;
pub use split::SplitName;
pub use summary::{RecommendedSampling, Summary};
pub use tensor::{Tensor, TensorType};
pub use value::{Array, Value, ValueType};
