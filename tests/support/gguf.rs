//! Writes small GGUF files for tests: sound ones, ones broken in any way a test wants, and a working qwen2 model of random
//! weights. Knows nothing of the code under test and uses only std, so that a mistake there is not repeated here.
//!
//! Include it with `#[path = "support/gguf.rs"] mod gguf;`.

#![allow(dead_code, reason = "every including crate uses another part")]
#![allow(unreachable_pub, reason = "included as a private module")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "test support: a failure here fails the test"
)]

use std::fs;
use std::path::Path;

/// The id of number format F32.
pub const F32: u32 = 0;
/// The id of number format F16.
pub const F16: u32 = 1;
/// The token type of ordinary tokens.
pub const NORMAL: i32 = 1;
/// The token type of control tokens.
pub const CONTROL: i32 = 3;
/// The token type of entries that only fill a vocabulary up.
pub const UNUSED: i32 = 5;

/// The chat template that most models of the qwen family share in spirit.
pub const CHATML: &str = "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] \
     + '<|im_end|>' + '\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/// A metadata value.
#[derive(Clone, Debug)]
pub enum Meta {
    /// Type 0.
    U8(u8),
    /// Type 2.
    U16(u16),
    /// Type 4.
    U32(u32),
    /// Type 5.
    I32(i32),
    /// Type 6.
    F32(f32),
    /// Type 7.
    Bool(bool),
    /// Type 8.
    Text(String),
    /// Type 10.
    U64(u64),
    /// An array of texts.
    Texts(Vec<Vec<u8>>),
    /// An array of type 4.
    U32s(Vec<u32>),
    /// An array of type 5.
    I32s(Vec<i32>),
    /// An array of type 6.
    F32s(Vec<f32>),
    /// Any type id with any bytes after it, for broken files and for values copied from another file.
    Raw(u32, Vec<u8>),
}

/// A text value.
pub fn text(value: &str) -> Meta {
    Meta::Text(value.to_owned())
}

/// An array of texts.
pub fn texts(values: &[&str]) -> Meta {
    Meta::Texts(values.iter().map(|value| value.as_bytes().to_vec()).collect())
}

impl Meta {
    fn encode(&self, out: &mut Vec<u8>) {
        let mut put = |kind: u32, bytes: &[u8]| {
            out.extend(kind.to_le_bytes());
            out.extend(bytes);
        };
        match self {
            Self::U8(n) => put(0, &n.to_le_bytes()),
            Self::U16(n) => put(2, &n.to_le_bytes()),
            Self::U32(n) => put(4, &n.to_le_bytes()),
            Self::I32(n) => put(5, &n.to_le_bytes()),
            Self::F32(n) => put(6, &n.to_le_bytes()),
            Self::Bool(n) => put(7, &[u8::from(*n)]),
            Self::Text(value) => put(8, &counted(value.as_bytes())),
            Self::U64(n) => put(10, &n.to_le_bytes()),
            Self::Texts(items) => put(9, &array(8, items.iter().map(|item| counted(item)))),
            Self::U32s(items) => put(9, &array(4, items.iter().map(|n| n.to_le_bytes()))),
            Self::I32s(items) => put(9, &array(5, items.iter().map(|n| n.to_le_bytes()))),
            Self::F32s(items) => put(9, &array(6, items.iter().map(|n| n.to_le_bytes()))),
            Self::Raw(kind, bytes) => put(*kind, bytes),
        }
    }
}

/// A text as GGUF writes it: its length, then its bytes.
pub fn counted(bytes: &[u8]) -> Vec<u8> {
    let mut out = (bytes.len() as u64).to_le_bytes().to_vec();
    out.extend(bytes);
    out
}

/// An array as GGUF writes it: item type, count, items.
fn array<B: AsRef<[u8]>>(kind: u32, items: impl ExactSizeIterator<Item = B>) -> Vec<u8> {
    let mut out = kind.to_le_bytes().to_vec();
    out.extend((items.len() as u64).to_le_bytes());
    for item in items {
        out.extend(item.as_ref());
    }
    out
}

/// A tensor with its data. `dims` are fastest first.
#[derive(Clone, Debug)]
pub struct Weights {
    /// The name.
    pub name: String,
    /// The shape.
    pub dims: Vec<u64>,
    /// The id of the number format.
    pub kind: u32,
    /// The offset to claim instead of the right one.
    pub offset: Option<u64>,
    /// The data.
    pub data: Vec<u8>,
}

/// A GGUF file in the making. Everything is public so that anything can be broken.
#[derive(Clone, Debug)]
pub struct Gguf {
    /// The first four bytes.
    pub magic: [u8; 4],
    /// The version to claim.
    pub version: u32,
    /// The number of tensors to claim instead of the right one.
    pub tensor_count: Option<u64>,
    /// The number of pairs to claim instead of the right one.
    pub pair_count: Option<u64>,
    /// What to align to.
    pub alignment: usize,
    /// The key-value pairs.
    pub pairs: Vec<(String, Meta)>,
    /// The tensors.
    pub tensors: Vec<Weights>,
}

impl Gguf {
    /// An empty file of version 3.
    pub fn new() -> Self {
        Self {
            magic: *b"GGUF",
            version: 3,
            tensor_count: None,
            pair_count: None,
            alignment: 32,
            pairs: Vec::new(),
            tensors: Vec::new(),
        }
    }

    /// A file that is known to be sound, to be changed.
    pub fn read(path: &Path) -> Self {
        let bytes = fs::read(path).unwrap();
        let mut file = Self::new();
        let mut reader = Reader { bytes: &bytes, at: 8 };
        let (tensors, pairs) = (reader.u64(), reader.u64());
        for _ in 0..pairs {
            let (key, kind) = (reader.text(), reader.u32());
            let from = reader.at;
            reader.skip(kind);
            file.set(&key, Meta::Raw(kind, bytes[from..reader.at].to_vec()));
        }
        let mut offsets = Vec::new();
        for _ in 0..tensors {
            let name = reader.text();
            let rank = reader.u32();
            let dims: Vec<u64> = (0..rank).map(|_| reader.u64()).collect();
            let kind = reader.u32();
            offsets.push(reader.u64() as usize);
            file.push(&name, &dims, kind, Vec::new());
        }
        let start = reader.at.next_multiple_of(file.alignment);
        let ends: Vec<usize> = offsets.iter().skip(1).copied().chain([bytes.len() - start]).collect();
        for ((tensor, from), to) in file.tensors.iter_mut().zip(offsets).zip(ends) {
            tensor.data = bytes[start + from..start + to].to_vec();
        }
        file
    }

    /// Sets a key, replacing its value if it is there.
    pub fn set(&mut self, key: &str, value: Meta) -> &mut Self {
        match self.pairs.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => *old = value,
            None => self.pairs.push((key.to_owned(), value)),
        }
        self
    }

    /// Removes a key.
    pub fn remove(&mut self, key: &str) -> &mut Self {
        self.pairs.retain(|(known, _)| known != key);
        self
    }

    /// Adds a tensor of ones in F32.
    pub fn ones(&mut self, name: &str, dims: &[u64]) -> &mut Self {
        self.filled(name, dims, 1.0)
    }

    /// Adds a tensor with one value everywhere, in F32.
    pub fn filled(&mut self, name: &str, dims: &[u64], value: f32) -> &mut Self {
        let count: u64 = dims.iter().product();
        let data = (0..count).flat_map(|_| value.to_le_bytes()).collect();
        self.push(name, dims, F32, data)
    }

    /// Adds a tensor of small random weights in F16.
    pub fn random(&mut self, name: &str, dims: &[u64], random: &mut Random) -> &mut Self {
        let count: u64 = dims.iter().product();
        let data = (0..count)
            .flat_map(|_| half(random.normal() * 0.02).to_le_bytes())
            .collect();
        self.push(name, dims, F16, data)
    }

    /// Adds a tensor with the given data.
    pub fn push(&mut self, name: &str, dims: &[u64], kind: u32, data: Vec<u8>) -> &mut Self {
        self.tensors.push(Weights {
            name: name.to_owned(),
            dims: dims.to_vec(),
            kind,
            offset: None,
            data,
        });
        self
    }

    /// The tensor of that name.
    pub fn tensor(&mut self, name: &str) -> &mut Weights {
        self.tensors.iter_mut().find(|tensor| tensor.name == name).unwrap()
    }

    /// The header alone, up to where the data begins.
    pub fn header_bytes(&self) -> Vec<u8> {
        let mut out = self.magic.to_vec();
        out.extend(self.version.to_le_bytes());
        out.extend(self.tensor_count.unwrap_or(self.tensors.len() as u64).to_le_bytes());
        out.extend(self.pair_count.unwrap_or(self.pairs.len() as u64).to_le_bytes());
        for (key, value) in &self.pairs {
            out.extend(counted(key.as_bytes()));
            value.encode(&mut out);
        }
        let mut offset = 0;
        for tensor in &self.tensors {
            out.extend(counted(tensor.name.as_bytes()));
            out.extend((tensor.dims.len() as u32).to_le_bytes());
            for dim in &tensor.dims {
                out.extend(dim.to_le_bytes());
            }
            out.extend(tensor.kind.to_le_bytes());
            out.extend(tensor.offset.unwrap_or(offset).to_le_bytes());
            offset += tensor.data.len().next_multiple_of(self.alignment) as u64;
        }
        out.resize(out.len().next_multiple_of(self.alignment), 0);
        out
    }

    /// The whole file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = self.header_bytes();
        for tensor in &self.tensors {
            out.extend(&tensor.data);
            out.resize(out.len().next_multiple_of(self.alignment), 0);
        }
        out
    }

    /// Writes the whole file.
    pub fn write(&self, path: &Path) {
        fs::write(path, self.bytes()).unwrap();
    }
}

/// The smallest file that describes a chat model soundly: one layer, eight tokens. Its network is not complete, so it
/// cannot run; for that there is [`tiny_qwen2`].
pub fn sound() -> Gguf {
    let mut file = Gguf::new();
    file.set("general.architecture", text("llama"))
        .set("general.name", text("Tiny"))
        .set("llama.block_count", Meta::U32(1))
        .set("llama.context_length", Meta::U32(512))
        .set("llama.embedding_length", Meta::U32(32))
        .set("llama.feed_forward_length", Meta::U32(64))
        .set("llama.attention.head_count", Meta::U32(4))
        .set("llama.attention.head_count_kv", Meta::U32(2))
        .set("llama.attention.layer_norm_rms_epsilon", Meta::F32(1e-5))
        .set("llama.rope.freq_base", Meta::F32(10_000.0))
        .set("tokenizer.ggml.model", text("gpt2"))
        .set("tokenizer.ggml.pre", text("default"))
        .set(
            "tokenizer.ggml.tokens",
            texts(&["<s>", "</s>", "a", "b", "c", "ab", "bc", "abc"]),
        )
        .set("tokenizer.ggml.token_type", Meta::I32s(vec![3, 3, 1, 1, 1, 1, 1, 1]))
        .set("tokenizer.ggml.merges", texts(&["a b", "b c", "ab c"]))
        .set("tokenizer.ggml.bos_token_id", Meta::U32(0))
        .set("tokenizer.ggml.eos_token_id", Meta::U32(1))
        .set("tokenizer.chat_template", text(CHATML));
    file.random("token_embd.weight", &[32, 8], &mut Random::new(1))
        .ones("output_norm.weight", &[32])
        .ones("blk.0.attn_norm.weight", &[32]);
    file
}

/// Width, layers, heads, key-value heads and feed-forward length of [`tiny_qwen2`].
pub const TINY: [u64; 5] = [64, 2, 4, 2, 128];

/// A qwen2 model that llama.cpp loads and runs, of random weights (it babbles), with the vocabulary of the GGUF at
/// `donor` and `pad` unused entries `[PADn]` after it, as models have whose vocabulary was rounded up.
pub fn tiny_qwen2(donor: &Path, pad: usize, seed: u64) -> Gguf {
    random_qwen2(donor, pad, seed, TINY)
}

/// The same of any shape, given as [`TINY`] gives it.
pub fn random_qwen2(donor: &Path, pad: usize, seed: u64, shape: [u64; 5]) -> Gguf {
    let [width, layers, heads, kv_heads, feed_forward] = shape;
    let mut file = Gguf::new();
    file.set("general.architecture", text("qwen2"))
        .set("general.name", text("Tiny Random"))
        .set("general.file_type", Meta::U32(F16))
        .set("qwen2.block_count", Meta::U32(layers as u32))
        .set("qwen2.context_length", Meta::U32(1024))
        .set("qwen2.embedding_length", Meta::U32(width as u32))
        .set("qwen2.feed_forward_length", Meta::U32(feed_forward as u32))
        .set("qwen2.attention.head_count", Meta::U32(heads as u32))
        .set("qwen2.attention.head_count_kv", Meta::U32(kv_heads as u32))
        .set("qwen2.attention.layer_norm_rms_epsilon", Meta::F32(1e-6))
        .set("qwen2.rope.freq_base", Meta::F32(10_000.0));
    let tokens = copy_vocabulary(&fs::read(donor).unwrap(), pad, &mut file);
    file.set("tokenizer.chat_template", text(CHATML));

    let random = &mut Random::new(seed);
    let kv = kv_heads * (width / heads);
    file.random("token_embd.weight", &[width, tokens], random)
        .ones("output_norm.weight", &[width]);
    for layer in 0..layers {
        let name = |part: &str| format!("blk.{layer}.{part}");
        file.ones(&name("attn_norm.weight"), &[width]);
        for (part, rows) in [("q", width), ("k", kv), ("v", kv)] {
            file.random(&name(&format!("attn_{part}.weight")), &[width, rows], random)
                .filled(&name(&format!("attn_{part}.bias")), &[rows], 0.0);
        }
        file.random(&name("attn_output.weight"), &[width, width], random)
            .ones(&name("ffn_norm.weight"), &[width])
            .random(&name("ffn_gate.weight"), &[width, feed_forward], random)
            .random(&name("ffn_up.weight"), &[width, feed_forward], random)
            .random(&name("ffn_down.weight"), &[feed_forward, width], random);
    }
    file
}

/// Copies every `tokenizer.*` pair but the template from a GGUF, with `pad` entries more; returns the number of tokens.
pub fn copy_vocabulary(donor: &[u8], pad: usize, into: &mut Gguf) -> u64 {
    let mut reader = Reader { bytes: donor, at: 16 };
    let pairs = reader.u64();
    let mut tokens = 0;
    for _ in 0..pairs {
        let length = reader.u64() as usize;
        let key = String::from_utf8(reader.take(length).to_vec()).unwrap();
        let kind = reader.u32();
        let from = reader.at;
        reader.skip(kind);
        let mut value = donor[from..reader.at].to_vec();
        if !key.starts_with("tokenizer.") || key == "tokenizer.chat_template" {
            continue;
        }
        if key == "tokenizer.ggml.tokens" {
            tokens = lengthen(&mut value, pad, |index| counted(format!("[PAD{index}]").as_bytes()));
        } else if key == "tokenizer.ggml.token_type" {
            lengthen(&mut value, pad, |_| UNUSED.to_le_bytes().to_vec());
        } else if key == "tokenizer.ggml.scores" {
            lengthen(&mut value, pad, |_| (-1000.0_f32).to_le_bytes().to_vec());
        }
        into.set(&key, Meta::Raw(kind, value));
    }
    tokens
}

/// Appends `more` items to an encoded array; returns its new length.
fn lengthen(array: &mut Vec<u8>, more: usize, item: impl Fn(u64) -> Vec<u8>) -> u64 {
    let count = u64::from_le_bytes(array[4..12].try_into().unwrap());
    let length = count + more as u64;
    array[4..12].copy_from_slice(&length.to_le_bytes());
    for index in count..length {
        array.extend(item(index));
    }
    length
}

/// Walks over a GGUF that is known to be sound.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> &'a [u8] {
        self.at += count;
        &self.bytes[self.at - count..self.at]
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().unwrap())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take(8).try_into().unwrap())
    }

    fn text(&mut self) -> String {
        let length = self.u64() as usize;
        String::from_utf8(self.take(length).to_vec()).unwrap()
    }

    fn skip(&mut self, kind: u32) {
        match kind {
            0 | 1 | 7 => self.at += 1,
            2 | 3 => self.at += 2,
            4..=6 => self.at += 4,
            10..=12 => self.at += 8,
            8 => {
                let length = self.u64() as usize;
                self.at += length;
            }
            9 => {
                let item = self.u32();
                for _ in 0..self.u64() {
                    self.skip(item);
                }
            }
            _ => panic!("the donor has a value of type {kind}"),
        }
    }
}

/// Pseudo-random numbers that are the same everywhere (splitmix64, Steele, Lea and Flood 2014).
pub struct Random(u64);

impl Random {
    /// A generator; equal seeds give equal numbers.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any 64 bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in 0 to 1.
    pub fn unit(&mut self) -> f32 {
        // 24 bits are what an f32 holds exactly.
        (self.bits() >> 40) as f32 / (1_u32 << 24) as f32
    }

    /// A number of mean 0 and variance 1, near enough to normal: the sum of twelve uniform ones.
    pub fn normal(&mut self) -> f32 {
        (0..12).map(|_| self.unit()).sum::<f32>() - 6.0
    }
}

/// The nearest half-precision number (IEEE 754 binary16), as its bits.
pub fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = ((bits >> 16) & 0x8000) as u16;
    let magnitude = value.abs();
    if magnitude.is_nan() {
        return 0x7e00;
    }
    if magnitude >= 65_520.0 {
        return sign | 0x7c00;
    }
    if magnitude < 6.103_515_6e-5 {
        // Subnormal: a multiple of 2^-24.
        return sign | (magnitude * 16_777_216.0).round_ties_even() as u16;
    }
    // Rebias the exponent from 127 to 15 and round 23 bits to 10, half to even; a carry flows into the exponent.
    let rebiased = (bits & 0x7fff_ffff) - ((127 - 15) << 23);
    let rounded = rebiased + 0xfff + ((rebiased >> 13) & 1);
    sign | (rounded >> 13) as u16
}
