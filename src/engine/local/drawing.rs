//! The sampler alone, on logits of one's own making: for timing it. Answers are drawn by `generate.rs`.

use crate::domain::Sampling;
use crate::domain::inference::{Failure, Report, Token};

use super::lexicon::Lexicon;
use super::sampler::{Drawn, Sampler};

/// A sampler with the vocabulary of a model, whose weights are not read.
pub struct Drawing {
    sampler: Sampler,
}

impl Drawing {
    /// A sampler as for an empty prompt.
    ///
    /// # Errors
    /// When a setting cannot be followed with this vocabulary.
    pub fn new(lexicon: &Lexicon, settings: &Sampling) -> Result<Self, Failure> {
        let sampler = Sampler::new(lexicon.vocabulary(), settings, &[])?;
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
