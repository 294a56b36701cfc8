//! What llama.cpp can compute on here, as a list for people. What of it a model takes is `plan.rs`'s business.

use llama_cpp_2::{LlamaBackendDevice, LlamaBackendDeviceType, list_llama_ggml_backend_devices};

use crate::text::sanitize_line;

use super::backend;

/// A device that this build can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// ggml's name for it, such as `CUDA0`; what `--devices` takes.
    pub name: String,
    /// What it is, in its maker's words.
    pub description: String,
    /// What drives it, such as `Vulkan`.
    pub backend: String,
    /// What kind of thing it is.
    pub kind: DeviceKind,
    /// Bytes of memory it has; 0 where it does not say.
    pub memory: u64,
    /// Bytes of that which are free.
    pub free: u64,
}

/// What kind of thing a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// The processor.
    Cpu,
    /// A graphics card with memory of its own.
    Gpu,
    /// Graphics that share the machine's memory.
    IntegratedGpu,
    /// Something that helps the processor compute.
    Accelerator,
    /// Something else.
    Other,
}

impl DeviceKind {
    /// A word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
            Self::IntegratedGpu => "igpu",
            Self::Accelerator => "accelerator",
            Self::Other => "other",
        }
    }

    /// Whether `--gpu-layers auto` puts layers there.
    pub const fn takes_layers(self) -> bool {
        matches!(self, Self::Gpu | Self::IntegratedGpu)
    }
}

/// The devices that this build can use, in ggml's order.
pub fn devices() -> Vec<Device> {
    // Its own log goes where ours goes, before it says anything.
    let _ = backend::start();
    list_llama_ggml_backend_devices().iter().map(device).collect()
}

/// Threads that a model is given where none are asked for.
pub fn usual_threads() -> u32 {
    backend::cores()
}

fn device(found: &LlamaBackendDevice) -> Device {
    let text = |text: &str| sanitize_line(text.trim()).into_owned();
    Device {
        name: text(&found.name),
        description: text(&found.description),
        backend: text(&found.backend),
        kind: match found.device_type {
            LlamaBackendDeviceType::Cpu => DeviceKind::Cpu,
            LlamaBackendDeviceType::Gpu => DeviceKind::Gpu,
            LlamaBackendDeviceType::IntegratedGpu => DeviceKind::IntegratedGpu,
            LlamaBackendDeviceType::Accelerator => DeviceKind::Accelerator,
            LlamaBackendDeviceType::Unknown => DeviceKind::Other,
        },
        memory: found.memory_total as u64,
        free: found.memory_free as u64,
    }
}
