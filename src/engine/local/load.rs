//! From a file to something that can be talked to: plans what of it goes where, loads the weights with progress, makes the
//! context, reads the template.

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;

use crate::domain::Sampling;
use crate::domain::inference::{
    CompareRequest, Event, Failure, FailureKind, LoadOptions, LoadStep, ModelInfo, ModelSource, ThinkingControls,
    Token, TurnEnd, TurnId,
};
use crate::domain::loading::TemplateChoice;
use crate::domain::sampling::Parameter;
use crate::engine::digest;
use crate::gguf::{GgufError, ModelFile, Summary};
use crate::prompt::{self, Template, TemplateError};
use crate::text::sanitize_line;

use super::ffi::{self, Context, Logits};
use super::plan::{self, Plan};
use super::prompt::Prompter;
use super::sequence::{Device, Sequence, keeps_state};
use super::shape::{Placement, Rope, Shape};
use super::vocabulary::Vocabulary;
use super::window::Cut;
use super::{Local, adapters, backend, logs, overrides};

/// A model that can be talked to.
pub(super) struct Loaded {
    pub(super) sequence: Sequence,
    pub(super) prompter: Prompter,
    pub(super) info: ModelInfo,
    /// Where the window of the conversation begins, once it outgrew the context.
    pub(super) cut: Option<Cut>,
    /// The name and the tokens of the state that was kept or restored last.
    pub(super) kept: Option<(String, Vec<Token>)>,
}

impl Local<'_> {
    /// Loads a model and tells how it goes. What was loaded before must be dropped by then: two rarely fit.
    pub(super) fn load(&self, turn: TurnId, source: &ModelSource, options: &LoadOptions) -> Option<Loaded> {
        match self.try_load(turn, source, options) {
            Ok(loaded) => {
                // Before anybody hears of it: who does may ask at once.
                self.ends.counter.set(Some(loaded.prompter.vocabulary.lend()));
                self.tell(Event::Ready {
                    turn,
                    model: Box::new(loaded.info.clone()),
                });
                Some(loaded)
            }
            Err(_) if self.ends.cancel.is_stopped(turn) => {
                let failure = Failure::new(FailureKind::Cancelled, "loading was cancelled");
                self.tell(Event::Failed { turn, failure });
                None
            }
            Err(failure) => {
                self.tell(Event::Failed { turn, failure });
                None
            }
        }
    }

    fn try_load(&self, turn: TurnId, source: &ModelSource, options: &LoadOptions) -> Result<Loaded, Failure> {
        let path = source.path.as_path();
        let refused = |error: String| Failure::new(FailureKind::Model, error);
        // Whoever found the model checked it; it is checked again where it counts, for llama.cpp aborts over a bad file.
        let unusable = |error: GgufError| refused(sanitize_line(&error.to_string()).into_owned());
        let mut file = ModelFile::open(path).map_err(unusable)?;
        overrides::lay(&mut file, &options.overrides)?;
        let fingerprint = file.fingerprint().map_err(unusable)?;
        let summary = file.summary();
        let backend = backend::start().ok_or_else(|| refused("llama.cpp does not start in this process".to_owned()))?;
        let machine = plan::Machine::here(&options.devices)?;
        let plan = plan::make(&file.footprint(), &summary, options, &machine)?;

        if !source.builtin {
            self.try_out(turn, &file, &fingerprint, options, &plan, machine.memory)?;
        }
        self.tell(Event::Loading {
            turn,
            step: LoadStep::Weights,
            done: 0,
            total: summary.file_bytes,
        });
        let (mut context, plan) = self.place_somewhere(backend, turn, path, plan, summary.file_bytes)?;
        adapters::lay(&mut context, options, &summary.architecture)?;
        let model = Arc::clone(context.model());
        let untold = |error: TemplateError| Failure::new(FailureKind::Template, error.to_string());
        let vocabulary = Vocabulary::new(&model).map_err(untold)?;
        let (template, words) = chat_template(&file, options)?;
        let info = ModelInfo {
            fingerprint,
            build: build(options, &plan),
            template_digest: digest::of_text(template.source()),
            thinking: template.thinking_controls(),
            ..info(source, &summary, &plan, &context, words, &vocabulary)
        };
        let device = if plan.placement.gpu_layers == 0 {
            Device::Cpu
        } else {
            Device::Gpu
        };
        let mut sequence = Sequence::new(context, device);
        sequence.context().watch(turn);
        warm_up(&mut sequence);
        if self.ends.cancel.is_stopped(turn) {
            return Err(Failure::new(FailureKind::Cancelled, "loading was cancelled"));
        }
        let prompter = Prompter::new(vocabulary, template, options.thinking_tags.as_ref());
        let info = ModelInfo {
            turn_end: prompter.turn_end(),
            ..info
        };
        Ok(Loaded {
            sequence,
            prompter,
            info,
            cut: None,
            kept: None,
        })
    }

    /// Carries out the plan, or the same without a graphics card where that fails; returns the plan that was followed.
    fn place_somewhere(
        &self,
        backend: &LlamaBackend,
        turn: TurnId,
        path: &Path,
        plan: Plan,
        total: u64,
    ) -> Result<(Context, Plan), Failure> {
        match (self.place(backend, turn, path, &plan, total), plan.on_cpu()) {
            (Ok(context), _) => Ok((context, plan)),
            (Err(_), Some(plan)) if !self.ends.cancel.is_stopped(turn) => {
                tracing::warn!("the graphics card failed; loading again without it");
                Ok((self.place(backend, turn, path, &plan, total)?, plan))
            }
            (Err(failure), _) => Err(failure),
        }
    }

    /// Reads the weights and makes a context, as planned.
    fn place(
        &self,
        backend: &LlamaBackend,
        turn: TurnId,
        path: &Path,
        plan: &Plan,
        total: u64,
    ) -> Result<Context, Failure> {
        let model = Arc::new(self.weights(backend, turn, path, &plan.placement, total)?);
        logs::begin();
        // A state cannot be shared as cells can, and there would be as many of it.
        let sequences = if keeps_state(&model) {
            1
        } else {
            CompareRequest::MOST as u32
        };
        let shape = Shape {
            sequences,
            outputs: sequences,
            ..plan.shape
        };
        Context::new(model, shape, self.ends.cancel.clone()).ok_or_else(|| {
            let reason = logs::first_error().unwrap_or_else(|| "it did not say why".to_owned());
            let message = format!(
                "llama.cpp made no context of {} tokens: {}; try a smaller '--context'",
                plan.shape.context,
                sanitize_line(&reason)
            );
            Failure::new(FailureKind::Model, message)
        })
    }

    /// Has llama.cpp read the weights.
    fn weights(
        &self,
        backend: &LlamaBackend,
        turn: TurnId,
        path: &Path,
        placement: &Placement,
        total: u64,
    ) -> Result<LlamaModel, Failure> {
        let mut progress = self.progress(turn, LoadStep::Weights, total);
        weights(backend, path, placement, &mut progress)
    }

    /// What tells how much of a model is there, as a part from 0 to 1, and answers whether to go on.
    pub(super) fn progress(&self, turn: TurnId, step: LoadStep, total: u64) -> impl FnMut(f32) -> bool {
        let mut shown = u64::MAX;
        move |part: f32| {
            // Whole per cents only: llama.cpp calls for every tensor.
            let percent = (f64::from(part) * 100.0) as u64;
            if percent != shown {
                shown = percent;
                let done = (total as f64 * f64::from(part)) as u64;
                self.tell(Event::Loading {
                    turn,
                    step,
                    done,
                    total,
                });
            }
            !self.ends.cancel.is_stopped(turn)
        }
    }
}

/// Has llama.cpp read weights. `progress` is told the part done and answers whether to go on.
///
/// # Errors
/// With llama.cpp's reason.
pub(super) fn weights(
    backend: &LlamaBackend,
    path: &Path,
    placement: &Placement,
    progress: &mut dyn FnMut(f32) -> bool,
) -> Result<LlamaModel, Failure> {
    logs::begin();
    // Any bytes but zero are a path to the system, and to llama.cpp.
    let c_path = CString::new(path.as_os_str().as_bytes()).ok();
    let model = c_path.and_then(|path| ffi::load_model(backend, &path, placement, progress));
    model.ok_or_else(|| {
        tracing::error!(path = %path.display(), "loading failed");
        let reason = logs::first_error().map_or_else(String::new, |line| format!(": {}", sanitize_line(&line)));
        let path = path.display().to_string();
        let path = sanitize_line(&path);
        let message =
            format!("llama.cpp cannot load '{path}'{reason}; the file may be damaged or too new for this quipu");
        Failure::new(FailureKind::Model, message)
    })
}

/// The template that will be used and where it comes from, in words.
pub(super) fn chat_template(file: &ModelFile, options: &LoadOptions) -> Result<(Template, String), Failure> {
    let untold = |error: TemplateError| Failure::new(FailureKind::Template, error.to_string());
    match &options.template {
        Some(TemplateChoice::Source(text)) => {
            return Ok((
                Template::new(text).map_err(untold)?,
                "the template that was given".to_owned(),
            ));
        }
        Some(TemplateChoice::Named(name)) => return named_template(name),
        None => {}
    }
    let built_in = |why: &str| {
        let words = format!("the built-in template '{}', for the model {why}", prompt::DEFAULT);
        Ok((Template::built_in(prompt::DEFAULT).map_err(untold)?, words))
    };
    match file.metadata().chat_template().map(Template::new) {
        Some(Ok(own)) => Ok((own, "the model's own template".to_owned())),
        // Some files name a template where its text should be.
        Some(Err(TemplateError::NoMessages { .. })) => built_in("only names one"),
        Some(Err(error)) => Err(untold(error)),
        None => built_in("has none"),
    }
}

/// The built-in template of that name, or the one in the file of that name.
fn named_template(name: &str) -> Result<(Template, String), Failure> {
    let untold = |error: TemplateError| Failure::new(FailureKind::Template, error.to_string());
    if prompt::NAMES.contains(&name) {
        let words = format!("the built-in template '{name}'");
        return Ok((Template::built_in(name).map_err(untold)?, words));
    }
    let shown = sanitize_line(name);
    let text = fs::read_to_string(name).map_err(|error| {
        let message = format!(
            "there is no built-in template '{shown}' and no file of that name can be read ({error}): give one of {} or a file",
            prompt::NAMES.join(", ")
        );
        Failure::new(FailureKind::Template, message)
    })?;
    Ok((
        Template::new(&text).map_err(untold)?,
        format!("the template in '{shown}'"),
    ))
}

fn info(
    source: &ModelSource,
    summary: &Summary,
    plan: &Plan,
    context: &Context,
    template: String,
    vocabulary: &Vocabulary,
) -> ModelInfo {
    let mut warnings: Vec<_> = source.notice.iter().chain(&plan.warnings).cloned().collect();
    if !vocabulary.can_end() {
        warnings.push("this model has no end-of-generation token: answers end only at a limit".to_owned());
    }
    let (recommended, unusable) = recommended(summary);
    warnings.extend(unusable);
    let name = if source.builtin { "cria" } else { summary.name.as_str() };
    ModelInfo {
        turn_end: TurnEnd::default(),
        thinking: ThinkingControls::default(),
        name: sanitize_line(name).into_owned(),
        path: source.path.clone(),
        fingerprint: String::new(),
        build: String::new(),
        template_digest: String::new(),
        architecture: sanitize_line(&summary.architecture).into_owned(),
        quantization: summary.quantization.to_owned(),
        parameters: summary.parameters,
        bytes: summary.file_bytes,
        vocabulary: vocabulary.len() as u32,
        context: context.n_ctx(),
        context_trained: u32::try_from(summary.context_train.unwrap_or(0)).unwrap_or(u32::MAX),
        threads: plan.shape.threads,
        gpu_layers: plan.placement.gpu_layers,
        template,
        recommended,
        warnings,
        builtin: source.builtin,
    }
}

/// Begins the part about how much is computed at once.
pub(super) const UBATCH: &str = "ubatch";

/// What computes and bears on the numbers: the version of llama.cpp, and of the loading what is shared by all answers that can
/// be the same. Parts stand between semicolons.
fn build(options: &LoadOptions, plan: &Plan) -> String {
    let Shape {
        ubatch,
        cache,
        flash_attention,
        rope,
        ..
    } = &plan.shape;
    let mut parts = vec![
        format!("llama.cpp {}", ffi::version()),
        format!("{UBATCH} {ubatch}"),
        format!("KV cache {}/{}", cache.0.name(), cache.1.name()),
        format!("flash attention {flash_attention:?}"),
        format!("gpu layers {}", plan.placement.gpu_layers),
    ];
    if *rope != Rope::default() {
        parts.push(format!("positions {rope:?}"));
    }
    let adapters = options.lora.iter().chain(&options.control_vectors);
    parts.extend(adapters.map(|adapter| format!("adapter {} at {}", adapter.path.display(), adapter.scale)));
    parts.extend(options.overrides.iter().map(|value| format!("override {value}")));
    sanitize_line(&parts.join("; ")).into_owned()
}

/// What the model recommends, as it is written here, and words about what of it cannot be used.
fn recommended(summary: &Summary) -> (Vec<(&'static str, String)>, Vec<String>) {
    let (mut usable, mut words) = (Vec::new(), Vec::new());
    for (name, value) in summary.sampling.values() {
        let Some(parameter) = Parameter::find(name) else {
            continue;
        };
        let mut sampling = Sampling::default();
        match parameter.set(&mut sampling, &value) {
            Ok(()) => usable.push((name, parameter.get(&sampling).to_string())),
            Err(refused) => words.push(format!(
                "what the model recommends is not used: {}",
                sanitize_line(&refused.to_string())
            )),
        }
    }
    (usable, words)
}

/// Computes one token and forgets it: what is mapped from disk is read now, behind the progress, rather than in the first
/// answer. A failure here comes again where it can be told.
fn warm_up(sequence: &mut Sequence) {
    let _ = sequence.push(&[Token(0)], Logits::Last);
    sequence.clear();
}
