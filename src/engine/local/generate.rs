//! One turn: prompt, tokens, end. Between two tokens it looks for new settings and for a cancel.

use std::time::{Duration, Instant};

use crate::domain::inference::{
    ChatMessage, Event, Failure, FailureKind, Finish, GenerateRequest, PromptView, Said, Stats, Token, TurnId,
};
use crate::prompt;
use crate::text::Stitcher;

use super::Local;
use super::ffi::{DecodeError, Logits};
use super::load::Loaded;
use super::sampler::{self, Sampler};

/// What a turn has come to so far.
struct Turn {
    id: TurnId,
    began: Instant,
    first: Option<Instant>,
    last: Instant,
    stats: Stats,
    stitcher: Stitcher,
}

impl Local<'_> {
    /// Answers a conversation; every outcome is told as an event.
    pub(super) fn generate(&mut self, loaded: &mut Loaded, id: TurnId, request: &GenerateRequest) {
        let now = Instant::now();
        let mut turn = Turn {
            id,
            began: now,
            first: None,
            last: now,
            stats: Stats::default(),
            stitcher: Stitcher::default(),
        };
        loaded.sequence.context().watch(id);
        match self.answer(loaded, &mut turn, request) {
            Ok(finish) => {
                let rest = turn.stitcher.finish();
                if !rest.is_empty() {
                    self.tell(Event::Token {
                        turn: id,
                        said: Said {
                            token: None,
                            text: rest,
                            logprob: None,
                        },
                    });
                }
                let first = turn.first.unwrap_or(turn.last);
                turn.stats.decode = turn.last.saturating_duration_since(first);
                turn.stats.context_used = loaded.sequence.tokens().len() as u32;
                log(&turn, finish);
                self.tell(Event::Finished {
                    turn: id,
                    finish,
                    stats: turn.stats,
                });
            }
            Err(failure) => self.tell(Event::Failed { turn: id, failure }),
        }
    }

    fn answer(&mut self, loaded: &mut Loaded, turn: &mut Turn, request: &GenerateRequest) -> Result<Finish, Failure> {
        let prompt = loaded.tokens_of(&request.messages)?.0;
        let room = loaded.sequence.context().n_ctx();
        if prompt.len() >= room as usize {
            return Err(too_long(prompt.len(), room));
        }
        turn.stats.prompt_tokens = prompt.len() as u32;
        let mut sampler = Sampler::new(loaded.model(), &request.sampling, &prompt);
        turn.stats.seed = sampler.seed();

        let id = turn.id;
        let reused = loaded
            .sequence
            .prefill(&prompt, |progress| self.tell(Event::Prefill { turn: id, progress }));
        match reused {
            Ok(reused) => turn.stats.reused_tokens = reused as u32,
            Err(DecodeError::Cancelled) => return Ok(Finish::Stopped),
            Err(error) => return Err(compute(error)),
        }
        turn.stats.prefill = turn.began.elapsed();
        loop {
            if self.ends.cancel.is_stopped(id) {
                return Ok(Finish::Stopped);
            }
            if let Some(settings) = self.latest_tune() {
                sampler.tune(settings);
            }
            let (token, logprob) = draw(loaded, &mut sampler, request)?;
            turn.last = Instant::now();
            if turn.first.is_none() {
                turn.first = Some(turn.last);
                turn.stats.first_token = turn.began.elapsed();
            }
            if loaded.vocabulary.ends(token) {
                return Ok(Finish::EndOfTurn);
            }
            turn.stats.generated += 1;
            let text = turn.stitcher.push(&loaded.vocabulary.bytes(token));
            self.tell(Event::Token {
                turn: id,
                said: Said {
                    token: Some(token),
                    text,
                    logprob,
                },
            });
            if request.max_tokens.is_some_and(|max| turn.stats.generated >= max) {
                return Ok(Finish::MaxTokens);
            }
            if loaded.sequence.room() == 0 {
                return Ok(Finish::ContextFull);
            }
            match loaded.sequence.push(&[token], Logits::Last) {
                Ok(()) => {}
                Err(DecodeError::Cancelled) => return Ok(Finish::Stopped),
                Err(DecodeError::Full) => return Ok(Finish::ContextFull),
                Err(error) => return Err(compute(error)),
            }
        }
    }

    /// Renders the exact prompt for looking at.
    pub(super) fn render(&self, loaded: &Loaded, turn: TurnId, messages: &[ChatMessage]) {
        self.tell(match loaded.tokens_of(messages) {
            Ok((tokens, path)) => {
                let cached = loaded.sequence.reusable(&tokens) as u32;
                let tokens = tokens.into_iter().map(|t| loaded.vocabulary.show(t)).collect();
                Event::Rendered {
                    turn,
                    prompt: PromptView {
                        tokens,
                        template: path,
                        cached,
                    },
                }
            }
            Err(failure) => Event::Failed { turn, failure },
        });
    }
}

impl Loaded {
    /// The tokens of a conversation's prompt, and how the template was applied.
    fn tokens_of(&self, messages: &[ChatMessage]) -> Result<(Vec<Token>, String), Failure> {
        let plain: Vec<_> = messages
            .iter()
            .map(|m| prompt::Message {
                role: m.role,
                content: &m.content,
            })
            .collect();
        let rendered = self
            .template
            .render(&plain, self.vocabulary.markers(), &self.prompt_options)
            .map_err(|error| Failure::new(FailureKind::Template, error.to_string()))?;
        let path = rendered.path.to_string();
        Ok((self.vocabulary.prompt(&rendered, messages), path))
    }
}

/// Draws the next token from the logits of the last one.
fn draw(
    loaded: &mut Loaded,
    sampler: &mut Sampler,
    request: &GenerateRequest,
) -> Result<(Token, Option<f32>), Failure> {
    let broken = || {
        let message = "the model computes no numbers: its weights are broken, or this machine's graphics driver is; \
                       try '--gpu-layers 0', or download the model again";
        Failure::new(FailureKind::Compute, message)
    };
    let logits = loaded.sequence.logits().ok_or_else(broken)?;
    let token = sampler.draw(logits).ok_or_else(broken)?;
    let logprob = if request.logprobs {
        sampler::logprob(logits, token)
    } else {
        None
    };
    Ok((token, logprob))
}

fn too_long(tokens: usize, context: u32) -> Failure {
    let message = format!(
        "the conversation has {tokens} tokens and the context holds {context}: shorten the message, begin anew with \
         '/new', or start quipu with a larger '--context'"
    );
    Failure::new(FailureKind::TooLong, message)
}

fn compute(error: DecodeError) -> Failure {
    let message = format!("the model stopped computing: {error}; the log says more, and '/retry' tries again");
    Failure::new(FailureKind::Compute, message)
}

/// One line per turn is the whole performance log. Never what was said.
fn log(turn: &Turn, finish: Finish) {
    let Stats {
        prompt_tokens,
        reused_tokens,
        generated,
        context_used,
        prefill,
        first_token,
        decode,
        ..
    } = turn.stats;
    let ms = |d: Duration| d.as_millis();
    tracing::info!(
        turn = turn.id.0,
        prompt_tokens,
        reused_tokens,
        generated,
        context_used,
        prefill_ms = ms(prefill),
        first_token_ms = ms(first_token),
        decode_ms = ms(decode),
        %finish,
        "turn"
    );
}
