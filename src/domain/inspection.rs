//! An answer token by token: what each says, what it was drawn from, and what they come to together. Only what was kept of an answer is
//! looked at, so that one of last week tells the same.

use serde::Serialize;

use super::conversation::{Answer, Take};
use super::inference::{Change, Report, Token};
use super::sampling::Sampling;

/// A token of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece<'a> {
    /// The id.
    pub token: Token,
    /// Its place among the tokens of the answer, from 0.
    pub place: usize,
    /// Its text, lossy where it is part of a character.
    pub text: &'a str,
    /// What it was drawn from.
    pub report: &'a Report,
}

/// What the tokens of an answer come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// How many there are.
    pub tokens: usize,
    /// Mean natural logarithm of their probabilities before any stage.
    pub log_probability: f64,
    /// The exponential of its negative: 1 where the model was sure of every token.
    pub perplexity: f64,
    /// Share of tokens that were not the likeliest, 0 to 1: what sampling changed from greedy.
    pub changed: f64,
}

/// The tokens of an answer of which is known what they were drawn from, in order: the last ones, where not all are.
pub fn pieces(answer: &Answer) -> Vec<Piece<'_>> {
    let first = answer.tokens.len().saturating_sub(answer.trace.len());
    let known = answer.tokens.iter().enumerate().skip(first).zip(&answer.trace);
    known
        .map(|((place, token), report)| {
            let said = report.candidates.iter().find(|candidate| candidate.token == *token);
            Piece {
                token: *token,
                place,
                text: said.map_or("", |said| &said.text),
                report,
            }
        })
        .collect()
}

/// All that is known of an answer's tokens, for a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Record {
    /// The model's name.
    pub model: String,
    /// What the tokens come to, where some were drawn.
    pub summary: Option<Summary>,
    /// The requests that the answer came of, with the settings in force.
    pub takes: Vec<Take>,
    /// Token by token.
    pub tokens: Vec<Entry>,
}

/// A token of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// Its place in the answer, from 0.
    pub place: usize,
    /// The id.
    pub token: Token,
    /// Its text, lossy where it is part of a character.
    pub text: String,
    /// What it was drawn from.
    pub report: Report,
}

/// All that is known of an answer's tokens.
pub fn record(answer: &Answer) -> Record {
    let pieces = pieces(answer);
    Record {
        model: answer.model_name.clone(),
        summary: summary(&pieces),
        takes: answer.takes.clone(),
        tokens: pieces
            .iter()
            .map(|piece| Entry {
                place: piece.place,
                token: piece.token,
                text: piece.text.to_owned(),
                report: piece.report.clone(),
            })
            .collect(),
    }
}

/// Those that were drawn and not put in.
fn drawn<'p, 'a>(pieces: &'p [Piece<'a>]) -> impl Iterator<Item = &'p Piece<'a>> {
    pieces.iter().filter(|piece| !piece.report.put_in)
}

/// What those of them come to that were drawn; `None` where none was.
pub fn summary(pieces: &[Piece<'_>]) -> Option<Summary> {
    let tokens = drawn(pieces).count();
    if tokens == 0 {
        return None;
    }
    // A probability too small for its type is small all the same.
    let log = |piece: &Piece<'_>| f64::from(piece.report.probability.max(f32::MIN_POSITIVE)).ln();
    let log_probability = drawn(pieces).map(log).sum::<f64>() / tokens as f64;
    let changed = drawn(pieces).filter(|piece| piece.report.rank > 0).count();
    Some(Summary {
        tokens,
        log_probability,
        perplexity: (-log_probability).exp(),
        changed: changed as f64 / tokens as f64,
    })
}

/// The indexes of the tokens that the model was least sure of, those first; at most so many.
pub fn least_certain(pieces: &[Piece<'_>], most: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..pieces.len()).filter(|at| !pieces[*at].report.put_in).collect();
    places.sort_by(|a, b| pieces[*a].report.probability.total_cmp(&pieces[*b].report.probability));
    places.truncate(most);
    places
}

/// The settings that the token at this place was drawn with, where the answer's record tells.
pub fn settings(answer: &Answer, place: usize) -> Option<&Sampling> {
    let take = answer.takes.iter().rev().find(|take| take.from as usize <= place)?;
    let within = (place - take.from as usize) as u32;
    let so_far = take.changes.iter().rev().filter(|(at, _)| *at <= within);
    let newest = so_far.into_iter().find_map(|(_, change)| match change {
        Change::Settings(settings) => Some(settings.as_ref()),
        Change::EndThinking => None,
    });
    Some(newest.unwrap_or(&take.settings))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::domain::Take;
    use crate::domain::inference::Candidate;

    fn report(token: i32, probability: f32, rank: u32) -> Report {
        Report {
            probability,
            rank,
            candidates: vec![Candidate {
                token: Token(token),
                text: format!("<{token}>"),
                ..Candidate::default()
            }],
            ..Report::default()
        }
    }

    fn answer() -> Answer {
        Answer {
            tokens: [1, 2, 3, 4].map(Token).to_vec(),
            trace: vec![report(2, 0.5, 0), report(3, 0.125, 2), report(4, 1.0, 0)],
            ..Answer::default()
        }
    }

    #[test]
    fn the_last_tokens_are_those_that_were_traced() {
        let answer = answer();
        let said: Vec<_> = pieces(&answer).iter().map(|piece| (piece.place, piece.text)).collect();
        assert_eq!(said, [(1, "<2>"), (2, "<3>"), (3, "<4>")]);
        assert_eq!(least_certain(&pieces(&answer), 2), [1, 0]);
    }

    #[test]
    fn the_figures_are_those_of_the_definition() {
        let answer = answer();
        let summary = summary(&pieces(&answer)).unwrap();
        // ln 1/2 + ln 1/8 + ln 1 is four times ln 1/2.
        assert!(
            (summary.log_probability - 4.0 * 0.5_f64.ln() / 3.0).abs() < 1e-9,
            "{summary:?}"
        );
        assert!(
            (summary.perplexity - 2.0_f64.powf(4.0 / 3.0)).abs() < 1e-9,
            "{summary:?}"
        );
        assert!((summary.changed - 1.0 / 3.0).abs() < 1e-9);
        assert_eq!(super::summary(&[]), None);
    }

    #[test]
    fn the_settings_are_those_in_force_at_the_token() {
        let with = |temperature| Sampling {
            temperature,
            ..Sampling::default()
        };
        let take = |from, temperature, changes| Take {
            from,
            settings: with(temperature),
            changes,
            ..Take::default()
        };
        let change = Change::Settings(Box::new(with(0.5)));
        let answer = Answer {
            takes: vec![take(0, 0.1, vec![(2, change)]), take(5, 0.9, vec![])],
            ..answer()
        };
        let temperature = |place| settings(&answer, place).map(|settings| settings.temperature);
        assert_eq!([0, 1, 2, 4, 5].map(temperature), [0.1, 0.1, 0.5, 0.5, 0.9].map(Some));
        assert_eq!(settings(&Answer::default(), 0), None);
    }
}
