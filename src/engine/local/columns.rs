//! Several answers to one conversation at once: the prompt is read once, and then every column has a sequence of its own, all of which
//! are computed in one batch, so that the weights come through memory once for all. Models that keep a state answer one column after
//! the other.

use crate::domain::inference::{CompareRequest, Event, Failure, FailureKind, Finish, Said, Token, TurnId};

use crate::engine::digest;

use super::Local;
use super::ffi::DecodeError;
use super::generate::{compute, end_thinking_of, next};
use super::load::Loaded;
use super::prompt::Prompt;
use super::sampler::{Drawn, Sampler};
use super::shape::Row;
use super::turn::{Spoken, Turn};
use super::window::Fitted;

/// A column under way.
struct Column {
    turn: Turn,
    sampler: Sampler,
    /// The row of the last batch that it goes on from; `None` where it is over.
    row: Option<usize>,
}

impl Local<'_> {
    /// Answers under several settings; every outcome is told as an event.
    pub(super) fn compare(&mut self, loaded: &mut Loaded, id: TurnId, request: &CompareRequest) {
        loaded.sequence.context().watch(id);
        let together = loaded.sequence.context().sequences() as usize >= request.columns.len();
        let compared = if request.columns.len() > CompareRequest::MOST {
            let words = format!(
                "{} columns are too many: at most {}",
                request.columns.len(),
                CompareRequest::MOST
            );
            Err(Failure::new(FailureKind::TooLong, words))
        } else if together {
            let compared = self.together(loaded, id, request);
            loaded.sequence.fold();
            compared
        } else {
            self.in_turn(loaded, id, request)
        };
        self.tell(match compared {
            Ok(()) => Event::Compared { turn: id },
            Err(failure) => Event::Failed { turn: id, failure },
        });
    }

    /// All at once.
    fn together(&self, loaded: &mut Loaded, id: TurnId, request: &CompareRequest) -> Result<(), Failure> {
        let Some((prompt, mut columns)) = self.begin(loaded, id, request)? else {
            self.stopped(id, request);
            return Ok(());
        };
        let mut batch: Vec<Row> = Vec::new();
        loop {
            let mut rows = Vec::with_capacity(columns.len());
            let cancelled = self.ends.cancel.is_stopped(id);
            for (at, column) in columns.iter_mut().enumerate() {
                let Some(row) = column.row.take() else { continue };
                let said = if cancelled {
                    Err(Finish::Stopped)
                } else {
                    self.step(loaded, (at, column), (row, batch.is_empty()), request)?
                };
                match said {
                    Ok(token) => {
                        column.row = Some(rows.len());
                        rows.push(Row {
                            token,
                            position: (prompt + column.turn.said.len() - 1) as u32,
                            sequence: at as u32,
                        });
                    }
                    Err(finish) => self.finish(at, column, finish),
                }
            }
            if rows.is_empty() {
                return Ok(());
            }
            if batch.is_empty() {
                loaded.sequence.fan_out(columns.len());
            }
            batch = rows;
            let end = match loaded.sequence.push_rows(&batch) {
                Ok(()) => continue,
                Err(DecodeError::Cancelled) => Finish::Stopped,
                Err(DecodeError::Full) => Finish::ContextFull,
                Err(error) => return Err(compute(error)),
            };
            for (at, column) in columns
                .iter_mut()
                .enumerate()
                .filter(|(_, column)| column.row.is_some())
            {
                self.finish(at, column, end);
            }
            return Ok(());
        }
    }

    /// Reads the prompt and makes the columns; tells how many tokens it has. `None` where it was stopped on the way.
    fn begin(
        &self,
        loaded: &mut Loaded,
        id: TurnId,
        request: &CompareRequest,
    ) -> Result<Option<(usize, Vec<Column>)>, Failure> {
        let Fitted { prompt, window } = loaded.fit(&request.prompt)?;
        if window.left_out > 0 {
            self.tell(Event::Window { turn: id, window });
        }
        let Prompt {
            tokens: prompt,
            path,
            begun,
        } = prompt;
        let mut turns: Vec<Turn> = request
            .columns
            .iter()
            .map(|settings| Turn::new(id, &settings.stop))
            .collect();
        let reused = loaded.sequence.prefill(&prompt, |progress| {
            self.tell(Event::Prefill { turn: id, progress });
        });
        let reused = match reused {
            Ok(reused) => reused as u32,
            Err(DecodeError::Cancelled) => return Ok(None),
            Err(error) => return Err(compute(error)),
        };
        for turn in &mut turns {
            turn.listen(loaded.prompter.splitter(begun));
            (turn.stats.prompt_tokens, turn.stats.reused_tokens) = (prompt.len() as u32, reused);
            turn.has_read();
        }
        self.tell(Event::Prompted {
            turn: id,
            path,
            digest: digest::of_tokens(&prompt),
            // Every column has its own, which its end tells.
            seed: 0,
        });
        let columns = turns.into_iter().zip(&request.columns).map(|(mut turn, settings)| {
            let mut sampler = Sampler::new(&loaded.prompter.vocabulary, settings, &prompt)?;
            if request.report {
                sampler = sampler.reporting();
            }
            turn.stats.seed = sampler.seed();
            let row = Some(0);
            Ok(Column { turn, sampler, row })
        });
        let columns: Result<Vec<_>, Failure> = columns.collect();
        Ok(Some((prompt.len(), columns?)))
    }

    /// Says the next token of a column, or why there is none.
    fn step(
        &self,
        loaded: &mut Loaded,
        (at, column): (usize, &mut Column),
        (row, first): (usize, bool),
        request: &CompareRequest,
    ) -> Result<Result<Token, Finish>, Failure> {
        let Column { turn, sampler, .. } = column;
        if request.thinking_budget.is_some_and(|budget| turn.thought() >= budget) {
            end_thinking_of(loaded, turn);
        }
        let vocabulary = &loaded.prompter.vocabulary;
        let logits = if first {
            loaded.sequence.logits()
        } else {
            loaded.sequence.logits_of(row)
        };
        let Drawn { token, mut report } = next(logits, turn, sampler)?;
        turn.has_drawn();
        if vocabulary.ends(token) {
            return Ok(Err(Finish::EndOfTurn));
        }
        let Spoken { part, parts, stopped } = turn.speak(vocabulary, token);
        if let Some(report) = &mut report {
            vocabulary.put_words(token, report);
        }
        let bytes = vocabulary.bytes(token);
        self.say_in(turn.id, at, Said::in_parts((token, part), bytes, parts, report));
        if stopped {
            return Ok(Err(Finish::StopText));
        }
        if request.prompt.max_tokens.is_some_and(|max| turn.stats.generated >= max) {
            return Ok(Err(Finish::MaxTokens));
        }
        Ok(Ok(token))
    }

    /// A column is over.
    fn finish(&self, at: usize, column: &mut Column, finish: Finish) {
        let turn = &mut column.turn;
        column.row = None;
        self.say_in(turn.id, at, Said::without_token(turn.rest(finish)));
        turn.stats.context_used = turn.stats.prompt_tokens + turn.stats.generated;
        self.tell(Event::ColumnFinished {
            turn: turn.id,
            column: at,
            finish,
            stats: turn.stats(),
        });
    }

    /// It was stopped before anything was said.
    fn stopped(&self, id: TurnId, request: &CompareRequest) {
        for at in 0..request.columns.len() {
            self.tell(Event::ColumnFinished {
                turn: id,
                column: at,
                finish: Finish::Stopped,
                stats: Turn::new(id, &[]).stats(),
            });
        }
    }

    fn say_in(&self, turn: TurnId, column: usize, all: impl Iterator<Item = Said>) {
        for said in all {
            self.tell(Event::Column { turn, column, said });
        }
    }

    /// One after the other.
    fn in_turn(&mut self, loaded: &mut Loaded, id: TurnId, request: &CompareRequest) -> Result<(), Failure> {
        for (at, settings) in request.columns.iter().enumerate() {
            let alone = CompareRequest {
                columns: vec![settings.clone()],
                ..request.clone()
            };
            let Some((_, mut columns)) = self.begin(loaded, id, &alone)? else {
                self.stopped(id, request);
                return Ok(());
            };
            let Some(column) = columns.first_mut() else { continue };
            let finish = loop {
                if self.ends.cancel.is_stopped(id) {
                    break Finish::Stopped;
                }
                match self.step(loaded, (at, &mut *column), (0, true), request)? {
                    Err(finish) => break finish,
                    Ok(token) => match loaded.sequence.push(&[token], super::ffi::Logits::Last) {
                        Ok(()) => {}
                        Err(DecodeError::Cancelled) => break Finish::Stopped,
                        Err(DecodeError::Full) => break Finish::ContextFull,
                        Err(error) => return Err(compute(error)),
                    },
                }
            };
            self.finish(at, column, finish);
        }
        Ok(())
    }
}
