//! A model as it lies on the disk: one GGUF file, or several that belong together. Opens all parts and answers for the
//! whole; what the numbers mean is for `validate`, `summary` and `footprint`.

use std::path::{Path, PathBuf};

use super::error::{Fault, GgufError};
use super::header::Header;
use super::metadata::Metadata;
use super::split::SplitName;
use super::tensor::Tensor;
use super::validate;
use super::value::{Value, ValueType};

/// The headers of a model's files.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelFile {
    first: Header,
    rest: Vec<Header>,
}

impl ModelFile {
    /// Reads the header of the file at `path` and, when it is a part of a model in several files, of every other part;
    /// any part may be named. Whether llama.cpp can use the model is asked with [`ModelFile::check`].
    pub fn open(path: &Path) -> Result<Self, GgufError> {
        let named = Header::read(path)?;
        let total = split_count(&named.metadata);
        if total <= 1 {
            return Ok(Self {
                first: named,
                rest: Vec::new(),
            });
        }
        let name = SplitName::of(path)
            .filter(|name| name.total == total)
            .ok_or_else(|| Fault::PartMisnamed(total).of(path))?;
        open_parts(path, &name)
    }

    /// A model of one file whose header was read already.
    #[cfg(test)]
    pub(super) const fn of_header(first: Header) -> Self {
        Self {
            first,
            rest: Vec::new(),
        }
    }

    /// Fails when llama.cpp would refuse the model, crash on it, or when it is no chat model at all.
    pub fn check(&self) -> Result<(), GgufError> {
        validate::check(self).map_err(|fault| fault.of(self.path()))
    }

    /// Fails when llama.cpp would refuse the vocabulary or crash on it. What is asked of the rest is not asked, so that a file
    /// without weights passes, and a model that is not for chatting.
    pub fn check_vocabulary(&self) -> Result<(), GgufError> {
        validate::check_vocabulary(self).map_err(|fault| fault.of(self.path()))
    }

    /// Puts a value in the place of the one that the file has under this key, if it has one. What is checked and read from then on
    /// is the file with that value.
    ///
    /// # Errors
    /// The type of the file's own value, where the new one has another.
    pub fn replace(&mut self, key: &str, value: Value) -> Result<(), ValueType> {
        self.first.metadata.replace(key, value)
    }

    /// The path to give to llama.cpp: the file, or the first of the parts.
    pub fn path(&self) -> &Path {
        &self.first.path
    }

    /// The header of the file or of the first part.
    pub const fn header(&self) -> &Header {
        &self.first
    }

    /// The header of every file, in order.
    pub fn headers(&self) -> impl Iterator<Item = &Header> {
        std::iter::once(&self.first).chain(&self.rest)
    }

    /// The metadata of the model.
    pub const fn metadata(&self) -> &Metadata {
        &self.first.metadata
    }

    /// Every tensor of the model.
    pub fn tensors(&self) -> impl Iterator<Item = &Tensor> {
        self.headers().flat_map(|header| &header.tensors)
    }

    /// The tensor of that name.
    pub fn tensor(&self, name: &str) -> Option<&Tensor> {
        self.tensors().find(|tensor| tensor.name == name)
    }

    /// Bytes of all files.
    pub fn file_bytes(&self) -> u64 {
        // Real files cannot overflow this; files that claim to be enormous saturate.
        self.headers()
            .fold(0, |sum, header| sum.saturating_add(header.file_bytes))
    }

    /// Whether the file has a vocabulary but no weights.
    pub fn is_vocab_only(&self) -> bool {
        self.tensors().next().is_none() && self.metadata().vocabulary_size() > 0
    }
}

/// How many files the model says it has.
fn split_count(metadata: &Metadata) -> u16 {
    metadata
        .u64("split.count")
        .and_then(|count| count.try_into().ok())
        .unwrap_or(0)
}

fn open_parts(named: &Path, name: &SplitName) -> Result<ModelFile, GgufError> {
    let paths: Vec<PathBuf> = (1..=name.total).map(|number| name.part(number, named)).collect();
    let missing: Vec<String> = paths
        .iter()
        .filter(|path| !path.exists())
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .collect();
    if !missing.is_empty() {
        let total = name.total;
        return Err(Fault::PartsMissing { total, missing }.of(named));
    }
    let mut headers = Vec::with_capacity(paths.len());
    for (number, path) in (0_u16..).zip(&paths) {
        let header = Header::read(path)?;
        check_part(&header, number, name.total).map_err(|fault| fault.of(path))?;
        headers.push(header);
    }
    check_total(&headers).map_err(|fault| fault.of(named))?;
    let mut headers = headers.into_iter();
    let first = headers
        .next()
        .ok_or_else(|| Fault::PartMisnamed(name.total).of(named))?;
    Ok(ModelFile {
        first,
        rest: headers.collect(),
    })
}

/// Fails unless this header says that it is part `number`, from 0, of `total`. llama.cpp takes these keys only as 16-bit
/// numbers and ends the process over another type.
fn check_part(header: &Header, number: u16, total: u16) -> Result<(), Fault> {
    let is = |key: &str, expected| header.metadata.get(key) == Some(&Value::U16(expected));
    // Only the first part must repeat how many there are.
    if is("split.no", number) && (number > 0 || is("split.count", total)) {
        Ok(())
    } else {
        Err(Fault::Unsound(format!(
            "its name says that it is part {} of {total} and its header says otherwise",
            u32::from(number) + 1
        )))
    }
}

/// Fails unless the parts have together the tensors that the first one promises, each once.
fn check_total(headers: &[Header]) -> Result<(), Fault> {
    let found: usize = headers.iter().map(|header| header.tensors.len()).sum();
    let promised = headers
        .first()
        .and_then(|header| header.metadata.u64("split.tensors.count"));
    if promised != Some(found as u64) {
        return Err(Fault::Unsound(format!(
            "its parts hold {found} tensors together, which is not what the first one promises"
        )));
    }
    let mut names: Vec<&str> = headers
        .iter()
        .flat_map(|header| header.tensors.iter().map(|tensor| tensor.name.as_str()))
        .collect();
    names.sort_unstable();
    if names.windows(2).any(|pair| pair.first() == pair.last()) {
        return Err(Fault::Unsound("two of its parts hold the same tensor".into()));
    }
    Ok(())
}
