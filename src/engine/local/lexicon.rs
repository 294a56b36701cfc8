//! A model's vocabulary without its weights: text to tokens, for looking at.

use std::path::Path;
use std::sync::Arc;

use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;

use crate::domain::inference::{Failure, FailureKind, Token};
use crate::gguf::ModelFile;
use crate::prompt::{Markers, Rendered};
use crate::text::sanitize_line;

use super::vocabulary::Vocabulary;
use super::{backend, logs};

/// A vocabulary that was read.
pub struct Lexicon {
    vocabulary: Vocabulary,
}

/// A token and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The id.
    pub token: Token,
    /// Its bytes, which may be a part of a character; of a special token the text that names it.
    pub bytes: Vec<u8>,
    /// Whether it is a control token.
    pub special: bool,
}

/// What becomes of the names of special tokens in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Specials {
    /// They become those tokens.
    Parsed,
    /// They are text like any other.
    Text,
}

impl Lexicon {
    /// Reads the vocabulary of a model.
    ///
    /// # Errors
    /// When it is not one that llama.cpp can use.
    pub fn open(file: &ModelFile) -> Result<Self, Failure> {
        let unusable = |error: crate::gguf::GgufError| {
            Failure::new(FailureKind::Model, sanitize_line(&error.to_string()).into_owned())
        };
        file.check_vocabulary().map_err(unusable)?;
        Ok(Self {
            vocabulary: read(file.path())?,
        })
    }

    /// The tokens of a text. With `add_special`, those stand around it that the model wants around a text.
    pub fn tokenize(&self, text: &str, specials: Specials, add_special: bool) -> Vec<Piece> {
        let tokens = self
            .vocabulary
            .tokens_of(text, add_special, specials == Specials::Parsed);
        self.pieces(tokens)
    }

    /// The tokens of a prompt as the chat feeds them: nothing in a message becomes a special token.
    pub fn prompt(&self, rendered: &Rendered) -> Vec<Piece> {
        self.pieces(self.vocabulary.prompt(rendered, &[]))
    }

    /// The texts that must not come out of a message as tokens.
    pub fn markers(&self) -> &Markers {
        self.vocabulary.markers()
    }

    /// The vocabulary.
    pub(super) fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn pieces(&self, tokens: Vec<Token>) -> Vec<Piece> {
        tokens.into_iter().map(|token| self.vocabulary.named(token)).collect()
    }
}

/// Has llama.cpp read the vocabulary of a checked file.
///
/// # Errors
/// With llama.cpp's reason.
fn read(path: &Path) -> Result<Vocabulary, Failure> {
    let refused = |why: String| {
        let path = path.display().to_string();
        let message = format!("llama.cpp reads no vocabulary from '{}': {why}", sanitize_line(&path));
        Failure::new(FailureKind::Model, message)
    };
    let backend = backend::start().ok_or_else(|| refused("it does not start in this process".to_owned()))?;
    let params = LlamaModelParams::default().with_vocab_only(true);
    logs::begin();
    let model = LlamaModel::load_from_file(backend, path, &params).map_err(|_| {
        let line = logs::first_error();
        refused(line.map_or_else(
            || "it does not say why".to_owned(),
            |line| sanitize_line(&line).into_owned(),
        ))
    })?;
    Vocabulary::new(&Arc::new(model)).map_err(|error| refused(error.to_string()))
}
