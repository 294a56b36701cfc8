//! One turn: prompt, tokens, end. Between two tokens it looks for new settings and for a cancel.

use std::time::Duration;

use crate::domain::inference::{
    Change, ChatMessage, Event, Failure, FailureKind, Finish, GenerateRequest, LookRequest, Opening, Overflow,
    PromptRequest, PromptView, Said, Stats, Token, TurnId, Window,
};
use crate::domain::prospect::{HISTORY, Prospect};
use crate::domain::{Role, Sampling};
use crate::engine::digest;

use super::ffi::{DecodeError, Logits};
use super::load::Loaded;
use super::prompt::Prompt;
use super::sampler::{self, Drawn, Sampler, Undrawn};
use super::turn::{Spoken, Turn};
use super::window::Fitted;
use super::{Local, Wishes};

/// Tokens that are told by name with what one was drawn from: more than a panel shows.
const NAMED: usize = 64;

impl Local<'_> {
    /// Answers a conversation; every outcome is told as an event.
    pub(super) fn generate(&mut self, loaded: &mut Loaded, id: TurnId, request: &GenerateRequest) {
        let mut turn = Turn::new(id, &request.sampling.stop);
        loaded.sequence.context().watch(id);
        match self.answer(loaded, &mut turn, request) {
            Ok(finish) => {
                self.say(id, Said::without_token(turn.rest(finish)));
                turn.stats.context_used = loaded.sequence.tokens().len() as u32;
                let stats = turn.stats();
                log(id, &stats, finish);
                self.forecast(loaded, &turn, request);
                self.tell(Event::Finished {
                    turn: id,
                    finish,
                    stats,
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
    ) -> Result<Option<Prompt>, Failure> {
        let Fitted { prompt, window } = loaded.fit(&request.prompt)?;
        let id = turn.id;
        if window.left_out > 0 {
            self.tell(Event::Window { turn: id, window });
        }
        turn.listen(loaded.prompter.splitter(prompt.begun));
        let said = &request.prompt.opening.said;
        if !said.is_empty() {
            let (thinking, text) = turn.resume(&loaded.prompter.vocabulary, said);
            self.tell(Event::Resumed {
                turn: id,
                thinking,
                text,
            });
        }
        turn.stats.prompt_tokens = prompt.tokens.len() as u32;
        let reused = loaded.sequence.prefill(&prompt.tokens, |progress| {
            self.tell(Event::Prefill { turn: id, progress });
        });
        turn.stats.reused_tokens = match reused {
            Ok(reused) => reused as u32,
            Err(DecodeError::Cancelled) => return Ok(None),
            Err(error) => return Err(compute(error)),
        };
        turn.has_read();
        Ok(Some(prompt))
    }

    fn answer(&mut self, loaded: &mut Loaded, turn: &mut Turn, request: &GenerateRequest) -> Result<Finish, Failure> {
        let Some(Prompt {
            tokens: prompt, path, ..
        }) = self.read_prompt(loaded, turn, request)?
        else {
            return Ok(Finish::Stopped);
        };
        let mut sampler = Sampler::new(&loaded.prompter.vocabulary, &request.sampling, &prompt)?;
        if request.report {
            sampler = sampler.reporting();
        }
        let (id, seed) = (turn.id, sampler.seed());
        turn.stats.seed = seed;
        let digest = digest::of_tokens(&prompt);
        self.tell(Event::Prompted {
            turn: id,
            path,
            digest,
            seed,
        });
        let mut last = None;
        let finish = loop {
            if self.ends.cancel.is_stopped(id) {
                break Finish::Stopped;
            }
            self.heed(loaded, turn, &mut sampler, request);
            let Drawn { token, mut report } = next(loaded.sequence.logits(), turn, &mut sampler)?;
            turn.has_drawn();
            last = Some(token);
            self.look(loaded, &sampler, last.filter(|_| self.ends.lookout.is_watched()), None);
            if loaded.prompter.vocabulary.ends(token) {
                break Finish::EndOfTurn;
            }
            let Spoken { part, parts, stopped } = turn.speak(&loaded.prompter.vocabulary, token);
            if let Some(report) = &mut report {
                loaded.prompter.vocabulary.put_words(token, report);
            }
            let bytes = loaded.prompter.vocabulary.bytes(token);
            self.say(id, Said::in_parts((token, part), bytes, parts, report));
            if stopped {
                break Finish::StopText;
            }
            if request.prompt.max_tokens.is_some_and(|max| turn.stats.generated >= max) {
                break Finish::MaxTokens;
            }
            if loaded.sequence.room() == 0 && !self.shift(loaded, id, &request.prompt, &prompt) {
                break Finish::ContextFull;
            }
            match loaded.sequence.push(&[token], Logits::Last) {
                Ok(()) => {}
                Err(DecodeError::Cancelled) => break Finish::Stopped,
                Err(DecodeError::Full) => break Finish::ContextFull,
                Err(error) => return Err(compute(error)),
            }
        };
        // Somebody may want to look at the last one later.
        self.look(loaded, &sampler, last, None);
        Ok(finish)
    }

    /// Leaves what a token was drawn from, where there is one to look at, where others can look at it.
    fn look(&self, loaded: &mut Loaded, sampler: &Sampler, said: Option<Token>, place: Option<u32>) {
        let Some(said) = said else { return };
        let Some(logits) = loaded.sequence.logits().map(|logits| sampler.with_biases(logits)) else {
            return;
        };
        let vocabulary = &loaded.prompter.vocabulary;
        let named = |token: Token| (token, vocabulary.show(token).text);
        let mut before: Vec<Token> = sampler.history(HISTORY + 1).collect();
        // The sampler knows of it already, unless it was put in.
        if before.last() == Some(&said) {
            before.pop();
        }
        let before = before.into_iter().rev().take(HISTORY).rev();
        self.ends.lookout.put(Prospect {
            texts: sampler::likeliest(&logits, NAMED).map(named).collect(),
            history: before.map(named).collect(),
            logits,
            said,
            place,
        });
    }

    /// Leaves what a token of an answer that is over was drawn from: reads again what stands before it, as far as that is not in the KV
    /// cache.
    pub(super) fn look_back(&self, loaded: &mut Loaded, turn: TurnId, request: &LookRequest) {
        loaded.sequence.context().watch(turn);
        // A look moves nothing.
        let cut = loaded.cut;
        let fitted = loaded.fit(&request.prompt);
        loaded.cut = cut;
        let looked = fitted.and_then(|Fitted { prompt, .. }| {
            loaded.sequence.prefill(&prompt.tokens, |_| {}).map_err(compute)?;
            Sampler::new(&loaded.prompter.vocabulary, &request.sampling, &prompt.tokens)
        });
        self.tell(match looked {
            Ok(sampler) => {
                self.look(loaded, &sampler, Some(request.said), Some(request.place));
                Event::Looked { turn }
            }
            Err(failure) => Event::Failed { turn, failure },
        });
    }

    /// Takes in what was asked for since the last token, and what is due of what is to change under way.
    fn heed(&self, loaded: &Loaded, turn: &mut Turn, sampler: &mut Sampler, request: &GenerateRequest) {
        let Wishes { tune, end_thinking } = self.wishes(turn.id);
        let mut changes: Vec<_> = tune
            .map(|settings| Change::Settings(Box::new(settings)))
            .into_iter()
            .chain(end_thinking.then_some(Change::EndThinking))
            .collect();
        let at = turn.stats.generated;
        let due = request.changes.iter().filter(|(due, _)| *due == at);
        changes.extend(due.map(|(_, change)| change.clone()));
        for change in changes {
            let taken = match &change {
                Change::Settings(settings) => self.tune(loaded, turn, sampler, settings),
                Change::EndThinking => end_thinking_of(loaded, turn),
            };
            if taken {
                self.tell(Event::Changed {
                    turn: turn.id,
                    at,
                    change,
                });
            }
        }
        let budget = request.thinking_budget;
        if budget.is_some_and(|budget| turn.thought() >= budget) {
            end_thinking_of(loaded, turn);
        }
    }

    fn say(&self, turn: TurnId, all: impl Iterator<Item = Said>) {
        for said in all {
            self.tell(Event::Token { turn, said });
        }
    }

    /// Takes new settings for the next token on, or says what of them cannot be followed. Says whether it took them.
    fn tune(&self, loaded: &Loaded, turn: &mut Turn, sampler: &mut Sampler, settings: &Sampling) -> bool {
        match sampler.tune(&loaded.prompter.vocabulary, settings.clone()) {
            Ok(()) => {
                turn.stop_at(&settings.stop);
                true
            }
            Err(failure) => {
                self.tell(Event::Noted {
                    turn: turn.id,
                    words: failure.message,
                });
                false
            }
        }
    }

    /// Tells when the next turn will not fit whole, while there is time to choose what to do about it.
    fn forecast(&self, loaded: &mut Loaded, turn: &Turn, request: &GenerateRequest) {
        let context = loaded.sequence.context().n_ctx();
        // Less than half full, no turn that fits is in danger.
        if turn.stats.context_used < context / 2 && loaded.cut.is_none() {
            return;
        }
        let answer = ChatMessage {
            thinking: turn.thinking.clone(),
            tokens: Some(turn.said.clone()),
            ..ChatMessage::new(
                Role::Assistant,
                format!("{}{}", request.prompt.opening.text, turn.answer),
            )
        };
        let mut next = request.prompt.clone();
        next.opening = Opening::default();
        next.messages.extend([answer, ChatMessage::new(Role::User, "")]);
        // Only a look: where the window begins is decided by the turn itself.
        let cut = loaded.cut;
        let fitted = loaded.fit(&next);
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
        let scarce = request.prompt.overflow.refuses() && window.whole > context - context / 8;
        if window.left_out > 0 || scarce {
            self.tell(Event::Forecast { turn: turn.id, window });
        }
    }

    /// Makes room in the middle of an answer, where that is wanted and the model can. Told before anything is forgotten.
    fn shift(&self, loaded: &mut Loaded, turn: TurnId, request: &PromptRequest, prompt: &[Token]) -> bool {
        if request.overflow != Overflow::Shift {
            return false;
        }
        let keep = loaded.kept_by_shift(request, prompt);
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
    pub(super) fn render(&self, loaded: &mut Loaded, turn: TurnId, request: &PromptRequest) {
        // A look moves nothing.
        let cut = loaded.cut;
        let fitted = loaded.fit(request);
        loaded.cut = cut;
        self.tell(match fitted {
            Ok(Fitted { prompt, window }) => {
                let cached = loaded.sequence.reusable(&prompt.tokens) as u32;
                let tokens = prompt
                    .tokens
                    .into_iter()
                    .map(|t| loaded.prompter.vocabulary.show(t))
                    .collect();
                Event::Rendered {
                    turn,
                    prompt: PromptView {
                        tokens,
                        template: prompt.path,
                        cached,
                        window,
                    },
                }
            }
            Err(failure) => Event::Failed { turn, failure },
        });
    }
}

/// Ends the thinking under way; says whether there was any to end.
pub(super) fn end_thinking_of(loaded: &Loaded, turn: &mut Turn) -> bool {
    turn.end_thinking(&loaded.prompter.formats, |text| {
        loaded.prompter.vocabulary.tokenize_on(text)
    })
}

/// The next token: one that the thinking is ended with, or one drawn.
pub(super) fn next(logits: Option<&[f32]>, turn: &mut Turn, sampler: &mut Sampler) -> Result<Drawn, Failure> {
    // The form is the answer's: thinking has none.
    sampler.follow_form(!turn.is_thinking());
    match turn.forced() {
        Some(token) => {
            sampler.put_in(token);
            Ok(Drawn { token, report: None })
        }
        None => draw(logits, sampler),
    }
}

/// Draws the next token from the logits of the last one.
fn draw(logits: Option<&[f32]>, sampler: &mut Sampler) -> Result<Drawn, Failure> {
    let drawn = logits.map_or(Err(Undrawn::NoNumbers), |logits| sampler.draw(logits));
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

pub(super) fn compute(error: DecodeError) -> Failure {
    let message = format!("the model stopped computing: {error}; the log says more, and '/retry' tries again");
    Failure::new(FailureKind::Compute, message)
}

/// One line per turn is the whole performance log. Never what was said.
fn log(turn: TurnId, stats: &Stats, finish: Finish) {
    let &Stats {
        prompt_tokens,
        reused_tokens,
        generated,
        thinking_tokens,
        context_used,
        prefill,
        first_token,
        decode,
        ..
    } = stats;
    let ms = |d: Duration| d.as_millis();
    tracing::info!(
        turn = turn.0,
        prompt_tokens,
        reused_tokens,
        generated,
        thinking_tokens,
        context_used,
        prefill_ms = ms(prefill),
        first_token_ms = ms(first_token),
        decode_ms = ms(decode),
        %finish,
        "turn"
    );
}
