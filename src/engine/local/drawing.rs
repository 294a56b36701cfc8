//! The sampler alone, on logits of one's own making: for timing it. Answers are drawn by `generate.rs`.

use std::path::Path;

use crate::domain::Sampling;
use crate::domain::inference::{Failure, Report, Token};

use super::lexicon;
use super::sampler::{Drawn, Sampler};

/// A sampler with the vocabulary of a model, whose weights are not read.
pub struct Drawing {
    sampler: Sampler,
}

impl Drawing {
    /// A sampler as for an empty prompt, with the vocabulary of the GGUF file at `path`.
    ///
    /// # Errors
    /// When the file cannot be loaded, or a setting cannot be followed with its vocabulary.
    pub fn new(path: &Path, settings: &Sampling) -> Result<Self, Failure> {
        let vocabulary = lexicon::read(path)?;
        let sampler = Sampler::new(&vocabulary, settings, &[])?;
        Ok(Self { sampler })
    }

    /// The same, telling of every draw what there was to draw from; the candidates have no texts.
    #[must_use]
    pub fn reporting(mut self) -> Self {
        self.sampler = self.sampler.reporting();
        self
    }

    /// Draws from `logits`, of which there may be more than the vocabulary has entries where no stage looks at texts. `None`
    /// where there is nothing to draw.
    pub fn draw(&mut self, logits: &[f32]) -> Option<(Token, Option<Box<Report>>)> {
        let Drawn { token, report } = self.sampler.draw(logits).ok()?;
        Some((token, report))
    }
}
