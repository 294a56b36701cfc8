//! Whether llama.cpp can be trusted with a model. It ends the whole process where a header contradicts its assumptions
//! (`GGML_ASSERT`), so the assumptions are checked here first, and refusals get words that help.
//!
//! What is checked: that the model can chat at all, the shape of the network (`shape`), the vocabulary (`vocabulary`),
//! and the tensors that every model has (`weights`). Sources are named as file names of llama.cpp's `src` folder as of
//! llama-cpp-sys-2 0.1.161. Assumptions of single architectures beyond these are not covered: the engine's own guards
//! against a dying llama.cpp stay necessary.

mod shape;
mod vocabulary;
mod weights;

#[cfg(test)]
mod tests;

use super::architecture::{Architecture, Purpose};
use super::error::{Fault, quoted};
use super::metadata::Metadata;
use super::model::ModelFile;
use super::value::Value;

/// Longest chat template. The longest published ones are near 30 KiB; a template is run for every answer.
const TEMPLATE_MAX: usize = 256 * 1024;

/// Fails when the model cannot be used, with the reason.
pub(super) fn check(model: &ModelFile) -> Result<(), Fault> {
    let metadata = model.metadata();
    let architecture = architecture(metadata)?;
    if model.is_vocab_only() {
        return Err(Fault::NotForChat(Purpose::Vocabulary));
    }
    if model.tensors().next().is_none() {
        return unsound("it holds no weights");
    }
    shape::check(metadata, architecture)?;
    vocabulary::check(metadata)?;
    weights::check(model)?;
    template(metadata)
}

/// Fails when the vocabulary alone cannot be used, with the reason.
pub(super) fn check_vocabulary(model: &ModelFile) -> Result<(), Fault> {
    let metadata = model.metadata();
    match architecture(metadata) {
        Ok(_) | Err(Fault::NotForChat(_)) if metadata.architecture().and_then(Architecture::named).is_some() => {}
        Ok(_) => return unsound("it does not name its architecture"),
        Err(fault) => return Err(fault),
    }
    vocabulary::check(metadata)
}

/// The architecture, if it is known and can chat.
fn architecture(metadata: &Metadata) -> Result<&'static Architecture, Fault> {
    // Files that are no models at all say so in `general.type`.
    match metadata.str("general.type") {
        Some("adapter") => return Err(Fault::NotForChat(Purpose::Adapter)),
        Some("mmproj") => return Err(Fault::NotForChat(Purpose::Projector)),
        Some("imatrix") => return Err(Fault::NotForChat(Purpose::ImportanceMatrix)),
        _ => {}
    }
    let Some(name) = metadata.architecture() else {
        return unsound("it does not name its architecture");
    };
    if metadata.get("adapter.type").is_some() || name == "controlvector" {
        return Err(Fault::NotForChat(Purpose::Adapter));
    }
    match Architecture::named(name) {
        Some(known) if known.purpose == Purpose::Chat => Ok(known),
        Some(known) => Err(Fault::NotForChat(known.purpose)),
        None => Err(Fault::TooNew(format!("the architecture {}", quoted(name.as_bytes())))),
    }
}

/// Fails when there is a chat template that is no text or too long to be one.
fn template(metadata: &Metadata) -> Result<(), Fault> {
    match metadata.get("tokenizer.chat_template") {
        Some(Value::Text(bytes)) if bytes.len() > TEMPLATE_MAX => unsound("its chat template is longer than 256 KiB"),
        Some(value) if value.as_str().is_none() => unsound("its chat template is not UTF-8 text"),
        _ => Ok(()),
    }
}

/// A refusal.
fn unsound<T>(why: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Unsound(why.into()))
}
