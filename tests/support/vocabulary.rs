//! Vocabularies as large as those of published models, made of cria's: what a tokenizer meets in them is as true as the rules that
//! they are made by, and what a sampler meets is as many candidates. Files without weights, to copy into models.

#![allow(unreachable_pub, reason = "included as a private module")]
#![allow(clippy::unwrap_used, reason = "test support: a failure here fails the test")]

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use crate::gguf::{CONTROL, Gguf, Meta, NORMAL, Random, copy_vocabulary, text};

/// Token types of GGUF besides those that other tests know.
const UNKNOWN: i32 = 2;
const USER_DEFINED: i32 = 4;
const BYTE: i32 = 6;

/// The vocabulary at `donor` with merges of its own tokens behind it, up to `tokens` entries: byte-pair encoding as in the qwen
/// family.
pub fn merged(donor: &Path, tokens: usize) -> Gguf {
    let mut file = Gguf::new();
    file.set("general.architecture", text("qwen2"));
    copy_vocabulary(&fs::read(donor).unwrap(), 0, &mut file);
    let mut texts = texts_of(&file, "tokenizer.ggml.tokens");
    let mut types = numbers_of(&file, "tokenizer.ggml.token_type");
    let mut merges = texts_of(&file, "tokenizer.ggml.merges");
    let mut known: HashSet<Vec<u8>> = texts.iter().cloned().collect();
    let words: Vec<Vec<u8>> = texts
        .iter()
        .zip(&types)
        .filter(|(_, kind)| **kind == NORMAL)
        .map(|(text, _)| text.clone())
        .collect();
    let mut random = Random::new(7);
    while texts.len() < tokens {
        let mut word = || &words[random.bits() as usize % words.len()];
        let (left, right) = (word().clone(), word().clone());
        let both = [left.as_slice(), &right].concat();
        if known.insert(both.clone()) {
            merges.push([left.as_slice(), b" ", &right].concat());
            texts.push(both);
            types.push(NORMAL);
        }
    }
    file.set("tokenizer.ggml.tokens", Meta::Texts(texts))
        .set("tokenizer.ggml.token_type", Meta::I32s(types))
        .set("tokenizer.ggml.merges", Meta::Texts(merges));
    file
}

/// The words of the vocabulary at `donor` as SentencePiece has them, up to `tokens` entries: bytes, words, and words put together,
/// each less likely than those before, as in the llama family.
pub fn pieces(donor: &Path, tokens: usize) -> Gguf {
    let mut old = Gguf::new();
    copy_vocabulary(&fs::read(donor).unwrap(), 0, &mut old);
    let types = numbers_of(&old, "tokenizer.ggml.token_type");
    let old = texts_of(&old, "tokenizer.ggml.tokens");
    let words = old.iter().zip(&types).filter(|(_, kind)| **kind == NORMAL);
    let words: Vec<String> = words.filter_map(|(text, _)| spelled(text)).collect();

    let mut texts = vec!["<unk>".to_owned(), "<s>".to_owned(), "</s>".to_owned()];
    let mut kinds = vec![UNKNOWN, CONTROL, CONTROL];
    texts.extend((0..=u8::MAX).map(|byte| format!("<0x{byte:02X}>")));
    kinds.resize(texts.len(), BYTE);
    let mut known: HashSet<String> = texts.iter().cloned().collect();
    // Letters come first: all else is merged from them.
    let letters = words.iter().flat_map(|word| word.chars()).map(String::from);
    for word in letters.chain(words.iter().cloned()) {
        if known.insert(word.clone()) {
            texts.push(word);
        }
    }
    let marks = ["<|im_start|>", "<|im_end|>"];
    let mut random = Random::new(8);
    while texts.len() < tokens - marks.len() {
        let mut word = || &words[random.bits() as usize % words.len()];
        let both = format!("{}{}", word(), word());
        if known.insert(both.clone()) {
            texts.push(both);
        }
    }
    kinds.resize(texts.len(), NORMAL);
    texts.extend(marks.map(str::to_owned));
    kinds.resize(texts.len(), CONTROL);
    let end = texts.len() as u32 - 1;
    let scores = (0..texts.len()).map(|id| -(id as f32)).collect();
    let mut file = Gguf::new();
    file.set("general.architecture", text("llama"))
        .set("tokenizer.ggml.model", text("llama"))
        .set(
            "tokenizer.ggml.tokens",
            Meta::Texts(texts.into_iter().map(String::into_bytes).collect()),
        )
        .set("tokenizer.ggml.scores", Meta::F32s(scores))
        .set("tokenizer.ggml.token_type", Meta::I32s(kinds))
        .set("tokenizer.ggml.bos_token_id", Meta::U32(1))
        .set("tokenizer.ggml.eos_token_id", Meta::U32(end))
        .set("tokenizer.ggml.unknown_token_id", Meta::U32(0))
        .set("tokenizer.ggml.add_bos_token", Meta::Bool(true))
        .set("tokenizer.ggml.add_eos_token", Meta::Bool(false));
    file
}

/// A byte-level word as SentencePiece writes it; none where it is no text or breaks a line.
fn spelled(text: &[u8]) -> Option<String> {
    // The printable bytes stand for themselves, the others for the characters from U+0100 on (GPT-2's table).
    let printable = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    let others: Vec<u8> = (0..=u8::MAX).filter(|byte| !printable(*byte)).collect();
    let byte = |c: char| match u32::from(c) {
        code @ 0..=0xff => Some(code as u8),
        code => others.get(code as usize - 0x100).copied(),
    };
    let bytes: Option<Vec<u8>> = str::from_utf8(text).ok()?.chars().map(byte).collect();
    let word = String::from_utf8(bytes?).ok()?;
    (!word.contains(char::is_control)).then(|| word.replace(' ', "▁"))
}

/// An array of texts that was copied.
pub fn texts_of(file: &Gguf, key: &str) -> Vec<Vec<u8>> {
    let mut rest = copied(file, key);
    let mut texts = Vec::new();
    while !rest.is_empty() {
        let (length, more) = rest.split_at(8);
        let length = u64::from_le_bytes(length.try_into().unwrap()) as usize;
        texts.push(more[..length].to_vec());
        rest = &more[length..];
    }
    texts
}

/// An array of 32-bit numbers that was copied.
fn numbers_of(file: &Gguf, key: &str) -> Vec<i32> {
    let chunks = copied(file, key).as_chunks::<4>().0;
    chunks.iter().map(|bytes| i32::from_le_bytes(*bytes)).collect()
}

/// The items of an array that was copied, behind its type and count.
fn copied<'a>(file: &'a Gguf, key: &str) -> &'a [u8] {
    let pair = file.pairs.iter().find(|(known, _)| known == key);
    match pair {
        Some((_, Meta::Raw(_, bytes))) => &bytes[12..],
        _ => &[],
    }
}

/// A vocabulary with control tokens and user-defined ones behind the others, where it has not got them already.
pub fn with_specials(mut file: Gguf, control: &[&str], user_defined: &[&str]) -> Gguf {
    let has = file.pairs.iter().find_map(|(key, value)| match value {
        Meta::Texts(texts) if key == "tokenizer.ggml.tokens" => Some(texts.clone()),
        _ => None,
    });
    let has: HashSet<Vec<u8>> = has.into_iter().flatten().collect();
    let new = |texts: &[&str]| -> Vec<Vec<u8>> {
        let new = texts.iter().filter(|text| !has.contains(text.as_bytes()));
        new.map(|text| text.as_bytes().to_vec()).collect()
    };
    let (control, user_defined) = (new(control), new(user_defined));
    for (key, value) in &mut file.pairs {
        match (key.as_str(), value) {
            ("tokenizer.ggml.tokens", Meta::Texts(texts)) => texts.extend([&*control, &user_defined].concat()),
            ("tokenizer.ggml.token_type", Meta::I32s(types)) => {
                types.resize(types.len() + control.len(), CONTROL);
                types.resize(types.len() + user_defined.len(), USER_DEFINED);
            }
            ("tokenizer.ggml.scores", Meta::F32s(scores)) => {
                scores.resize(scores.len() + control.len() + user_defined.len(), -1e6);
            }
            _ => {}
        }
    }
    file
}
