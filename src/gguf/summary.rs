//! What a person wants to know about a model at a glance. Texts are given as they stand in the file and are untrusted:
//! whoever shows them sanitises them (`text::sanitize`), since this room may not.

use std::collections::HashMap;

use super::model::ModelFile;
use super::tensor::TensorType;

/// A model in a few facts. What the file does not tell is `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The model's name for itself, else its file's name without the ending. Untrusted.
    pub name: String,
    /// The architecture, such as `llama`. Untrusted.
    pub architecture: String,
    /// Numbers in all tensors together.
    pub parameters: u64,
    /// How the weights are stored, such as `Q4_K_M`: what the file says, else its most used number format.
    pub quantization: &'static str,
    /// Bytes of all files.
    pub file_bytes: u64,
    /// The context that the model was trained with, in tokens.
    pub context_train: Option<u64>,
    /// Layers.
    pub layers: Option<u64>,
    /// Width of the network.
    pub embedding: Option<u64>,
    /// Attention heads of the first layer.
    pub heads: Option<u64>,
    /// Key-value heads of the first layer, which heads share.
    pub kv_heads: Option<u64>,
    /// Experts, in a mixture of them.
    pub experts: Option<u64>,
    /// Tokens in the vocabulary.
    pub vocabulary: u64,
    /// Whether the file brings a chat template.
    pub has_template: bool,
    /// The licence. Untrusted.
    pub licence: Option<String>,
    /// The sampling settings that the model's makers recommend.
    pub sampling: RecommendedSampling,
}

/// Sampling settings from `general.sampling.*`: only finite numbers, otherwise as they stand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecommendedSampling {
    /// The stages and their order, as llama.cpp writes them: names with semicolons between. Untrusted.
    pub sequence: Option<String>,
    /// Temperature.
    pub temperature: Option<f64>,
    /// How many candidates to keep.
    pub top_k: Option<u64>,
    /// How much probability to keep, 0 to 1.
    pub top_p: Option<f64>,
    /// Least probability relative to the best candidate, 0 to 1.
    pub min_p: Option<f64>,
    /// Probability of leaving out the best candidates, 0 to 1.
    pub xtc_probability: Option<f64>,
    /// What counts as a best candidate there, 0 to 1.
    pub xtc_threshold: Option<f64>,
    /// How many tokens back repetition counts.
    pub penalty_last_n: Option<u64>,
    /// What repetition is divided by; 1 is none.
    pub penalty_repeat: Option<f64>,
    /// Version of mirostat; 0 is none.
    pub mirostat: Option<u64>,
    /// The surprise that mirostat aims at.
    pub mirostat_tau: Option<f64>,
    /// How fast mirostat learns.
    pub mirostat_eta: Option<f64>,
}

impl RecommendedSampling {
    /// The names of the sampling parameters that are recommended, and the values as they would be written.
    pub fn values(&self) -> Vec<(&'static str, String)> {
        // In the precision of the file: 0.6 stays 0.6.
        let real = |number: Option<f64>| number.map(|number| (number as f32).to_string());
        let whole = |number: Option<u64>| number.map(|number| number.to_string());
        let all = [
            ("stages", self.sequence.clone()),
            ("temperature", real(self.temperature)),
            ("top-k", whole(self.top_k)),
            ("top-p", real(self.top_p)),
            ("min-p", real(self.min_p)),
            ("xtc-probability", real(self.xtc_probability)),
            ("xtc-threshold", real(self.xtc_threshold)),
            ("repeat-last-n", whole(self.penalty_last_n)),
            ("repeat-penalty", real(self.penalty_repeat)),
            ("mirostat", whole(self.mirostat)),
            ("mirostat-tau", real(self.mirostat_tau)),
            ("mirostat-eta", real(self.mirostat_eta)),
        ];
        all.into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }
}

impl ModelFile {
    /// The model in a few facts.
    pub fn summary(&self) -> Summary {
        let metadata = self.metadata();
        let text = |key: &str| metadata.str(key).map(str::trim).filter(|text| !text.is_empty());
        let stem = || self.path().file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let heads = metadata.own_of_layer("attention.head_count", 0);
        Summary {
            name: text("general.name")
                .or_else(|| text("general.basename"))
                .map(str::to_owned)
                .or_else(stem)
                .unwrap_or_default(),
            architecture: metadata.architecture().unwrap_or_default().to_owned(),
            parameters: self
                .tensors()
                .fold(0, |sum, tensor| sum.saturating_add(tensor.elements)),
            quantization: self.quantization(),
            file_bytes: self.file_bytes(),
            context_train: metadata.own_u64("context_length"),
            layers: metadata.own_u64("block_count"),
            embedding: metadata.own_u64("embedding_length"),
            heads,
            kv_heads: metadata.own_of_layer("attention.head_count_kv", 0).or(heads),
            experts: metadata.own_u64("expert_count").filter(|&count| count > 0),
            vocabulary: metadata.vocabulary_size() as u64,
            has_template: metadata.chat_template().is_some(),
            licence: text("general.license").map(str::to_owned),
            sampling: self.recommended_sampling(),
        }
    }

    fn recommended_sampling(&self) -> RecommendedSampling {
        let key = |name: &str| format!("general.sampling.{name}");
        let real = |name: &str| self.metadata().f64(&key(name)).filter(|number| number.is_finite());
        let whole = |name: &str| self.metadata().u64(&key(name));
        RecommendedSampling {
            temperature: real("temp"),
            top_k: whole("top_k"),
            top_p: real("top_p"),
            min_p: real("min_p"),
            xtc_probability: real("xtc_probability"),
            xtc_threshold: real("xtc_threshold"),
            penalty_last_n: whole("penalty_last_n"),
            penalty_repeat: real("penalty_repeat"),
            mirostat: whole("mirostat"),
            mirostat_tau: real("mirostat_tau"),
            mirostat_eta: real("mirostat_eta"),
            sequence: self.metadata().str(&key("sequence")).map(str::to_owned),
        }
    }

    fn quantization(&self) -> &'static str {
        let said = self.metadata().u64("general.file_type").and_then(file_type);
        said.or_else(|| self.commonest_format()).unwrap_or("?")
    }

    /// The number format that holds most bytes.
    fn commonest_format(&self) -> Option<&'static str> {
        let mut bytes: HashMap<u32, (u64, TensorType)> = HashMap::new();
        for tensor in self.tensors() {
            let entry = bytes.entry(tensor.kind.id).or_insert((0, tensor.kind));
            entry.0 = entry.0.saturating_add(tensor.bytes);
        }
        bytes
            .into_values()
            .max_by_key(|(bytes, kind)| (*bytes, kind.id))
            .map(|(_, kind)| kind.name)
    }
}

/// The usual name of a file type (`enum llama_ftype` of llama.h).
fn file_type(id: u64) -> Option<&'static str> {
    Some(match id {
        0 => "F32",
        1 => "F16",
        2 => "Q4_0",
        3 => "Q4_1",
        7 => "Q8_0",
        8 => "Q5_0",
        9 => "Q5_1",
        10 => "Q2_K",
        11 => "Q3_K_S",
        12 => "Q3_K_M",
        13 => "Q3_K_L",
        14 => "Q4_K_S",
        15 => "Q4_K_M",
        16 => "Q5_K_S",
        17 => "Q5_K_M",
        18 => "Q6_K",
        19 => "IQ2_XXS",
        20 => "IQ2_XS",
        21 => "Q2_K_S",
        22 => "IQ3_XS",
        23 => "IQ3_XXS",
        24 => "IQ1_S",
        25 => "IQ4_NL",
        26 => "IQ3_S",
        27 => "IQ3_M",
        28 => "IQ2_S",
        29 => "IQ2_M",
        30 => "IQ4_XS",
        31 => "IQ1_M",
        32 => "BF16",
        36 => "TQ1_0",
        37 => "TQ2_0",
        38 => "MXFP4",
        39 => "NVFP4",
        40 => "Q1_0",
        41 => "Q2_0",
        _ => return None,
    })
}
