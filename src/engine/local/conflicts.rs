//! Load options that exclude each other, or that this model or machine cannot follow: found before anything is loaded, so that
//! the person is told which one to change. Plans nothing.

use crate::domain::inference::{Failure, FailureKind, LoadOptions};
use crate::domain::loading::{CacheType, FlashAttention, GpuLayers, SplitMode};
use crate::gguf::Footprint;

/// Finds the first conflict.
///
/// # Errors
/// In words that name the options.
pub(super) fn check(options: &LoadOptions, footprint: &Footprint, cards: usize) -> Result<(), Failure> {
    found(options, footprint, cards).map_or(Ok(()), |words| Err(Failure::new(FailureKind::Model, words)))
}

fn found(options: &LoadOptions, footprint: &Footprint, cards: usize) -> Option<String> {
    let types = (options.cache_type_k, options.cache_type_v);
    if let (Some(batch), Some(ubatch)) = (options.batch, options.ubatch)
        && ubatch > batch
    {
        return Some(format!(
            "'--ubatch {ubatch}' is more than '--batch {batch}': a batch is computed in parts of ubatch; make one of them fit"
        ));
    }
    if types.1.is_quantized() && options.flash_attention == FlashAttention::Off {
        return Some(format!(
            "'--cache-type-v {}' needs flash attention and '--flash-attention off' forbids it: leave one of them away",
            types.1.name()
        ));
    }
    if let Some(head) = footprint.unfit_head(types) {
        let CacheTypeNames(keys, values) = CacheTypeNames::of(types);
        return Some(format!(
            "a cache of {keys} keys and {values} values needs heads of whole blocks and this model's have {head} numbers: use \
             '--cache-type-k f16 --cache-type-v f16'"
        ));
    }
    if options.split_mode == SplitMode::None && !options.tensor_split.is_empty() {
        return Some(
            "'--split-mode none' gives all to one card and '--tensor-split' shares it out: leave one of them away"
                .to_owned(),
        );
    }
    if options.tensor_split.len() > cards.max(1) {
        return Some(format!(
            "'--tensor-split' has {} shares and there are {cards} graphics cards: give one share for each",
            options.tensor_split.len()
        ));
    }
    let asked_for_card = options.split_mode == SplitMode::None && options.gpu_layers != GpuLayers::Count(0);
    if asked_for_card && cards > 0 && options.main_gpu as usize >= cards {
        return Some(format!(
            "'--main-gpu {}' is beyond the {cards} graphics cards there are: they are counted from 0, see 'quipu devices'",
            options.main_gpu
        ));
    }
    None
}

/// Two names for a sentence.
struct CacheTypeNames(&'static str, &'static str);

impl CacheTypeNames {
    fn of((keys, values): (CacheType, CacheType)) -> Self {
        Self(keys.name(), values.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gguf::ModelFile;

    fn told(options: &LoadOptions, cards: usize) -> Option<String> {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/cria/cria-q8_0.gguf");
        found(options, &ModelFile::open(&path).unwrap().footprint(), cards)
    }

    #[test]
    fn the_defaults_agree() {
        assert_eq!(told(&LoadOptions::default(), 0), None);
        assert_eq!(told(&LoadOptions::default(), 2), None);
    }

    #[test]
    fn each_conflict_names_both_sides() {
        let base = LoadOptions::default;
        let cases = [
            (
                LoadOptions {
                    batch: Some(64),
                    ubatch: Some(128),
                    ..base()
                },
                ["--batch 64", "--ubatch 128"],
            ),
            (
                LoadOptions {
                    cache_type_v: CacheType::Q8_0,
                    flash_attention: FlashAttention::Off,
                    ..base()
                },
                ["--cache-type-v q8_0", "--flash-attention off"],
            ),
            (
                LoadOptions {
                    split_mode: SplitMode::None,
                    tensor_split: vec![1.0],
                    ..base()
                },
                ["--split-mode none", "--tensor-split"],
            ),
            (
                LoadOptions {
                    tensor_split: vec![1.0; 3],
                    ..base()
                },
                ["3 shares", "2 graphics cards"],
            ),
            (
                LoadOptions {
                    split_mode: SplitMode::None,
                    main_gpu: 2,
                    ..base()
                },
                ["--main-gpu 2", "2 graphics cards"],
            ),
        ];
        for (options, sides) in cases {
            let words = told(&options, 2).unwrap_or_default();
            assert!(sides.iter().all(|side| words.contains(side)), "{words}");
        }
    }
}
