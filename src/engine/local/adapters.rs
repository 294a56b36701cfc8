//! Lays LoRA adapters and control vectors over a model that was loaded: checks each file first, so that a wrong one is told by
//! its name and never reaches llama.cpp.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::domain::inference::{Failure, FailureKind, LoadOptions};
use crate::gguf::{GgufError, Header};
use crate::text::sanitize_line;

use super::ffi::Context;
use super::logs;

/// Lays all that was asked for over `context`, whose model is of `architecture`.
///
/// # Errors
/// When a file cannot be used, with its name.
pub(super) fn lay(context: &mut Context, options: &LoadOptions, architecture: &str) -> Result<(), Failure> {
    let mut loras = Vec::with_capacity(options.lora.len());
    for adapter in &options.lora {
        header(&adapter.path)?
            .check_lora(architecture)
            .map_err(|error| unusable(&error))?;
        loras.push((c_path(&adapter.path)?, adapter.scale));
    }
    if !loras.is_empty() {
        logs::begin();
        context.lay_lora(&loras).map_err(|at| {
            let path = options.lora.get(at).map(|adapter| adapter.path.as_path());
            refused(path.unwrap_or_else(|| Path::new("")))
        })?;
    }
    control_vectors(context, options)
}

fn control_vectors(context: &mut Context, options: &LoadOptions) -> Result<(), Failure> {
    let (width, layers) = (context.model().n_embd() as u32, context.model().n_layer());
    let mut sum: Vec<f32> = vec![0.0; width as usize * layers as usize];
    for adapter in &options.control_vectors {
        let vector = header(&adapter.path)?
            .control_vector()
            .map_err(|error| unusable(&error))?;
        if vector.width != width {
            let path = shown(&adapter.path);
            let message = format!(
                "the control vector '{path}' has {} numbers a layer and the model {width}: it was made for another model",
                vector.width
            );
            return Err(Failure::new(FailureKind::Model, message));
        }
        // Directions for layers that the model does not have act on nothing, as in llama.cpp.
        for (sum, number) in sum.iter_mut().zip(vector.data) {
            *sum += number * adapter.scale;
        }
    }
    let Some(last) = options.control_vectors.last() else {
        return Ok(());
    };
    let (from, to) = options.control_vector_layers.unwrap_or((1, layers));
    let laid = context.lay_control_vector(&sum, width, from, to.min(layers));
    if laid { Ok(()) } else { Err(refused(&last.path)) }
}

fn header(path: &Path) -> Result<Header, Failure> {
    Header::read(path).map_err(|error| unusable(&error))
}

fn c_path(path: &Path) -> Result<CString, Failure> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| {
        let message = format!("the path '{}' holds a zero byte; name another file", shown(path));
        Failure::new(FailureKind::Model, message)
    })
}

fn unusable(error: &GgufError) -> Failure {
    Failure::new(FailureKind::Model, sanitize_line(&error.to_string()).into_owned())
}

fn refused(path: &Path) -> Failure {
    let reason = logs::first_error().map_or_else(String::new, |line| format!(": {}", sanitize_line(&line)));
    let message = format!(
        "llama.cpp cannot lay '{}' over this model{reason}; choose another file",
        shown(path)
    );
    Failure::new(FailureKind::Model, message)
}

fn shown(path: &Path) -> String {
    sanitize_line(&path.display().to_string()).into_owned()
}
