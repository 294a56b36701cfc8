//! Where a model goes and how large its context is: pure arithmetic over its header, what was asked for and what the machine
//! has. Loads nothing.

use crate::domain::Bytes;
use crate::domain::inference::{Failure, FailureKind, GpuLayers, LoadOptions};
use crate::gguf::{Footprint, Summary};

use super::backend;
use super::ffi::Shape;

/// Largest context taken without being asked for: room for a long conversation at a price that every machine can pay.
const USUAL_CONTEXT: u32 = 8192;
/// Smallest context worth talking in.
const LEAST_CONTEXT: u32 = 256;
/// Tokens computed at once: llama.cpp's default, and where prompt reading stops getting faster.
const USUAL_BATCH: u32 = 512;
/// Logit rows that one decode keeps: the last token's.
const OUTPUTS: u64 = 1;
/// Kept free on a graphics card for its driver and for compute buffers, in bytes; llama.cpp keeps as much.
const GPU_MARGIN: u64 = 1 << 30;

/// What the machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Machine {
    /// Physical cores.
    pub(super) cores: u32,
    /// Bytes that may be taken.
    pub(super) memory: u64,
    /// Free bytes on graphics cards; `None` without one.
    pub(super) gpu: Option<u64>,
}

impl Machine {
    /// This one, now.
    pub(super) fn here() -> Self {
        Self {
            cores: backend::cores(),
            memory: backend::available_memory(),
            gpu: backend::gpu_memory(),
        }
    }
}

/// How a model will be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) shape: Shape,
    pub(super) gpu_layers: u32,
    pub(super) warnings: Vec<String>,
}

/// Plans a load.
///
/// # Errors
/// When the weights, or the context that was asked for, do not fit into memory.
pub(super) fn make(
    footprint: &Footprint,
    summary: &Summary,
    options: &LoadOptions,
    machine: Machine,
) -> Result<Plan, Failure> {
    let gpu_layers = layers_on_gpu(footprint, summary, options, machine);
    let mut warnings = Vec::new();
    let context = context(footprint, summary, options, machine, gpu_layers, &mut warnings)?;
    let batch = options.batch.unwrap_or(USUAL_BATCH).clamp(1, context);
    let threads = options.threads.unwrap_or(machine.cores).max(1);
    let shape = Shape {
        context,
        batch,
        ubatch: options.ubatch.unwrap_or(USUAL_BATCH).clamp(1, batch),
        threads,
        threads_batch: options
            .threads_batch
            .or(options.threads)
            .unwrap_or(machine.cores)
            .max(1),
    };
    Ok(Plan {
        shape,
        gpu_layers,
        warnings,
    })
}

/// Layers for the graphics card: what was asked for, or as many as fit with their share of the KV cache.
fn layers_on_gpu(footprint: &Footprint, summary: &Summary, options: &LoadOptions, machine: Machine) -> u32 {
    // The output layer counts as one more, as llama.cpp counts.
    let all = layers(summary) + 1;
    match (options.gpu_layers, machine.gpu) {
        (_, None) => 0,
        (GpuLayers::Count(layers), Some(_)) => layers.min(all),
        (GpuLayers::Auto, Some(free)) => {
            let context = options
                .context
                .unwrap_or(USUAL_CONTEXT.min(trained(summary).max(LEAST_CONTEXT)));
            let layer = (footprint.weights + footprint.kv_bytes_full(context)) / u64::from(all);
            let fit = free.saturating_sub(GPU_MARGIN) / layer.max(1);
            u32::try_from(fit).unwrap_or(all).min(all)
        }
    }
}

/// The context length: what was asked for where it fits, else the usual one as far as memory goes.
fn context(
    footprint: &Footprint,
    summary: &Summary,
    options: &LoadOptions,
    machine: Machine,
    gpu_layers: u32,
    warnings: &mut Vec<String>,
) -> Result<u32, Failure> {
    let trained = trained(summary);
    let free = free_for_context(footprint, summary, machine, gpu_layers);
    let fits = |context: u32| {
        let ubatch = options.ubatch.unwrap_or(USUAL_BATCH).min(context);
        let compute = footprint.compute_bytes(context, u64::from(ubatch), OUTPUTS);
        footprint.kv_bytes_full(context).saturating_add(compute) <= free
    };
    if let Some(asked) = options.context {
        if !fits(asked) {
            return Err(no_room(footprint, asked, free));
        }
        if asked > trained {
            warnings.push(format!(
                "this model was trained on {trained} tokens of context; beyond them it may lose its thread"
            ));
        }
        return Ok(asked);
    }
    let usual = trained.min(USUAL_CONTEXT);
    // Halving finds in a few steps what memory allows; nobody misses the tokens between two halves.
    let found = std::iter::successors(Some(usual), |c| Some(c / 2))
        .take_while(|c| *c >= LEAST_CONTEXT.min(usual))
        .find(|c| fits(*c));
    let context = found.ok_or_else(|| no_room(footprint, LEAST_CONTEXT.min(usual), free))?;
    if context < usual {
        warnings.push(format!(
            "memory allows a context of {context} tokens, fewer than the usual {usual}"
        ));
    }
    Ok(context)
}

/// Memory left for the context. Weights that stay in main memory are mapped from the file, so the system can let go of them,
/// but a model that does not fit as a whole would be read from disk again for every token.
fn free_for_context(footprint: &Footprint, summary: &Summary, machine: Machine, gpu_layers: u32) -> u64 {
    let all = u64::from(layers(summary) + 1);
    let on_gpu = footprint.weights / all * u64::from(gpu_layers);
    let in_memory = footprint.weights.saturating_sub(on_gpu);
    // The KV cache of a layer lies where the layer lies; what the card has left beyond its weights takes its part.
    let card = machine
        .gpu
        .filter(|_| gpu_layers > 0)
        .map_or(0, |free| free.saturating_sub(GPU_MARGIN + on_gpu));
    machine.memory.saturating_sub(in_memory) + card
}

fn no_room(footprint: &Footprint, context: u32, free: u64) -> Failure {
    let compute = footprint.compute_bytes(context, u64::from(USUAL_BATCH.min(context)), OUTPUTS);
    let need = footprint.kv_bytes_full(context).saturating_add(compute);
    let message = format!(
        "a context of {context} tokens needs {} of memory beside the weights and {} are free: close other programs, give a \
         smaller '--context', or use a smaller model",
        Bytes(need),
        Bytes(free)
    );
    Failure::new(FailureKind::Model, message)
}

/// Layers of the model, as far as a sound file says.
fn layers(summary: &Summary) -> u32 {
    summary
        .layers
        .and_then(|layers| u32::try_from(layers).ok())
        .unwrap_or(0)
}

/// The context that the model was trained on, where it says so.
fn trained(summary: &Summary) -> u32 {
    let trained = summary.context_train.filter(|tokens| *tokens > 0);
    trained.map_or(USUAL_CONTEXT, |tokens| u32::try_from(tokens).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gguf::ModelFile;

    fn plan(options: &LoadOptions, machine: Machine) -> Result<Plan, Failure> {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/cria/cria-v0-q8_0.gguf");
        let file = ModelFile::open(&path).unwrap();
        make(&file.footprint(), &file.summary(), options, machine)
    }

    const PLENTY: Machine = Machine {
        cores: 4,
        memory: 8 << 30,
        gpu: None,
    };

    #[test]
    fn the_usual_context_is_the_trained_one_or_what_memory_allows() {
        let usual = plan(&LoadOptions::default(), PLENTY).unwrap();
        assert_eq!(
            (usual.shape.context, usual.shape.threads, usual.gpu_layers),
            (1024, 4, 0)
        );
        assert_eq!(usual.warnings, Vec::<String>::new());
        let tight = plan(
            &LoadOptions::default(),
            Machine {
                memory: 16 << 20,
                ..PLENTY
            },
        )
        .unwrap();
        assert!(
            tight.shape.context < 1024 && tight.shape.context >= LEAST_CONTEXT,
            "{tight:?}"
        );
        assert_eq!(tight.warnings.len(), 1);
        assert!(
            plan(
                &LoadOptions::default(),
                Machine {
                    memory: 1 << 20,
                    ..PLENTY
                }
            )
            .is_err()
        );
    }

    #[test]
    fn a_context_that_was_asked_for_is_given_or_refused_with_numbers() {
        let ask = |context| LoadOptions {
            context: Some(context),
            ..LoadOptions::default()
        };
        let beyond = plan(&ask(4096), PLENTY).unwrap();
        assert_eq!(
            (beyond.shape.context, beyond.warnings.len()),
            (4096, 1),
            "more than trained is warned of"
        );
        let refused = plan(&ask(2_000_000_000), PLENTY).unwrap_err();
        assert!(
            refused.message.contains("8.0 GiB are free") && refused.message.contains("--context"),
            "{refused}"
        );
    }

    #[test]
    fn batches_never_exceed_what_holds_them() {
        let options = LoadOptions {
            context: Some(300),
            batch: Some(5000),
            ubatch: Some(9000),
            ..LoadOptions::default()
        };
        let shape = plan(&options, PLENTY).unwrap().shape;
        assert!(shape.ubatch <= shape.batch && shape.batch <= shape.context);
    }

    #[test]
    fn a_card_takes_the_layers_that_fit() {
        let with = |free, gpu_layers| {
            let options = LoadOptions {
                gpu_layers,
                ..LoadOptions::default()
            };
            plan(
                &options,
                Machine {
                    gpu: Some(free),
                    ..PLENTY
                },
            )
            .unwrap()
            .gpu_layers
        };
        assert_eq!(with(80 << 30, GpuLayers::Auto), 7, "six layers and the output");
        assert_eq!(with(1 << 20, GpuLayers::Auto), 0);
        assert_eq!(with(80 << 30, GpuLayers::Count(3)), 3);
        assert_eq!(with(80 << 30, GpuLayers::Count(99)), 7);
    }
}
