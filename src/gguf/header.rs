//! Reading one GGUF file's header: key-value pairs and tensor descriptions, each checked against the format and against
//! the length of the file. Reads forward, buffered, and stops where the weights begin.
//!
//! Format: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>. Where llama.cpp's own reader (gguf.cpp) is stricter
//! than that page, it is followed: what passes here must not fail there.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use super::error::{Fault, GgufError, quoted};
use super::metadata::Metadata;
use super::sniff::{self, Foreign};
use super::source::Source;
use super::tensor::{DIMS_MAX, Tensor, TensorType};
use super::value::{Array, Value, ValueType};

/// Most key-value pairs and most tensors. Published models stay below 200 pairs and 3000 tensors.
const COUNT_MAX: u64 = 100_000;
/// Longest key: the format's own limit.
const KEY_MAX: u64 = 65_535;
/// Longest tensor name, one less than ggml's buffer (`GGML_MAX_NAME`).
const NAME_MAX: u64 = 63;
/// Longest text: far more than any template or licence, far less than memory.
const TEXT_MAX: u64 = 16 * 1024 * 1024;
/// Alignment of the data section unless the file says otherwise.
const ALIGNMENT: u64 = 32;
/// Largest alignment believed.
const ALIGNMENT_MAX: u64 = 1024 * 1024;
/// What is read from the disk at a time.
const BUFFER: usize = 256 * 1024;

/// The header of one GGUF file.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The file, as it was named.
    pub path: PathBuf,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Version of the format: 2 or 3.
    pub version: u32,
    /// What the data section and every tensor in it are aligned to, in bytes.
    pub alignment: u64,
    /// The key-value pairs.
    pub metadata: Metadata,
    /// The tensors, in the order of their data.
    pub tensors: Vec<Tensor>,
    /// Where the data section begins, in bytes from the start of the file.
    pub data_offset: u64,
}

impl Header {
    /// Reads the header of the file at `path`, which may be anything at all.
    pub fn read(path: &Path) -> Result<Self, GgufError> {
        Self::read_file(path).map_err(|fault| fault.of(path))
    }

    fn read_file(path: &Path) -> Result<Self, Fault> {
        // Asked before opening: opening a pipe would wait for its writer.
        regular(&fs::metadata(path)?)?;
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Self::parse(BufReader::with_capacity(BUFFER, file), length, path)
    }

    /// Reads a header from `input`, which has `length` bytes and is known as `path`.
    pub(super) fn parse(mut input: impl BufRead, length: u64, path: &Path) -> Result<Self, Fault> {
        if length == 0 {
            return Err(Fault::Empty);
        }
        let mut head = Vec::with_capacity(sniff::PREFIX);
        input.by_ref().take(sniff::PREFIX as u64).read_to_end(&mut head)?;
        if !head.starts_with(b"GGUF") {
            return Err(if b"GGUF".starts_with(&head) {
                Fault::Truncated {
                    present: length,
                    needed: None,
                }
            } else {
                Fault::Foreign(Foreign::sniff(&head))
            });
        }
        let mut source = Source::new(head.chain(input), length);
        source.array::<4>()?;
        let version = read_version(&mut source)?;
        let tensor_count = read_count(&mut source, "tensors")?;
        let pair_count = read_count(&mut source, "key-value pairs")?;
        let metadata = read_metadata(&mut source, pair_count)?;
        let alignment = alignment(&metadata)?;
        let tensors = read_tensors(&mut source, tensor_count)?;
        // Cannot overflow: a header is far below 2^63 bytes and an alignment below 2^21.
        let data_offset = source.position().next_multiple_of(alignment);
        check_layout(&tensors, alignment, data_offset, length)?;
        Ok(Self {
            path: path.to_path_buf(),
            file_bytes: length,
            version,
            alignment,
            metadata,
            tensors,
            data_offset,
        })
    }
}

/// Fails unless this is a regular file, with words for what it is instead.
fn regular(meta: &fs::Metadata) -> Result<(), Fault> {
    let kind = meta.file_type();
    if kind.is_file() {
        return Ok(());
    }
    if kind.is_dir() {
        return Err(Fault::Folder);
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if kind.is_fifo() {
            return Err(Fault::Special("a pipe"));
        }
        if kind.is_socket() {
            return Err(Fault::Special("a socket"));
        }
        if kind.is_block_device() || kind.is_char_device() {
            return Err(Fault::Special("a device"));
        }
    }
    Err(Fault::Special("something else"))
}

fn read_version(source: &mut Source<impl BufRead>) -> Result<u32, Fault> {
    match source.u32()? {
        version @ (2 | 3) => Ok(version),
        swapped if matches!(swapped.swap_bytes(), 1..=0xff) => Err(Fault::BigEndian),
        old @ (0 | 1) => Err(Fault::OldVersion(old)),
        new => Err(Fault::NewVersion(new)),
    }
}

fn read_count(source: &mut Source<impl BufRead>, of: &str) -> Result<u64, Fault> {
    match source.u64()? {
        count if count <= COUNT_MAX => Ok(count),
        count => Err(Fault::Malformed(format!("it would have {count} {of}"))),
    }
}

fn read_metadata(source: &mut Source<impl BufRead>, count: u64) -> Result<Metadata, Fault> {
    let mut metadata = Metadata::default();
    for _ in 0..count {
        let bytes = source.text(KEY_MAX, "a key")?;
        let key = match String::from_utf8(bytes) {
            Ok(key) if !key.is_empty() => key,
            Ok(_) => return Err(Fault::Malformed("a key is empty".into())),
            Err(error) => {
                let key = quoted(error.as_bytes());
                return Err(Fault::Malformed(format!("key {key} is not UTF-8")));
            }
        };
        let value = read_value(source, &key)?;
        if metadata.get(&key).is_some() {
            return Err(Fault::Malformed(format!(
                "key {} is there twice",
                quoted(key.as_bytes())
            )));
        }
        metadata.insert(key, value);
    }
    Ok(metadata)
}

fn read_type(source: &mut Source<impl BufRead>, key: &str) -> Result<ValueType, Fault> {
    let id = source.u32()?;
    ValueType::from_id(id).ok_or_else(|| {
        Fault::Malformed(format!(
            "key {} has a value of unknown type {id}",
            quoted(key.as_bytes())
        ))
    })
}

fn read_value(source: &mut Source<impl BufRead>, key: &str) -> Result<Value, Fault> {
    let damaged = || Fault::Malformed(format!("the value of key {} is incomplete", quoted(key.as_bytes())));
    let kind = read_type(source, key)?;
    match kind {
        ValueType::Text => Ok(Value::Text(source.text(TEXT_MAX, "a text")?)),
        ValueType::Array => read_array(source, key).map(Value::Array),
        _ => {
            let mut bytes = Vec::new();
            source.append(&mut bytes, kind.size().unwrap_or(0) as u64, "a value")?;
            Value::scalar(kind, &bytes).ok_or_else(damaged)
        }
    }
}

fn read_array(source: &mut Source<impl BufRead>, key: &str) -> Result<Array, Fault> {
    let damaged = |why: &str| Fault::Malformed(format!("the array {} {why}", quoted(key.as_bytes())));
    let item = read_type(source, key)?;
    let count = source.u64()?;
    let Some(size) = item.size() else {
        // llama.cpp refuses arrays of arrays too; no model has one.
        return match item {
            ValueType::Text => read_texts(source, count),
            _ => Err(damaged("holds arrays")),
        };
    };
    source.expect(count, size as u64, "an array")?;
    let mut data = Vec::new();
    source.append(&mut data, count * size as u64, "an array")?;
    Array::scalars(item, data).ok_or_else(|| damaged("ends within an item"))
}

fn read_texts(source: &mut Source<impl BufRead>, count: u64) -> Result<Array, Fault> {
    // Each text takes at least the 8 bytes of its length, so this bounds `count` by the file before anything grows.
    source.expect(count, 8, "an array")?;
    let mut data = Vec::new();
    let mut ends = Vec::new();
    let mut left = count;
    while left > 0 {
        match source.texts_at_hand(left, TEXT_MAX, &mut data, &mut ends) {
            0 => {
                // The next one goes beyond what is in the buffer, or it is none.
                data.append(&mut source.text(TEXT_MAX, "a text")?);
                ends.push(data.len() as u32);
                left -= 1;
            }
            taken => left -= taken,
        }
    }
    Ok(Array::texts(data, ends))
}

fn alignment(metadata: &Metadata) -> Result<u64, Fault> {
    match metadata.get("general.alignment") {
        None => Ok(ALIGNMENT),
        Some(&Value::U32(n)) if n.is_power_of_two() && u64::from(n) <= ALIGNMENT_MAX => Ok(n.into()),
        Some(_) => Err(Fault::Malformed(
            "'general.alignment' is not a power of two of at most 1 MiB".into(),
        )),
    }
}

fn read_tensors(source: &mut Source<impl BufRead>, count: u64) -> Result<Vec<Tensor>, Fault> {
    let mut names = HashSet::new();
    let mut tensors: Vec<Tensor> = Vec::new();
    for _ in 0..count {
        let tensor = read_tensor(source)?;
        if !names.insert(tensor.name.clone()) {
            let name = quoted(tensor.name.as_bytes());
            return Err(Fault::Malformed(format!("tensor {name} is there twice")));
        }
        tensors.push(tensor);
    }
    Ok(tensors)
}

fn read_tensor(source: &mut Source<impl BufRead>) -> Result<Tensor, Fault> {
    let bytes = source.text(NAME_MAX, "a tensor's name")?;
    let name = String::from_utf8(bytes).map_err(|error| {
        let name = quoted(error.as_bytes());
        Fault::Malformed(format!("tensor name {name} is not UTF-8"))
    })?;
    let rank = source.u32()? as usize;
    if rank > DIMS_MAX {
        let name = quoted(name.as_bytes());
        return Err(Fault::Malformed(format!("tensor {name} would have {rank} dimensions")));
    }
    let mut shape = Vec::with_capacity(rank);
    for _ in 0..rank {
        shape.push(source.u64()?);
    }
    let kind = TensorType::from_id(source.u32()?, name.as_bytes())?;
    let offset = source.u64()?;
    Tensor::new(name, &shape, kind, offset)
}

/// Fails unless the tensors lie end to end, each on an aligned offset, and all within the file. llama.cpp accepts no
/// other layout, and a file cut during a download is told from a damaged one by it.
fn check_layout(tensors: &[Tensor], alignment: u64, data_offset: u64, length: u64) -> Result<(), Fault> {
    let mut next = 0_u64;
    let mut end = data_offset;
    for tensor in tensors {
        let name = || quoted(tensor.name.as_bytes());
        if tensor.offset != next {
            return Err(Fault::Malformed(format!(
                "tensor {} does not begin where the one before it ends",
                name()
            )));
        }
        let over = || Fault::Malformed(format!("tensor {} ends beyond what can be counted", name()));
        let used = next.checked_add(tensor.bytes).ok_or_else(over)?;
        end = data_offset.checked_add(used).ok_or_else(over)?;
        next = used.checked_next_multiple_of(alignment).ok_or_else(over)?;
    }
    if end > length && !tensors.is_empty() {
        return Err(Fault::Truncated {
            present: length,
            needed: Some(end),
        });
    }
    Ok(())
}
