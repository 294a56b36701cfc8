//! Values that a person puts in the place of a file's metadata: into the header that is checked and planned with, and into what
//! llama.cpp is given. What they make of a file is checked like any other file.

use crate::domain::inference::{Failure, FailureKind};
use crate::domain::loading::{Override, OverrideValue};
use crate::gguf::{GgufError, ModelFile, Value, ValueType};
use crate::text::sanitize_line;

/// Puts `overrides` into the header of `file` and checks what comes of it.
///
/// # Errors
/// When a value has another type than the file's own, which llama.cpp would pass over in silence, or the file cannot be used with
/// them.
pub(super) fn lay(file: &mut ModelFile, overrides: &[Override]) -> Result<(), Failure> {
    for Override { key, value } in overrides {
        let value = match value {
            OverrideValue::Int(value) => Value::U32(*value),
            OverrideValue::Float(value) => Value::F64(*value),
            OverrideValue::Bool(value) => Value::Bool(*value),
            OverrideValue::Text(text) => Value::Text(text.as_bytes().to_vec()),
        };
        file.replace(key, value).map_err(|has| {
            let takes = match has {
                ValueType::Bool => "a truth value: 'bool:true' or 'bool:false'",
                ValueType::Text => "a text: 'str:…'",
                ValueType::F32 | ValueType::F64 => "a number: 'float:…'",
                ValueType::Array => "a list, which cannot be replaced",
                _ => "a whole number: 'int:…'",
            };
            refused(format!(
                "the override of '{}' has the wrong type: the file has {takes}",
                sanitize_line(key)
            ))
        })?;
    }
    let unusable = |error: GgufError| {
        let keys: Vec<_> = overrides
            .iter()
            .map(|o| format!("'{}'", sanitize_line(&o.key)))
            .collect();
        let with = if keys.is_empty() {
            String::new()
        } else {
            format!(" (with {} replaced)", keys.join(", "))
        };
        refused(format!("{}{with}", sanitize_line(&error.to_string())))
    };
    file.check().map_err(unusable)
}

/// The overrides as they are written; what tells a trial with them from one without.
pub(super) fn written(overrides: &[Override]) -> String {
    overrides.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn refused(words: String) -> Failure {
    Failure::new(FailureKind::Model, words)
}
