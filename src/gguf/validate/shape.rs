//! The numbers that describe the network: layers, heads, experts, rotation. Follows `load_hparams` of llama-model.cpp,
//! the assertions that open the graphs in src/models, and rope in ggml-cpu/ops.cpp.

use super::super::architecture::{Architecture, Heads, Memory};
use super::super::error::Fault;
use super::super::metadata::Metadata;
use super::super::value::{Value, ValueType};
use super::unsound;

/// `LLAMA_MAX_LAYERS`.
const LAYERS_MAX: u64 = 512;
/// `LLAMA_MAX_EXPERTS`.
const EXPERTS_MAX: u64 = 1024;
/// Widest network believed; the widest published ones are below 2^15.
const WIDTH_MAX: u64 = 1 << 20;
/// Most heads believed; llama.cpp multiplies heads and head lengths in 32 bits.
const HEADS_MAX: u64 = 1 << 14;
/// Longest context: llama.cpp counts positions in signed 32 bits.
const CONTEXT_MAX: u64 = i32::MAX as u64;

/// Fails when a number would make llama.cpp fail or crash.
pub(super) fn check(metadata: &Metadata, architecture: &Architecture) -> Result<(), Fault> {
    let shape = Shape { metadata, architecture };
    let layers = shape.required("block_count", LAYERS_MAX)?;
    shape.required("context_length", CONTEXT_MAX)?;
    shape.required("embedding_length", WIDTH_MAX)?;
    let ahead = shape.optional("nextn_predict_layers")?.unwrap_or(0);
    if ahead >= layers {
        return unsound(format!("all of its {layers} layers would be for guessing ahead"));
    }
    shape.experts(layers)?;
    shape.heads(layers)?;
    shape.rotation()?;
    shape.windows()?;
    shape.floats()
}

struct Shape<'a> {
    metadata: &'a Metadata,
    architecture: &'a Architecture,
}

impl Shape<'_> {
    /// A key that must be there, as a 32-bit number from 1 to `max`.
    fn required(&self, key: &str, max: u64) -> Result<u64, Fault> {
        match self.optional(key)? {
            Some(number) if (1..=max).contains(&number) => Ok(number),
            Some(number) => unsound(format!("'{}' is {number}, not in 1 to {max}", self.name(key))),
            None => unsound(format!("'{}' is missing", self.name(key))),
        }
    }

    /// A key that may be missing but is a 32-bit number if it is there; llama.cpp accepts no other type.
    fn optional(&self, key: &str) -> Result<Option<u64>, Fault> {
        match self.metadata.own(key) {
            None => Ok(None),
            Some(&Value::U32(number)) => Ok(Some(number.into())),
            Some(_) => unsound(format!("'{}' is not a 32-bit number", self.name(key))),
        }
    }

    /// A key with one number for all layers or one for each: the number of every layer, or nothing without the key.
    fn layered(&self, key: &str, layers: u64) -> Result<Option<Vec<u64>>, Fault> {
        let Some(Value::Array(array)) = self.metadata.own(key) else {
            let number = self.optional(key)?;
            return Ok(number.map(|number| vec![number; layers as usize]));
        };
        if array.len() as u64 != layers {
            let (name, found) = (self.name(key), array.len());
            return unsound(format!("'{name}' has {found} entries for {layers} layers"));
        }
        if !matches!(array.item_type(), ValueType::U32 | ValueType::I32) {
            return unsound(format!("'{}' holds no 32-bit numbers", self.name(key)));
        }
        let numbers: Option<Vec<u64>> = array.iter().map(|value| value.as_u64()).collect();
        match numbers {
            Some(numbers) => Ok(Some(numbers)),
            None => unsound(format!("'{}' holds a number below 0", self.name(key))),
        }
    }

    fn name(&self, key: &str) -> String {
        self.metadata.own_key(key)
    }

    fn experts(&self, layers: u64) -> Result<(), Fault> {
        let mut experts = self.optional("expert_count")?.unwrap_or(0);
        let used = self.layered("expert_used_count", layers)?.unwrap_or_default();
        let mut used = used.into_iter().max().unwrap_or(0);
        // llama.cpp takes a single expert of these two for none.
        if matches!(self.architecture.name, "hunyuan_vl" | "hunyuan-dense") && experts <= 1 {
            (experts, used) = (0, 0);
        }
        // These end the process where others make an error of it.
        let must = ["bailingmoe2", "glm4moe", "grovemoe", "lfm2moe", "smallthinker"];
        if experts == 0 && must.contains(&self.architecture.name) {
            return unsound("it is made of experts and has none");
        }
        let groups = self.optional("expert_group_count")?.unwrap_or(0);
        let groups_used = self.optional("expert_group_used_count")?.unwrap_or(0);
        if experts > EXPERTS_MAX || used > experts || (experts > 0 && used == 0) {
            return unsound(format!("it would use {used} of {experts} experts"));
        }
        let grouped = groups > 1;
        if (groups > 0 && groups >= experts)
            || (grouped && (!experts.is_multiple_of(groups) || !(1..groups).contains(&groups_used)))
        {
            return unsound(format!(
                "it would use {groups_used} of {groups} groups of {experts} experts"
            ));
        }
        Ok(())
    }

    fn heads(&self, layers: u64) -> Result<(), Fault> {
        if self.architecture.memory == Memory::Recurrent {
            return Ok(());
        }
        let Some(heads) = self.layered("attention.head_count", layers)? else {
            return unsound(format!("'{}' is missing", self.name("attention.head_count")));
        };
        let shared = self
            .layered("attention.head_count_kv", layers)?
            .unwrap_or_else(|| heads.clone());
        // Layers of hybrids and of pruned models (deci) may do without attention, but not all of them.
        let some_without = self.architecture.memory == Memory::Hybrid || self.architecture.name == "deci";
        let missing = if some_without {
            heads.iter().all(|&count| count == 0)
        } else {
            heads.contains(&0)
        };
        if missing || heads.iter().chain(&shared).any(|&count| count > HEADS_MAX) {
            return unsound(format!(
                "it does not have from 1 to {HEADS_MAX} attention heads in a layer"
            ));
        }
        for (&all, &kv) in heads.iter().zip(&shared) {
            if all > 0 && kv > 0 && !all.is_multiple_of(kv) {
                return unsound(format!("{all} attention heads cannot share {kv} key-value heads"));
            }
        }
        self.head_lengths(heads.first().copied().unwrap_or(0))
    }

    /// The lengths of keys and values, `heads` being the number of heads of the first layer.
    fn head_lengths(&self, heads: u64) -> Result<(), Fault> {
        let width = self.optional("embedding_length")?.unwrap_or(0);
        let key = self.optional("attention.key_length")?;
        let value = self.optional("attention.value_length")?;
        if [key, value]
            .iter()
            .flatten()
            .any(|&length| length == 0 || length > WIDTH_MAX)
        {
            return unsound("its attention heads have no sensible length");
        }
        if heads == 0 {
            return Ok(());
        }
        let lone = key.is_none() || value.is_none();
        if self.architecture.heads != Heads::Any && lone && !width.is_multiple_of(heads) {
            return unsound(format!("a width of {width} does not divide by {heads} attention heads"));
        }
        let key = key.unwrap_or(width / heads);
        let value = value.unwrap_or(width / heads);
        if key == 0 || (self.architecture.heads != Heads::Any && key != value) {
            return unsound(format!("its keys have {key} numbers and its values {value}"));
        }
        let rotated = self.optional("rope.dimension_count")?.unwrap_or(key);
        let whole = self.architecture.heads != Heads::Rotated || rotated == key;
        if rotated > key || !rotated.is_multiple_of(2) || !whole {
            return unsound(format!("it would rotate {rotated} of {key} numbers of every key"));
        }
        // Layers with a sliding window may have lengths of their own.
        let windowed = self.optional("attention.key_length_swa")?.unwrap_or(key);
        let rotated = self.optional("rope.dimension_count_swa")?.unwrap_or(0);
        if rotated > windowed || windowed > WIDTH_MAX {
            return unsound(format!(
                "it would rotate {rotated} of {windowed} numbers of every key in a window"
            ));
        }
        Ok(())
    }

    fn rotation(&self) -> Result<(), Fault> {
        let scaling = self.metadata.own("rope.scaling.type").map(Value::as_str);
        if scaling.is_some_and(|name| !matches!(name, Some("none" | "linear" | "yarn" | "longrope"))) {
            return unsound(format!("'{}' is unknown", self.name("rope.scaling.type")));
        }
        for key in ["rope.dimension_count", "rope.dimension_count_swa"] {
            let odd = |count: u64| !count.is_multiple_of(2) || count > WIDTH_MAX;
            if self.optional(key)?.is_some_and(odd) {
                return unsound(format!("'{}' is not an even number", self.name(key)));
            }
        }
        // The architectures that always rotate in sections end the process when the first three are empty.
        let must = matches!(
            self.architecture.name,
            "qwen2vl" | "qwen3vl" | "qwen3vlmoe" | "qwen35" | "qwen35moe" | "qwen4exp" | "paddleocr"
        );
        let Some(sections) = self.metadata.own("rope.dimension_sections") else {
            if must {
                return unsound(format!("'{}' is missing", self.name("rope.dimension_sections")));
            }
            return Ok(());
        };
        let sections: Option<Vec<u64>> = sections
            .as_array()
            .and_then(|array| array.iter().map(|value| value.as_u64()).collect());
        let fine = sections.is_some_and(|sections| {
            sections.iter().all(|&size| size <= WIDTH_MAX) && !(must && sections.iter().take(3).all(|&size| size == 0))
        });
        if fine {
            Ok(())
        } else {
            unsound(format!("'{}' makes no sense", self.name("rope.dimension_sections")))
        }
    }

    /// A model that says it looks through a window in some layers must do so in at least one (`is_swa_any`).
    fn windows(&self) -> Result<(), Fault> {
        let window = self.metadata.own_u64("attention.sliding_window").unwrap_or(0);
        let nowhere = match self.metadata.own("attention.sliding_window_pattern") {
            Some(Value::Array(array)) => {
                if array.len() as u64 > LAYERS_MAX {
                    return unsound("its pattern of sliding windows is longer than its layers");
                }
                array
                    .iter()
                    .all(|value| value.as_u64() == Some(0) || value.as_bool() == Some(false))
            }
            Some(value) => value.as_u64() == Some(1),
            None => false,
        };
        if window > 0 && nowhere {
            return unsound("it has a sliding window that no layer uses");
        }
        Ok(())
    }

    /// ggml ends the process over a normalisation constant below 0 or not a number.
    fn floats(&self) -> Result<(), Fault> {
        for key in [
            "attention.layer_norm_epsilon",
            "attention.layer_norm_rms_epsilon",
            "attention.group_norm_epsilon",
            "rope.freq_base",
            "rope.scaling.factor",
        ] {
            let number = self.metadata.own(key).map(|value| value.as_f64().unwrap_or(f64::NAN));
            if number.is_some_and(|number| !(number.is_finite() && number >= 0.0)) {
                return unsound(format!("'{}' is not a number from 0 up", self.name(key)));
            }
        }
        Ok(())
    }
}
