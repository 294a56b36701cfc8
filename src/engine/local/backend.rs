//! llama.cpp's process-wide state: started once, never stopped. And what this machine has: processors, memory, graphics cards.

use std::sync::OnceLock;
use std::thread;

use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::{LlamaBackendDeviceType, list_llama_ggml_backend_devices};
use sysinfo::System;

use super::{ffi, logs};

/// Starts llama.cpp, or returns it where it runs. `None` where it refuses, which it does only if something else in this
/// process started it.
pub(super) fn start() -> Option<&'static LlamaBackend> {
    static BACKEND: OnceLock<Option<LlamaBackend>> = OnceLock::new();
    ffi::send_logs_to(logs::sink);
    BACKEND.get_or_init(|| LlamaBackend::init().ok()).as_ref()
}

/// Physical cores: generating is bound by memory bandwidth, and a second thread on a core only gets in the first one's way.
pub(super) fn cores() -> u32 {
    let logical = || thread::available_parallelism().ok().map(usize::from);
    let physical = System::physical_core_count().ok();
    // A container may be allowed less than the machine has.
    let cores = match (physical, logical()) {
        (Some(physical), Some(logical)) => physical.min(logical),
        (physical, logical) => physical.or(logical).unwrap_or(1),
    };
    u32::try_from(cores).unwrap_or(1).max(1)
}

/// A graphics card that llama.cpp sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Card {
    /// Its number among all devices, as ggml counts.
    pub(super) index: usize,
    /// ggml's name for it, such as `CUDA0`.
    pub(super) name: String,
    /// Free bytes.
    pub(super) free: u64,
}

/// The graphics cards that llama.cpp sees.
pub(super) fn cards() -> Vec<Card> {
    let is_gpu = |kind| {
        matches!(
            kind,
            LlamaBackendDeviceType::Gpu | LlamaBackendDeviceType::IntegratedGpu
        )
    };
    let cards = list_llama_ggml_backend_devices()
        .into_iter()
        .filter(|d| is_gpu(d.device_type));
    cards
        .map(|d| Card {
            index: d.index,
            name: d.name,
            free: d.memory_free as u64,
        })
        .collect()
}
