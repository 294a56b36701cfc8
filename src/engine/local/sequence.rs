//! The KV cache as a list of tokens: what is computed already, and how to get from there to another prompt by computing the
//! difference only. Knows nothing of text or sampling.

use std::collections::VecDeque;

use llama_cpp_2::model::LlamaModel;

use crate::domain::inference::{PrefillProgress, Token};

use super::ffi::{Context, DecodeError, Logits, Part};
use super::packed;
use super::shape::Row;

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

/// How a model returns to an earlier point of the sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    /// It forgets any tail: every token has cells of its own.
    Cells,
    /// It cannot: what it remembers (a recurrent state) is overwritten token by token, so copies are kept.
    State,
}

/// What a recurrent or hybrid model remembered when the sequence had `len` tokens.
pub(super) struct Checkpoint {
    pub(super) len: usize,
    pub(super) state: Vec<u8>,
}

/// Whether a model remembers a text as one state, of which nothing can be taken away and which cannot be shared.
pub(super) fn keeps_state(model: &LlamaModel) -> bool {
    model.is_recurrent() || model.is_hybrid()
}

/// Most checkpoints: the turns that a person goes back to.
const CHECKPOINTS: usize = 16;
/// Most bytes in them, 512 MiB: large hybrids have states of tens of MiB.
const CHECKPOINT_BYTES: usize = 512 << 20;

/// A context and the tokens in its KV cache.
pub(super) struct Sequence {
    context: Context,
    tokens: Vec<Token>,
    /// Tokens computed between two looks at progress.
    slice: usize,
    memory: Memory,
    /// At ends of prompts, oldest first; none where the memory needs none.
    checkpoints: VecDeque<Checkpoint>,
    /// How many of the first tokens were computed from exactly the tokens before them: after a shift, the others saw some that
    /// are gone, and are of no use to another prompt.
    exact: usize,
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
        let model = context.model();
        let memory = if keeps_state(model) {
            Memory::State
        } else {
            Memory::Cells
        };
        Self {
            context,
            tokens: Vec::new(),
            slice,
            memory,
            checkpoints: VecDeque::new(),
            exact: usize::MAX,
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

    /// How many of the first tokens of `prompt` need not be computed: the longest common prefix that the model can return to,
    /// less one token where it is all of the prompt, because the last one's logits are needed.
    pub(super) fn reusable(&self, prompt: &[Token]) -> usize {
        let common = self.tokens.iter().zip(prompt).take_while(|(a, b)| a == b).count();
        self.returns_to(common.min(self.exact).min(prompt.len().saturating_sub(1)))
    }

    /// The last point at or before `len` that the model can return to.
    fn returns_to(&self, len: usize) -> usize {
        if self.memory == Memory::Cells || len == self.tokens.len() {
            return len;
        }
        let points = self.checkpoints.iter().map(|checkpoint| checkpoint.len);
        points.filter(|point| *point <= len).max().unwrap_or(0)
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
        let mut rest = &prompt[reused..];
        if self.memory == Memory::State
            && let Some((_, before)) = rest.split_last()
        {
            for tokens in before.chunks(self.slice) {
                self.push(tokens, Logits::None)?;
                progress.done += tokens.len() as u32;
                tell(progress);
            }
            // The end of a prompt is where another version, an edit or the next turn sets out from.
            self.keep_checkpoint();
            rest = &rest[before.len()..];
        }
        let mut rest = rest.chunks(self.slice).peekable();
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

    fn keep_checkpoint(&mut self) {
        let len = self.tokens.len();
        if len == 0 || self.checkpoints.iter().any(|checkpoint| checkpoint.len == len) {
            return;
        }
        let Some(state) = self.context.state(Part::Recurrent) else {
            tracing::debug!(len, "the model gives no copy of its state");
            return;
        };
        self.checkpoints.push_back(Checkpoint { len, state });
        let bytes = |kept: &VecDeque<Checkpoint>| kept.iter().map(|c| c.state.len()).sum::<usize>();
        while self.checkpoints.len() > CHECKPOINTS || bytes(&self.checkpoints) > CHECKPOINT_BYTES {
            self.checkpoints.pop_front();
        }
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
        if self.memory == Memory::State {
            // The state may have taken in a part of the batch; only a copy from before is known to be whole.
            let point = self.checkpoints.back().map_or(0, |checkpoint| checkpoint.len);
            self.restore(point);
            return;
        }
        let there = if self.context.truncate(before as u32) {
            self.context.len() as usize
        } else {
            0
        };
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

    /// Forgets all from token `len` on and returns how many are left: fewer than `len` where the model cannot return there.
    pub(super) fn rewind(&mut self, len: usize) -> usize {
        if len < self.tokens.len() {
            let point = self.returns_to(len);
            match self.memory {
                _ if point == 0 => self.clear(),
                Memory::State => self.restore(point),
                Memory::Cells if self.context.truncate(point as u32) => self.tokens.truncate(point),
                Memory::Cells => self.clear(),
            }
            if self.tokens.len() <= self.exact {
                self.exact = usize::MAX;
            }
        }
        self.tokens.len()
    }

    /// Returns to the checkpoint at `len` tokens, or to nothing where there is none.
    fn restore(&mut self, len: usize) {
        self.checkpoints.retain(|checkpoint| checkpoint.len <= len);
        let last = self
            .checkpoints
            .back()
            .filter(|checkpoint| checkpoint.len == len && len > 0);
        if last.is_some_and(|checkpoint| self.context.restore(Part::Recurrent, &checkpoint.state, len as u32)) {
            self.tokens.truncate(len);
        } else {
            self.clear();
        }
    }

    /// Makes room by forgetting the `discard` tokens from `keep` on, as llama.cpp's context shift does. Says whether the model
    /// could; those behind them saw what is gone and are not used for another prompt.
    pub(super) fn shift(&mut self, keep: usize, discard: usize) -> bool {
        let range = keep..keep.saturating_add(discard);
        let fits = discard > 0 && range.end <= self.tokens.len() && self.memory == Memory::Cells;
        if !fits || !self.context.shift(keep as u32, discard as u32) {
            return false;
        }
        self.tokens.drain(range);
        self.exact = self.exact.min(keep);
        true
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.context.clear();
        self.tokens.clear();
        self.checkpoints.clear();
        self.exact = usize::MAX;
    }

    /// The tokens and all that the model remembers of them, to be put back by [`Self::load`]. `None` where there are none, or where
    /// some saw what is gone.
    pub(super) fn save(&mut self) -> Option<(Vec<Token>, Vec<u8>)> {
        if self.tokens.is_empty() || self.exact != usize::MAX {
            return None;
        }
        let state = self.context.state(Part::Whole)?;
        Some((self.tokens.clone(), packed::pack(&state, &self.checkpoints)))
    }

    /// Puts back what [`Self::save`] gave for the same model, loaded in the same way. Says whether it could; where not, nothing is
    /// there any more.
    pub(super) fn load(&mut self, tokens: Vec<Token>, state: &[u8]) -> bool {
        self.clear();
        let len = tokens.len();
        let fits = len > 0 && len <= self.context.n_ctx() as usize;
        if let Some((state, checkpoints)) = packed::unpack(state).filter(|_| fits)
            && self.context.restore(Part::Whole, state, len as u32)
            && self.context.len() as usize == len
        {
            self.tokens = tokens;
            if self.memory == Memory::State {
                self.checkpoints = checkpoints;
                self.keep_checkpoint();
            }
            return true;
        }
        self.clear();
        false
    }

    /// Has so many sequences go on from what is there, each for itself.
    pub(super) fn fan_out(&mut self, count: usize) {
        self.context.fan_out(count as u32);
    }

    /// Computes a token of each of several sequences behind what they share. Not remembered here: [`Self::fold`] ends it.
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub(super) fn push_rows(&mut self, rows: &[Row]) -> Result<(), DecodeError> {
        self.context.decode_rows(rows)
    }

    /// The logits of a row of them.
    pub(super) fn logits_of(&mut self, row: usize) -> Option<&[f32]> {
        self.context.logits_of(row)
    }

    /// Forgets all that the sequences do not share.
    pub(super) fn fold(&mut self) {
        self.context.fold();
        if !self.context.truncate(self.tokens.len() as u32) {
            self.clear();
        }
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
