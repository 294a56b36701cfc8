//! Draws tokens: llama.cpp's samplers as a list of stages that is ours, so that one can be changed between two tokens while
//! the others keep their state and the random numbers go on.
//!
//! Settings come from `domain::sampling`; which stages exist and in which order is said there.

mod candidates;
mod form;
mod gbnf;
mod look;
mod stages;
#[cfg(test)]
mod tests;
mod watch;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::mem;
use std::sync::Arc;

use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token::data::LlamaTokenData;
use llama_cpp_2::token::data_array::LlamaTokenDataArray;

use crate::domain::Sampling;
use crate::domain::inference::{Failure, Report, Token};
use crate::domain::sampling::{Seed, Stage};

use self::candidates::{candidate, greedy, top};
use self::form::Form;
use self::stages::Pick;
use self::watch::Watch;
use super::vocabulary::Vocabulary;

/// Draws the tokens of one turn.
pub(super) struct Sampler {
    model: Arc<LlamaModel>,
    settings: Sampling,
    seed: u32,
    /// What is added to single logits before anything else.
    biases: Vec<(usize, f32)>,
    /// The logits with that added; kept between tokens for its memory.
    biased: Vec<f32>,
    /// The form that the answer must have.
    form: Option<Form>,
    /// Whether what comes next must have it.
    follows_form: bool,
    /// The stages that do something, in order.
    stages: Vec<(Stage, LlamaSampler)>,
    /// The draw; lives on whatever else is tuned, so that its random numbers go on.
    pick: (Pick, LlamaSampler),
    /// Kept between tokens for its memory.
    candidates: LlamaTokenDataArray,
    /// The prompt and what was said: what a rebuilt stage must know of.
    history: Vec<LlamaToken>,
    /// Tokens drawn so far.
    said: u32,
    /// Changes of the settings so far.
    generation: u32,
    watch: Option<Watch>,
}

/// A token that was drawn.
pub(super) struct Drawn {
    pub(super) token: Token,
    /// Where reports were asked for.
    pub(super) report: Option<Box<Report>>,
}

/// Why none was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Undrawn {
    /// The logits are no numbers.
    NoNumbers,
    /// The grammar lets nothing follow.
    NoWayOn,
}

impl Sampler {
    /// A sampler for a turn whose prompt is `prompt`. A random seed is drawn here; [`Self::seed`] tells it.
    ///
    /// # Errors
    /// When a biased text is no token, or the grammar is none.
    pub(super) fn new(vocabulary: &Vocabulary, settings: &Sampling, prompt: &[Token]) -> Result<Self, Failure> {
        let seed = match settings.seed {
            Seed::Fixed(seed) => seed.min(Seed::MAX),
            // The standard library's hasher keys are random; good enough to choose a seed, which is then recorded.
            Seed::Random => (RandomState::new().build_hasher().finish() as u32).min(Seed::MAX),
        };
        let (model, pick) = (vocabulary.model(), Pick::of(settings));
        let history: Vec<_> = prompt.iter().map(|t| LlamaToken(t.0)).collect();
        let build = |stage| (stage, stages::build(stage, settings, &model, seed, &history));
        Ok(Self {
            biases: form::biases(settings, vocabulary)?,
            biased: Vec::new(),
            form: Form::of(settings, &model)?,
            follows_form: true,
            stages: settings.active().map(build).collect(),
            pick: (pick, pick.build(model.n_vocab(), seed)),
            settings: settings.clone(),
            seed,
            candidates: LlamaTokenDataArray::new(Vec::new(), false),
            history,
            said: 0,
            generation: 0,
            watch: None,
            model,
        })
    }

    /// The same, telling of every draw what there was to draw from.
    pub(super) fn reporting(mut self) -> Self {
        self.watch = Some(Watch::default());
        self
    }

    /// The seed in force.
    pub(super) fn seed(&self) -> u32 {
        self.seed
    }

    /// Takes new settings for the next token on. What did not change keeps its state.
    ///
    /// # Errors
    /// As in [`Self::new`]; the old settings stay in force then.
    pub(super) fn tune(&mut self, vocabulary: &Vocabulary, settings: Sampling) -> Result<(), Failure> {
        let biases = form::biases(&settings, vocabulary)?;
        // A form is followed from an answer's beginning or not at all.
        if settings.grammar.is_none() {
            self.form = None;
        }
        self.biases = biases;
        let old = mem::replace(&mut self.settings, settings);
        // What draws for itself and is made anew would draw again what it drew at the beginning.
        let seed = self.seed.wrapping_add(self.said).min(Seed::MAX);
        let mut kept: Vec<_> = mem::take(&mut self.stages);
        for stage in self.settings.active() {
            let same = stages::is_same(stage, &old, &self.settings);
            let found = kept.iter().position(|(s, _)| *s == stage).filter(|_| same);
            let sampler = found.map_or_else(
                || stages::build(stage, &self.settings, &self.model, seed, &self.history),
                |at| kept.swap_remove(at).1,
            );
            self.stages.push((stage, sampler));
        }
        let pick = Pick::of(&self.settings);
        if pick != self.pick.0 {
            self.pick = (pick, pick.build(self.model.n_vocab(), seed));
        }
        self.generation += 1;
        Ok(())
    }

    /// Draws a token from `logits` (one per entry of the vocabulary) and remembers it.
    ///
    /// # Errors
    /// See [`Undrawn`].
    pub(super) fn draw(&mut self, logits: &[f32]) -> Result<Drawn, Undrawn> {
        if self.biases.is_empty() {
            return self.draw_from(logits, logits);
        }
        let mut biased = mem::take(&mut self.biased);
        biased.clear();
        biased.extend_from_slice(logits);
        for (id, bias) in &self.biases {
            if let Some(logit) = biased.get_mut(*id) {
                *logit += bias;
            }
        }
        let drawn = self.draw_from(&biased, logits);
        self.biased = biased;
        drawn
    }

    /// Draws from `logits`, of which the model computed `raw`.
    fn draw_from(&mut self, logits: &[f32], raw: &[f32]) -> Result<Drawn, Undrawn> {
        let highest = match look::highest_of_numbers(logits) {
            None => return Err(Undrawn::NoNumbers),
            Some(f32::NEG_INFINITY) if !self.biases.is_empty() => return Err(Undrawn::NoWayOn),
            Some(highest) if !highest.is_finite() => return Err(Undrawn::NoNumbers),
            Some(highest) => highest,
        };
        let mut token = match self.likeliest(logits, raw, highest) {
            Some(token) => token,
            None => self.select(logits, raw, false)?,
        };
        // As llama.cpp does it: the form is asked of the token that was drawn, which nearly always has it, and only where it
        // has not of the whole vocabulary, which takes a hundred times longer.
        if self.follows_form && self.form.as_mut().is_some_and(|form| !form.allows(token)) {
            token = self.select(logits, raw, true)?;
        }
        let report = self.watch.as_ref().map(|watch| {
            let chosen = self.candidates.selected.and_then(|at| self.candidates.data.get(at));
            let logit = chosen.filter(|c| c.id().0 == token.0).map(LlamaTokenData::logit);
            Box::new(Report {
                generation: self.generation,
                ..watch.report(raw, token, logit)
            })
        });
        self.accept(token);
        Ok(Drawn { token, report })
    }

    /// The likeliest token, where the settings ask for no more than that.
    fn likeliest(&mut self, logits: &[f32], raw: &[f32], highest: f32) -> Option<Token> {
        let bare = self.stages.iter().all(|(stage, _)| *stage == Stage::Temperature);
        if !(self.settings.is_greedy() && bare && self.pick.0 == Pick::Distribution) {
            return None;
        }
        let token = greedy(logits, highest)?;
        self.candidates.selected = None;
        if let Some(watch) = &mut self.watch {
            watch.begin(raw, None);
            watch.greedy(token);
        }
        Some(token)
    }

    /// Has the stages and the draw select a token, among those only that the form allows where it is `formed`.
    fn select(&mut self, logits: &[f32], raw: &[f32], formed: bool) -> Result<Token, Undrawn> {
        self.fill(logits, formed);
        if formed && let Some(form) = &mut self.form {
            form.apply(&mut self.candidates);
            if !self.candidates.data.iter().any(|c| c.logit().is_finite()) {
                return Err(Undrawn::NoWayOn);
            }
        }
        if let Some(watch) = &mut self.watch {
            // What leads is the raw distribution's only where nothing was added to it.
            let leads = self.candidates.sorted && self.biases.is_empty();
            watch.begin(raw, leads.then_some(self.candidates.data.as_slice()));
        }
        // A leading top-k has done its work already.
        let mut before = logits.len();
        for (stage, sampler) in &mut self.stages {
            self.candidates.apply_sampler(sampler);
            if let Some(watch) = &mut self.watch {
                watch.stage(*stage, before, &self.candidates.data);
            }
            before = self.candidates.data.len();
        }
        // llama.cpp's draws stumble over what is no number, and over nothing at all.
        if !drawable(&self.candidates.data) {
            return Err(Undrawn::NoNumbers);
        }
        if let Some(watch) = &mut self.watch {
            watch.end(&self.candidates.data);
        }
        self.candidates.apply_sampler(&mut self.pick.1);
        let selected = self.candidates.selected.and_then(|at| self.candidates.data.get(at));
        let chosen = selected.filter(|c| c.logit().is_finite()).ok_or(Undrawn::NoNumbers)?;
        Ok(Token(chosen.id().0))
    }

    /// Puts the candidates into the array: all, or right away only those that a leading top-k would keep.
    fn fill(&mut self, logits: &[f32], all: bool) {
        let data = &mut self.candidates.data;
        data.clear();
        self.candidates.selected = None;
        self.candidates.sorted = false;
        match self.stages.first() {
            Some((Stage::TopK, _)) if !all => {
                top(logits, self.settings.top_k as usize, data);
                self.candidates.sorted = true;
            }
            _ => data.extend(logits.iter().enumerate().map(|(id, &logit)| candidate(id, logit))),
        }
    }

    /// The tokens before the one that comes next, the newest last, at most `most` of them.
    pub(super) fn history(&self, most: usize) -> impl Iterator<Item = Token> {
        let from = self.history.len().saturating_sub(most);
        self.history[from..].iter().map(|token| Token(token.0))
    }

    /// The logits with the biases added.
    pub(super) fn with_biases(&self, logits: &[f32]) -> Vec<f32> {
        let mut biased = logits.to_vec();
        for (id, bias) in &self.biases {
            if let Some(logit) = biased.get_mut(*id) {
                *logit += bias;
            }
        }
        biased
    }

    /// Whether the form counts for what comes next.
    pub(super) fn follow_form(&mut self, follow: bool) {
        self.follows_form = follow;
    }

    /// Takes in a token that was said without being drawn. It is no part of what has a form.
    pub(super) fn put_in(&mut self, token: Token) {
        self.follows_form = false;
        self.accept(token);
    }

    /// Has everything that remembers know of the token.
    fn accept(&mut self, token: Token) {
        let token = LlamaToken(token.0);
        if self.follows_form
            && let Some(form) = &mut self.form
        {
            form.accept(token);
        }
        let samplers = self
            .stages
            .iter_mut()
            .map(|(_, sampler)| sampler)
            .chain([&mut self.pick.1]);
        for sampler in samplers {
            if let Err(error) = sampler.try_accept(token) {
                tracing::warn!(%error, "a sampling stage did not accept the token it let through");
            }
        }
        self.history.push(token);
        self.said = self.said.wrapping_add(1);
    }
}

/// The tokens of the highest logits, best first, at most `most` of them.
pub(super) fn likeliest(logits: &[f32], most: usize) -> impl Iterator<Item = Token> {
    let mut best = Vec::with_capacity(2 * most);
    top(logits, most, &mut best);
    best.into_iter().map(|candidate| Token(candidate.id().0))
}

/// Whether there is a candidate with a finite logit, and none whose logit is no number.
fn drawable(candidates: &[LlamaTokenData]) -> bool {
    let logits = || candidates.iter().map(LlamaTokenData::logit);
    logits().all(|logit| logit < f32::INFINITY) && logits().any(f32::is_finite)
}
