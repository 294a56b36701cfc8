//! The tensors that every model has, as far as a header tells: the token table's shape, and number formats with which
//! ggml can compute (binary-ops.cpp, rope and matrices of ggml-cpu). Also where they lie, for the memory mapping.

use super::super::error::{Fault, quoted};
use super::super::header::Header;
use super::super::model::ModelFile;
use super::super::tensor::Tensor;
use super::unsound;

/// What ggml needs the mapped weights to be aligned to, in bytes (`TENSOR_ALIGNMENT`).
const MAPPED_ALIGNMENT: u64 = 32;

/// Fails when a tensor would make llama.cpp fail or crash.
pub(super) fn check(model: &ModelFile) -> Result<(), Fault> {
    token_table(model)?;
    for header in model.headers() {
        for tensor in &header.tensors {
            format(tensor)?;
            mapping(header, tensor)?;
        }
    }
    Ok(())
}

fn token_table(model: &ModelFile) -> Result<(), Fault> {
    let Some(table) = model.tensor("token_embd.weight") else {
        return unsound("it has no table of tokens ('token_embd.weight')");
    };
    let metadata = model.metadata();
    let [width, rows, ..] = table.dims;
    let tokens = metadata.vocabulary_size() as u64;
    if rows != tokens {
        return unsound(format!("its table has {rows} rows for a vocabulary of {tokens} tokens"));
    }
    let expected = metadata.own_u64("embedding_length");
    if expected != Some(width) {
        let expected = expected.unwrap_or(0);
        return unsound(format!("its table is {width} wide and its header says {expected}"));
    }
    Ok(())
}

/// Vectors are added and multiplied as F32 only; matrices may have any format made for weights, and the one table of
/// indices that some architectures have (`tid2eid`) is only looked up.
fn format(tensor: &Tensor) -> Result<(), Fault> {
    let name = tensor.name.as_str();
    let vector = ["norm.weight", ".bias"].iter().any(|end| name.ends_with(end)) || name.starts_with("rope_f");
    let bad = if vector {
        tensor.kind.name != "F32"
    } else {
        name.ends_with(".weight") && tensor.rank > 1 && !tensor.kind.is_weight() && !name.contains("tid2eid")
    };
    if bad {
        let (name, kind) = (quoted(name.as_bytes()), tensor.kind.name);
        return unsound(format!(
            "tensor {name} is stored as {kind}, with which it cannot be computed"
        ));
    }
    Ok(())
}

/// A mapped buffer begins at some tensor, and ggml ends the process unless that place is aligned.
fn mapping(header: &Header, tensor: &Tensor) -> Result<(), Fault> {
    // Cannot overflow: the layout was checked against the length of the file.
    let place = header.data_offset.saturating_add(tensor.offset);
    if place.is_multiple_of(MAPPED_ALIGNMENT) {
        return Ok(());
    }
    let name = quoted(tensor.name.as_bytes());
    unsound(format!(
        "tensor {name} does not lie on a multiple of {MAPPED_ALIGNMENT} bytes"
    ))
}
