//! The vocabulary: that its arrays agree, that no two tokens are the same, that the tokens it depends on exist. Follows
//! `llama_vocab::impl::load` and the tokenizers of llama-vocab.cpp, some of which end the process at the first odd text.

use std::borrow::Cow;
use std::collections::HashSet;

use super::super::error::{Fault, quoted};
use super::super::metadata::Metadata;
use super::super::tokenizers::{Tokenizer, knows_pre};
use super::super::value::ValueType;
use super::unsound;

/// Fails when the vocabulary would make llama.cpp fail or crash, now or at some text.
pub(super) fn check(metadata: &Metadata) -> Result<(), Fault> {
    let tokenizer = tokenizer(metadata)?;
    let Some(tokens) = metadata.array("tokenizer.ggml.tokens") else {
        return unsound("it has no vocabulary");
    };
    if tokens.item_type() != ValueType::Text || tokens.is_empty() {
        return unsound("its vocabulary is empty");
    }
    let mut texts: HashSet<Cow<'_, [u8]>> = HashSet::with_capacity(tokens.len());
    texts.extend(names(metadata));
    distinct(&texts, metadata)?;
    parallel(
        metadata,
        "tokenizer.ggml.scores",
        tokens.len(),
        &[ValueType::F32, ValueType::I32],
    )?;
    parallel(metadata, "tokenizer.ggml.token_type", tokens.len(), &[ValueType::I32])?;
    let kimi = metadata.str("tokenizer.ggml.pre") == Some("kimi-k2");
    let merges = metadata
        .array("tokenizer.ggml.merges")
        .map(super::super::value::Array::item_type);
    if tokenizer.merges && !kimi && merges != Some(ValueType::Text) {
        return unsound("its tokenizer has no merges");
    }
    if tokenizer.bytes {
        bytes(&texts)?;
    }
    special_tokens(metadata, tokenizer, tokens.len() as u64)
}

fn tokenizer(metadata: &Metadata) -> Result<Tokenizer, Fault> {
    let Some(name) = metadata.str("tokenizer.ggml.model") else {
        return unsound("it does not name its tokenizer");
    };
    if matches!(name, "none" | "no_vocab") {
        return unsound("it has no vocabulary");
    }
    let Some(tokenizer) = Tokenizer::named(name) else {
        return Err(Fault::TooNew(format!("the tokenizer {}", quoted(name.as_bytes()))));
    };
    let pre = metadata.str("tokenizer.ggml.pre").unwrap_or_default();
    // gemma4 names its own pre-tokenizer whatever the file says.
    if tokenizer.merges && tokenizer.name != "gemma4" && !knows_pre(pre) {
        return Err(Fault::TooNew(format!("the pre-tokenizer {}", quoted(pre.as_bytes()))));
    }
    Ok(tokenizer)
}

/// The tokens' texts as llama.cpp takes them: up to the first zero byte, and a name of their own for empty ones.
fn names(metadata: &Metadata) -> impl Iterator<Item = Cow<'_, [u8]>> {
    metadata
        .tokens()
        .enumerate()
        .map(|(id, text)| match text.split(|&byte| byte == 0).next() {
            Some([]) | None => Cow::Owned(format!("[EMPTY_{id}]").into_bytes()),
            Some(text) => Cow::Borrowed(text),
        })
}

/// llama.cpp ends the process when two tokens have the same text.
fn distinct(texts: &HashSet<Cow<'_, [u8]>>, metadata: &Metadata) -> Result<(), Fault> {
    if texts.len() == metadata.vocabulary_size() {
        return Ok(());
    }
    let mut seen = HashSet::new();
    let twice = names(metadata).find(|text| !seen.insert(text.clone()));
    unsound(format!(
        "its vocabulary has the token {} twice",
        quoted(&twice.unwrap_or_default())
    ))
}

/// An array beside the tokens must have an entry for each; more do no harm.
fn parallel(metadata: &Metadata, key: &str, tokens: usize, types: &[ValueType]) -> Result<(), Fault> {
    let Some(value) = metadata.get(key) else {
        return Ok(());
    };
    let Some(array) = value.as_array().filter(|array| types.contains(&array.item_type())) else {
        return unsound(format!("'{key}' is not an array of the right type"));
    };
    if array.len() < tokens {
        let found = array.len();
        return unsound(format!("'{key}' has {found} entries for {tokens} tokens"));
    }
    Ok(())
}

/// A SentencePiece vocabulary spells what it does not know byte by byte, each as `<0xNN>` or as itself.
fn bytes(texts: &HashSet<Cow<'_, [u8]>>) -> Result<(), Fault> {
    let missing = (0..=u8::MAX).find(|&byte| {
        let named = format!("<0x{byte:02X}>");
        !texts.contains(named.as_bytes()) && !texts.contains(&[byte][..])
    });
    match missing {
        Some(byte) => unsound(format!("its vocabulary cannot spell the byte 0x{byte:02X}")),
        None => Ok(()),
    }
}

fn special_tokens(metadata: &Metadata, tokenizer: Tokenizer, tokens: u64) -> Result<(), Fault> {
    for name in ["bos", "eos", "eot", "eom"] {
        let key = format!("tokenizer.ggml.{name}_token_id");
        let id = metadata.u64(&key);
        // All bits set is how some converters write "none".
        if id.is_some_and(|id| id >= tokens && id != u64::from(u32::MAX)) {
            return unsound(format!("'{key}' is not among its {tokens} tokens"));
        }
    }
    let exists = |key: &str, otherwise: Option<u64>| {
        let named = metadata.u64(key).filter(|&id| id < tokens);
        named.or(otherwise).is_some_and(|id| id < tokens)
    };
    let adds = |key: &str, otherwise| metadata.bool(key).unwrap_or(otherwise);
    // llama.cpp always begins gemma4's texts with BOS.
    let adds_bos = adds("tokenizer.ggml.add_bos_token", tokenizer.adds_bos) || tokenizer.name == "gemma4";
    if adds_bos && !exists("tokenizer.ggml.bos_token_id", tokenizer.bos) {
        return unsound("it begins texts with a token that it does not have");
    }
    if adds("tokenizer.ggml.add_eos_token", false) && !exists("tokenizer.ggml.eos_token_id", tokenizer.eos) {
        return unsound("it ends texts with a token that it does not have");
    }
    Ok(())
}
