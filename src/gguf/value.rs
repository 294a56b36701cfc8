//! The typed values of a GGUF header. Owns what a value is and how it is asked for; reading them from a file is
//! `source`'s and `header`'s work. Texts are kept as bytes because a file may hold anything.

/// The type of a metadata value, by the id the file gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// 8 bits, unsigned.
    U8,
    /// 8 bits, signed.
    I8,
    /// 16 bits, unsigned.
    U16,
    /// 16 bits, signed.
    I16,
    /// 32 bits, unsigned.
    U32,
    /// 32 bits, signed.
    I32,
    /// 32-bit float.
    F32,
    /// One byte; anything but 0 is true.
    Bool,
    /// A 64-bit length and that many bytes.
    Text,
    /// An item type, a 64-bit count, and that many items.
    Array,
    /// 64 bits, unsigned.
    U64,
    /// 64 bits, signed.
    I64,
    /// 64-bit float.
    F64,
}

/// Every type in the order of its id in the file format.
const BY_ID: [ValueType; 13] = [
    ValueType::U8,
    ValueType::I8,
    ValueType::U16,
    ValueType::I16,
    ValueType::U32,
    ValueType::I32,
    ValueType::F32,
    ValueType::Bool,
    ValueType::Text,
    ValueType::Array,
    ValueType::U64,
    ValueType::I64,
    ValueType::F64,
];

impl ValueType {
    /// The type with this id, if there is one.
    pub(super) fn from_id(id: u32) -> Option<Self> {
        BY_ID.get(usize::try_from(id).ok()?).copied()
    }

    /// Bytes of one value; `None` for texts and arrays, whose length varies.
    pub const fn size(self) -> Option<usize> {
        match self {
            Self::U8 | Self::I8 | Self::Bool => Some(1),
            Self::U16 | Self::I16 => Some(2),
            Self::U32 | Self::I32 | Self::F32 => Some(4),
            Self::U64 | Self::I64 | Self::F64 => Some(8),
            Self::Text | Self::Array => None,
        }
    }
}

/// One metadata value, of exactly the type the file gives it.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// 8 bits, unsigned.
    U8(u8),
    /// 8 bits, signed.
    I8(i8),
    /// 16 bits, unsigned.
    U16(u16),
    /// 16 bits, signed.
    I16(i16),
    /// 32 bits, unsigned.
    U32(u32),
    /// 32 bits, signed.
    I32(i32),
    /// 32-bit float.
    F32(f32),
    /// A truth value.
    Bool(bool),
    /// Bytes that should be UTF-8.
    Text(Vec<u8>),
    /// Many values of one type.
    Array(Array),
    /// 64 bits, unsigned.
    U64(u64),
    /// 64 bits, signed.
    I64(i64),
    /// 64-bit float.
    F64(f64),
}

impl Value {
    /// The value of a scalar whose little-endian bytes are `bytes`; `None` when there are too few of them, or for
    /// a text or an array.
    pub(super) fn scalar(kind: ValueType, bytes: &[u8]) -> Option<Self> {
        Some(match kind {
            ValueType::U8 => Self::U8(u8::from_le_bytes(*bytes.first_chunk()?)),
            ValueType::I8 => Self::I8(i8::from_le_bytes(*bytes.first_chunk()?)),
            ValueType::U16 => Self::U16(u16::from_le_bytes(*bytes.first_chunk()?)),
            ValueType::I16 => Self::I16(i16::from_le_bytes(*bytes.first_chunk()?)),
            ValueType::U32 => Self::U32(u32::from_le_bytes(*bytes.first_chunk()?)),
            ValueType::I32 => Self::I32(i32::from_le_bytes(*bytes.first_chunk()?)),
            ValueType::F32 => Self::F32(f32::from_le_bytes(*bytes.first_chunk()?)),
            ValueType::Bool => Self::Bool(*bytes.first()? != 0),
            ValueType::U64 => Self::U64(u64::from_le_bytes(*bytes.first_chunk()?)),
            ValueType::I64 => Self::I64(i64::from_le_bytes(*bytes.first_chunk()?)),
            ValueType::F64 => Self::F64(f64::from_le_bytes(*bytes.first_chunk()?)),
            ValueType::Text | ValueType::Array => return None,
        })
    }

    /// The type of this value.
    pub const fn value_type(&self) -> ValueType {
        match self {
            Self::U8(_) => ValueType::U8,
            Self::I8(_) => ValueType::I8,
            Self::U16(_) => ValueType::U16,
            Self::I16(_) => ValueType::I16,
            Self::U32(_) => ValueType::U32,
            Self::I32(_) => ValueType::I32,
            Self::F32(_) => ValueType::F32,
            Self::Bool(_) => ValueType::Bool,
            Self::Text(_) => ValueType::Text,
            Self::Array(_) => ValueType::Array,
            Self::U64(_) => ValueType::U64,
            Self::I64(_) => ValueType::I64,
            Self::F64(_) => ValueType::F64,
        }
    }

    /// The value as a whole number that is not negative, whatever integer type it has.
    pub fn as_u64(&self) -> Option<u64> {
        match *self {
            Self::U8(n) => Some(n.into()),
            Self::U16(n) => Some(n.into()),
            Self::U32(n) => Some(n.into()),
            Self::U64(n) => Some(n),
            Self::I8(n) => n.try_into().ok(),
            Self::I16(n) => n.try_into().ok(),
            Self::I32(n) => n.try_into().ok(),
            Self::I64(n) => n.try_into().ok(),
            _ => None,
        }
    }

    /// The value as a float, whatever number type it has.
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Self::F32(x) => Some(x.into()),
            Self::F64(x) => Some(x),
            Self::I8(n) => Some(n.into()),
            Self::I16(n) => Some(n.into()),
            Self::I32(n) => Some(n.into()),
            Self::I64(n) => Some(n as f64),
            _ => self.as_u64().map(|n| n as f64),
        }
    }

    /// The value as a truth value.
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    /// The value as text; `None` also when its bytes are not UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// The value as an array.
    pub const fn as_array(&self) -> Option<&Array> {
        match self {
            Self::Array(array) => Some(array),
            _ => None,
        }
    }
}

/// An array of scalars or of texts, kept as the bytes of the file: 150 000 tokens are two allocations, not 150 000.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    item: ValueType,
    len: usize,
    data: Vec<u8>,
    /// For texts, where each ends in `data`; empty for scalars. A header is far below 4 GiB, so 32 bits are enough.
    ends: Vec<u32>,
}

impl Array {
    /// An array of scalars; `None` unless `data` is a whole number of them.
    pub(super) fn scalars(item: ValueType, data: Vec<u8>) -> Option<Self> {
        let size = item.size()?;
        data.len().is_multiple_of(size).then(|| Self {
            item,
            len: data.len() / size,
            data,
            ends: Vec::new(),
        })
    }

    /// An array of texts that lie end to end in `data`.
    pub(super) fn texts(data: Vec<u8>, ends: Vec<u32>) -> Self {
        Self {
            item: ValueType::Text,
            len: ends.len(),
            data,
            ends,
        }
    }

    /// The type of the items.
    pub const fn item_type(&self) -> ValueType {
        self.item
    }

    /// How many items there are.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no item.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The item at `index`, as a value of its own.
    pub fn get(&self, index: usize) -> Option<Value> {
        if self.item == ValueType::Text {
            return self.text(index).map(|bytes| Value::Text(bytes.to_vec()));
        }
        let size = self.item.size()?;
        let from = index.checked_mul(size)?;
        Value::scalar(self.item, self.data.get(from..from.checked_add(size)?)?)
    }

    /// The bytes of the text at `index`; `None` too when the items are no texts.
    pub fn text(&self, index: usize) -> Option<&[u8]> {
        let to = *self.ends.get(index)? as usize;
        let from = match index.checked_sub(1) {
            Some(before) => *self.ends.get(before)? as usize,
            None => 0,
        };
        self.data.get(from..to)
    }

    /// Every text in order; nothing when the items are no texts.
    pub fn iter_texts(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).filter_map(|index| self.text(index))
    }

    /// Every item in order.
    pub fn iter(&self) -> impl Iterator<Item = Value> {
        (0..self.len).filter_map(|index| self.get(index))
    }
}
