//! What an answer must and must not be: grammars, and single tokens that are favoured or banned. Says clearly what of it cannot be
//! followed.

use std::sync::Arc;

use llama_cpp_2::json_schema_to_grammar;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token::data_array::LlamaTokenDataArray;

use crate::domain::Sampling;
use crate::domain::inference::{Failure, FailureKind, Token};
use crate::domain::sampling::{BiasedToken, GrammarForm};
use crate::text::sanitize_line;

use super::candidates::candidate;
use super::gbnf;
use crate::engine::local::logs;
use crate::engine::local::vocabulary::Vocabulary;

/// A grammar, and how far the answer is in it.
pub(super) struct Form {
    grammar: LlamaSampler,
    /// Whether the answer left the grammar: then nothing is asked of it any more, since llama.cpp would abort.
    broken: bool,
}

impl Form {
    /// The form that these settings ask for, if any.
    ///
    /// # Errors
    /// When the grammar or the schema cannot be read.
    pub(super) fn of(settings: &Sampling, model: &Arc<LlamaModel>) -> Result<Option<Self>, Failure> {
        let Some(grammar) = &settings.grammar else {
            return Ok(None);
        };
        let name = sanitize_line(&grammar.name).into_owned();
        let refused = |what: &str, why: &str| {
            let message =
                format!("the {what} '{name}' cannot be used: {why}; mend it, or '/grammar off' goes on without");
            Failure::new(FailureKind::Grammar, message)
        };
        let text = match grammar.form {
            GrammarForm::Gbnf => grammar.text.clone(),
            GrammarForm::JsonSchema => {
                // This parser says where, and bounds the depth on which llama.cpp's would recurse.
                let schema: serde_json::Value = serde_json::from_str(&grammar.text)
                    .map_err(|error| refused("JSON schema", &format!("it is no JSON ({error})")))?;
                if !(schema.is_object() || schema.is_boolean()) {
                    return Err(refused("JSON schema", "a schema is an object in braces"));
                }
                json_schema_to_grammar(&grammar.text).map_err(|_| {
                    refused(
                        "JSON schema",
                        "llama.cpp makes no grammar of it: a '$ref' leads nowhere, or a 'pattern' is not supported",
                    )
                })?
            }
        };
        gbnf::check(&text).map_err(|mistake| refused("grammar", &mistake.to_string()))?;
        logs::begin();
        let grammar = LlamaSampler::grammar(model, &text, gbnf::ROOT).map_err(|_| {
            let why = logs::first_error().unwrap_or_else(|| "llama.cpp cannot parse it as GBNF".to_owned());
            refused("grammar", &why)
        })?;
        Ok(Some(Self { grammar, broken: false }))
    }

    /// Whether the answer may go on with `token`.
    pub(super) fn allows(&mut self, token: Token) -> bool {
        let Ok(id) = usize::try_from(token.0) else {
            return false;
        };
        let mut one = LlamaTokenDataArray::new(vec![candidate(id, 1.0)], false);
        self.apply(&mut one);
        one.data.first().is_some_and(|c| c.logit().is_finite())
    }

    /// Makes impossible what the answer may not go on with.
    pub(super) fn apply(&mut self, candidates: &mut LlamaTokenDataArray) {
        if !self.broken {
            candidates.apply_sampler(&mut self.grammar);
        }
    }

    /// Goes on with a token.
    pub(super) fn accept(&mut self, token: LlamaToken) {
        if !self.broken
            && let Err(error) = self.grammar.try_accept(token)
        {
            tracing::warn!(%error, "the answer left its grammar");
            self.broken = true;
        }
    }
}

/// What is added to which logits: the person's wishes, the tokens that the model itself wants never said, and with ignore-eos
/// all that end an answer.
///
/// # Errors
/// When a text is not one token of the vocabulary, or an id is beyond it.
pub(super) fn biases(settings: &Sampling, vocabulary: &Vocabulary) -> Result<Vec<(usize, f32)>, Failure> {
    let mut biases: Vec<(usize, f32)> = vocabulary.suppressed().map(|id| (id, f32::NEG_INFINITY)).collect();
    for bias in &settings.logit_bias {
        let id = match &bias.token {
            BiasedToken::Id(id) if (*id as usize) < vocabulary.len() => *id as usize,
            BiasedToken::Id(id) => {
                let most = vocabulary.len().saturating_sub(1);
                let message = format!("logit-bias names token '#{id}' and this model's vocabulary ends at '#{most}'");
                return Err(Failure::new(FailureKind::Grammar, message));
            }
            BiasedToken::Text(text) => vocabulary.single(text).map_err(|count| {
                let shown = sanitize_line(text);
                let message = format!(
                    "logit-bias names '{shown}', which is {count} tokens in this model's vocabulary: give a text that is one, or \
                     an id as '#123'"
                );
                Failure::new(FailureKind::Grammar, message)
            })?,
        };
        biases.push((id, bias.bias));
    }
    if settings.ignore_eos {
        biases.extend(vocabulary.endings().map(|id| (id, f32::NEG_INFINITY)));
    }
    Ok(biases)
}
