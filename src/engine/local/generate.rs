//! One turn: prompt, tokens, end. Between two tokens it looks for new settings and for a cancel.

use std::time::{Duration, Instant};

use crate::domain::inference::{
    ChatMessage, Event, Failure, FailureKind, Finish, GenerateRequest, Overflow, PromptView, Said, Stats, Token,
    TurnId, Window,
};
use crate::domain::{Role, Sampling};
use crate::prompt;
use crate::text::{Stitcher, Stops};

use super::Local;
use super::ffi::{DecodeError, Logits};
use super::load::Loaded;
use super::sampler::{Drawn, Sampler, Undrawn};
use super::window::Fitted;

/// What a turn has come to so far.
struct Turn {
    id: TurnId,
    began: Instant,
    first: Option<Instant>,
    last: Instant,
    stats: Stats,
    stitcher: Stitcher,
    stops: Stops,
    said: Vec<Token>,
}

impl Turn {
    /// The text that a token makes complete, and whether it ends the answer.
    fn text(&mut self, bytes: &[u8]) -> (String, bool) {
        let text = self.stitcher.push(bytes);
        self.stops.push(&text)
    }

    /// What was held back until the end.
    fn rest(&mut self, finish: Finish) -> String {
        if finish == Finish::StopText {
            return String::new();
        }
        let rest = self.stitcher.finish();
        // Half a character at the very end is no stop any more.
        let (clear, _) = self.stops.push(&rest);
        clear + &self.stops.finish()
    }
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
            stops: Stops::new(&request.sampling.stop),
            said: Vec::new(),
        };
        loaded.sequence.context().watch(id);
        match self.answer(loaded, &mut turn, request) {
            Ok(finish) => {
                let rest = turn.rest(finish);
                if !rest.is_empty() {
                    self.tell(Event::Token {
                        turn: id,
                        said: Said {
                            token: None,
                            text: rest,
                            report: None,
                        },
                    });
                }
                let first = turn.first.unwrap_or(turn.last);
                turn.stats.decode = turn.last.saturating_duration_since(first);
                turn.stats.context_used = loaded.sequence.tokens().len() as u32;
                log(&turn, finish);
                self.forecast(loaded, &turn, request);
                self.tell(Event::Finished {
                    turn: id,
                    finish,
                    stats: turn.stats,
                });
            }
            Err(failure) => self.tell(Event::Failed { turn: id, failure }),
        }
    }

    /// Brings the KV cache to the prompt; `None` where it was stopped on the way.
    fn read_prompt(
        &self,
        loaded: &mut Loaded,
        turn: &mut Turn,
        request: &GenerateRequest,
    ) -> Result<Option<Vec<Token>>, Failure> {
        let Fitted { tokens, window, .. } = loaded.fit(&request.messages, request.overflow, request.max_tokens)?;
        let id = turn.id;
        if window.left_out > 0 {
            self.tell(Event::Window { turn: id, window });
        }
        turn.stats.prompt_tokens = tokens.len() as u32;
        let reused = loaded
            .sequence
            .prefill(&tokens, |progress| self.tell(Event::Prefill { turn: id, progress }));
        turn.stats.reused_tokens = match reused {
            Ok(reused) => reused as u32,
            Err(DecodeError::Cancelled) => return Ok(None),
            Err(error) => return Err(compute(error)),
        };
        turn.stats.prefill = turn.began.elapsed();
        Ok(Some(tokens))
    }

    fn answer(&mut self, loaded: &mut Loaded, turn: &mut Turn, request: &GenerateRequest) -> Result<Finish, Failure> {
        let Some(prompt) = self.read_prompt(loaded, turn, request)? else {
            return Ok(Finish::Stopped);
        };
        let mut sampler = Sampler::new(&loaded.vocabulary, &request.sampling, &prompt)?;
        if request.report {
            sampler = sampler.reporting();
        }
        turn.stats.seed = sampler.seed();
        let id = turn.id;
        loop {
            if self.ends.cancel.is_stopped(id) {
                return Ok(Finish::Stopped);
            }
            if let Some(settings) = self.latest_tune() {
                self.tune(loaded, turn, &mut sampler, settings);
            }
            let Drawn { token, mut report } = draw(loaded, &mut sampler)?;
            turn.last = Instant::now();
            if turn.first.is_none() {
                turn.first = Some(turn.last);
                turn.stats.first_token = turn.began.elapsed();
            }
            if loaded.vocabulary.ends(token) {
                return Ok(Finish::EndOfTurn);
            }
            turn.stats.generated += 1;
            turn.said.push(token);
            let (text, stopped) = turn.text(&loaded.vocabulary.bytes(token));
            if let Some(report) = &mut report {
                loaded.vocabulary.put_words(token, report);
            }
            self.tell(Event::Token {
                turn: id,
                said: Said {
                    token: Some(token),
                    text,
                    report,
                },
            });
            if stopped {
                return Ok(Finish::StopText);
            }
            if request.max_tokens.is_some_and(|max| turn.stats.generated >= max) {
                return Ok(Finish::MaxTokens);
            }
            if loaded.sequence.room() == 0 && !self.shift(loaded, id, request, &prompt) {
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

    /// Takes new settings for the next token on, or says what of them cannot be followed.
    fn tune(&self, loaded: &Loaded, turn: &mut Turn, sampler: &mut Sampler, settings: Sampling) {
        turn.stops.watch_for(&settings.stop);
        if let Err(failure) = sampler.tune(&loaded.vocabulary, settings) {
            self.tell(Event::Noted {
                turn: turn.id,
                words: failure.message,
            });
        }
    }

    /// Tells when the next turn will not fit whole, while there is time to choose what to do about it.
    fn forecast(&self, loaded: &mut Loaded, turn: &Turn, request: &GenerateRequest) {
        let context = loaded.sequence.context().n_ctx();
        // Less than half full, no turn that fits is in danger.
        if turn.stats.context_used < context / 2 && loaded.cut.is_none() {
            return;
        }
        let bytes: Vec<u8> = turn
            .said
            .iter()
            .flat_map(|token| loaded.vocabulary.bytes(*token))
            .collect();
        let next = |role, content: &str, tokens| ChatMessage {
            role,
            content: content.to_owned(),
            tokens,
        };
        let answer = next(
            Role::Assistant,
            &String::from_utf8_lossy(&bytes),
            Some(turn.said.clone()),
        );
        let messages: Vec<_> = request
            .messages
            .iter()
            .cloned()
            .chain([answer, next(Role::User, "", None)])
            .collect();
        // Only a look: where the window begins is decided by the turn itself.
        let cut = loaded.cut;
        let fitted = loaded.fit(&messages, request.overflow, request.max_tokens);
        loaded.cut = cut;
        let window = match fitted {
            Ok(fitted) => fitted.window,
            // It does not fit at all, which the next turn would say.
            Err(_) => Window {
                whole: context,
                inside: context,
                context,
                ..Window::default()
            },
        };
        let scarce = request.overflow == Overflow::Stop && window.whole > context - context / 8;
        if window.left_out > 0 || scarce {
            self.tell(Event::Forecast { turn: turn.id, window });
        }
    }

    /// Makes room in the middle of an answer, where that is wanted and the model can. Told before anything is forgotten.
    fn shift(&self, loaded: &mut Loaded, turn: TurnId, request: &GenerateRequest, prompt: &[Token]) -> bool {
        if request.overflow != Overflow::Shift {
            return false;
        }
        let keep = loaded.kept_by_shift(&request.messages, prompt);
        // Half of what may go, as llama.cpp does: often enough to matter, seldom enough not to lose the thread at every token.
        let discard = loaded.sequence.tokens().len().saturating_sub(keep) / 2;
        self.tell(Event::Shift {
            turn,
            keep: keep as u32,
            discard: discard as u32,
        });
        let shifted = loaded.sequence.shift(keep, discard);
        if !shifted {
            tracing::warn!(keep, discard, "this model's positions cannot be shifted");
        }
        shifted
    }

    /// Renders the exact prompt for looking at.
    pub(super) fn render(
        &self,
        loaded: &mut Loaded,
        turn: TurnId,
        messages: &[ChatMessage],
        (overflow, max_tokens): (Overflow, Option<u32>),
    ) {
        // A look moves nothing.
        let cut = loaded.cut;
        let fitted = loaded.fit(messages, overflow, max_tokens);
        loaded.cut = cut;
        self.tell(match fitted {
            Ok(Fitted { tokens, path, window }) => {
                let cached = loaded.sequence.reusable(&tokens) as u32;
                let tokens = tokens.into_iter().map(|t| loaded.vocabulary.show(t)).collect();
                Event::Rendered {
                    turn,
                    prompt: PromptView {
                        tokens,
                        template: path,
                        cached,
                        window,
                    },
                }
            }
            Err(failure) => Event::Failed { turn, failure },
        });
    }
}

impl Loaded {
    /// The tokens of a conversation's prompt, and how the template was applied.
    pub(super) fn tokens_of(&self, messages: &[ChatMessage]) -> Result<(Vec<Token>, String), Failure> {
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
fn draw(loaded: &mut Loaded, sampler: &mut Sampler) -> Result<Drawn, Failure> {
    let drawn = loaded
        .sequence
        .logits()
        .map_or(Err(Undrawn::NoNumbers), |logits| sampler.draw(logits));
    drawn.map_err(|undrawn| match undrawn {
        Undrawn::NoNumbers => Failure::new(
            FailureKind::Compute,
            "the model computes no numbers: its weights are broken, or this machine's graphics driver is; try \
             '--gpu-layers 0', or download the model again",
        ),
        Undrawn::NoWayOn => Failure::new(
            FailureKind::Grammar,
            "the grammar or the biases let nothing follow here: mend them, or go on without by '/grammar off' and '/set \
             logit-bias off'",
        ),
    })
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
