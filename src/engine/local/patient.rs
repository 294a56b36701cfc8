//! A model as a doctor has it: loaded, and asked one thing at a time. Does what it is told with tokens, positions and states, and
//! hands out the bare numbers; what they mean is for the doctor.

use std::sync::Arc;

use llama_cpp_2::model::LlamaModel;

use crate::domain::inference::{Cancel, Failure, FailureKind, GpuLayers, LoadOptions, Token, TurnEnd};
use crate::gguf::ModelFile;
use crate::prompt::{Message, Rendered, TemplateError};
use crate::text::sanitize_line;

use super::ffi::{Context, DecodeError, Logits, Part};
use super::inside::{self, Inside};
use super::lexicon::Piece;
use super::load::{chat_template, weights};
use super::plan::{self, Machine};
use super::prompt::Prompter;
use super::sequence::keeps_state;
use super::shape::Shape;
use super::trial::{self, Prober};
use super::vocabulary::Vocabulary;
use super::{adapters, backend, logs, overrides};

/// Tokens of a context to examine in.
const CONTEXT: u32 = 512;

/// A model under examination.
pub struct Patient {
    model: Arc<LlamaModel>,
    prompter: Prompter,
    shape: Shape,
    options: LoadOptions,
    architecture: String,
    /// Layers on graphics cards.
    pub gpu_layers: u32,
}

impl Patient {
    /// Loads a model as the chat would; where there is a `prober`, it stands its trial first. `progress` is told the part done,
    /// 0 to 1, and answers whether to go on.
    ///
    /// # Errors
    /// When it cannot be loaded, in words for the person.
    pub fn admit(
        mut file: ModelFile,
        options: &LoadOptions,
        prober: Option<&dyn Prober>,
        progress: &mut dyn FnMut(f32) -> bool,
    ) -> Result<Self, Failure> {
        let refused = |error: String| Failure::new(FailureKind::Model, sanitize_line(&error).into_owned());
        overrides::lay(&mut file, &options.overrides)?;
        file.check().map_err(|error| refused(error.to_string()))?;
        let summary = file.summary();
        let backend = backend::start().ok_or_else(|| refused("llama.cpp does not start in this process".to_owned()))?;
        let machine = Machine::here(&options.devices)?;
        let mut options = options.clone();
        options.context = Some(CONTEXT);
        let plan = plan::make(&file.footprint(), &summary, &options, &machine)?;
        if let Some(prober) = prober {
            let fingerprint = file.fingerprint().map_err(|error| refused(error.to_string()))?;
            let how = (&options, plan.placement.gpu_layers, machine.memory);
            trial::stand(prober, (&file, &fingerprint), how, progress)?;
        }
        let model = Arc::new(weights(backend, file.path(), &plan.placement, progress)?);
        let vocabulary = Vocabulary::new(&model).map_err(|error| refused(error.to_string()))?;
        let (template, _) = chat_template(&file, &options)?;
        Ok(Self {
            prompter: Prompter::new(vocabulary, template, options.thinking_tags.as_ref()),
            shape: plan.shape,
            gpu_layers: plan.placement.gpu_layers,
            architecture: summary.architecture,
            options,
            model,
        })
    }

    /// The same model on the processor alone, where this one lies on a graphics card.
    ///
    /// # Errors
    /// As in [`Self::admit`].
    pub fn on_cpu(&self, file: ModelFile) -> Option<Result<Self, Failure>> {
        let options = LoadOptions {
            gpu_layers: GpuLayers::Count(0),
            ..self.options.clone()
        };
        (self.gpu_layers > 0).then(|| Self::admit(file, &options, None, &mut |_| true))
    }

    /// Whether the model remembers a text as one state, of which nothing can be taken away.
    pub fn keeps_state(&self) -> bool {
        keeps_state(&self.model)
    }

    /// Has positions turned by another base of rotary embeddings than the file's, or by that again.
    pub fn turn_by(&mut self, base: Option<f32>) {
        self.shape.rope.freq_base = base.or(self.options.rope_freq_base);
    }

    /// Entries of the vocabulary, padding included.
    pub fn vocabulary(&self) -> usize {
        self.prompter.vocabulary.len()
    }

    /// The tokens that end an answer.
    pub fn endings(&self) -> Vec<Token> {
        let endings = self.prompter.vocabulary.endings();
        endings.map(|id| Token(id as i32)).collect()
    }

    /// A token with its bytes, special ones by name.
    pub fn piece(&self, token: Token) -> Piece {
        self.prompter.vocabulary.named(token)
    }

    /// The tokens of a text, with what the model wants around it where `add_special`, and the names of special tokens taken for
    /// those where `parse_special`.
    pub fn tokenize(&self, text: &str, add_special: bool, parse_special: bool) -> Vec<Token> {
        self.prompter.vocabulary.tokens_of(text, add_special, parse_special)
    }

    /// The bytes that tokens stand for, special ones left out.
    pub fn spell(&self, tokens: &[Token]) -> Vec<u8> {
        tokens
            .iter()
            .flat_map(|token| self.prompter.vocabulary.bytes(*token))
            .collect()
    }

    /// What the template makes of messages.
    ///
    /// # Errors
    /// When the template refuses them.
    pub fn render(&self, messages: &[Message<'_>]) -> Result<Rendered, TemplateError> {
        self.prompter.render(messages)
    }

    /// How the template ends an answer.
    pub fn turn_end(&self) -> TurnEnd {
        self.prompter.turn_end()
    }

    /// The tokens of what was rendered.
    pub fn tokens(&self, rendered: &Rendered) -> Vec<Token> {
        self.prompter.vocabulary.prompt(rendered, &[])
    }

    /// An empty context that keeps the logits of up to `outputs` tokens at once.
    ///
    /// # Errors
    /// When llama.cpp makes none.
    pub fn run(&self, outputs: usize) -> Result<Run, Failure> {
        let shape = Shape {
            outputs: outputs.max(1) as u32,
            ..self.shape
        };
        logs::begin();
        let context = Context::new(Arc::clone(&self.model), shape, Cancel::default());
        let mut context = context.ok_or_else(no_context)?;
        adapters::lay(&mut context, &self.options, &self.architecture)?;
        Ok(Run { context })
    }

    /// Reads `tokens` and looks at the layers meanwhile.
    ///
    /// # Errors
    /// When llama.cpp makes no context or does not compute.
    pub fn look_inside(&self, tokens: &[Token]) -> Result<Inside, Failure> {
        logs::begin();
        let inside = inside::look(&self.model, self.shape, tokens);
        inside.ok_or_else(no_context)?.map_err(failed)
    }
}

/// A context and what was read in it.
pub struct Run {
    context: Context,
}

impl Run {
    /// Reads `tokens` behind what is there, and leaves the logits of the last.
    ///
    /// # Errors
    /// When llama.cpp does not compute them.
    pub fn feed(&mut self, tokens: &[Token]) -> Result<(), Failure> {
        self.context.decode(tokens, Logits::Last).map_err(failed)?;
        self.context.synchronize();
        Ok(())
    }

    /// The same, and gives the logits of every token.
    ///
    /// # Errors
    /// As in [`Self::feed`], and where the context was not made for so many.
    pub fn feed_all(&mut self, tokens: &[Token]) -> Result<Vec<Vec<f32>>, Failure> {
        self.context.decode(tokens, Logits::All).map_err(failed)?;
        let rows = 0..tokens.len();
        Ok(rows
            .filter_map(|at| self.context.logits_of(at).map(<[f32]>::to_vec))
            .collect())
    }

    /// The logits of the token that was read last; none where there are none.
    pub fn logits(&mut self) -> Vec<f32> {
        self.context.logits().map_or_else(Vec::new, <[f32]>::to_vec)
    }

    /// Forgets all from token `len` on. Says whether the model can.
    pub fn rewind(&mut self, len: usize) -> bool {
        self.context.truncate(len as u32)
    }

    /// Forgets the first `discard` tokens and leaves the others where they are. Says whether the model can.
    pub fn forget(&mut self, discard: usize) -> bool {
        self.context.forget(0, discard as u32)
    }

    /// The same, and moves the others up. Says whether the model can.
    pub fn shift(&mut self, discard: usize) -> bool {
        self.context.shift(0, discard as u32)
    }

    /// All that the model remembers; `None` where it gives no copy.
    pub fn save(&mut self) -> Option<Vec<u8>> {
        self.context.state(Part::Whole)
    }

    /// Puts back what [`Self::save`] gave when there were `len` tokens. Says whether it could.
    pub fn restore(&mut self, state: &[u8], len: usize) -> bool {
        self.context.restore(Part::Whole, state, len as u32)
    }
}

fn no_context() -> Failure {
    let reason = logs::first_error().unwrap_or_else(|| "it did not say why".to_owned());
    let reason = sanitize_line(&reason);
    Failure::new(
        FailureKind::Model,
        format!("llama.cpp made no context of {CONTEXT} tokens: {reason}"),
    )
}

fn failed(error: DecodeError) -> Failure {
    Failure::new(FailureKind::Compute, format!("the model stopped computing: {error}"))
}
