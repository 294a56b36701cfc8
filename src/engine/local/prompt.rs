//! The prompt of a conversation in the tokens of the loaded model: template, opening, and what of the thinking the template began.
//! How much of a conversation goes in is `window.rs`'s business.

use crate::domain::Role;
use crate::domain::inference::{ChatMessage, Failure, FailureKind, PromptRequest, Token, TurnEnd};
use crate::prompt::{self, Message, Options, Rendered, Template, TemplateError};
use crate::text::sanitize_line;
use crate::text::thinking::{Format, Splitter};

use super::vocabulary::Vocabulary;

/// A prompt, ready to be read.
pub(super) struct Prompt {
    pub(super) tokens: Vec<Token>,
    /// How the template was applied, in words.
    pub(super) path: String,
    /// The format of the thinking that it ends in, by its index.
    pub(super) begun: Option<usize>,
}

/// What makes prompts of conversations.
pub(super) struct Prompter {
    pub(super) vocabulary: Vocabulary,
    template: Template,
    options: Options,
    /// The ways in which the model may mark its thinking.
    pub(super) formats: Vec<Format>,
}

impl Prompter {
    /// One for this vocabulary and template; `tags` are around thinking besides those that are known.
    pub(super) fn new(vocabulary: Vocabulary, template: Template, tags: Option<&(String, String)>) -> Self {
        let mut formats = template.thinking_formats();
        formats.extend(tags.map(|(open, close)| Format::tags(open, close)));
        let options = Options {
            bos_token: vocabulary.bos_text.clone(),
            eos_token: vocabulary.eos_text.clone(),
            thinking_in_content: false,
            // Read once per load: a date that changes under way would change the beginning of every prompt.
            ..Options::new(jiff::Zoned::now().datetime())
        };
        Self {
            vocabulary,
            template,
            options,
            formats,
        }
    }

    /// The prompt of these messages, opened as `request` asks for it.
    ///
    /// # Errors
    /// When the template refuses them.
    pub(super) fn prompt(&self, messages: &[ChatMessage], request: &PromptRequest) -> Result<Prompt, Failure> {
        let opening = &request.opening;
        let open = (!opening.text.is_empty()).then(|| ChatMessage::new(Role::Assistant, &opening.text));
        let messages: Vec<_> = messages.iter().chain(&open).collect();
        let plain: Vec<_> = messages
            .iter()
            .map(|m| Message {
                role: m.role,
                content: &m.content,
                thinking: &m.thinking,
            })
            .collect();
        let options = Options {
            thinking: request.thinking,
            ..self.options.clone()
        };
        let markers = self.vocabulary.markers();
        let rendered = match open {
            Some(_) => self.template.render_open(&plain, markers, &options),
            None => self.template.render(&plain, markers, &options),
        };
        let rendered = rendered.map_err(|error| Failure::new(FailureKind::Template, error.to_string()))?;
        let begun = match open {
            Some(_) => None,
            None => prompt::begun(&self.formats, &rendered.text),
        };
        let mut tokens = self.vocabulary.prompt(&rendered, &messages);
        tokens.extend_from_slice(&opening.said);
        Ok(Prompt {
            tokens,
            path: rendered.path.to_string(),
            begun,
        })
    }

    /// What the template makes of messages.
    ///
    /// # Errors
    /// When the template refuses them.
    pub(super) fn render(&self, messages: &[Message<'_>]) -> Result<Rendered, TemplateError> {
        self.template.render(messages, self.vocabulary.markers(), &self.options)
    }

    /// How the template ends an answer, tried on a small conversation.
    pub(super) fn turn_end(&self) -> TurnEnd {
        let vocabulary = &self.vocabulary;
        if !vocabulary.can_end() {
            return TurnEnd::Missing;
        }
        let messages = prompt::TRIAL.map(|(role, said)| Message::new(role, said));
        let Ok(rendered) = self.render(&messages) else {
            return TurnEnd::Unknown;
        };
        let behind = rendered.text.split(prompt::TRIAL[1].1).nth(1).unwrap_or_default();
        let tokens = vocabulary.tokens_of(behind.trim_start(), false, true);
        match tokens.first() {
            None => TurnEnd::Elsewhere(String::new()),
            Some(first) if vocabulary.ends(*first) => TurnEnd::Reached(*first),
            Some(first) => TurnEnd::Elsewhere(sanitize_line(&vocabulary.show(*first).text).into_owned()),
        }
    }

    /// Tells this model's thinking from its answer; `begun` as in [`Prompt`].
    pub(super) fn splitter(&self, begun: Option<usize>) -> Splitter {
        let vocabulary = &self.vocabulary;
        let visible = |token| String::from_utf8_lossy(&vocabulary.bytes(token)).into_owned();
        Splitter::new(&self.formats, |tag| vocabulary.units(tag), visible, begun)
    }
}
