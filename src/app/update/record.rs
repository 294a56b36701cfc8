//! The record of an answer: what it was asked for with and what changed on the way, so that the same can be asked again.

use crate::app::state::{Phase, State};
use crate::domain::inference::{Change, GenerateRequest, ModelInfo, Part, PromptRequest, Report, Said, Token, TurnId};
use crate::domain::{Answer, Sampling, Take, Thought};

/// Begins the record of a request that is about to be made for the answer under way.
pub(super) fn begin(state: &mut State, request: &GenerateRequest) {
    let (Some(model), Some(running)) = (state.engine.model(), &state.running) else {
        return;
    };
    let how = (&request.sampling, request.thinking_budget);
    let take = take(model, state.conversation.system(), &request.prompt, how);
    if let Some(message) = state.conversation.get_mut(running.answer) {
        let answer = message.answer.get_or_insert_default();
        // What went on from its words, and not from its tokens, begins anew.
        if take.from == 0 {
            answer.takes.clear();
            answer.bytes.clear();
            answer.trace.clear();
        } else if answer.bytes.is_empty() {
            let said = message.text.strip_prefix(answer.opening.as_str()).unwrap_or_default();
            answer.bytes = said.as_bytes().to_vec();
        }
        answer.takes.push(take);
    }
}

/// The record of a request as it is made: the prompt, and the settings and the thinking budget that it is answered with.
pub(super) fn take(
    model: &ModelInfo,
    system: Option<&str>,
    prompt: &PromptRequest,
    (settings, thinking_budget): (&Sampling, Option<u32>),
) -> Take {
    Take {
        from: prompt.opening.said.len() as u32,
        model: model.fingerprint.clone(),
        build: model.build.clone(),
        template: model.template_digest.clone(),
        system: system.map(str::to_owned),
        opening: prompt.opening.text.clone(),
        settings: settings.clone(),
        thinking: prompt.thinking,
        thinking_budget,
        max_tokens: prompt.max_tokens,
        overflow: prompt.overflow,
        ..Take::default()
    }
}

/// Takes a token and the text that became clear with it into an answer and its text, with the likeliest `most` candidates that it was
/// drawn from.
pub(super) fn said(text: &mut String, answer: &mut Answer, said: Said, most: usize) {
    match said.part {
        Part::Answer => text.push_str(&said.text),
        Part::Thinking => {
            let Thought { text, tokens, .. } = &mut answer.thinking;
            text.push_str(&said.text);
            *tokens = tokens.saturating_add(u32::from(said.token.is_some()));
        }
    }
    if let Some(token) = said.token {
        let put_in = || Report::put_in(token, String::from_utf8_lossy(&said.bytes));
        let report = said.report.map_or_else(put_in, |report| *report);
        trace(answer, token, report, most);
        answer.tokens.push(token);
        answer.bytes.extend(said.bytes);
    }
}

/// The prompt was read: how it was made, and its digest; and the seed of what is drawn now.
pub(super) fn prompted(state: &mut State, turn: TurnId, (path, digest): (String, String), seed: u32) {
    if let Some(take) = current(state, turn) {
        (take.path, take.prompt, take.seed) = (path, digest, seed);
    }
}

/// A change was taken on.
pub(super) fn changed(state: &mut State, turn: TurnId, at: u32, change: Change) {
    if let Some(take) = current(state, turn) {
        take.changes.push((at, change));
    }
}

/// Keeps what a token was drawn from: the likeliest `most` of the candidates, and the token itself.
fn trace(answer: &mut Answer, token: Token, mut report: Report, most: usize) {
    if most == 0 {
        return;
    }
    let mut place = 0;
    report.candidates.retain(|candidate| {
        place += 1;
        place <= most || candidate.token == token
    });
    report.bytes = Vec::new();
    answer.trace.push(report);
}

/// Drops the bytes of an answer that is over where its text alone says the same.
pub(super) fn settle_bytes(answer: &mut Answer, text: &str) {
    if text.strip_prefix(answer.opening.as_str()).map(str::as_bytes) == Some(&answer.bytes) {
        answer.bytes = Vec::new();
    }
}

/// The record of the request that was made as `turn`.
fn current(state: &mut State, turn: TurnId) -> Option<&mut Take> {
    let running = state.running.as_ref();
    let running = running.filter(|running| running.turn == turn && running.phase != Phase::Queued)?;
    let answer = state.conversation.get_mut(running.answer)?.answer.as_mut()?;
    answer.takes.last_mut()
}
