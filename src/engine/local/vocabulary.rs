//! Text to tokens and back, for one model: tokenizing a rendered prompt so that nothing a person typed becomes a control
//! token, and everything else exactly as llama.cpp would; which tokens end an answer; what a token's bytes are.

use std::sync::Arc;

use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token_type::LlamaTokenAttr;

use crate::domain::counter::Tokenize;
use crate::domain::inference::{ChatMessage, Part, PromptToken, Report, Token};
use crate::prompt::{MarkerKind, Markers, Rendered, TemplateError};
use crate::text::thinking::Unit;

use super::lexicon::Piece;

/// What is asked of a vocabulary again and again, read once.
pub(super) struct Vocabulary {
    model: Arc<LlamaModel>,
    /// Per id: whether it ends an answer.
    ends: Vec<bool>,
    /// Per id: whether it is a control token.
    control: Vec<bool>,
    /// Put before every prompt that does not begin with it.
    leading: Option<Token>,
    /// The texts that must not come out of a message as tokens.
    markers: Markers,
    /// The text of the beginning-of-sequence token, for templates.
    pub(super) bos_text: String,
    /// The text of the end-of-sequence token, for templates.
    pub(super) eos_text: String,
    /// What tokenizing puts before a line feed at the start of a text, where this vocabulary puts a space before a text.
    space_guard: Option<Vec<Token>>,
}

impl Vocabulary {
    /// Reads the vocabulary of `model` once.
    ///
    /// # Errors
    /// When the special tokens cannot be searched for.
    pub(super) fn new(model: &Arc<LlamaModel>) -> Result<Self, TemplateError> {
        let vocab = model.vocab();
        let ids = || (0..vocab.n_tokens()).map(LlamaToken);
        let mut markers = Vec::new();
        let mut control = Vec::with_capacity(vocab.n_tokens() as usize);
        for id in ids() {
            let attr = vocab.attr(id);
            let is_control = attr.contains(LlamaTokenAttr::Control) || attr.contains(LlamaTokenAttr::Unknown);
            control.push(is_control);
            if is_control || attr.contains(LlamaTokenAttr::UserDefined) {
                let text = String::from_utf8_lossy(&vocab.token_to_piece(id, true, None)).into_owned();
                markers.push((
                    text,
                    if is_control {
                        MarkerKind::Control
                    } else {
                        MarkerKind::UserDefined
                    },
                ));
            }
        }
        let text_of = |id: LlamaToken| {
            let known = (0..vocab.n_tokens()).contains(&id.0);
            let bytes = if known {
                vocab.token_to_piece(id, true, None)
            } else {
                Vec::new()
            };
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let (bos, eos) = (vocab.bos(), vocab.eos());
        let leading = (vocab.should_add_bos() && (0..vocab.n_tokens()).contains(&bos.0)).then_some(Token(bos.0));
        let mut this = Self {
            ends: ids().map(|id| vocab.is_eog(id)).collect(),
            control,
            leading,
            markers: Markers::new(markers)?,
            bos_text: text_of(bos),
            eos_text: text_of(eos),
            space_guard: None,
            model: Arc::clone(model),
        };
        let first_bytes: Vec<u8> = this.tokenize("x").into_iter().flat_map(|t| this.bytes(t)).collect();
        if first_bytes.starts_with(b" ") {
            this.space_guard = Some(this.tokenize("\n"));
        }
        Ok(this)
    }

    /// The texts that must not come out of a message as tokens.
    pub(super) fn markers(&self) -> &Markers {
        &self.markers
    }

    /// The model.
    pub(super) fn model(&self) -> Arc<LlamaModel> {
        Arc::clone(&self.model)
    }

    /// The ids that the model itself wants never said.
    pub(super) fn suppressed(&self) -> impl Iterator<Item = usize> {
        let vocab = self.model.vocab();
        let ids: Vec<usize> = vocab
            .suppress_tokens()
            .iter()
            .filter_map(|t| usize::try_from(t.0).ok())
            .collect();
        ids.into_iter()
    }

    /// The ids that end an answer.
    pub(super) fn endings(&self) -> impl Iterator<Item = usize> {
        self.ends
            .iter()
            .enumerate()
            .filter(|(_, ends)| **ends)
            .map(|(id, _)| id)
    }

    /// The id of a text that is one token.
    ///
    /// # Errors
    /// How many tokens it is.
    pub(super) fn single(&self, text: &str) -> Result<usize, usize> {
        let tokens = self.tokenize_on(text);
        match tokens.as_slice() {
            [only] => usize::try_from(only.0).map_err(|_| 1),
            tokens => Err(tokens.len()),
        }
    }

    /// Entries of the vocabulary.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether `token` ends an answer.
    pub(super) fn ends(&self, token: Token) -> bool {
        usize::try_from(token.0).is_ok_and(|id| self.ends.get(id).copied().unwrap_or(false))
    }

    /// Whether any token ends an answer; without one a model can only be stopped by a limit.
    pub(super) fn can_end(&self) -> bool {
        self.ends.contains(&true)
    }

    /// The bytes of a token; none for a control token, which is not text. May be a part of a character.
    pub(super) fn bytes(&self, token: Token) -> Vec<u8> {
        self.piece(token, false)
    }

    fn piece(&self, token: Token, special: bool) -> Vec<u8> {
        // llama.cpp aborts on ids outside the vocabulary.
        let known = usize::try_from(token.0).is_ok_and(|id| id < self.len());
        if known {
            self.model.vocab().token_to_piece(LlamaToken(token.0), special, None)
        } else {
            Vec::new()
        }
    }

    /// A token for showing.
    pub(super) fn show(&self, token: Token) -> PromptToken {
        let Piece { bytes, special, .. } = self.named(token);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        PromptToken {
            token,
            text,
            control: special,
        }
    }

    /// A token with its bytes, special ones by name.
    pub(super) fn named(&self, token: Token) -> Piece {
        let special = usize::try_from(token.0).is_ok_and(|id| self.control.get(id).copied().unwrap_or(false));
        Piece {
            token,
            bytes: self.piece(token, true),
            special,
        }
    }

    /// Puts the bytes of `token` and the texts of its candidates into a report on it.
    pub(super) fn put_words(&self, token: Token, report: &mut Report) {
        report.bytes = self.bytes(token);
        for candidate in &mut report.candidates {
            candidate.text = self.show(candidate.token).text;
        }
    }

    /// The tokens of a rendered prompt: llama.cpp's own tokenization of the whole text, with two exceptions. At every cut
    /// the text is split, so that what came from a message cannot form a control token; and an answer that this model gave
    /// goes in as the tokens it was given in, where the template left its text as it was.
    pub(super) fn prompt(&self, rendered: &Rendered, messages: &[&ChatMessage]) -> Vec<Token> {
        let mut tokens = Vec::with_capacity(rendered.text.len() / 3);
        let mut at = 0;
        for content in &rendered.contents {
            let said = messages
                .get(content.message)
                .filter(|m| {
                    content.part == Part::Answer && rendered.text.get(content.range.clone()) == Some(&m.content)
                })
                .and_then(|m| self.spelling(m.tokens.as_deref()?, &m.content));
            if let Some(ids) = said
                && content.range.start >= at
            {
                self.pieces(rendered, at, content.range.start, &mut tokens);
                tokens.extend_from_slice(ids);
                at = content.range.end;
            }
        }
        self.pieces(rendered, at, rendered.text.len(), &mut tokens);
        if let Some(bos) = self.leading.filter(|bos| tokens.first() != Some(bos)) {
            tokens.insert(0, bos);
        }
        tokens
    }

    /// The last of these ids that spell `content`: thinking and tags may stand before, and tokens without a text behind.
    fn spelling<'t>(&self, ids: &'t [Token], content: &str) -> Option<&'t [Token]> {
        let silent = ids.iter().rev().take_while(|id| self.bytes(**id).is_empty()).count();
        let ids = &ids[..ids.len() - silent];
        let mut left = content.as_bytes();
        for (at, id) in ids.iter().enumerate().rev() {
            match left.strip_suffix(self.bytes(*id).as_slice()) {
                Some([]) => return Some(&ids[at..]),
                Some(rest) => left = rest,
                None => break,
            }
        }
        // Bytes that are no text became marks of it.
        let bytes: Vec<u8> = ids.iter().flat_map(|id| self.bytes(*id)).collect();
        (String::from_utf8_lossy(&bytes) == content).then_some(ids)
    }

    /// A text as it comes in a stream of this model's tokens: characters, and the tokens among them that are more than their text.
    pub(super) fn units(&self, text: &str) -> Vec<Unit> {
        let tokens = self.tokenize_on(text);
        let single = tokens.len() == 1;
        let unit = |token: Token| {
            let attr = self.model.vocab().attr(LlamaToken(token.0));
            let is_mark = attr.contains(LlamaTokenAttr::Control) || attr.contains(LlamaTokenAttr::UserDefined);
            if single || is_mark {
                return vec![Unit::Mark(token)];
            }
            String::from_utf8_lossy(&self.bytes(token))
                .chars()
                .map(Unit::Char)
                .collect()
        };
        if tokens
            .iter()
            .any(|token| matches!(unit(*token).as_slice(), [Unit::Mark(_)]))
        {
            tokens.into_iter().flat_map(unit).collect()
        } else {
            // Without such tokens the text itself is what comes, however it is cut into tokens.
            text.chars().map(Unit::Char).collect()
        }
    }

    /// Tokenizes a part of a rendered prompt, split at its cuts.
    fn pieces(&self, rendered: &Rendered, from: usize, to: usize, tokens: &mut Vec<Token>) {
        let inside = rendered.cuts.iter().copied().filter(|cut| (from + 1..to).contains(cut));
        let mut start = from;
        for end in inside.chain([to]) {
            if let Some(text) = rendered.text.get(start..end).filter(|text| !text.is_empty()) {
                tokens.extend(if start == 0 {
                    self.tokenize(text)
                } else {
                    self.tokenize_on(text)
                });
            }
            start = end;
        }
    }

    /// llama.cpp's tokens of `text`, special tokens recognised, nothing added.
    fn tokenize(&self, text: &str) -> Vec<Token> {
        self.tokens_of(text, false, true)
    }

    /// llama.cpp's tokens of `text`, with its own two switches: whether to add what the model wants around a text, and whether the
    /// names of special tokens are those.
    pub(super) fn tokens_of(&self, text: &str, add_special: bool, parse_special: bool) -> Vec<Token> {
        let ids = self.model.vocab().tokenize(text.as_bytes(), add_special, parse_special);
        ids.into_iter().map(|t| Token(t.0)).collect()
    }

    /// The vocabulary for others to read; it may be asked from another thread.
    pub(super) fn lend(&self) -> Box<dyn Tokenize> {
        Box::new(Loan {
            model: self.model(),
            space_guard: self.space_guard.clone(),
        })
    }

    /// The same for a text that goes on after another. Vocabularies that put a space before a text would put one into the
    /// middle here; behind a line feed they do not, so one is put before and its tokens taken off again.
    pub(super) fn tokenize_on(&self, text: &str) -> Vec<Token> {
        on(text, self.space_guard.as_deref(), |text| self.tokenize(text))
    }
}

/// The tokens of a text that goes on after another, where tokenizing puts `guard` before a line feed at the start of a text.
fn on(text: &str, guard: Option<&[Token]>, tokenize: impl Fn(&str) -> Vec<Token>) -> Vec<Token> {
    if let Some(guard) = guard {
        let mut tokens = tokenize(&format!("\n{text}"));
        if tokens.starts_with(guard) {
            tokens.drain(..guard.len());
            return tokens;
        }
    }
    tokenize(text)
}

/// The part of a vocabulary that others read.
struct Loan {
    model: Arc<LlamaModel>,
    space_guard: Option<Vec<Token>>,
}

impl Tokenize for Loan {
    fn count(&self, text: &str) -> u32 {
        self.model.vocab().tokenize(text.as_bytes(), false, false).len() as u32
    }

    fn tokens(&self, text: &str) -> Vec<(Token, Vec<u8>)> {
        let vocab = self.model.vocab();
        let plain = |text: &str| {
            let ids = vocab.tokenize(text.as_bytes(), false, false);
            ids.into_iter().map(|id| Token(id.0)).collect()
        };
        let tokens = on(text, self.space_guard.as_deref(), plain);
        let bytes = |token: Token| vocab.token_to_piece(LlamaToken(token.0), true, None);
        tokens.into_iter().map(|token| (token, bytes(token))).collect()
    }
}
