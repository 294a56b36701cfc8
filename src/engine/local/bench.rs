//! Times the very engine that chats: prompt reading and generation at a depth, sampling included.

use std::time::Instant;

use crate::domain::inference::{BenchRequest, BenchResult, Event, Failure, FailureKind, Token, TurnId};

use super::Local;
use super::ffi::{DecodeError, Logits};
use super::load::Loaded;
use super::sampler::Sampler;

impl Local<'_> {
    /// Carries out a timing and tells it.
    pub(super) fn bench(&self, loaded: &mut Loaded, turn: TurnId, request: &BenchRequest) {
        loaded.sequence.context().watch(turn);
        let result = time(loaded, request);
        // What was computed here is nobody's conversation.
        loaded.sequence.clear();
        self.tell(match result {
            Ok(result) => Event::Benched { turn, result },
            Err(failure) => Event::Failed { turn, failure },
        });
    }
}

fn time(loaded: &mut Loaded, request: &BenchRequest) -> Result<BenchResult, Failure> {
    let longest = request.depth.saturating_add(request.prompt.max(request.generate));
    let context = loaded.sequence.context().n_ctx();
    if longest > context {
        let message = format!("{longest} tokens do not fit the context of {context}: give a larger '--context'");
        return Err(Failure::new(FailureKind::TooLong, message));
    }
    let failed = |error: DecodeError| match error {
        DecodeError::Cancelled => Failure::new(FailureKind::Cancelled, "the timing was cancelled"),
        error => Failure::new(FailureKind::Compute, format!("the timing broke off: {error}")),
    };
    let vocabulary = loaded.prompter.vocabulary.len() as u32;
    let sequence = &mut loaded.sequence;
    sequence.clear();
    // One token more than the depth for the generation to start from, left out of both clocks.
    let text = filler(vocabulary, request.depth.max(1));
    sequence.prefill(&text, |_| {}).map_err(failed)?;
    sequence.synchronize();

    let mut result = BenchResult {
        prompt: std::time::Duration::ZERO,
        generate: std::time::Duration::ZERO,
    };
    if request.prompt > 0 {
        sequence.rewind(request.depth as usize);
        let whole = filler(vocabulary, request.depth + request.prompt);
        let began = Instant::now();
        sequence.prefill(&whole, |_| {}).map_err(failed)?;
        sequence.synchronize();
        result.prompt = began.elapsed();
    }
    if request.generate > 0 {
        sequence.rewind(request.depth.saturating_sub(1) as usize);
        sequence.prefill(&text, |_| {}).map_err(failed)?;
        let mut sampler = Sampler::new(&loaded.prompter.vocabulary, &request.sampling, &text)?.reporting();
        sequence_generate(loaded, &mut sampler, request.generate, &mut result).map_err(failed)?;
    }
    Ok(result)
}

fn sequence_generate(
    loaded: &mut Loaded,
    sampler: &mut Sampler,
    tokens: u32,
    result: &mut BenchResult,
) -> Result<(), DecodeError> {
    let began = Instant::now();
    for _ in 0..tokens {
        // A random model may say the end of the turn, or compute nonsense; the clock does not care what is said.
        let drawn = loaded.sequence.logits().and_then(|logits| sampler.draw(logits).ok());
        loaded
            .sequence
            .push(&[drawn.map_or(Token(0), |drawn| drawn.token)], Logits::Last)?;
    }
    loaded.sequence.synchronize();
    result.generate = began.elapsed();
    Ok(())
}

/// Tokens to read: varied, and the same every time. A multiplicative walk through the vocabulary (Knuth's constant).
fn filler(vocabulary: u32, count: u32) -> Vec<Token> {
    (1..=count)
        .map(|n| Token((n.wrapping_mul(2_654_435_761) % vocabulary.max(1)) as i32))
        .collect()
}
