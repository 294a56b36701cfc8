//! Writes a model in another quantization, so that the same weights can be compared in all of them.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::domain::inference::{Failure, FailureKind};
use crate::text::sanitize_line;

use super::{backend, ffi, logs};

/// What can be written, in llama.cpp's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileType {
    F16,
    Q8_0,
    Q6K,
    Q4KM,
}

/// The quantizations that can be written.
const NAMES: [(&str, FileType); 4] = [
    ("F16", FileType::F16),
    ("Q8_0", FileType::Q8_0),
    ("Q6_K", FileType::Q6K),
    ("Q4_K_M", FileType::Q4KM),
];

/// Writes the model of `source`, a validated GGUF file, to `target` in `quantization`: one of F16, Q8_0, Q6_K and Q4_K_M.
///
/// # Errors
/// An unknown quantization, a path that C cannot name, or llama.cpp's own reason.
pub fn quantize(source: &Path, target: &Path, quantization: &str) -> Result<(), Failure> {
    let failed = |message: String| Failure::new(FailureKind::Model, message);
    let known = NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(quantization));
    let (_, file_type) = known.ok_or_else(|| {
        failed(format!(
            "'{}' is no quantization known here: give F16, Q8_0, Q6_K or Q4_K_M",
            sanitize_line(quantization)
        ))
    })?;
    let c_path = |path: &Path| {
        let shown = path.display().to_string();
        CString::new(path.as_os_str().as_bytes())
            .map_err(|_| failed(format!("the path '{}' has a zero byte in it", sanitize_line(&shown))))
    };
    let (source, target) = (c_path(source)?, c_path(target)?);
    backend::start().ok_or_else(|| failed("llama.cpp does not start in this process".to_owned()))?;
    logs::begin();
    if ffi::quantize(&source, &target, *file_type, backend::cores()) {
        return Ok(());
    }
    let reason = logs::first_error().unwrap_or_else(|| "llama.cpp did not say why".to_owned());
    Err(failed(format!(
        "cannot write the model as '{quantization}': {}",
        sanitize_line(&reason)
    )))
}
