//! The key-value pairs of a header and the ways to ask for them. Owns no judgement: absent and ill-typed are both `None`.

use std::collections::BTreeMap;

use super::value::{Array, Value, ValueType};

/// The metadata of a model, by key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata {
    values: BTreeMap<String, Value>,
}

impl Metadata {
    /// Adds a pair; `false` if the key is there already.
    pub(super) fn insert(&mut self, key: String, value: Value) -> bool {
        self.values.insert(key, value).is_none()
    }

    /// Replaces a value by one that is of the same kind for llama.cpp: whole numbers of any width, numbers, truth values, texts.
    ///
    /// # Errors
    /// The type of the value that is there, where it is of another.
    pub(super) fn replace(&mut self, key: &str, value: Value) -> Result<(), ValueType> {
        let kind = |value: &Value| match value.value_type() {
            ValueType::Bool => 0,
            ValueType::Text => 1,
            ValueType::F32 | ValueType::F64 => 2,
            ValueType::Array => 3,
            _ => 4,
        };
        match self.values.get(key) {
            Some(old) if kind(old) != kind(&value) => Err(old.value_type()),
            _ => {
                self.values.insert(key.to_owned(), value);
                Ok(())
            }
        }
    }

    /// Every pair, by key. Keys and values are untrusted text: sanitise before showing them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.values.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.values.get(key)
    }

    /// The value of `key` as a whole number that is not negative.
    pub fn u64(&self, key: &str) -> Option<u64> {
        self.get(key)?.as_u64()
    }

    /// The value of `key` as a float.
    pub fn f64(&self, key: &str) -> Option<f64> {
        self.get(key)?.as_f64()
    }

    /// The value of `key` as a truth value.
    pub fn bool(&self, key: &str) -> Option<bool> {
        self.get(key)?.as_bool()
    }

    /// The value of `key` as UTF-8 text.
    pub fn str(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    /// The value of `key` as an array.
    pub fn array(&self, key: &str) -> Option<&Array> {
        self.get(key)?.as_array()
    }

    /// How many items the array `key` has.
    pub fn array_len(&self, key: &str) -> Option<usize> {
        self.array(key).map(Array::len)
    }

    /// The architecture, such as `llama`.
    pub fn architecture(&self) -> Option<&str> {
        self.str("general.architecture")
    }

    /// The full name of an architecture's own key: `block_count` is `llama.block_count`.
    pub(super) fn own_key(&self, key: &str) -> String {
        format!("{}.{key}", self.architecture().unwrap_or_default())
    }

    /// The value of an architecture's own key.
    pub fn own(&self, key: &str) -> Option<&Value> {
        self.get(&self.own_key(key))
    }

    /// The value of an architecture's own key as a whole number that is not negative.
    pub fn own_u64(&self, key: &str) -> Option<u64> {
        self.own(key)?.as_u64()
    }

    /// An own key that has one number for all layers or an array with one for each; the number for `layer`.
    pub fn own_of_layer(&self, key: &str, layer: usize) -> Option<u64> {
        match self.own(key)? {
            Value::Array(array) => array.get(layer)?.as_u64(),
            scalar => scalar.as_u64(),
        }
    }

    /// The texts of the vocabulary by token id, as bytes: not every vocabulary is UTF-8.
    pub fn tokens(&self) -> impl Iterator<Item = &[u8]> {
        self.array("tokenizer.ggml.tokens")
            .into_iter()
            .flat_map(Array::iter_texts)
    }

    /// How many tokens the vocabulary has; 0 without one.
    pub fn vocabulary_size(&self) -> usize {
        self.array_len("tokenizer.ggml.tokens").unwrap_or(0)
    }

    /// The chat template, if there is one and it is UTF-8.
    pub fn chat_template(&self) -> Option<&str> {
        self.str("tokenizer.chat_template")
    }
}
