//! Batches: however a prompt is cut into pieces, the cache holds the same tokens and the model says the same next one. And what
//! llama.cpp would abort over is refused before it sees it.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use llama_cpp_2::model::LlamaModel;
use proptest::prelude::*;

use crate::domain::inference::{Cancel, Token};
use crate::domain::loading::{CacheType, FlashAttention};

use super::ffi::{Context, DecodeError, Logits};
use super::sequence::{Device, Sequence};
use super::shape::{Placement, Rope, Shape};
use super::{backend, load};

/// Longest prompt tried, in tokens: more than one slice of a CPU.
const LONGEST: usize = 300;
/// How far apart logits may be that were computed in batches of different sizes. The kernels of a quantized model round otherwise
/// for one token than for many, which comes to 0.2 at most; one token more or less comes to 0.8 at least.
const ROUNDING: f64 = 0.4;

fn cria() -> Arc<LlamaModel> {
    static MODEL: OnceLock<Arc<LlamaModel>> = OnceLock::new();
    let load = || {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/cria/cria-q8_0.gguf");
        let placement = Placement::default();
        Arc::new(load::weights(backend::start().unwrap(), &path, &placement, &mut |_| true).unwrap())
    };
    Arc::clone(MODEL.get_or_init(load))
}

fn context(context: u32, batch: u32, ubatch: u32) -> Context {
    let shape = Shape {
        context,
        batch,
        ubatch,
        sequences: 1,
        outputs: 1,
        threads: 2,
        threads_batch: 2,
        cache: (CacheType::default(), CacheType::default()),
        kv_offload: true,
        flash_attention: FlashAttention::Auto,
        rope: Rope::default(),
    };
    Context::new(cria(), shape, Cancel::default()).unwrap()
}

/// Tokens like those of a text: any of the vocabulary, the same ones every time.
fn prompt() -> Vec<Token> {
    let vocabulary = cria().n_vocab();
    let mut state = 1_u32;
    let mut next = || {
        // Numerical Recipes' generator: good enough for a mixture.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        Token((state >> 8) as i32 % vocabulary)
    };
    (0..LONGEST).map(|_| next()).collect()
}

/// The logits after each of the prompt's tokens, computed one by one.
fn one_by_one() -> &'static [Vec<f32>] {
    static LOGITS: OnceLock<Vec<Vec<f32>>> = OnceLock::new();
    LOGITS.get_or_init(|| {
        let mut sequence = Sequence::new(context(512, 1, 1), Device::Cpu);
        let after = |token: &Token| {
            sequence.push(&[*token], Logits::Last).unwrap();
            sequence.logits().unwrap().to_vec()
        };
        prompt().iter().map(after).collect()
    })
}

/// How far two rows of logits are from each other, as a share of their spread: the root mean square of the differences over the
/// standard deviation.
fn distance(found: &[f32], expected: &[f32]) -> f64 {
    let count = expected.len() as f64;
    let mean = expected.iter().map(|x| f64::from(*x)).sum::<f64>() / count;
    let spread: f64 = expected.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum();
    let apart: f64 = found.iter().zip(expected).map(|(a, b)| f64::from(a - b).powi(2)).sum();
    (apart / spread).sqrt()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn pieces_of_any_size_give_the_same_cache_and_the_same_next_token(
        length in 1..=LONGEST,
        known in 0..LONGEST,
        batch in 1_u32..400,
        ubatch in 1_u32..400,
        on_card: bool,
    ) {
        let prompt = &prompt()[..length];
        let device = if on_card { Device::Gpu } else { Device::Cpu };
        let mut sequence = Sequence::new(context(512, batch, ubatch.min(batch)), device);
        // Part of it may be there already, and something else behind it.
        let known = &prompt[..known.min(length)];
        if !known.is_empty() {
            sequence.prefill(&[known, &[Token(1), Token(2)]].concat(), |_| ()).unwrap();
        }
        let mut told = Vec::new();
        sequence.prefill(prompt, |progress| told.push(progress.done)).unwrap();
        prop_assert_eq!(sequence.tokens(), prompt);
        prop_assert_eq!(sequence.context().len() as usize, length);
        prop_assert!(told.is_sorted() && told.last() == Some(&(length as u32)));
        let (found, expected) = (sequence.logits().unwrap(), &one_by_one()[length - 1]);
        let off = distance(found, expected);
        prop_assert!(off <= ROUNDING, "{off}");
    }
}

#[test]
fn what_llama_cpp_would_abort_over_is_refused() {
    let mut context = context(256, 32, 32);
    let vocabulary = cria().n_vocab();
    let bad = [
        vec![],
        vec![Token(0); context.n_batch() as usize + 1],
        vec![Token(-1)],
        vec![Token(0), Token(vocabulary)],
        vec![Token(i32::MIN)],
        vec![Token(i32::MAX)],
    ];
    for tokens in bad {
        assert_eq!(
            context.decode(&tokens, Logits::Last),
            Err(DecodeError::Failed(-1)),
            "{tokens:?}"
        );
        assert!(context.logits().is_none() && context.len() == 0);
    }
    // One row of logits is made room for, whatever the batch; asking for none leaves none.
    context.decode(&[Token(0); 32], Logits::Last).unwrap();
    assert_eq!(context.logits().map(<[f32]>::len), Some(vocabulary as usize));
    context.decode(&[Token(0); 32], Logits::None).unwrap();
    assert!(context.logits().is_none());
}

#[test]
fn a_context_that_is_full_says_so_and_goes_on() {
    let mut sequence = Sequence::new(context(256, 128, 128), Device::Cpu);
    let full = vec![Token(5); 256];
    sequence.prefill(&full, |_| ()).unwrap();
    assert_eq!(sequence.room(), 0);
    assert_eq!(sequence.push(&[Token(6)], Logits::Last), Err(DecodeError::Full));
    assert_eq!(sequence.prefill(&full[..10], |_| ()), Ok(9));
}
