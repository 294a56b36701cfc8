//! What a GGUF header says of one tensor, and the table of number formats it may be stored in. Never touches weights.

use super::error::{Fault, quoted};

/// A number format of ggml: `block` values share `bytes` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorType {
    /// The id in the file.
    pub id: u32,
    /// The name that llama.cpp's users know.
    pub name: &'static str,
    /// Values in a block; rows are whole blocks.
    pub block: u64,
    /// Bytes of a block.
    pub bytes: u64,
}

/// A row of the table.
const fn row(id: u32, name: &'static str, block: u64, bytes: u64) -> TensorType {
    TensorType { id, name, block, bytes }
}

/// Every format that ggml of llama.cpp build 0.1.161 knows (ggml.h, `enum ggml_type`; ggml-common.h for the blocks).
const TYPES: [TensorType; 35] = [
    row(0, "F32", 1, 4),
    row(1, "F16", 1, 2),
    row(2, "Q4_0", 32, 18),
    row(3, "Q4_1", 32, 20),
    row(6, "Q5_0", 32, 22),
    row(7, "Q5_1", 32, 24),
    row(8, "Q8_0", 32, 34),
    row(9, "Q8_1", 32, 36),
    row(10, "Q2_K", 256, 84),
    row(11, "Q3_K", 256, 110),
    row(12, "Q4_K", 256, 144),
    row(13, "Q5_K", 256, 176),
    row(14, "Q6_K", 256, 210),
    row(15, "Q8_K", 256, 292),
    row(16, "IQ2_XXS", 256, 66),
    row(17, "IQ2_XS", 256, 74),
    row(18, "IQ3_XXS", 256, 98),
    row(19, "IQ1_S", 256, 50),
    row(20, "IQ4_NL", 32, 18),
    row(21, "IQ3_S", 256, 110),
    row(22, "IQ2_S", 256, 82),
    row(23, "IQ4_XS", 256, 136),
    row(24, "I8", 1, 1),
    row(25, "I16", 1, 2),
    row(26, "I32", 1, 4),
    row(27, "I64", 1, 8),
    row(28, "F64", 1, 8),
    row(29, "IQ1_M", 256, 56),
    row(30, "BF16", 1, 2),
    row(34, "TQ1_0", 256, 54),
    row(35, "TQ2_0", 256, 66),
    row(39, "MXFP4", 32, 17),
    row(40, "NVFP4", 64, 36),
    row(41, "Q1_0", 128, 18),
    row(42, "Q2_0", 64, 18),
];

/// One past the last id that this llama.cpp knows.
const TYPES_END: u32 = 43;

impl TensorType {
    /// The format with this id; a fault that tells formats of the past from those of the future.
    pub(super) fn from_id(id: u32, tensor: &[u8]) -> Result<Self, Fault> {
        match TYPES.iter().find(|known| known.id == id) {
            Some(known) => Ok(*known),
            None if id < TYPES_END => Err(Fault::Unsound(format!(
                "tensor {} has number format {id}, which llama.cpp gave up",
                quoted(tensor)
            ))),
            None => Err(Fault::TooNew(format!(
                "number format {id} for tensor {}",
                quoted(tensor)
            ))),
        }
    }

    /// Whether weights may be stored so: llama.cpp cannot multiply with plain integers, doubles and helper formats.
    pub(super) const fn is_weight(self) -> bool {
        // I8 to I64, F64, and two formats that only exist while computing.
        !matches!(self.id, 9 | 15 | 24..=28)
    }
}

/// Most dimensions a tensor may have (`GGML_MAX_DIMS`).
pub(super) const DIMS_MAX: usize = 4;

/// A tensor: its name, shape, format, and where its bytes lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// The name, such as `blk.0.attn_q.weight`.
    pub name: String,
    /// The shape, fastest dimension first, padded with ones; no dimension is 0.
    pub dims: [u64; DIMS_MAX],
    /// How many dimensions the file gives.
    pub rank: usize,
    /// The number format.
    pub kind: TensorType,
    /// Bytes from the start of the data section.
    pub offset: u64,
    /// Bytes in all.
    pub bytes: u64,
    /// Numbers in all.
    pub elements: u64,
}

impl Tensor {
    /// A tensor whose sizes were computed without overflow from its shape and format.
    pub(super) fn new(name: String, shape: &[u64], kind: TensorType, offset: u64) -> Result<Self, Fault> {
        let damaged = |why: &str| Fault::Malformed(format!("tensor {} {why}", quoted(name.as_bytes())));
        let mut dims = [1; DIMS_MAX];
        for (dim, &size) in dims.iter_mut().zip(shape) {
            *dim = size;
        }
        if dims.contains(&0) {
            return Err(damaged("has no elements"));
        }
        if !dims[0].is_multiple_of(kind.block) {
            return Err(damaged(&format!("has rows that are no whole blocks of {}", kind.name)));
        }
        // ggml counts elements in signed 64 bits.
        let elements = dims
            .iter()
            .try_fold(1_u64, |product, &size| product.checked_mul(size))
            .filter(|&count| i64::try_from(count).is_ok())
            .ok_or_else(|| damaged("has more elements than can be counted"))?;
        let bytes = (elements / kind.block)
            .checked_mul(kind.bytes)
            .ok_or_else(|| damaged("has more bytes than can be counted"))?;
        Ok(Self {
            name,
            dims,
            rank: shape.len(),
            kind,
            offset,
            bytes,
            elements,
        })
    }
}
