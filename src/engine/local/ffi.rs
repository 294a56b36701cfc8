//! The one file of the engine with `unsafe`: what the safe bindings do not offer (abort callbacks, outputs per decode, logs,
//! one-sequence decoding without copies), wrapped so that nothing outside can break llama.cpp's rules.
//!
//! Owns the raw context. Decides nothing: how to plan a prompt, what to sample and what to tell is the other files' business.
//! The layout facts below hold for llama-cpp-2 0.1.160 and llama-cpp-sys-2 0.1.161, which `Cargo.toml` pins.
#![allow(unsafe_code, reason = "the boundary to llama.cpp; every block says why it is sound")]

use std::ffi::{CStr, CString, c_char, c_void};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_sys_2 as sys;

use crate::domain::inference::{Cancel, Token, TurnId};
use crate::domain::loading::{FlashAttention, RopeScaling, SplitMode};

use super::inside::Observer;
use super::logs::Severity;
use super::quantize::FileType;
use super::raw::{end_of_overrides, ggml_type, raw_override};
use super::shape::{Placement, Row, Shape};

/// The sequence that the chat lives in.
const SEQUENCE: sys::llama_seq_id = 0;
/// `LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY` of llama.h: only what cannot be cut off at the end, which is all that is needed to
/// return to an earlier state.
const PARTIAL_STATE: sys::llama_state_seq_flags = 1;
/// All that is remembered of a sequence.
const WHOLE_STATE: sys::llama_state_seq_flags = 0;

/// What of a sequence's memory is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// What a recurrent or hybrid model remembers beside its attention cache.
    Recurrent,
    /// All of it.
    Whole,
}

impl Part {
    const fn flags(self) -> sys::llama_state_seq_flags {
        match self {
            Self::Recurrent => PARTIAL_STATE,
            Self::Whole => WHOLE_STATE,
        }
    }
}

/// Reads a model's weights. `progress` is told the part done, 0 to 1, and answers whether to go on. `None` where llama.cpp
/// refuses or was told to stop; its reason is in the log.
pub(super) fn load_model(
    _started: &LlamaBackend,
    path: &CStr,
    placement: &Placement,
    progress: &mut dyn FnMut(f32) -> bool,
) -> Option<LlamaModel> {
    // SAFETY: pure functions that return a plain struct and a constant.
    let (mut params, cards) = unsafe { (sys::llama_model_default_params(), sys::llama_max_devices()) };
    // SAFETY: the index is below the count.
    let device = |at: usize| unsafe { (at < sys::ggml_backend_dev_count()).then(|| sys::ggml_backend_dev_get(at)) };
    let mut devices: Vec<_> = placement.devices.iter().filter_map(|at| device(*at)).collect();
    if !devices.is_empty() {
        devices.push(ptr::null_mut());
        params.devices = devices.as_mut_ptr();
    }
    // llama.cpp reads as many shares as it could have devices.
    let mut shares = placement.tensor_split.clone();
    shares.resize(cards, 0.0);
    if !placement.tensor_split.is_empty() {
        params.tensor_split = shares.as_ptr();
    }
    params.n_gpu_layers = placement.gpu_layers as i32;
    params.main_gpu = placement.main_gpu as i32;
    params.split_mode = match placement.split_mode {
        SplitMode::Layer => sys::LLAMA_SPLIT_MODE_LAYER,
        SplitMode::Row => sys::LLAMA_SPLIT_MODE_ROW,
        SplitMode::None => sys::LLAMA_SPLIT_MODE_NONE,
    };
    params.load_mode = match (placement.mmap, placement.mlock) {
        (true, false) => sys::LLAMA_LOAD_MODE_AUTO,
        (true, true) => sys::LLAMA_LOAD_MODE_MMAP_MLOCK,
        (false, true) => sys::LLAMA_LOAD_MODE_MLOCK,
        (false, false) => sys::LLAMA_LOAD_MODE_NONE,
    };
    let overrides: Vec<_> = placement.overrides.iter().map(raw_override).collect();
    let overrides = [overrides, vec![end_of_overrides()]].concat();
    if !placement.overrides.is_empty() {
        params.kv_overrides = overrides.as_ptr();
    }
    let stays = |pattern: *const c_char| sys::llama_model_tensor_buft_override {
        pattern,
        // SAFETY: returns a pointer to a static; llama.cpp was started.
        buft: unsafe { sys::ggml_backend_cpu_buffer_type() },
    };
    let patterns = placement.on_cpu.iter().map(|pattern| pattern.as_ptr());
    let on_cpu: Vec<_> = patterns.chain([ptr::null()]).map(stays).collect();
    if !placement.on_cpu.is_empty() {
        params.tensor_buft_overrides = on_cpu.as_ptr();
    }
    let mut progress = progress;
    params.progress_callback = Some(loaded_part);
    params.progress_callback_user_data = (&raw mut progress).cast::<c_void>();
    // SAFETY: the path is NUL-terminated, the parameters are llama.cpp's own defaults with plain values changed, and the lists,
    // each ended as llama.cpp wants it, and the callback's data live until the call is over; llama.cpp copies the shares and uses
    // the rest only during it.
    let raw = unsafe { sys::llama_model_load_from_file(path.as_ptr(), params) };
    // SAFETY: `LlamaModel` is `repr(transparent)` over this non-null pointer (size checked below) and frees it when dropped; it
    // was made by the function that the safe wrapper calls too.
    NonNull::new(raw).map(|raw| unsafe { mem::transmute::<NonNull<sys::llama_model>, LlamaModel>(raw) })
}

unsafe extern "C" fn loaded_part(part: f32, data: *mut c_void) -> bool {
    // SAFETY: `data` is the reference that `load_model` keeps for the length of the call, used by nobody else meanwhile.
    let progress = unsafe { &mut *data.cast::<&mut dyn FnMut(f32) -> bool>() };
    // A panic must not unwind into C; the load ends then.
    catch_unwind(AssertUnwindSafe(|| progress(part))).unwrap_or(false)
}

/// Why a decode did not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum DecodeError {
    /// The KV cache has no room for the batch; nothing changed.
    #[error("the context is full")]
    Full,
    /// The turn was cancelled; what was computed of the batch may stay in the cache.
    #[error("cancelled")]
    Cancelled,
    /// llama.cpp's own code; the log has its words.
    #[error("llama.cpp failed with code {0}")]
    Failed(i32),
}

/// What the abort callback looks at: between two nodes of a graph, whether the turn at hand was cancelled.
struct Watch {
    cancel: Cancel,
    turn: AtomicU64,
}

/// A llama.cpp context with one sequence, and the model it belongs to.
pub(super) struct Context {
    raw: NonNull<sys::llama_context>,
    /// Boxed, so that the address given to llama.cpp stays good. Freed after `raw`, see `drop`.
    watch: Box<Watch>,
    /// Keeps the weights alive for as long as `raw` points to them.
    model: Arc<LlamaModel>,
    /// What is told of a computation while it runs. Boxed for the same reason.
    _observer: Option<Box<Observer>>,
    /// Most logit rows of one decode.
    outputs: usize,
    /// How many sequences there may be.
    sequences: u32,
    /// Tokens of the last decode whose logits it left behind: its last one, all, or none.
    kept: (Logits, usize),
}

// SAFETY: llama.cpp contexts have no thread affinity; this one is never shared (no `Sync`), only moved to the engine thread.
unsafe impl Send for Context {}

impl Context {
    /// Makes a context, or `None` where llama.cpp refuses; its reason is in the log.
    pub(super) fn new(model: Arc<LlamaModel>, shape: Shape, cancel: Cancel) -> Option<Self> {
        Self::observed(model, shape, cancel, None)
    }

    /// The same, with somebody who is told of what is computed, which takes its time.
    pub(super) fn observed(
        model: Arc<LlamaModel>,
        shape: Shape,
        cancel: Cancel,
        observer: Option<Observer>,
    ) -> Option<Self> {
        let mut observer = observer.map(Box::new);
        let watch = Box::new(Watch {
            cancel,
            turn: AtomicU64::new(u64::MAX),
        });
        // SAFETY: a pure function that returns a plain struct.
        let mut params = unsafe { sys::llama_context_default_params() };
        params.n_ctx = shape.context;
        params.n_batch = shape.batch;
        params.n_ubatch = shape.ubatch;
        params.n_threads = shape.threads as i32;
        params.n_threads_batch = shape.threads_batch as i32;
        // Reserving one row instead of a batch's worth saves 300 MiB with a vocabulary of 152k. `decode` asks for no more: that
        // would abort.
        params.n_outputs_max = shape.outputs;
        // One buffer for all: they share a prompt.
        params.n_seq_max = shape.sequences;
        params.kv_unified = true;
        params.no_perf = true;
        params.type_k = ggml_type(shape.cache.0);
        params.type_v = ggml_type(shape.cache.1);
        params.offload_kqv = shape.kv_offload;
        params.flash_attn_type = match shape.flash_attention {
            FlashAttention::Auto => sys::LLAMA_FLASH_ATTN_TYPE_AUTO,
            FlashAttention::On => sys::LLAMA_FLASH_ATTN_TYPE_ENABLED,
            FlashAttention::Off => sys::LLAMA_FLASH_ATTN_TYPE_DISABLED,
        };
        params.rope_scaling_type = match shape.rope.scaling {
            RopeScaling::Model => sys::LLAMA_ROPE_SCALING_TYPE_UNSPECIFIED,
            RopeScaling::None => sys::LLAMA_ROPE_SCALING_TYPE_NONE,
            RopeScaling::Linear => sys::LLAMA_ROPE_SCALING_TYPE_LINEAR,
            RopeScaling::Yarn => sys::LLAMA_ROPE_SCALING_TYPE_YARN,
        };
        // llama.cpp reads 0 as "the model's".
        params.rope_freq_base = shape.rope.freq_base.unwrap_or(0.0);
        params.rope_freq_scale = shape.rope.freq_scale.unwrap_or(0.0);
        params.yarn_orig_ctx = shape.rope.yarn_orig_ctx.unwrap_or(0);
        params.abort_callback = Some(is_cancelled);
        params.abort_callback_data = ptr::from_ref::<Watch>(&watch).cast_mut().cast::<c_void>();
        if let Some(observer) = &mut observer {
            params.cb_eval = Some(computed);
            params.cb_eval_user_data = ptr::from_mut::<Observer>(observer).cast::<c_void>();
        }
        // SAFETY: the model pointer is live (we hold the Arc), the parameters are llama.cpp's own defaults with plain values
        // changed, and the callbacks' data, which stay where they are, outlive the context (`drop` frees the context first).
        let raw = unsafe { sys::llama_init_from_model(raw_model(&model), params) };
        NonNull::new(raw).map(|raw| Self {
            raw,
            watch,
            model,
            _observer: observer,
            outputs: shape.outputs as usize,
            sequences: shape.sequences,
            kept: (Logits::None, 0),
        })
    }

    /// The model.
    pub(super) fn model(&self) -> &Arc<LlamaModel> {
        &self.model
    }

    /// Context length in tokens, as llama.cpp rounded it.
    pub(super) fn n_ctx(&self) -> u32 {
        // SAFETY: `raw` is a live context.
        unsafe { sys::llama_n_ctx(self.raw.as_ptr()) }
    }

    /// Most tokens that [`Self::decode`] takes.
    pub(super) fn n_batch(&self) -> u32 {
        // SAFETY: `raw` is a live context.
        unsafe { sys::llama_n_batch(self.raw.as_ptr()) }
    }

    /// From now on a decode ends early when `turn` is cancelled.
    pub(super) fn watch(&self, turn: TurnId) {
        self.watch.turn.store(turn.0, Ordering::Relaxed);
    }

    /// Appends `tokens` to the sequence and computes them; `logits` says whose logits are kept.
    ///
    /// # Errors
    /// See [`DecodeError`]. An empty or oversized batch, more logits than the context was made for and an id outside the
    /// vocabulary are refused as code -1, since llama.cpp would abort the process over them.
    pub(super) fn decode(&mut self, tokens: &[Token], logits: Logits) -> Result<(), DecodeError> {
        self.kept = (Logits::None, 0);
        let vocabulary = self.model.n_vocab();
        let known = |t: &Token| (0..vocabulary).contains(&t.0);
        let most = match logits {
            Logits::All => self.outputs.min(self.n_batch() as usize),
            Logits::None | Logits::Last => self.n_batch() as usize,
        };
        if tokens.is_empty() || tokens.len() > most || !tokens.iter().all(known) {
            return Err(DecodeError::Failed(-1));
        }
        let mut ids: Vec<sys::llama_token> = tokens.iter().map(|t| t.0).collect();
        let mut wanted = vec![i8::from(logits == Logits::All); ids.len()];
        if let (Some(last), Logits::Last) = (wanted.last_mut(), logits) {
            *last = 1;
        }
        // Null positions and sequence ids mean: after what is there, in sequence 0.
        let batch = sys::llama_batch {
            n_tokens: ids.len() as i32,
            token: ids.as_mut_ptr(),
            embd: ptr::null_mut(),
            pos: ptr::null_mut(),
            n_seq_id: ptr::null_mut(),
            seq_id: ptr::null_mut(),
            logits: wanted.as_mut_ptr(),
        };
        // SAFETY: `raw` is live and not shared (`&mut self`); the batch's two arrays have `n_tokens` entries, are not kept by
        // llama.cpp after the call, and hold ids within the vocabulary, no more of them than `n_batch`.
        let code = unsafe { sys::llama_decode(self.raw.as_ptr(), batch) };
        match code {
            0 => {
                self.kept = (logits, tokens.len());
                Ok(())
            }
            1 => Err(DecodeError::Full),
            2 => Err(DecodeError::Cancelled),
            code => Err(DecodeError::Failed(code)),
        }
    }

    /// Computes a token of each of several sequences, at its position, and keeps the logits of all.
    ///
    /// # Errors
    /// As [`Self::decode`]; a sequence that the context was not made for is refused too.
    pub(super) fn decode_rows(&mut self, rows: &[Row]) -> Result<(), DecodeError> {
        self.kept = (Logits::None, 0);
        let vocabulary = self.model.n_vocab();
        let sound = |row: &Row| (0..vocabulary).contains(&row.token.0) && row.sequence < self.sequences;
        let most = self.outputs.min(self.n_batch() as usize);
        if rows.is_empty() || rows.len() > most || !rows.iter().all(sound) {
            return Err(DecodeError::Failed(-1));
        }
        let mut ids: Vec<sys::llama_token> = rows.iter().map(|row| row.token.0).collect();
        let mut positions: Vec<sys::llama_pos> = rows.iter().map(|row| row.position as i32).collect();
        let mut counts = vec![1_i32; rows.len()];
        let mut sequences: Vec<sys::llama_seq_id> = rows.iter().map(|row| row.sequence as i32).collect();
        let mut named: Vec<*mut sys::llama_seq_id> = sequences.iter_mut().map(ptr::from_mut).collect();
        let mut wanted = vec![1_i8; rows.len()];
        let batch = sys::llama_batch {
            n_tokens: rows.len() as i32,
            token: ids.as_mut_ptr(),
            embd: ptr::null_mut(),
            pos: positions.as_mut_ptr(),
            n_seq_id: counts.as_mut_ptr(),
            seq_id: named.as_mut_ptr(),
            logits: wanted.as_mut_ptr(),
        };
        // SAFETY: `raw` is live and not shared (`&mut self`); every array has `n_tokens` entries and is not kept by llama.cpp after
        // the call; ids are within the vocabulary, sequences within those of the context, each named by a pointer to one id.
        let code = unsafe { sys::llama_decode(self.raw.as_ptr(), batch) };
        match code {
            0 => {
                self.kept = (Logits::All, rows.len());
                Ok(())
            }
            1 => Err(DecodeError::Full),
            2 => Err(DecodeError::Cancelled),
            code => Err(DecodeError::Failed(code)),
        }
    }

    /// Has the sequences 1 to `count` - 1 hold what the first does; the cells are shared.
    pub(super) fn fan_out(&mut self, count: u32) {
        for other in 1..count.min(self.sequences) {
            // SAFETY: `raw` is live and not shared; both sequences are among those of the context, and the range is all there is.
            unsafe {
                let memory = sys::llama_get_memory(self.raw.as_ptr());
                sys::llama_memory_seq_cp(memory, SEQUENCE, other as i32, -1, -1);
            }
        }
    }

    /// Forgets all sequences but the first.
    pub(super) fn fold(&mut self) {
        self.kept = (Logits::None, 0);
        for other in 1..self.sequences {
            // SAFETY: `raw` is live and not shared; the sequence is among those of the context, and an open range is valid.
            unsafe {
                let memory = sys::llama_get_memory(self.raw.as_ptr());
                sys::llama_memory_seq_rm(memory, other as i32, -1, -1);
            }
        }
    }

    /// How many sequences there may be.
    pub(super) fn sequences(&self) -> u32 {
        self.sequences
    }

    /// The logits of the last decoded token, one per entry of the vocabulary; `None` unless the last decode asked for them.
    pub(super) fn logits(&mut self) -> Option<&[f32]> {
        let (_, tokens) = self.kept;
        self.logits_of(tokens.checked_sub(1)?)
    }

    /// The same of token `at` of the last decode, counted from 0; `None` unless it asked for those.
    pub(super) fn logits_of(&mut self, at: usize) -> Option<&[f32]> {
        let there = match self.kept {
            (Logits::None, _) => false,
            (Logits::Last, tokens) => at + 1 == tokens,
            (Logits::All, tokens) => at < tokens,
        };
        if !there {
            return None;
        }
        // SAFETY: `raw` is live. The row exists because the last successful decode had such a token and asked for its logits; it
        // has `n_vocab` floats and stays put until the next decode, which needs `&mut self` and so ends this borrow.
        unsafe {
            let row = sys::llama_get_logits_ith(self.raw.as_ptr(), at as i32);
            (!row.is_null()).then(|| slice::from_raw_parts(row, self.model.n_vocab() as usize))
        }
    }

    /// Waits for what a graphics card still computes, so that a clock can be read.
    pub(super) fn synchronize(&mut self) {
        // SAFETY: `raw` is live and not shared.
        unsafe { sys::llama_synchronize(self.raw.as_ptr()) }
    }

    /// Tokens in the sequence.
    pub(super) fn len(&self) -> u32 {
        // SAFETY: `raw` is live; its memory is owned by it. The highest position is -1 where there is none.
        let last = unsafe { sys::llama_memory_seq_pos_max(sys::llama_get_memory(self.raw.as_ptr()), SEQUENCE) };
        u32::try_from(last + 1).unwrap_or(0)
    }

    /// Forgets all tokens from position `len` on. Says whether the model could: recurrent ones cannot forget a tail.
    pub(super) fn truncate(&mut self, len: u32) -> bool {
        self.kept = (Logits::None, 0);
        // SAFETY: `raw` is live and not shared; an open range (-1) of sequence 0 is always valid.
        unsafe { sys::llama_memory_seq_rm(sys::llama_get_memory(self.raw.as_ptr()), SEQUENCE, len as i32, -1) }
    }

    /// Forgets the tokens from position `from` up to `to`; those behind them stay where they are. Says whether the model could.
    pub(super) fn forget(&mut self, from: u32, to: u32) -> bool {
        self.kept = (Logits::None, 0);
        // SAFETY: `raw` is live and not shared; any range of sequence 0 may be named.
        unsafe {
            sys::llama_memory_seq_rm(
                sys::llama_get_memory(self.raw.as_ptr()),
                SEQUENCE,
                from as i32,
                to as i32,
            )
        }
    }

    /// Forgets the `discard` tokens from position `keep` on and moves those behind them up, turning their keys to the new
    /// positions. `false`, with nothing changed, where the model's positions cannot be turned.
    pub(super) fn shift(&mut self, keep: u32, discard: u32) -> bool {
        self.kept = (Logits::None, 0);
        let (from, to) = (keep as i32, keep.saturating_add(discard) as i32);
        // SAFETY: `raw` is live and not shared. Moving positions aborts where the memory cannot shift, so that is asked first;
        // the ranges are within what `len` tells, and open ends (-1) are always valid.
        unsafe {
            let memory = sys::llama_get_memory(self.raw.as_ptr());
            if !sys::llama_memory_can_shift(memory) || !sys::llama_memory_seq_rm(memory, SEQUENCE, from, to) {
                return false;
            }
            sys::llama_memory_seq_add(memory, SEQUENCE, to, -1, from - to);
        }
        true
    }

    /// A copy of what the model remembers of the sequence.
    pub(super) fn state(&mut self, part: Part) -> Option<Vec<u8>> {
        let flags = part.flags();
        // SAFETY: `raw` is live and not shared; the buffer is as long as llama.cpp said it must be.
        unsafe {
            let size = sys::llama_state_seq_get_size_ext(self.raw.as_ptr(), SEQUENCE, flags);
            let mut state = vec![0_u8; size];
            let written =
                sys::llama_state_seq_get_data_ext(self.raw.as_ptr(), state.as_mut_ptr(), size, SEQUENCE, flags);
            (size > 0 && written == size).then_some(state)
        }
    }

    /// Puts back what [`Self::state`] copied when the sequence had `len` tokens, and forgets the tokens behind. Says whether it
    /// could; where not, clear the sequence.
    pub(super) fn restore(&mut self, part: Part, state: &[u8], len: u32) -> bool {
        self.kept = (Logits::None, 0);
        let flags = part.flags();
        // SAFETY: `raw` is live and not shared; the bytes are those that this llama.cpp wrote for this model in
        // a context of this kind: whoever kept them checks that.
        let read = unsafe {
            sys::llama_state_seq_set_data_ext(self.raw.as_ptr(), state.as_ptr(), state.len(), SEQUENCE, flags)
        };
        read == state.len() && self.truncate(len)
    }

    /// Lays LoRA adapters over the model, each with its scale.
    ///
    /// # Errors
    /// The index of the first that llama.cpp refuses; its reason is in the log.
    pub(super) fn lay_lora(&mut self, adapters: &[(CString, f32)]) -> Result<(), usize> {
        let mut loaded = Vec::with_capacity(adapters.len());
        for (at, (path, _)) in adapters.iter().enumerate() {
            // SAFETY: the model is live and no other thread uses it; the path is NUL-terminated. The adapter belongs to the model
            // and is freed with it.
            let adapter = unsafe { sys::llama_adapter_lora_init(raw_model(&self.model), path.as_ptr()) };
            if adapter.is_null() {
                return Err(at);
            }
            loaded.push(adapter);
        }
        let mut scales: Vec<f32> = adapters.iter().map(|(_, scale)| *scale).collect();
        // SAFETY: `raw` is live and not shared; both lists have the same length and are copied by llama.cpp.
        let code = unsafe {
            sys::llama_set_adapters_lora(
                self.raw.as_ptr(),
                loaded.as_mut_ptr(),
                loaded.len(),
                scales.as_mut_ptr(),
            )
        };
        if code == 0 { Ok(()) } else { Err(0) }
    }

    /// Adds a direction to what each layer from `first` to `last` (counted from 1) puts out: `width` numbers a layer, from layer
    /// 1 on. Says whether llama.cpp took it.
    pub(super) fn lay_control_vector(&mut self, data: &[f32], width: u32, first: u32, last: u32) -> bool {
        // SAFETY: `raw` is live and not shared; the numbers are copied during the call, no more of them than given.
        let code = unsafe {
            sys::llama_set_adapter_cvec(
                self.raw.as_ptr(),
                data.as_ptr(),
                data.len(),
                width as i32,
                first as i32,
                last as i32,
            )
        };
        code == 0
    }

    /// Forgets all tokens.
    pub(super) fn clear(&mut self) {
        self.kept = (Logits::None, 0);
        // SAFETY: `raw` is live and not shared.
        unsafe { sys::llama_memory_clear(sys::llama_get_memory(self.raw.as_ptr()), true) }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: made by `llama_init_from_model` and freed once. Fields drop after this body, so the watch and the weights
        // are still there.
        unsafe { sys::llama_free(self.raw.as_ptr()) }
    }
}

/// Which logits a decode keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Logits {
    /// None: more of the prompt follows.
    None,
    /// The last token's.
    Last,
    /// Every token's.
    All,
}

/// llama.cpp asks this before it computes a tensor, and tells of it afterwards where that was wanted. `true` goes on.
unsafe extern "C" fn computed(tensor: *mut sys::ggml_tensor, ask: bool, data: *mut c_void) -> bool {
    // SAFETY: `data` is the `Observer` that the context owns, used by nobody else while a decode runs.
    let observer = unsafe { &mut *data.cast::<Observer>() };
    // SAFETY: ggml passes a live tensor, whose name ends in a zero.
    let Some(name) = (unsafe { text_of((*tensor).name.as_ptr()) }) else {
        return !ask;
    };
    let wanted = (observer.wants)(&name);
    if ask || !wanted {
        return !ask || wanted;
    }
    // SAFETY: the tensor is live and computed; as many bytes are read as it has, into a buffer that is as long.
    let (dims, values) = unsafe {
        if (*tensor).type_ != sys::GGML_TYPE_F32 || !sys::ggml_is_contiguous(tensor) {
            return true;
        }
        let mut values = vec![0_f32; sys::ggml_nelements(tensor) as usize];
        sys::ggml_backend_tensor_get(
            tensor,
            values.as_mut_ptr().cast::<c_void>(),
            0,
            sys::ggml_nbytes(tensor),
        );
        ((*tensor).ne.map(|size| size as usize), values)
    };
    // A panic must not unwind into C; what was not seen is missing then.
    let _ = catch_unwind(AssertUnwindSafe(|| (observer.sees)(&name, dims, &values)));
    true
}

/// llama.cpp asks this between graph nodes; `true` ends the computation.
unsafe extern "C" fn is_cancelled(data: *mut c_void) -> bool {
    // SAFETY: `data` is the `Watch` that the context owns; it is only read, through atomics.
    let watch = unsafe { &*data.cast::<Watch>() };
    watch.cancel.is_stopped(TurnId(watch.turn.load(Ordering::Relaxed)))
}

// `LlamaModel` is documented as transparent over its pointer; if that ever changes, this stops compiling.
const _: () = assert!(size_of::<LlamaModel>() == size_of::<*mut sys::llama_model>());

/// The pointer inside the safe wrapper, which offers no way to it.
fn raw_model(model: &LlamaModel) -> *mut sys::llama_model {
    // SAFETY: `LlamaModel` is `repr(transparent)` over a non-null `llama_model` pointer (size checked above), so reading it as
    // one is reading that field.
    unsafe { *ptr::from_ref(model).cast::<*mut sys::llama_model>() }
}

/// Who takes llama.cpp's log lines.
pub(super) type LogSink = fn(Severity, &str);
/// Who is told the last words before llama.cpp aborts the process.
pub(super) type AbortHook = fn(&str);

static LOG_SINK: OnceLock<LogSink> = OnceLock::new();
static ABORT_HOOK: OnceLock<AbortHook> = OnceLock::new();

/// Sends llama.cpp's and ggml's logs to `sink` instead of the screen. Only the first call counts.
pub(super) fn send_logs_to(sink: LogSink) {
    if LOG_SINK.set(sink).is_ok() {
        // SAFETY: the callback is a static function that uses no user data; both setters only store the pointer.
        unsafe {
            sys::llama_log_set(Some(log_line), ptr::null_mut());
            sys::ggml_log_set(Some(log_line), ptr::null_mut());
        }
    }
}

unsafe extern "C" fn log_line(level: sys::ggml_log_level, text: *const c_char, _: *mut c_void) {
    let severity = match level {
        sys::GGML_LOG_LEVEL_INFO => Severity::Info,
        sys::GGML_LOG_LEVEL_WARN => Severity::Warn,
        sys::GGML_LOG_LEVEL_ERROR => Severity::Error,
        sys::GGML_LOG_LEVEL_CONT => Severity::Continued,
        _ => Severity::Debug,
    };
    // SAFETY: ggml passes a NUL-terminated string that lives for the call.
    let Some(text) = (unsafe { text_of(text) }) else { return };
    if let Some(sink) = LOG_SINK.get() {
        // A panic must not unwind into C; a lost log line is the lesser evil.
        let _ = catch_unwind(|| sink(severity, &text));
    }
}

/// Has `hook` told when llama.cpp finds a broken invariant and is about to abort the process. Only the first call counts.
pub(super) fn on_abort(hook: AbortHook) {
    if ABORT_HOOK.set(hook).is_ok() {
        // SAFETY: stores a static function pointer.
        unsafe {
            sys::ggml_set_abort_callback(Some(last_words));
        }
    }
}

unsafe extern "C" fn last_words(text: *const c_char) {
    // SAFETY: ggml passes a NUL-terminated string that lives for the call.
    let Some(text) = (unsafe { text_of(text) }) else { return };
    if let Some(hook) = ABORT_HOOK.get() {
        let _ = catch_unwind(|| hook(&text));
    }
}

/// # Safety
/// `text` is null or a NUL-terminated string that lives for the call.
unsafe fn text_of(text: *const c_char) -> Option<String> {
    // SAFETY: as the caller promises; the text is copied out before returning.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

// `LlamaSampler` has its pointer for its only field; if that ever changes, this stops compiling.
const _: () = assert!(size_of::<LlamaSampler>() == size_of::<*mut sys::llama_sampler>());

/// llama.cpp's adaptive-p, for which the safe bindings have no word. It must be the last of all samplers.
pub(super) fn adaptive_p(target: f32, decay: f32, seed: u32) -> LlamaSampler {
    // SAFETY: takes plain numbers; the only way in which it fails is that memory runs out, which aborts.
    let raw = unsafe { sys::llama_sampler_init_adaptive_p(target, decay, seed) };
    // SAFETY: `LlamaSampler` is nothing but this pointer (size checked above) and frees it when dropped, as it must be.
    unsafe { mem::transmute::<*mut sys::llama_sampler, LlamaSampler>(raw) }
}

/// The version of the llama.cpp in this program.
pub(super) fn version() -> String {
    // SAFETY: returns a static string.
    unsafe { text_of(sys::llama_version()) }.unwrap_or_default()
}

/// Keeps llama.cpp from starting a debugger on our terminal when it dies of an uncaught exception.
///
/// Call it first thing in `main`, while there is one thread.
pub(super) fn no_backtrace() {
    // SAFETY: as documented, no other thread exists yet that could read the environment meanwhile.
    #[allow(
        clippy::disallowed_methods,
        reason = "llama.cpp offers no other switch; see the safety note"
    )]
    unsafe {
        std::env::set_var("GGML_NO_BACKTRACE", "1");
    }
}

/// Writes the model of `source` to `target` in another quantization: `F16`, `Q8_0`, `Q6_K` or `Q4_K_M`. Says whether it
/// could; the log has llama.cpp's reason.
pub(super) fn quantize(source: &CStr, target: &CStr, file_type: FileType, threads: u32) -> bool {
    // SAFETY: a pure function that returns a plain struct.
    let mut params = unsafe { sys::llama_model_quantize_default_params() };
    params.ftype = match file_type {
        FileType::F16 => sys::LLAMA_FTYPE_MOSTLY_F16,
        FileType::Q8_0 => sys::LLAMA_FTYPE_MOSTLY_Q8_0,
        FileType::Q6K => sys::LLAMA_FTYPE_MOSTLY_Q6_K,
        FileType::Q4KM => sys::LLAMA_FTYPE_MOSTLY_Q4_K_M,
    };
    params.nthread = threads as i32;
    params.allow_requantize = true;
    // SAFETY: two NUL-terminated paths and a parameter struct of llama.cpp's own making, all alive for the call, which
    // catches its exceptions and returns 0 for success.
    unsafe { sys::llama_model_quantize(source.as_ptr(), target.as_ptr(), &raw const params) == 0 }
}
