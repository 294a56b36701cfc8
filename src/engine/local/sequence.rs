//! The KV cache as a list of tokens: what is computed already, and how to get from there to another prompt by computing the
//! difference only. Knows nothing of text or sampling.

use crate::domain::inference::{PrefillProgress, Token};

use super::ffi::{Context, DecodeError, Logits};

/// Prompt tokens computed on a CPU between two looks at progress: it reads no faster in larger pieces, and a slow machine
/// shows something every few seconds. Fixed, never timed, because the size of a piece can change the last bits of logits and
/// the same seed must give the same answer.
const CPU_SLICE: usize = 256;

/// What computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Device {
    /// The processor alone.
    Cpu,
    /// A graphics card, at least for some layers.
    Gpu,
}

/// A context and the tokens in its KV cache.
pub(super) struct Sequence {
    context: Context,
    tokens: Vec<Token>,
    /// Tokens computed between two looks at progress.
    slice: usize,
}

impl Sequence {
    /// An empty cache. A graphics card reads whole batches at once, as it likes them.
    pub(super) fn new(context: Context, device: Device) -> Self {
        let batch = context.n_batch() as usize;
        let slice = if device == Device::Cpu {
            CPU_SLICE.min(batch)
        } else {
            batch
        };
        Self {
            context,
            tokens: Vec::new(),
            slice,
        }
    }

    /// The context, to read from.
    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    /// The tokens in the KV cache.
    pub(super) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// Tokens that still fit.
    pub(super) fn room(&self) -> usize {
        (self.context.n_ctx() as usize).saturating_sub(self.tokens.len())
    }

    /// How many of the first tokens of `prompt` need not be computed: the longest common prefix, less one token where it is
    /// all of the prompt, because the last one's logits are needed.
    pub(super) fn reusable(&self, prompt: &[Token]) -> usize {
        let common = self.tokens.iter().zip(prompt).take_while(|(a, b)| a == b).count();
        common.min(prompt.len().saturating_sub(1))
    }

    /// Brings the KV cache to `prompt` and leaves the logits of its last token. Tells progress after every slice; returns
    /// how many tokens were reused.
    ///
    /// # Errors
    /// See [`DecodeError`]; what was computed until then stays and is known.
    pub(super) fn prefill(
        &mut self,
        prompt: &[Token],
        mut tell: impl FnMut(PrefillProgress),
    ) -> Result<usize, DecodeError> {
        let reused = self.rewind(self.reusable(prompt));
        let mut progress = PrefillProgress {
            done: reused as u32,
            total: prompt.len() as u32,
            reused: reused as u32,
        };
        tell(progress);
        let mut rest = prompt[reused..].chunks(self.slice).peekable();
        while let Some(tokens) = rest.next() {
            let logits = if rest.peek().is_none() {
                Logits::Last
            } else {
                Logits::None
            };
            self.push(tokens, logits)?;
            progress.done += tokens.len() as u32;
            tell(progress);
        }
        Ok(reused)
    }

    /// Computes `tokens` after what is there.
    ///
    /// # Errors
    /// See [`DecodeError`]; the list of tokens is right again afterwards.
    pub(super) fn push(&mut self, tokens: &[Token], logits: Logits) -> Result<(), DecodeError> {
        match self.context.decode(tokens, logits) {
            Ok(()) => {
                self.tokens.extend_from_slice(tokens);
                Ok(())
            }
            Err(error) => {
                self.recover(tokens);
                Err(error)
            }
        }
    }

    /// After a decode that broke off: some of `tokens` may have been computed and stay. What cannot be known is forgotten.
    fn recover(&mut self, tokens: &[Token]) {
        let before = self.tokens.len();
        if self.context.model().is_recurrent()
            || self.context.model().is_hybrid()
            || !self.context.truncate(before as u32)
        {
            self.clear();
            return;
        }
        let there = self.context.len() as usize;
        if there != before {
            tracing::warn!(
                before,
                there,
                tokens = tokens.len(),
                "the KV cache is not where it was; clearing it"
            );
            self.clear();
        }
    }

    /// Forgets all from token `len` on and returns how many are left: `len`, or 0 where the model cannot forget a tail.
    pub(super) fn rewind(&mut self, len: usize) -> usize {
        if len < self.tokens.len() {
            if len > 0 && self.context.truncate(len as u32) {
                self.tokens.truncate(len);
            } else {
                self.clear();
            }
        }
        self.tokens.len()
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.context.clear();
        self.tokens.clear();
    }

    /// The logits of the last token, where the last push asked for them.
    pub(super) fn logits(&mut self) -> Option<&[f32]> {
        self.context.logits()
    }

    /// Waits for what a graphics card still computes.
    pub(super) fn synchronize(&mut self) {
        self.context.synchronize();
    }
}
