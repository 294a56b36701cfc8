//! What a file says without being loaded: its header, the sizes of its vocabulary, the order of its merges, its weights.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use crate::domain::Bytes;
use crate::gguf::{Metadata, ModelFile, Tensor};

use super::chart::Opinion;

const DOWNLOAD: &str = "download the model again, or get another conversion of it";

/// Whether header and tensors are as llama.cpp wants them.
pub(super) fn file(model: &ModelFile) -> Opinion {
    let summary = model.summary();
    let tensors = model.tensors().count();
    if let Err(error) = model.check() {
        return Opinion::failed(error.to_string(), DOWNLOAD);
    }
    Opinion::ok(format!(
        "{} {}, {tensors} tensors within {}",
        summary.architecture,
        summary.quantization,
        Bytes(model.file_bytes())
    ))
}

/// Whether the tables of the network have a row for every token, and no more.
pub(super) fn vocabulary(model: &ModelFile) -> Opinion {
    let metadata = model.metadata();
    let tokens = metadata.vocabulary_size() as u64;
    let rows = |name: &str| model.tensor(name).map(|tensor| tensor.dims[1]);
    let tables = [
        ("token_embd.weight", rows("token_embd.weight")),
        ("output.weight", rows("output.weight")),
    ];
    for (name, rows) in tables {
        let Some(rows) = rows.filter(|rows| *rows != tokens) else {
            continue;
        };
        let evidence = if rows > tokens {
            format!(
                "'{name}' has {rows} rows for {tokens} tokens: {} rows name no token",
                rows - tokens
            )
        } else {
            format!(
                "'{name}' has {rows} rows for {tokens} tokens: {} tokens have no row",
                tokens - rows
            )
        };
        let remedy = "the vocabulary was padded, or cut, without its tokens: get a conversion in which both agree";
        return Opinion::failed(evidence, remedy);
    }
    let declared = metadata.own_u64("vocab_size").filter(|declared| *declared != tokens);
    let padding = padding(metadata);
    let padded = if padding > 0 {
        format!(", {padding} of them padding")
    } else {
        String::new()
    };
    let evidence = format!("{tokens} tokens{padded}, as many rows");
    match declared {
        Some(declared) => Opinion::warning(
            format!("{evidence}; the header declares {declared}"),
            "harmless to llama.cpp, which goes by the tokens; other programs may go by the header",
        ),
        None => Opinion::ok(evidence),
    }
}

/// Entries that only fill the vocabulary up: those of type "unused", and names that say so.
fn padding(metadata: &Metadata) -> usize {
    /// llama.cpp's number for the type.
    const UNUSED: u64 = 5;
    let types = metadata.array("tokenizer.ggml.token_type");
    let unused = |id: usize| {
        let kind = types.and_then(|types| types.get(id)).and_then(|kind| kind.as_u64());
        kind == Some(UNUSED)
    };
    let named = |text: &[u8]| text.starts_with(b"[PAD") || text.starts_with(b"<pad");
    let tokens = metadata.tokens().enumerate();
    tokens.filter(|(id, text)| unused(*id) || named(text)).count()
}

/// The share of merges out of order from which on they were not learnt so.
const DISORDER: f64 = 0.2;

/// Whether each merge joins what is there by then. Byte-pair encoding learns merges from the commonest pair on, so both halves of a
/// pair are letters or were made by earlier merges (Sennrich, Haddow and Birch 2016).
pub(super) fn merges(metadata: &Metadata) -> Opinion {
    let Some(merges) = metadata.array("tokenizer.ggml.merges") else {
        return Opinion::not_applicable("this tokenizer does not merge pairs");
    };
    let pairs: Vec<(&[u8], &[u8])> = merges.iter_texts().filter_map(halves).collect();
    let mut made: HashMap<Vec<u8>, usize> = HashMap::with_capacity(pairs.len());
    for (rank, (left, right)) in pairs.iter().enumerate() {
        made.entry([*left, *right].concat()).or_insert(rank);
    }
    let later = |half: &[u8], rank: usize| made.get(half).is_some_and(|made| *made > rank);
    let ranked = pairs.iter().enumerate();
    let early = ranked.filter(|(rank, (left, right))| later(left, *rank) || later(right, *rank));
    let (early, all) = (early.count(), pairs.len());
    let evidence = format!("{early} of {all} merges join what is only made later");
    if early as f64 > DISORDER * all as f64 {
        let remedy =
            "the merges are not in the order in which they were learnt, and words fall apart: get another conversion";
        return Opinion::failed(evidence, remedy);
    }
    Opinion::ok(evidence)
}

/// The two halves of a merge; a half may begin with a space.
fn halves(merge: &[u8]) -> Option<(&[u8], &[u8])> {
    let gap = merge.iter().skip(1).position(|byte| *byte == b' ')? + 1;
    Some((&merge[..gap], &merge[gap + 1..]))
}

/// Where a block of a format keeps what scales it, as half-precision numbers.
fn scales(format: &str) -> Option<&'static [usize]> {
    Some(match format {
        "F16" | "Q8_0" | "Q4_0" | "Q5_0" | "IQ2_XXS" | "IQ2_XS" | "IQ3_XXS" | "IQ1_S" | "IQ4_NL" | "IQ3_S"
        | "IQ2_S" | "IQ4_XS" => &[0],
        "Q4_1" | "Q5_1" | "Q4_K" | "Q5_K" => &[0, 2],
        "Q2_K" => &[80, 82],
        "Q3_K" => &[108],
        "Q6_K" => &[208],
        "TQ1_0" => &[52],
        "TQ2_0" => &[64],
        _ => return None,
    })
}

/// Whether all weights are numbers, and no tensor is empty of them as an interrupted download leaves it.
pub(super) fn weights(model: &ModelFile, part: &mut dyn FnMut(f32) -> bool) -> Opinion {
    let total = model.tensors().map(|tensor| tensor.bytes).sum::<u64>().max(1);
    let (mut read, mut broken, mut blank) = (0_u64, Vec::new(), Vec::new());
    for header in model.headers() {
        let mut file = match File::open(&header.path) {
            Ok(file) => file,
            Err(error) => {
                return Opinion::failed(
                    format!("the file cannot be read: {error}"),
                    "check that you may read it",
                );
            }
        };
        for tensor in &header.tensors {
            let scanned = scan(&mut file, header.data_offset.saturating_add(tensor.offset), tensor);
            match scanned {
                Ok(Scanned { broken: 0, zero: false }) => {}
                Ok(Scanned { broken: 0, .. }) => blank.push(tensor.name.as_str()),
                Ok(Scanned { broken: count, .. }) => broken.push((tensor.name.as_str(), count)),
                Err(error) => {
                    return Opinion::failed(format!("'{}' cannot be read: {error}", tensor.name), DOWNLOAD);
                }
            }
            read = read.saturating_add(tensor.bytes);
            if !part((read as f64 / total as f64) as f32) {
                return Opinion::not_applicable("stopped");
            }
        }
    }
    if let Some((name, count)) = broken.first() {
        let more = others(broken.len());
        let evidence = format!("'{name}' has {count} values or scales that are no finite numbers{more}");
        return Opinion::failed(evidence, DOWNLOAD);
    }
    if let Some(name) = blank.first() {
        let evidence = format!("'{name}' holds nothing but zeros{}", others(blank.len()));
        return Opinion::warning(
            evidence,
            "an interrupted download leaves such holes: download the model again",
        );
    }
    Opinion::ok(format!("{} read, all finite", Bytes(total)))
}

fn others(count: usize) -> String {
    match count {
        0 | 1 => String::new(),
        count => format!(", and {} more tensors", count - 1),
    }
}

/// What was seen of a tensor's bytes.
struct Scanned {
    /// Values, or scales of blocks of values, that are not finite.
    broken: u64,
    /// Whether all is zero in what should not be.
    zero: bool,
}

/// Bytes read at once, about.
const CHUNK: u64 = 1 << 20;

fn scan(file: &mut File, at: u64, tensor: &Tensor) -> io::Result<Scanned> {
    let block = tensor.kind.bytes.max(1);
    let name = tensor.kind.name;
    let offsets = scales(name);
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = vec![0_u8; (CHUNK / block).max(1).saturating_mul(block) as usize];
    let (mut left, mut broken, mut zero) = (tensor.bytes, 0, true);
    while left > 0 {
        let length = left.min(bytes.len() as u64) as usize;
        let chunk = &mut bytes[..length];
        file.read_exact(chunk)?;
        left -= length as u64;
        zero &= chunk.iter().all(|byte| *byte == 0);
        let blocks = chunk.chunks_exact(block as usize);
        broken += match (name, offsets) {
            ("F32", _) => blocks.filter(|block| is_broken(&block[2..], 0x7f80)).count(),
            ("BF16", _) => blocks.filter(|block| is_broken(block, 0x7f80)).count(),
            (_, Some([offset])) => blocks.filter(|block| is_broken(&block[*offset..], HALF)).count(),
            (_, Some(offsets)) => {
                let broken = |block: &&[u8]| offsets.iter().any(|offset| is_broken(&block[*offset..], HALF));
                blocks.filter(broken).count()
            }
            (_, None) => 0,
        } as u64;
    }
    // Biases and norms may well be zero; a whole matrix is not.
    let zero = zero && tensor.rank > 1 && tensor.name.ends_with(".weight");
    Ok(Scanned { broken, zero })
}

/// The exponent of a half-precision number.
const HALF: u16 = 0x7c00;

/// Whether a number is infinite or none (IEEE 754): all bits of its exponent, which lie in its upper two bytes, are set.
fn is_broken(upper: &[u8], exponent: u16) -> bool {
    matches!(upper, [low, high, ..] if u16::from_le_bytes([*low, *high]) & exponent == exponent)
}
