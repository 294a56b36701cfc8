//! Where a model goes and how large its context is: pure arithmetic over its header, what was asked for and what the machine
//! has. Loads nothing.

use std::ffi::CString;

use crate::domain::Bytes;
use crate::domain::inference::{Failure, FailureKind, GpuLayers, LoadOptions};
use crate::domain::loading::CacheType;
use crate::gguf::{CARD_MARGIN, Footprint, Summary};

use super::backend::{self, Card};
use super::conflicts;
use super::shape::{Placement, Rope, Shape};

/// Largest context taken without being asked for: room for a long conversation at a price that every machine can pay.
const USUAL_CONTEXT: u32 = 8192;
/// Smallest context worth talking in.
const LEAST_CONTEXT: u32 = 256;
/// Tokens computed at once: llama.cpp's default, and where prompt reading stops getting faster.
const USUAL_BATCH: u32 = 512;
/// Logit rows that one decode keeps: the last token's.
const OUTPUTS: u64 = 1;

/// What the machine has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Machine {
    /// Physical cores.
    pub(super) cores: u32,
    /// Bytes that may be taken.
    pub(super) memory: u64,
    /// The graphics cards that may be used.
    pub(super) cards: Vec<Card>,
}

impl Machine {
    /// This one, now, with the graphics cards of these names, or all where none is named.
    ///
    /// # Errors
    /// When there is no card of a name.
    pub(super) fn here(devices: &[String]) -> Result<Self, Failure> {
        Ok(Self {
            cores: backend::cores(),
            // Where the system does not say, nothing is known to be missing: llama.cpp will say what it cannot have.
            memory: crate::engine::available_memory().unwrap_or(u64::MAX),
            cards: chosen(backend::cards(), devices)?,
        })
    }

    /// Free bytes on all cards; `None` without one.
    fn gpu(&self) -> Option<u64> {
        self.cards.iter().map(|card| card.free).reduce(u64::saturating_add)
    }
}

/// The cards of these names in their order, or all where none is named.
fn chosen(cards: Vec<Card>, names: &[String]) -> Result<Vec<Card>, Failure> {
    if names.is_empty() {
        return Ok(cards);
    }
    let find = |name: &String| {
        let found = cards.iter().find(|card| card.name.eq_ignore_ascii_case(name));
        found.cloned().ok_or_else(|| {
            let known: Vec<_> = cards.iter().map(|card| format!("'{}'", card.name)).collect();
            let hint = match known.as_slice() {
                [] => "this build sees no graphics card; leave '--devices' away".to_owned(),
                known => format!("there are {}", known.join(", ")),
            };
            Failure::new(FailureKind::Model, format!("there is no device '{name}': {hint}"))
        })
    };
    names.iter().map(find).collect()
}

/// How a model will be loaded.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    pub(super) shape: Shape,
    pub(super) placement: Placement,
    pub(super) warnings: Vec<String>,
}

impl Plan {
    /// The same without a graphics card, for when that one fails; `None` where it uses none.
    pub(super) fn on_cpu(&self) -> Option<Self> {
        if self.placement.gpu_layers == 0 {
            return None;
        }
        let mut plan = self.clone();
        plan.placement.gpu_layers = 0;
        plan.warnings.push(
            "the graphics card failed and the model runs on the CPU, which is slower; the log says why".to_owned(),
        );
        Some(plan)
    }
}

/// Plans a load.
///
/// # Errors
/// When the weights, or the context that was asked for, do not fit into memory.
pub(super) fn make(
    footprint: &Footprint,
    summary: &Summary,
    options: &LoadOptions,
    machine: &Machine,
) -> Result<Plan, Failure> {
    conflicts::check(options, footprint, machine.cards.len())?;
    let gpu_layers = layers_on_gpu(footprint, summary, options, machine);
    let mut warnings = Vec::new();
    if let (GpuLayers::Count(asked @ 1..), true) = (options.gpu_layers, machine.cards.is_empty()) {
        warnings.push(format!(
            "there is no graphics card that this build can use for {asked} layers: the model runs on the CPU; 'quipu devices' \
             lists what there is"
        ));
    }
    let context = context(footprint, summary, options, machine, gpu_layers, &mut warnings)?;
    let shape = shape(options, machine, context);
    let named = !options.devices.is_empty();
    let placement = Placement {
        gpu_layers,
        devices: machine.cards.iter().map(|card| card.index).filter(|_| named).collect(),
        split_mode: options.split_mode,
        main_gpu: options.main_gpu,
        tensor_split: options.tensor_split.clone(),
        mmap: options.mmap,
        mlock: options.mlock,
        overrides: options.overrides.clone(),
        on_cpu: if gpu_layers > 0 {
            experts_on_cpu(options)
        } else {
            Vec::new()
        },
    };
    Ok(Plan {
        shape,
        placement,
        warnings,
    })
}

/// How the context is made, of `context` tokens.
fn shape(options: &LoadOptions, machine: &Machine, context: u32) -> Shape {
    let batch = options.batch.unwrap_or(USUAL_BATCH).clamp(1, context);
    let threads = options.threads.unwrap_or(machine.cores).max(1);
    Shape {
        context,
        batch,
        ubatch: options.ubatch.unwrap_or(USUAL_BATCH).clamp(1, batch),
        sequences: 1,
        outputs: OUTPUTS as u32,
        threads,
        threads_batch: options
            .threads_batch
            .or(options.threads)
            .unwrap_or(machine.cores)
            .max(1),
        cache: types(options),
        kv_offload: options.kv_offload,
        flash_attention: options.flash_attention,
        rope: Rope {
            scaling: options.rope_scaling,
            freq_base: options.rope_freq_base,
            freq_scale: options.rope_freq_scale,
            yarn_orig_ctx: options.yarn_orig_ctx,
        },
    }
}

/// The names of the tensors of experts that stay on the CPU, as llama.cpp's programs write them.
fn experts_on_cpu(options: &LoadOptions) -> Vec<CString> {
    let experts = r"\.ffn_(up|down|gate|gate_up)_(ch|)exps";
    let patterns: Vec<_> = match options.n_cpu_moe {
        LoadOptions::ALL_LAYERS => vec![experts.to_owned()],
        layers => (0..layers).map(|layer| format!(r"blk\.{layer}{experts}")).collect(),
    };
    patterns
        .into_iter()
        .filter_map(|pattern| CString::new(pattern).ok())
        .collect()
}

/// Layers for the graphics card: what was asked for, or as many as fit with their share of the KV cache.
fn layers_on_gpu(footprint: &Footprint, summary: &Summary, options: &LoadOptions, machine: &Machine) -> u32 {
    // The output layer counts as one more, as llama.cpp counts.
    let all = layers(summary) + 1;
    match (options.gpu_layers, machine.gpu()) {
        (_, None) => 0,
        (GpuLayers::Count(layers), Some(_)) => layers.min(all),
        (GpuLayers::Auto, Some(free)) => {
            let context = options
                .context
                .unwrap_or(USUAL_CONTEXT.min(trained(summary).max(LEAST_CONTEXT)));
            footprint.layers_on_cards(all, context, types(options), free)
        }
    }
}

/// The context length: what was asked for where it fits, else the usual one as far as memory goes.
fn context(
    footprint: &Footprint,
    summary: &Summary,
    options: &LoadOptions,
    machine: &Machine,
    gpu_layers: u32,
    warnings: &mut Vec<String>,
) -> Result<u32, Failure> {
    let trained = trained(summary);
    let free = free_for_context(footprint, summary, machine, gpu_layers);
    let fits = |context: u32| {
        let ubatch = options.ubatch.unwrap_or(USUAL_BATCH).min(context);
        let compute = footprint.compute_bytes(context, u64::from(ubatch), OUTPUTS);
        footprint.kv_bytes_full(context, types(options)).saturating_add(compute) <= free
    };
    if let Some(asked) = options.context {
        if !fits(asked) {
            return Err(no_room(footprint, options, asked, free));
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
    let context = found.ok_or_else(|| no_room(footprint, options, LEAST_CONTEXT.min(usual), free))?;
    if context < usual {
        warnings.push(format!(
            "memory allows a context of {context} tokens, fewer than the usual {usual}"
        ));
    }
    Ok(context)
}

/// Memory left for the context. Weights that stay in main memory are mapped from the file, so the system can let go of them,
/// but a model that does not fit as a whole would be read from disk again for every token.
fn free_for_context(footprint: &Footprint, summary: &Summary, machine: &Machine, gpu_layers: u32) -> u64 {
    let all = u64::from(layers(summary) + 1);
    let on_gpu = footprint.weights / all * u64::from(gpu_layers);
    let in_memory = footprint.weights.saturating_sub(on_gpu);
    // The KV cache of a layer lies where the layer lies; what the card has left beyond its weights takes its part.
    let card = machine
        .gpu()
        .filter(|_| gpu_layers > 0)
        .map_or(0, |free| free.saturating_sub(CARD_MARGIN + on_gpu));
    machine.memory.saturating_sub(in_memory) + card
}

fn no_room(footprint: &Footprint, options: &LoadOptions, context: u32, free: u64) -> Failure {
    let compute = footprint.compute_bytes(context, u64::from(USUAL_BATCH.min(context)), OUTPUTS);
    let need = footprint.kv_bytes_full(context, types(options)).saturating_add(compute);
    let message = format!(
        "a context of {context} tokens needs {} of memory beside the weights and {} are free: close other programs, give a \
         smaller '--context', a smaller '--cache-type-k' and '--cache-type-v', or use a smaller model",
        Bytes(need),
        Bytes(free)
    );
    Failure::new(FailureKind::Model, message)
}

/// What keys and values are kept in.
const fn types(options: &LoadOptions) -> (CacheType, CacheType) {
    (options.cache_type_k, options.cache_type_v)
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

    fn plan(options: &LoadOptions, machine: &Machine) -> Result<Plan, Failure> {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/cria/cria-q8_0.gguf");
        let file = ModelFile::open(&path).unwrap();
        make(&file.footprint(), &file.summary(), options, machine)
    }

    fn with_memory(memory: u64) -> Machine {
        Machine {
            cores: 4,
            memory,
            cards: Vec::new(),
        }
    }

    fn plenty() -> Machine {
        with_memory(8 << 30)
    }

    fn card(name: &str, free: u64) -> Card {
        Card {
            index: 1,
            name: name.to_owned(),
            free,
        }
    }

    #[test]
    fn experts_stay_on_the_cpu_where_a_card_takes_the_rest() {
        let machine = Machine {
            cards: vec![card("CUDA0", 8 << 30)],
            ..plenty()
        };
        let of = |n_cpu_moe, machine: &Machine| {
            let options = LoadOptions {
                n_cpu_moe,
                ..LoadOptions::default()
            };
            plan(&options, machine).unwrap().placement.on_cpu
        };
        let experts = r"\.ffn_(up|down|gate|gate_up)_(ch|)exps";
        let named = |text: String| CString::new(text).unwrap();
        assert!(of(0, &machine).is_empty());
        assert_eq!(of(LoadOptions::ALL_LAYERS, &machine), [named(experts.to_owned())]);
        let two = [0, 1].map(|layer| named(format!(r"blk\.{layer}{experts}")));
        assert_eq!(of(2, &machine), two);
        assert!(of(2, &plenty()).is_empty(), "all is there already");
    }

    #[test]
    fn the_usual_context_is_the_trained_one_or_what_memory_allows() {
        let usual = plan(&LoadOptions::default(), &plenty()).unwrap();
        assert_eq!(
            (usual.shape.context, usual.shape.threads, usual.placement.gpu_layers),
            (1024, 4, 0)
        );
        assert_eq!(usual.warnings, Vec::<String>::new());
        let tight = plan(&LoadOptions::default(), &with_memory(16 << 20)).unwrap();
        assert!(
            tight.shape.context < 1024 && tight.shape.context >= LEAST_CONTEXT,
            "{tight:?}"
        );
        assert_eq!(tight.warnings.len(), 1);
        assert!(plan(&LoadOptions::default(), &with_memory(1 << 20)).is_err());
    }

    #[test]
    fn a_context_that_was_asked_for_is_given_or_refused_with_numbers() {
        let ask = |context| LoadOptions {
            context: Some(context),
            ..LoadOptions::default()
        };
        let beyond = plan(&ask(4096), &plenty()).unwrap();
        assert_eq!(
            (beyond.shape.context, beyond.warnings.len()),
            (4096, 1),
            "more than trained is warned of"
        );
        let refused = plan(&ask(2_000_000_000), &plenty()).unwrap_err();
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
            ubatch: Some(4000),
            ..LoadOptions::default()
        };
        let shape = plan(&options, &plenty()).unwrap().shape;
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
                &Machine {
                    cards: vec![card("GPU0", free)],
                    ..plenty()
                },
            )
            .unwrap()
            .placement
            .gpu_layers
        };
        assert_eq!(with(80 << 30, GpuLayers::Auto), 9, "eight layers and the output");
        assert_eq!(with(1 << 20, GpuLayers::Auto), 0);
        assert_eq!(with(80 << 30, GpuLayers::Count(3)), 3);
        assert_eq!(with(80 << 30, GpuLayers::Count(99)), 9);
    }

    #[test]
    fn smaller_keys_and_values_leave_room_for_more_context() {
        let ask = |kind| LoadOptions {
            context: Some(8192),
            cache_type_k: kind,
            cache_type_v: kind,
            ..LoadOptions::default()
        };
        let least = |kind| (1..512).find(|mib| plan(&ask(kind), &with_memory(mib << 20)).is_ok());
        let (plain, small) = (least(CacheType::F16).unwrap(), least(CacheType::Q8_0).unwrap());
        assert!(small < plain, "{small} {plain}");
    }

    #[test]
    fn layers_for_a_card_that_is_not_there_are_warned_of() {
        let options = LoadOptions {
            gpu_layers: GpuLayers::Count(9),
            ..LoadOptions::default()
        };
        let plan = plan(&options, &plenty()).unwrap();
        assert!(
            plan.warnings.iter().any(|words| words.contains("quipu devices")),
            "{plan:?}"
        );
        assert_eq!(plan.on_cpu(), None);
    }

    #[test]
    fn cards_are_chosen_by_name() {
        let cards = || vec![card("CUDA0", 1), card("CUDA1", 2)];
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(chosen(cards(), &[]).unwrap(), cards());
        assert_eq!(chosen(cards(), &names(&["cuda1"])).unwrap(), [card("CUDA1", 2)]);
        let unknown = chosen(cards(), &names(&["Vulkan0"])).unwrap_err();
        assert!(
            unknown.message.contains("'Vulkan0'") && unknown.message.contains("'CUDA0', 'CUDA1'"),
            "{unknown}"
        );
        assert!(
            chosen(Vec::new(), &names(&["x"]))
                .unwrap_err()
                .message
                .contains("no graphics card")
        );
    }
}
