//! Any bytes as a model file: its header is read or refused in words, without a panic and without memory for what is not there.
#![no_main]

use std::fs;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use quipu::gguf::ModelFile;
use tempfile::TempDir;

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a folder for what is tried"));

fuzz_target!(|data: &[u8]| {
    let path = FOLDER.path().join("any.gguf");
    fs::write(&path, data).expect("room for what is tried");
    if let Err(error) = ModelFile::open(&path) {
        assert!(!error.to_string().is_empty());
    }
});
