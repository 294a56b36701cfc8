//! Telling what a file is that does not begin like a GGUF, from its first bytes. Owns the list of usual mistakes and
//! the remedy for each; a wrong guess costs a less helpful sentence, nothing more.

use std::fmt;

/// How many leading bytes are enough to tell: a web page may begin with some blank lines.
pub(super) const PREFIX: usize = 512;

/// What a file seems to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// HTML or XML: usually the page about a model instead of the model.
    WebPage,
    /// A pointer that git leaves where large files were not fetched.
    LfsPointer,
    /// Weights for other programs.
    Safetensors,
    /// Python's serialisation, as old `PyTorch` checkpoints have.
    Pickle,
    /// A zip archive, which `PyTorch` checkpoints are too.
    Zip,
    /// Compressed by gzip, zstd, xz, bzip2 or 7-Zip.
    Compressed,
    /// JSON: a configuration, or a server's error.
    Json,
    /// The formats of llama.cpp before August 2023.
    OldGgml,
    /// Only zeros: space was set aside for a download that never came.
    Zeros,
    /// Anything else.
    Unknown,
}

impl Foreign {
    /// What a file that begins with `head` seems to be.
    pub(super) fn sniff(head: &[u8]) -> Self {
        let text = head.trim_ascii_start();
        let starts = |magic: &[u8]| head.starts_with(magic);
        if [&b"<!"[..], b"<html", b"<HTML", b"<?xml"]
            .iter()
            .any(|tag| text.starts_with(tag))
        {
            Self::WebPage
        } else if starts(b"version https://git-lfs") {
            Self::LfsPointer
        } else if starts(b"PK\x03\x04") {
            Self::Zip
        } else if COMPRESSED.iter().any(|magic| starts(magic)) {
            Self::Compressed
        } else if GGML.iter().any(|magic| starts(magic)) {
            Self::OldGgml
        } else if starts(b"\x80") && head.get(1).is_some_and(|protocol| (2..=5).contains(protocol)) {
            Self::Pickle
        } else if head.get(8) == Some(&b'{') && head.get(6..8) == Some(&[0, 0]) {
            // A 64-bit length of a JSON header, which no real file fills to 48 bits.
            Self::Safetensors
        } else if text.starts_with(b"{") || text.starts_with(b"[") {
            Self::Json
        } else if head.iter().all(|&byte| byte == 0) {
            Self::Zeros
        } else {
            Self::Unknown
        }
    }
}

/// gzip, zstd, xz, bzip2, 7-Zip.
const COMPRESSED: [&[u8]; 5] = [
    b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd",
    b"\xfd7zXZ\0",
    b"BZh",
    b"7z\xbc\xaf\x27\x1c",
];

/// `ggml`, `ggmf`, `ggjt` and `ggla` as little-endian numbers.
const GGML: [&[u8]; 4] = [b"lmgg", b"fmgg", b"tjgg", b"algg"];

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WebPage => "it is a web page; use the link that downloads the file itself",
            Self::LfsPointer => "it is a git-lfs pointer; fetch the real file with 'git lfs pull'",
            Self::Safetensors => "it holds safetensors weights; get the GGUF version of the model",
            Self::Pickle => "it is a PyTorch checkpoint; get the GGUF version of the model",
            Self::Zip => "it is a zip archive or a PyTorch checkpoint; unpack it, or get the GGUF version",
            Self::Compressed => "it is a compressed file; unpack it first",
            Self::Json => "it is JSON text, perhaps an error message of a server; download the model again",
            Self::OldGgml => "it is a GGML file from before GGUF; get the GGUF version of the model",
            Self::Zeros => "it begins with zeros, so its download never finished; download it again",
            Self::Unknown => "it does not begin like one; check that it is the right file",
        })
    }
}
