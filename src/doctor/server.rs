//! Whether another server that runs the same model says the same: greedy tokens and their probabilities, through the API that
//! OpenAI's completions made common. Where it does not, the commonest reason is looked for.

use std::time::Duration;

use serde_json::{Value, json};
use ureq::Agent;

use crate::domain::inference::{Failure, Token};
use crate::engine::local::Patient;
use crate::gguf::Metadata;

use super::chart::Opinion;
use super::distribution::{log_softmax, top};
use super::numbers::Reading;

/// Tokens that are compared.
const COMPARED: u32 = 16;
/// Longest wait for the server.
const PATIENCE: Duration = Duration::from_mins(2);
/// Nats between log-probabilities that are rounding, and those that quantization explains.
const ROUNDING: f64 = 0.1;
const QUANTIZED: f64 = 0.5;
/// Bases of rotary positions that models of our time have.
const BASES: [f32; 7] = [
    10_000.0,
    100_000.0,
    500_000.0,
    1_000_000.0,
    5_000_000.0,
    8_000_000.0,
    10_000_000.0,
];

/// A token as the server said it.
struct Theirs {
    id: Option<Token>,
    text: String,
    log: Option<f64>,
}

/// How far the two are apart.
#[derive(Clone, Debug, PartialEq)]
struct Apart {
    /// Tokens that were compared.
    compared: usize,
    /// The first that differs: where, ours, theirs, and by how many nats ours is likelier to us.
    differing: Option<(usize, String, String, f64)>,
    /// The mean distance of log-probabilities in nats; `None` where the server tells none.
    logs: Option<f64>,
}

impl Apart {
    fn is_same(&self) -> bool {
        self.differing.is_none() && self.logs.is_none_or(|logs| logs <= ROUNDING)
    }

    fn is_another(&self) -> bool {
        let differing = self.differing.as_ref().is_some_and(|(.., gap)| *gap > ROUNDING);
        differing || self.logs.is_some_and(|logs| logs > QUANTIZED)
    }
}

/// Compares with the server at `url`.
///
/// # Errors
/// When the model does not compute.
pub(super) fn reference(
    patient: &mut Patient,
    metadata: &Metadata,
    reading: &Reading,
    url: &str,
) -> Result<Opinion, Failure> {
    let theirs = match ask(url, &reading.tokens) {
        Ok(theirs) if theirs.is_empty() => {
            let evidence = format!("'{url}' answers without tokens");
            return Ok(Opinion::failed(
                evidence,
                "it must tell log-probabilities in '/v1/completions'",
            ));
        }
        Ok(theirs) => theirs,
        Err(error) => {
            let remedy = "give the address of an OpenAI-compatible server, such as 'http://localhost:8080'";
            return Ok(Opinion::failed(format!("'{url}' cannot be asked: {error}"), remedy));
        }
    };
    let apart = compare(patient, &reading.tokens, &theirs)?;
    let evidence = told(&apart);
    if apart.is_same() {
        return Ok(Opinion::ok(evidence));
    }
    let own = metadata
        .own("rope.freq_base")
        .and_then(crate::gguf::Value::as_f64)
        .unwrap_or(10_000.0) as f32;
    for base in BASES.into_iter().filter(|base| *base != own) {
        patient.turn_by(Some(base));
        let turned = compare(patient, &reading.tokens, &theirs);
        patient.turn_by(None);
        if turned?.is_same() {
            return Ok(Opinion::failed(
                format!("{evidence}; with a RoPE base of {base} instead of {own} they agree"),
                format!("the file names the wrong base: '--rope-freq-base {base}', or get another conversion"),
            ));
        }
    }
    let remedy = "another quantization explains small distances; beyond that one of the two has other weights, positions or tokens";
    Ok(if apart.is_another() {
        Opinion::failed(evidence, remedy)
    } else {
        Opinion::warning(evidence, remedy)
    })
}

fn told(apart: &Apart) -> String {
    let logs = apart.logs.map_or_else(
        || "it tells no log-probabilities".to_owned(),
        |logs| format!("log-probabilities {logs:.3} nats apart on average"),
    );
    match &apart.differing {
        None => format!("{} greedy tokens are the same, {logs}", apart.compared),
        Some((at, ours, theirs, gap)) => format!(
            "greedy token {} is '{ours}' here and '{theirs}' there, {gap:.2} nats less likely here; {logs}",
            at + 1
        ),
    }
}

/// Goes along with the server's tokens as far as ours are the same.
fn compare(patient: &Patient, prompt: &[Token], theirs: &[Theirs]) -> Result<Apart, Failure> {
    let text = |token: Token| String::from_utf8_lossy(&patient.piece(token).bytes).into_owned();
    let mut run = patient.run(1)?;
    run.feed(prompt)?;
    let (mut logs, mut differing, mut compared) = (Vec::new(), None, 0);
    for (at, said) in theirs.iter().enumerate() {
        let logits = run.logits();
        let chances = log_softmax(&logits);
        let ours = Token(top(&logits) as i32);
        let chance = |token: Token| usize::try_from(token.0).ok().and_then(|id| chances.get(id).copied());
        let same = said.id.map_or_else(|| text(ours) == said.text, |id| id == ours);
        compared += 1;
        if !same {
            let single = patient.tokenize(&said.text, false, true);
            let id = said
                .id
                .or(Some(single.as_slice()).filter(|ids| ids.len() == 1).map(|ids| ids[0]));
            let gap = id.and_then(|id| Some(chance(ours)? - chance(id)?));
            differing = Some((at, text(ours), said.text.clone(), gap.unwrap_or(f64::INFINITY)));
            break;
        }
        if let (Some(log), Some(own)) = (said.log, chance(ours)) {
            logs.push((log - own).abs());
        }
        run.feed(&[ours])?;
    }
    let mean = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
    Ok(Apart {
        compared,
        differing,
        logs: (!logs.is_empty()).then_some(mean),
    })
}

/// Asks the server to go on greedily behind a prompt, which it gets as ids.
fn ask(url: &str, prompt: &[Token]) -> Result<Vec<Theirs>, ureq::Error> {
    let base = url.trim_end_matches('/');
    let base = base.strip_suffix("/v1").unwrap_or(base);
    let agent: Agent = Agent::config_builder().timeout_global(Some(PATIENCE)).build().into();
    // Some servers want to be told which of their models; those that do tell their names.
    let models = agent.get(format!("{base}/v1/models")).call();
    let models: Option<Value> = models.ok().and_then(|mut answer| answer.body_mut().read_json().ok());
    let model = models.as_ref().and_then(|models| models.pointer("/data/0/id")).cloned();
    let ids: Vec<i32> = prompt.iter().map(|token| token.0).collect();
    let request = json!({
        "model": model.unwrap_or_else(|| "default".into()),
        "prompt": ids,
        "max_tokens": COMPARED,
        "temperature": 0,
        "logprobs": 1,
    });
    let mut answer = agent.post(format!("{base}/v1/completions")).send_json(&request)?;
    let answer: Value = answer.body_mut().read_json()?;
    Ok(tokens(&answer))
}

/// The tokens of an answer, in either of the two forms that servers give them.
fn tokens(answer: &Value) -> Vec<Theirs> {
    let Some(logs) = answer.pointer("/choices/0/logprobs") else {
        return Vec::new();
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if let Some(content) = logs.get("content").and_then(Value::as_array) {
        let theirs = |said: &Value| Theirs {
            id: said
                .get("id")
                .and_then(Value::as_i64)
                .and_then(|id| i32::try_from(id).ok())
                .map(Token),
            text: said.get("token").map_or_else(String::new, text),
            log: said.get("logprob").and_then(Value::as_f64),
        };
        return content.iter().map(theirs).collect();
    }
    let list = |name: &str| logs.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let chances = list("token_logprobs");
    let theirs = |(at, said): (usize, &Value)| Theirs {
        id: None,
        text: text(said),
        log: chances.get(at).and_then(Value::as_f64),
    };
    list("tokens").iter().enumerate().map(theirs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_log_probabilities_are_read() {
        let new = json!({"choices": [{"logprobs": {"content": [{"id": 7, "token": " a", "logprob": -0.5}]}}]});
        let old = json!({"choices": [{"logprobs": {"tokens": [" a"], "token_logprobs": [-0.5]}}]});
        for (answer, id) in [(new, Some(Token(7))), (old, None)] {
            let said = tokens(&answer);
            assert_eq!((said[0].id, said[0].text.as_str(), said[0].log), (id, " a", Some(-0.5)));
        }
        assert!(tokens(&json!({"choices": [{"text": "a"}]})).is_empty());
    }
}
