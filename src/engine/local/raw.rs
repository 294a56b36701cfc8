//! Our words as llama.cpp's C types have them: plain data, with nothing called and nothing unsafe in it.

use std::ffi::c_char;

use llama_cpp_sys_2 as sys;

use crate::domain::loading::{CacheType, Override, OverrideValue};

/// An override as llama.cpp has it. Keys and texts are no longer than [`Override::LONGEST`], so that they end in a zero; whatever
/// is longer is cut.
pub(super) fn raw_override(given: &Override) -> sys::llama_model_kv_override {
    let text = |text: &str| {
        let mut raw = [0; Override::LONGEST + 1];
        for (to, from) in raw.iter_mut().zip(text.bytes().take(Override::LONGEST)) {
            *to = from as c_char;
        }
        raw
    };
    let (tag, value) = match &given.value {
        OverrideValue::Int(value) => (
            sys::LLAMA_KV_OVERRIDE_TYPE_INT,
            sys::llama_model_kv_override__bindgen_ty_1 {
                val_i64: i64::from(*value),
            },
        ),
        OverrideValue::Float(value) => (
            sys::LLAMA_KV_OVERRIDE_TYPE_FLOAT,
            sys::llama_model_kv_override__bindgen_ty_1 { val_f64: *value },
        ),
        OverrideValue::Bool(value) => (
            sys::LLAMA_KV_OVERRIDE_TYPE_BOOL,
            sys::llama_model_kv_override__bindgen_ty_1 { val_bool: *value },
        ),
        OverrideValue::Text(value) => (
            sys::LLAMA_KV_OVERRIDE_TYPE_STR,
            sys::llama_model_kv_override__bindgen_ty_1 { val_str: text(value) },
        ),
    };
    sys::llama_model_kv_override {
        tag,
        key: text(&given.key),
        __bindgen_anon_1: value,
    }
}

/// What a list of overrides ends with: one without a key.
pub(super) fn end_of_overrides() -> sys::llama_model_kv_override {
    raw_override(&Override {
        key: String::new(),
        value: OverrideValue::Int(0),
    })
}

/// The number format in which keys or values are kept.
pub(super) fn ggml_type(kind: CacheType) -> sys::ggml_type {
    match kind {
        CacheType::F32 => sys::GGML_TYPE_F32,
        CacheType::F16 => sys::GGML_TYPE_F16,
        CacheType::Bf16 => sys::GGML_TYPE_BF16,
        CacheType::Q8_0 => sys::GGML_TYPE_Q8_0,
        CacheType::Q5_1 => sys::GGML_TYPE_Q5_1,
        CacheType::Q5_0 => sys::GGML_TYPE_Q5_0,
        CacheType::Q4_1 => sys::GGML_TYPE_Q4_1,
        CacheType::Q4_0 => sys::GGML_TYPE_Q4_0,
        CacheType::Iq4Nl => sys::GGML_TYPE_IQ4_NL,
    }
}
