//! The table of everything that can be set about loading a model: names, bounds, defaults and help for flags, configuration,
//! environment and documentation.
//!
//! What an option means is said in `loading.rs`; here is how it is written.

use std::fmt;
use std::path::PathBuf;

use super::loading::{
    Adapter, CacheType, FlashAttention, GpuLayers, LoadOptions, Override, RopeScaling, SplitMode, TemplateChoice,
    choose,
};

/// One option that a person can set.
#[derive(Clone, Copy, Debug)]
pub struct LoadOption {
    /// Its name, as a flag without the dashes.
    pub name: &'static str,
    /// The default, as it is written.
    pub default: &'static str,
    /// What it does, in whole sentences.
    pub help: &'static str,
    field: Field,
}

/// Smallest and largest number, both accepted.
type Bounds = (u32, u32);

/// What an option accepts and where it goes.
#[derive(Clone, Copy, Debug)]
enum Field {
    /// A whole number, or `auto`.
    Amount(Bounds, fn(&mut LoadOptions) -> &mut Option<u32>),
    /// A positive number, or `auto`.
    Real(fn(&mut LoadOptions) -> &mut Option<f32>),
    /// On or off.
    Switch(fn(&mut LoadOptions) -> &mut bool),
    /// One of some words.
    Choice(&'static [&'static str], fn(&mut LoadOptions, &str) -> Option<()>),
    /// Something with a grammar of its own, told in words.
    Written(&'static str, fn(&mut LoadOptions, &str) -> Option<()>),
}

/// More than any machine has, so that a slip of the finger is caught.
const THREADS: Bounds = (1, 1024);
/// More than any model looks back on; the model and the memory say the rest when it is loaded.
const TOKENS: Bounds = (1, 1 << 30);
/// No model is as deep.
const LAYERS: u32 = 10_000;
/// No machine has as many cards.
const CARDS: u32 = 64;

const SPLIT_MODES: [(&str, SplitMode); 3] = [
    ("layer", SplitMode::Layer),
    ("row", SplitMode::Row),
    ("none", SplitMode::None),
];
const FLASH: [(&str, FlashAttention); 3] = [
    ("auto", FlashAttention::Auto),
    ("on", FlashAttention::On),
    ("off", FlashAttention::Off),
];
const SCALINGS: [(&str, RopeScaling); 4] = [
    ("model", RopeScaling::Model),
    ("none", RopeScaling::None),
    ("linear", RopeScaling::Linear),
    ("yarn", RopeScaling::Yarn),
];
const CACHE_TYPES: &[&str] = &["f32", "f16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl"];

const ADAPTERS: &str = "one file or several, separated by commas, each with ':SCALE' behind it where it is not 1";

/// All options, in the order in which they are shown.
pub const LOAD_OPTIONS: &[LoadOption] = &[
    LoadOption {
        name: "gpu-layers",
        default: "auto",
        help: "Layers to put on graphics cards. \"auto\" is all that fit, 0 keeps the model on the CPU.",
        field: Field::Written("\"auto\", \"all\" or a whole number from 0 to 10000", |o, text| {
            o.gpu_layers = match text {
                "auto" => GpuLayers::Auto,
                "all" => GpuLayers::Count(LAYERS),
                number => GpuLayers::Count(number.parse().ok().filter(|n| *n <= LAYERS)?),
            };
            Some(())
        }),
    },
    LoadOption {
        name: "devices",
        default: "auto",
        help: "The graphics cards that may be used, by the names that `quipu devices` tells. \"auto\" is all of them.",
        field: Field::Written("\"auto\", or names separated by commas", |o, text| {
            o.devices = list(text, |name| Some(name.to_owned()))?;
            Some(())
        }),
    },
    LoadOption {
        name: "split-mode",
        default: "layer",
        help: "How several cards share a model: whole layers each, the rows of every layer, or \"none\" for one card alone.",
        field: Field::Choice(&["layer", "row", "none"], |o, text| {
            put(&mut o.split_mode, choose(text, &SPLIT_MODES))
        }),
    },
    LoadOption {
        name: "main-gpu",
        default: "0",
        help: "The card that takes a model which is not split, counted from 0.",
        field: Field::Written("a whole number from 0 to 63", |o, text| {
            put(&mut o.main_gpu, text.parse().ok().filter(|n| *n < CARDS))
        }),
    },
    LoadOption {
        name: "tensor-split",
        default: "auto",
        help: "The cards' shares of a model, such as 3,1. \"auto\" goes by their free memory.",
        field: Field::Written("\"auto\", or numbers separated by commas", |o, text| {
            let shares = list(text, |share| {
                share.parse::<f32>().ok().filter(|s| s.is_finite() && *s >= 0.0)
            })?;
            // Shares of nothing are no shares.
            let sound = shares.is_empty() || shares.iter().any(|share| *share > 0.0);
            put(
                &mut o.tensor_split,
                (sound && shares.len() <= CARDS as usize).then_some(shares),
            )
        }),
    },
    LoadOption {
        name: "mmap",
        default: "true",
        help: "Whether weights are mapped from the file, which starts at once and shares memory, instead of copied.",
        field: Field::Switch(|o| &mut o.mmap),
    },
    LoadOption {
        name: "mlock",
        default: "false",
        help: "Whether the system is kept from swapping weights out. It may need permission for so much locked memory.",
        field: Field::Switch(|o| &mut o.mlock),
    },
    LoadOption {
        name: "threads",
        default: "auto",
        help: "CPU threads while an answer is written. \"auto\" is one for each physical core.",
        field: Field::Amount(THREADS, |o| &mut o.threads),
    },
    LoadOption {
        name: "threads-batch",
        default: "auto",
        help: "CPU threads while a prompt is read. \"auto\" is one for each physical core.",
        field: Field::Amount(THREADS, |o| &mut o.threads_batch),
    },
    LoadOption {
        name: "context",
        default: "auto",
        help: "Tokens that the model can look back on. \"auto\" is what it was trained on, at most 8192 and what fits in memory.",
        field: Field::Amount(TOKENS, |o| &mut o.context),
    },
    LoadOption {
        name: "batch",
        default: "auto",
        help: "Tokens of a prompt handed over at once; progress is shown, and a stop felt, after each batch. \"auto\" is 512.",
        field: Field::Amount(TOKENS, |o| &mut o.batch),
    },
    LoadOption {
        name: "ubatch",
        default: "auto",
        help: "Tokens computed at once, at most a batch. More is faster on some graphics cards and takes more memory. \"auto\" is 512.",
        field: Field::Amount(TOKENS, |o| &mut o.ubatch),
    },
    LoadOption {
        name: "cache-type-k",
        default: "f16",
        help: "How the context's keys are kept: q8_0 halves their memory at hardly any cost, smaller types cost precision.",
        field: Field::Choice(CACHE_TYPES, |o, text| put(&mut o.cache_type_k, cache_type(text))),
    },
    LoadOption {
        name: "cache-type-v",
        default: "f16",
        help: "How the context's values are kept. Types below bf16 need flash attention.",
        field: Field::Choice(CACHE_TYPES, |o, text| put(&mut o.cache_type_v, cache_type(text))),
    },
    LoadOption {
        name: "kv-offload",
        default: "true",
        help: "Whether the context of layers on a graphics card lies there too.",
        field: Field::Switch(|o| &mut o.kv_offload),
    },
    LoadOption {
        name: "flash-attention",
        default: "auto",
        help: "Whether attention is computed in one fused step, which saves memory. \"auto\" is wherever it can be.",
        field: Field::Choice(&["auto", "on", "off"], |o, text| {
            put(&mut o.flash_attention, choose(text, &FLASH))
        }),
    },
    LoadOption {
        name: "rope-scaling",
        default: "model",
        help: "How positions beyond the trained context are squeezed into it. \"model\" does what the model says.",
        field: Field::Choice(&["model", "none", "linear", "yarn"], |o, text| {
            put(&mut o.rope_scaling, choose(text, &SCALINGS))
        }),
    },
    LoadOption {
        name: "rope-freq-base",
        default: "auto",
        help: "Base frequency of the positions. \"auto\" is the model's.",
        field: Field::Real(|o| &mut o.rope_freq_base),
    },
    LoadOption {
        name: "rope-freq-scale",
        default: "auto",
        help: "Factor of the positions' frequencies: 0.5 doubles the context. \"auto\" is the model's.",
        field: Field::Real(|o| &mut o.rope_freq_scale),
    },
    LoadOption {
        name: "yarn-orig-ctx",
        default: "auto",
        help: "The context that YaRN stretches, in tokens. \"auto\" is the trained one.",
        field: Field::Amount(TOKENS, |o| &mut o.yarn_orig_ctx),
    },
    LoadOption {
        name: "lora",
        default: "",
        help: "LoRA adapters to lay over the model, GGUF files.",
        field: Field::Written(ADAPTERS, |o, text| put(&mut o.lora, adapters(text))),
    },
    LoadOption {
        name: "control-vector",
        default: "",
        help: "Control vectors to lay over the model, GGUF files.",
        field: Field::Written(ADAPTERS, |o, text| put(&mut o.control_vectors, adapters(text))),
    },
    LoadOption {
        name: "control-vector-layers",
        default: "auto",
        help: "First and last layer that control vectors act on, counted from 1, such as 5-20. \"auto\" is all.",
        field: Field::Written("\"auto\", or two layers as 5-20", |o, text| {
            let range = match text {
                "auto" => None,
                range => {
                    let (first, last) = range.split_once('-')?;
                    let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
                    Some((1..=last).contains(&first).then_some((first, last))?)
                }
            };
            o.control_vector_layers = range;
            Some(())
        }),
    },
    LoadOption {
        name: "cpu-moe",
        default: "false",
        help: "Whether the experts of a mixture stay on the CPU, which leaves a graphics card to everything else.",
        field: Field::Choice(&["true", "false"], |o, text| {
            o.n_cpu_moe = match text {
                "true" => LoadOptions::ALL_LAYERS,
                "false" => 0,
                _ => return None,
            };
            Some(())
        }),
    },
    LoadOption {
        name: "n-cpu-moe",
        default: "0",
        help: "The same for the experts of so many layers, counted from the first.",
        field: Field::Written("a whole number from 0 to 10000", |o, text| {
            put(&mut o.n_cpu_moe, text.parse().ok().filter(|n| *n <= LAYERS))
        }),
    },
    LoadOption {
        name: "override-kv",
        default: "",
        help: "Values of the file's metadata to replace, such as tokenizer.ggml.add_bos_token=bool:false.",
        field: Field::Written(
            "KEY=TYPE:VALUE, several separated by commas; the types are int, float, bool and str",
            |o, text| put(&mut o.overrides, list(text, Override::read)),
        ),
    },
    LoadOption {
        name: "template",
        default: "model",
        help: "The chat template: \"model\" for the model's own, the name of a built-in one such as chatml, or a file of jinja text.",
        field: Field::Written("\"model\", a name or a file", |o, text| {
            o.template = (text != "model").then(|| TemplateChoice::Named(text.to_owned()));
            (!text.is_empty()).then_some(())
        }),
    },
    LoadOption {
        name: "thinking-tags",
        default: "auto",
        help: "The tags around a model's thinking where they are not those of its template or of a known model, such as \"<plan> </plan>\".",
        field: Field::Written("\"auto\", or two tags with a blank between", |o, text| {
            o.thinking_tags = match text {
                "auto" => None,
                tags => {
                    let (open, close) = tags.split_once(char::is_whitespace)?;
                    let (open, close) = (open.trim(), close.trim());
                    let two = !close.is_empty() && !close.contains(char::is_whitespace) && open != close;
                    Some(two.then(|| (open.to_owned(), close.to_owned()))?)
                }
            };
            Some(())
        }),
    },
];

impl LoadOption {
    /// The option of that name.
    pub fn find(name: &str) -> Option<&'static Self> {
        LOAD_OPTIONS.iter().find(|option| option.name == name)
    }

    /// What it accepts, in words.
    pub fn accepts(&self) -> String {
        match self.field {
            Field::Amount((min, max), _) => format!("\"auto\" or a whole number from {min} to {max}"),
            Field::Real(_) => "\"auto\" or a number above 0".to_owned(),
            Field::Switch(_) => "true or false".to_owned(),
            Field::Choice(words, _) => format!("\"{}\"", words.join("\", \"")),
            Field::Written(words, _) => words.to_owned(),
        }
    }

    /// Sets it from what a person wrote.
    ///
    /// # Errors
    /// What it would accept; the options are unchanged then.
    pub fn set(&self, options: &mut LoadOptions, text: &str) -> Result<(), NotAccepted> {
        let text = text.trim();
        let set = match self.field {
            Field::Amount((min, max), field) => match text {
                "auto" => Some(None),
                number => number.parse().ok().filter(|n| (min..=max).contains(n)).map(Some),
            }
            .and_then(|amount| put(field(options), Some(amount))),
            Field::Real(field) => match text {
                "auto" => Some(None),
                number => number
                    .parse()
                    .ok()
                    .filter(|n: &f32| n.is_finite() && *n > 0.0)
                    .map(Some),
            }
            .and_then(|number| put(field(options), Some(number))),
            Field::Switch(field) => match text {
                "true" | "on" | "yes" | "1" => Some(true),
                "false" | "off" | "no" | "0" => Some(false),
                _ => None,
            }
            .and_then(|on| put(field(options), Some(on))),
            Field::Choice(_, set) | Field::Written(_, set) => set(options, text),
        };
        set.ok_or_else(|| NotAccepted {
            name: self.name,
            value: text.to_owned(),
            accepts: self.accepts(),
        })
    }
}

/// A value that an option does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAccepted {
    /// The option.
    pub name: &'static str,
    /// What was written.
    pub value: String,
    /// What it would take.
    pub accepts: String,
}

impl fmt::Display for NotAccepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "'{}' is no value for {}: give {}",
            self.value, self.name, self.accepts
        )
    }
}

impl std::error::Error for NotAccepted {}

fn put<T>(field: &mut T, value: Option<T>) -> Option<()> {
    *field = value?;
    Some(())
}

fn cache_type(name: &str) -> Option<CacheType> {
    CacheType::ALL.into_iter().find(|kind| kind.name() == name)
}

/// What stands between commas; nothing for `auto` and for an empty text.
fn list<T>(text: &str, read: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    match text {
        "" | "auto" => Some(Vec::new()),
        text => text.split(',').map(|part| read(part.trim())).collect(),
    }
}

/// Files, each with a scale behind its last colon where that is a number.
fn adapters(text: &str) -> Option<Vec<Adapter>> {
    list(text, |part| {
        let scaled = part
            .rsplit_once(':')
            .and_then(|(path, scale)| Some((path, scale.parse::<f32>().ok()?)));
        let (path, scale) = scaled.unwrap_or((part, 1.0));
        let path = PathBuf::from(path);
        (!path.as_os_str().is_empty() && scale.is_finite()).then_some(Adapter { path, scale })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, text: &str) -> Result<LoadOptions, String> {
        let mut options = LoadOptions::default();
        let option = LoadOption::find(name).unwrap();
        option.set(&mut options, text).map_err(|error| error.to_string())?;
        Ok(options)
    }

    #[test]
    fn defaults_are_what_the_table_says() {
        for option in LOAD_OPTIONS {
            assert_eq!(
                set(option.name, option.default),
                Ok(LoadOptions::default()),
                "{}",
                option.name
            );
        }
    }

    #[test]
    fn every_option_reaches_a_place_of_its_own() {
        let written = [
            "7",
            "CUDA0,CUDA1",
            "row",
            "1",
            "3,1",
            "false",
            "true",
            "3",
            "5",
            "4096",
            "64",
            "32",
            "q8_0",
            "q4_0",
            "false",
            "on",
            "yarn",
            "10000",
            "0.5",
            "2048",
            "a.gguf:0.5, b.gguf",
            "c:\\v.gguf",
            "2-9",
            "true",
            "4",
            "llama.expert_used_count=int:3, a.b=str:c",
            "chatml",
            "<plan> </plan>",
        ];
        assert_eq!(written.len(), LOAD_OPTIONS.len());
        let mut all = LoadOptions::default();
        for (option, text) in LOAD_OPTIONS.iter().zip(written) {
            let before = all.clone();
            option.set(&mut all, text).unwrap();
            assert_ne!(all, before, "{}", option.name);
        }
        let adapter = |path: &str, scale| Adapter {
            path: path.into(),
            scale,
        };
        assert_eq!(all.lora, [adapter("a.gguf", 0.5), adapter("b.gguf", 1.0)]);
        assert_eq!(all.control_vectors, [adapter("c:\\v.gguf", 1.0)]);
        assert_eq!(all.tensor_split, [3.0, 1.0]);
        assert_eq!(
            (all.gpu_layers, all.control_vector_layers),
            (GpuLayers::Count(7), Some((2, 9)))
        );
    }

    #[test]
    fn what_is_not_accepted_is_told_with_what_would_be() {
        assert_eq!(
            set("cache-type-k", "q3").unwrap_err(),
            "'q3' is no value for cache-type-k: give \"f32\", \"f16\", \"bf16\", \"q8_0\", \"q5_1\", \"q5_0\", \"q4_1\", \"q4_0\", \"iq4_nl\""
        );
        for (name, text) in [
            ("threads", "0"),
            ("context", "-1"),
            ("tensor-split", "0,0"),
            ("tensor-split", "1,x"),
            ("rope-freq-scale", "0"),
            ("rope-freq-base", "nan"),
            ("lora", "a.gguf,,b.gguf"),
            ("lora", "a.gguf:inf"),
            ("control-vector-layers", "9-2"),
            ("mmap", "perhaps"),
            ("template", ""),
            ("thinking-tags", "<a>"),
            ("n-cpu-moe", "-1"),
            ("override-kv", "a.b"),
            ("override-kv", "a.b=5"),
            ("override-kv", "a.b=int:-5"),
            ("override-kv", "a.b=int:4294967296"),
            ("override-kv", "a.b=float:nan"),
            ("override-kv", "=int:5"),
            ("override-kv", "a.b=bool:1"),
        ] {
            assert!(set(name, text).is_err(), "{name} {text}");
        }
    }
}
