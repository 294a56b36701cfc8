//! What goes on between the layers while a text is read: how widely each head of the attention looks, and how long each layer takes.
//! Read off llama.cpp's evaluation callback, with attention unfused, for fused attention shows nothing.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use llama_cpp_2::model::LlamaModel;

use crate::domain::inference::{Cancel, Token};
use crate::domain::loading::{CacheType, FlashAttention};

use super::ffi::{Context, DecodeError, Logits};
use super::shape::Shape;

/// llama.cpp's names for the weights of the attention and for what a layer puts out; the layer's number follows.
const ATTENTION: &str = "kq_soft_max-";
const OUTPUT: &str = "l_out-";

/// Takes a tensor that was computed.
type See = dyn FnMut(&str, [usize; 4], &[f32]) + Send;

/// Somebody who is told what is computed, tensor by tensor.
pub(super) struct Observer {
    /// Which tensors, by name.
    pub(super) wants: fn(&str) -> bool,
    /// Is told name, shape (fastest dimension first) and values.
    pub(super) sees: Box<See>,
}

/// What was seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inside {
    /// Layer by layer, from the first.
    pub layers: Vec<LayerSeen>,
}

/// What was seen of a layer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayerSeen {
    /// For each head, how widely it looks: the mean entropy of its weights, divided by the entropy of looking everywhere alike.
    /// From 0 (at one token) to 1 (at all alike). Empty where the layer has no attention.
    pub heads: Vec<f32>,
    /// How long it took, as far as the one before was seen too.
    pub time: Option<Duration>,
}

/// Reads `tokens` in a context of its own; `None` where llama.cpp makes none.
pub(super) fn look(model: &Arc<LlamaModel>, shape: Shape, tokens: &[Token]) -> Option<Result<Inside, DecodeError>> {
    let shape = Shape {
        // Quantized values need fused attention; what is looked at is the model, not its cache.
        cache: (CacheType::default(), CacheType::default()),
        flash_attention: FlashAttention::Off,
        ..shape
    };
    let seen = Arc::new(Mutex::new((Inside::default(), None::<(usize, Instant)>)));
    let taking = Arc::clone(&seen);
    let observer = Observer {
        wants: |name| name.starts_with(ATTENTION) || name.starts_with(OUTPUT),
        sees: Box::new(move |name, dims, values| {
            let mut seen = taking.lock().unwrap_or_else(PoisonError::into_inner);
            let (inside, last) = &mut *seen;
            if let Some(layer) = name.strip_prefix(ATTENTION).and_then(|at| at.parse().ok()) {
                inside.layer(layer).heads = heads(dims, values);
            } else if let Some(layer) = name.strip_prefix(OUTPUT).and_then(|at| at.parse::<usize>().ok()) {
                let now = Instant::now();
                let before = last.replace((layer, now));
                let follows = before.filter(|(before, _)| before + 1 == layer);
                inside.layer(layer).time = follows.map(|(_, then)| now.duration_since(then));
            }
        }),
    };
    let mut context = Context::observed(Arc::clone(model), shape, Cancel::default(), Some(observer))?;
    if let Err(error) = context.decode(tokens, Logits::Last) {
        return Some(Err(error));
    }
    context.synchronize();
    drop(context);
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    Some(Ok(seen.0.clone()))
}

/// Most layers that any model has here (llama.cpp's `LLAMA_MAX_LAYERS`): names are not trusted to count.
const LAYERS: usize = 512;

impl Inside {
    fn layer(&mut self, at: usize) -> &mut LayerSeen {
        let at = at.min(LAYERS - 1);
        if self.layers.len() <= at {
            self.layers.resize(at + 1, LayerSeen::default());
        }
        &mut self.layers[at]
    }
}

/// How widely each head looks, of weights whose dimensions are cells, tokens, heads. A token sees itself and those before it.
fn heads([cells, tokens, heads, _]: [usize; 4], weights: &[f32]) -> Vec<f32> {
    let head = |weights: &[f32]| {
        let rows = weights.chunks_exact(cells).enumerate().skip(1);
        let shares: Vec<f64> = rows.map(|(at, row)| entropy(row) / ((at + 1) as f64).log2()).collect();
        (shares.iter().sum::<f64>() / shares.len().max(1) as f64) as f32
    };
    if cells == 0 || tokens < 2 {
        return Vec::new();
    }
    weights.chunks_exact(cells * tokens).take(heads).map(head).collect()
}

/// Entropy in bits of weights that sum to 1; not a number where one is none.
fn entropy(weights: &[f32]) -> f64 {
    let bits = |p: f64| if p > 0.0 { -p * p.log2() } else { p * 0.0 };
    weights.iter().map(|p| bits(f64::from(*p))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_that_looks_everywhere_is_wide_and_one_that_looks_at_one_token_is_not() {
        let nan = f32::NAN;
        #[rustfmt::skip]
        let weights = [
            1.0, 0.0, 0.0, 0.0,  0.5, 0.5, 0.0, 0.0,
            1.0, 0.0, 0.0, 0.0,  1.0, 0.0, 0.0, 0.0,
            1.0, 0.0, 0.0, 0.0,  nan, nan, 0.0, 0.0,
        ];
        let seen = heads([4, 2, 3, 1], &weights);
        assert_eq!(seen[..2], [1.0, 0.0]);
        assert!(seen[2].is_nan());
        assert_eq!(heads([0, 2, 3, 1], &[]), Vec::<f32>::new());
    }
}
