//! The trial of a model: what llama.cpp may die of, done once where its death harms nobody. This file says what is tried,
//! judges what came of it, and does it, in the process that was made for it; how that process is made and watched is
//! injected as a [`Prober`].

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

use crate::domain::inference::{Cancel, Failure, FailureKind, GpuLayers, LoadOptions, LoadStep, Token, TurnId};
use crate::domain::loading::{CacheType, FlashAttention, Override};
use crate::domain::{Bytes, Role};
use crate::gguf::ModelFile;
use crate::prompt;
use crate::text::sanitize_line;

use super::ffi::{self, Context, Logits};
use super::load::{chat_template, weights};
use super::plan::Plan;
use super::sequence::{Device, Sequence};
use super::shape::{Placement, Rope, Shape};
use super::vocabulary::Vocabulary;
use super::{Local, backend, overrides};

/// Tokens of the trial's context: the least that llama.cpp makes.
const CONTEXT: u32 = 256;
/// Tokens of the trial's prompt that are computed at once, then one by one.
const TOGETHER: usize = 3;
const ALONE: usize = 2;

/// A file to be tried.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    /// The model, or its first part.
    pub path: &'a Path,
    /// Tells it from other files; see [`ModelFile::fingerprint`].
    pub fingerprint: &'a str,
    /// Layers on graphics cards.
    pub gpu_layers: u32,
    /// Values of the file's metadata that are replaced, as [`Override`] writes them, with commas between.
    pub overrides: &'a str,
    /// How far to go.
    pub depth: Depth,
}

/// How far a trial goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// Maps the weights and reads the vocabulary: for models that memory cannot hold, which would be read from disk again for
    /// every token.
    Load,
    /// Computes a few tokens too.
    #[default]
    Compute,
}

/// What came of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The model can be loaded, as far as anyone knows.
    Sound,
    /// llama.cpp, or we, refused it in these words, which are for the person.
    Refused(String),
    /// The process died of it; why, as far as is known. Untrusted text.
    GaveUp(String),
    /// It was told to stop.
    Stopped,
    /// Nothing could be tried, for this reason.
    Untried(String),
}

/// Tries files in a process of their own, and remembers those that were sound.
pub trait Prober: Send {
    /// Tries a file, unless it is known to be sound. `progress` is told often how much of it was read, as a part from 0 to 1,
    /// and answers whether to go on.
    fn probe(&self, trial: &Trial<'_>, progress: &mut dyn FnMut(f32) -> bool) -> Verdict;
}

impl Local<'_> {
    /// Has a file tried before it is loaded here.
    ///
    /// # Errors
    /// When it did not stand the trial, or the load was cancelled meanwhile.
    pub(super) fn try_out(
        &self,
        turn: TurnId,
        file: &ModelFile,
        fingerprint: &str,
        options: &LoadOptions,
        plan: &Plan,
        memory: u64,
    ) -> Result<(), Failure> {
        let Some(prober) = &self.prober else { return Ok(()) };
        let mut progress = self.progress(turn, LoadStep::Trial, file.file_bytes());
        let how = (options, plan.placement.gpu_layers, memory);
        stand(prober.as_ref(), (file, fingerprint), how, &mut progress)
    }
}

/// Has a file, known by its fingerprint, stand its trial, with so many layers on a card as were planned and within so many bytes
/// of memory.
///
/// # Errors
/// When it did not stand it, or `progress` said not to go on.
pub(super) fn stand(
    prober: &dyn Prober,
    (file, fingerprint): (&ModelFile, &str),
    (options, gpu_layers, memory): (&LoadOptions, u32, u64),
    progress: &mut dyn FnMut(f32) -> bool,
) -> Result<(), Failure> {
    let total = file.file_bytes();
    let overrides = overrides::written(&options.overrides);
    // With other values it is another model to llama.cpp.
    let fingerprint = if overrides.is_empty() {
        fingerprint.to_owned()
    } else {
        format!("{fingerprint}+{:016x}", hash(&overrides))
    };
    let trial = Trial {
        path: file.path(),
        fingerprint: &fingerprint,
        overrides: &overrides,
        // A card is left alone unless it was asked for: its driver takes memory and seconds.
        gpu_layers: match options.gpu_layers {
            GpuLayers::Auto => 0,
            GpuLayers::Count(_) => gpu_layers,
        },
        depth: if total > memory { Depth::Load } else { Depth::Compute },
    };
    tracing::debug!(depth = ?trial.depth, size = %Bytes(total), "a trial, unless the file is known");
    let failed = |message: String| Err(Failure::new(FailureKind::Model, message));
    match prober.probe(&trial, progress) {
        Verdict::Sound => Ok(()),
        Verdict::Untried(why) => {
            tracing::warn!(%why, "the model is loaded without a trial");
            Ok(())
        }
        Verdict::Stopped => Err(Failure::new(FailureKind::Cancelled, "loading was cancelled")),
        Verdict::Refused(words) => failed(sanitize_line(&words).into_owned()),
        Verdict::GaveUp(reason) => {
            let path = trial.path.display().to_string();
            let message = format!(
                "llama.cpp gave up on '{}': {}; the file may be damaged or made for another program: download it again, or \
                     get another conversion of the model",
                sanitize_line(&path),
                sanitize_line(&reason)
            );
            tracing::error!("{message}");
            failed(message)
        }
    }
}

/// Tells one text from another.
fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Does in this process all that a file can kill it by: loads it, makes a small context, reads the vocabulary, renders and
/// tokenizes a prompt, computes a few tokens of it. `last_words` is told why, if llama.cpp aborts; `progress` how much of the
/// file was read. To be called once, in a process that has nothing to lose.
///
/// # Errors
/// When the file is refused, in words for the person.
pub fn attempt(trial: &Trial<'_>, last_words: fn(&str), progress: &mut dyn FnMut(f32)) -> Result<(), Failure> {
    ffi::on_abort(last_words);
    let refused = |words: String| Failure::new(FailureKind::Model, sanitize_line(&words).into_owned());
    let mut file = ModelFile::open(trial.path).map_err(|error| refused(error.to_string()))?;
    let given = trial.overrides.split(',').filter(|text| !text.is_empty());
    let replaced: Option<Vec<_>> = given.map(Override::read).collect();
    let replaced = replaced.ok_or_else(|| refused(format!("'{}' are no overrides", trial.overrides)))?;
    overrides::lay(&mut file, &replaced)?;
    let backend = backend::start().ok_or_else(|| refused("llama.cpp does not start in this process".to_owned()))?;
    let placement = Placement {
        gpu_layers: trial.gpu_layers,
        overrides: replaced,
        ..Placement::default()
    };
    let model = weights(backend, trial.path, &placement, &mut |part| {
        progress(part);
        true
    })?;
    let model = Arc::new(model);
    let vocabulary = Vocabulary::new(&model).map_err(|error| refused(error.to_string()))?;
    let prompt = opening(&file, &vocabulary);
    let cores = backend::cores();
    let shape = Shape {
        context: CONTEXT,
        batch: CONTEXT,
        ubatch: CONTEXT,
        sequences: 1,
        outputs: 1,
        threads: cores,
        threads_batch: cores,
        cache: (CacheType::default(), CacheType::default()),
        kv_offload: true,
        flash_attention: FlashAttention::Auto,
        rope: Rope::default(),
    };
    // Where no context can be made, the load says so, with the context that it wanted.
    let Some(context) = Context::new(model, shape, Cancel::default()) else {
        return Ok(());
    };
    if trial.depth == Depth::Compute {
        compute(Sequence::new(context, Device::Cpu), &prompt);
    }
    Ok(())
}

/// The tokens of a small conversation, and on the way there every token's text and a sample of all scripts' bytes.
fn opening(file: &ModelFile, vocabulary: &Vocabulary) -> Vec<Token> {
    let bytes: usize = (0..vocabulary.len())
        .map(|id| vocabulary.bytes(Token(id as i32)).len())
        .sum();
    tracing::debug!(bytes, "the vocabulary's texts");
    // What a template is refused for is told where it is asked, if no other is used instead; here it counts that it ends.
    let template = chat_template(file, &LoadOptions::default()).map(|(template, _)| template);
    let said = sample();
    let message = prompt::Message::new(Role::User, &said);
    let options = prompt::Options {
        bos_token: vocabulary.bos_text.clone(),
        eos_token: vocabulary.eos_text.clone(),
        ..prompt::Options::new(jiff::Zoned::now().datetime())
    };
    let rendered = template.map(|template| template.render(&[message], vocabulary.markers(), &options));
    let rendered = rendered.ok().and_then(Result::ok).unwrap_or_else(|| prompt::Rendered {
        text: said.clone(),
        cuts: Vec::new(),
        contents: Vec::new(),
        path: prompt::Path::AsIs,
    });
    vocabulary.prompt(&rendered, &[])
}

/// Text with every byte that UTF-8 has: the two-byte characters hold every byte that continues one, and the rest is there
/// for the bytes that begin longer ones.
fn sample() -> String {
    let longer = (0x0800..0x11_0000_u32).step_by(0x0800);
    (0..0x0800).chain(longer).filter_map(char::from_u32).collect()
}

/// Computes some tokens together, some one by one, and looks at what came out. A failure comes again where it can be told.
fn compute(mut sequence: Sequence, prompt: &[Token]) {
    let filler = [Token(0)];
    let mut tokens = prompt.iter().chain(filler.iter().cycle()).copied();
    let together: Vec<_> = tokens.by_ref().take(TOGETHER).collect();
    let _ = sequence.push(&together, Logits::Last);
    for token in tokens.take(ALONE) {
        let _ = sequence.push(&[token], Logits::Last);
    }
    let finite = sequence
        .logits()
        .is_some_and(|logits| logits.iter().all(|l| l.is_finite()));
    tracing::debug!(finite, "a few tokens were computed");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_has_every_byte_of_utf8() {
        let said = sample();
        // 0xC0, 0xC1 and 0xF5 on begin nothing.
        let all = (0..=0xFF_u8).filter(|byte| !matches!(byte, 0xC0 | 0xC1 | 0xF5..));
        assert!(all.into_iter().all(|byte| said.as_bytes().contains(&byte)));
    }
}
