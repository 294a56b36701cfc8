//! One question, one answer on standard output, no screen. Streams as the model speaks; with `--json` prints one object at
//! the end. A closed pipe ends it quietly.

use std::io::{self, BufWriter, ErrorKind, Write};

use serde_json::json;

use crate::app::caught;
use crate::domain::inference::{
    ChatMessage, Command, Event, Finish, GenerateRequest, LoadOptions, ModelInfo, ModelSource, Opening, Overflow, Part,
    PromptRequest, Report, Said, Stats, Thinking, TurnId,
};
use crate::domain::preset::PLAIN_PRESET;
use crate::domain::sampling::{Chosen, PARAMETERS, Sampling, Stage, Value};
use crate::domain::{LoopGuard, Role};
use crate::engine::EngineHandle;
use crate::text::looping::Watch;
use crate::text::{Filter, Repetition, sanitize};

use super::ask::{load, next, send};
use super::exit::{Exit, Stop};

/// What to ask, and how to print the answer.
#[derive(Debug)]
pub(super) struct OneShot {
    /// The question.
    pub(super) question: String,
    /// The system prompt.
    pub(super) system: Option<String>,
    /// How tokens are drawn.
    pub(super) sampling: Sampling,
    /// Those among them that were given one by one.
    pub(super) chosen: Vec<(&'static str, Chosen)>,
    /// The preset that they started from.
    pub(super) preset: String,
    /// Longest answer in tokens.
    pub(super) max_tokens: Option<u32>,
    /// What to do when the context is full.
    pub(super) overflow: Overflow,
    /// Whether the model shall think.
    pub(super) thinking: Option<Thinking>,
    /// Longest thinking in tokens.
    pub(super) thinking_budget: Option<u32>,
    /// What the answer starts with; empty for none.
    pub(super) prefill: String,
    /// What to do about a loop.
    pub(super) guard: LoopGuard,
    /// How to print.
    pub(super) format: Format,
}

/// How an answer is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// The text, as it comes.
    Text,
    /// One JSON object at the end: text, tokens with log-probabilities, settings, timings.
    Json,
}

const LOAD: TurnId = TurnId(1);
const ASK: TurnId = TurnId(2);

/// Loads the model, asks, prints. Runs on the caller's runtime.
///
/// # Errors
/// With the exit code for each way in which it can fail.
pub(super) async fn run(
    engine: &mut EngineHandle,
    source: ModelSource,
    options: LoadOptions,
    ask: OneShot,
    out: impl Write,
) -> Result<Exit, Stop> {
    let answer = tokio::select! {
        answer = answer(engine, source, options, ask, out) => answer,
        _ = tokio::signal::ctrl_c() => Err(Stop::quiet(Exit::Interrupted)),
    };
    // Whatever ended it, a model that still computes is stopped before the process goes.
    engine.cancel.stop(ASK);
    answer
}

async fn answer(
    engine: &mut EngineHandle,
    source: ModelSource,
    options: LoadOptions,
    mut ask: OneShot,
    out: impl Write,
) -> Result<Exit, Stop> {
    let model = load(engine, LOAD, source, options).await?;
    if ask.thinking.is_some_and(|wish| !model.thinking.can(wish)) {
        let words = "quipu: this model's template cannot set its thinking so; '--thinking-budget' limits it, 0 ends it where it begins";
        // A closed pipe has nobody behind it who could be told.
        let _ = writeln!(io::stderr(), "{words}");
    }
    if ask.preset != PLAIN_PRESET {
        ask.sampling.heed(&Sampling::default(), &model.recommended, &ask.chosen);
    }
    let request = GenerateRequest {
        prompt: PromptRequest {
            messages: messages(&ask),
            opening: Opening {
                text: ask.prefill.clone(),
                said: Vec::new(),
            },
            thinking: ask.thinking,
            overflow: ask.overflow,
            max_tokens: ask.max_tokens,
        },
        sampling: ask.sampling.clone(),
        thinking_budget: ask.thinking_budget,
        report: ask.format == Format::Json,
        changes: Vec::new(),
    };
    send(engine, Command::Generate { turn: ASK, request })?;
    let mut printer = Printer::new(out, ask.format);
    printer.open(&ask.prefill).map_err(|error| closed(&error))?;
    let mut watch = (ask.guard != LoopGuard::Off).then(Watch::default);
    loop {
        match next(engine).await? {
            Event::Token { said, .. } => {
                let found = watch.as_mut().and_then(|watch| watch.push(said.token, &said.text));
                printer.said(said).map_err(|error| closed(&error))?;
                if let Some(found) = found {
                    circles(&ask, &found);
                    if ask.guard == LoopGuard::Pause {
                        engine.cancel.stop(ASK);
                    }
                }
            }
            Event::Failed { failure, .. } => return Err(failure.into()),
            Event::Finished { finish, stats, .. } => {
                printer
                    .finish(&model, &ask.sampling, finish, &stats)
                    .map_err(|error| closed(&error))?;
                return Ok(Exit::Success);
            }
            _ => {}
        }
    }
}

/// Tells of a loop on standard error.
fn circles(ask: &OneShot, found: &Repetition) {
    let words = caught::words(found, found.first + 1, caught::cause(&ask.sampling, found));
    // A closed pipe has nobody behind it who could be told.
    let _ = writeln!(io::stderr(), "quipu: {}. {}", sanitize(&words), caught::FLAGS);
}

fn messages(ask: &OneShot) -> Vec<ChatMessage> {
    let system = ask.system.iter().map(|text| ChatMessage::new(Role::System, text));
    system.chain([ChatMessage::new(Role::User, &ask.question)]).collect()
}

/// A reader that went away is no error.
pub(super) fn closed(error: &io::Error) -> Stop {
    match error.kind() {
        ErrorKind::BrokenPipe => Stop::quiet(Exit::Success),
        _ => Stop::new(Exit::Failed, format!("cannot write the answer: {error}")),
    }
}

/// Writes an answer in one of the formats.
pub(super) struct Printer<W: Write> {
    out: BufWriter<W>,
    format: Format,
    filter: Filter,
    said: Vec<Said>,
    at_line_start: bool,
}

impl<W: Write> Printer<W> {
    pub(super) fn new(out: W, format: Format) -> Self {
        Self {
            out: BufWriter::new(out),
            format,
            filter: Filter::default(),
            said: Vec::new(),
            at_line_start: true,
        }
    }

    /// Begins with a text that the model did not say itself.
    pub(super) fn open(&mut self, text: &str) -> io::Result<()> {
        self.said(Said {
            text: text.to_owned(),
            ..Said::default()
        })
    }

    pub(super) fn said(&mut self, said: Said) -> io::Result<()> {
        if self.format == Format::Json {
            self.said.push(said);
            return Ok(());
        }
        // Who asks in a script wants the answer.
        if said.part == Part::Thinking {
            return Ok(());
        }
        let text = self.filter.push(&said.text);
        self.write(&text)
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.at_line_start = text.ends_with('\n');
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    pub(super) fn finish(
        &mut self,
        model: &ModelInfo,
        sampling: &Sampling,
        finish: Finish,
        stats: &Stats,
    ) -> io::Result<()> {
        if self.format == Format::Json {
            let object = self.object(model, sampling, finish, stats);
            writeln!(self.out, "{object:#}")?;
        } else {
            let rest = self.filter.finish();
            self.write(&rest)?;
            if !self.at_line_start {
                self.out.write_all(b"\n")?;
            }
        }
        self.out.flush()
    }

    pub(super) fn object(
        &self,
        model: &ModelInfo,
        sampling: &Sampling,
        finish: Finish,
        stats: &Stats,
    ) -> serde_json::Value {
        let of = |part| {
            let said = self.said.iter().filter(|s| s.part == part);
            said.map(|s| s.text.as_str()).collect::<String>()
        };
        let spoken = self.said.iter().filter_map(|s| {
            let report = s.report.as_deref();
            s.token.map(|t| {
                json!({
                    "id": t.0, "text": s.text, "part": s.part, "logprob": report.map(|r| r.probability.ln()),
                    "probability": report.map(|r| r.probability), "probability_after": report.map(|r| r.after),
                    "bytes": report.map(|r| &r.bytes), "generation": report.map(|r| r.generation), "rank": report.map(|r| r.rank), "entropy": report.map(|r| r.entropy),
                    "kept": report.map(kept), "candidates": report.map(candidates),
                })
            })
        });
        let settings: serde_json::Map<_, _> = PARAMETERS
            .iter()
            .map(|p| (p.name.to_owned(), number(p.get(sampling), stats)))
            .collect();
        json!({
            "text": of(Part::Answer),
            "thinking": of(Part::Thinking),
            "finish": finish,
            "tokens": spoken.collect::<Vec<_>>(),
            "sampling": settings,
            "model": {
                "name": model.name, "fingerprint": model.fingerprint, "architecture": model.architecture,
                "quantization": model.quantization, "parameters": model.parameters, "context": model.context,
                "template": model.template,
            },
            "timings": {
                "prompt_tokens": stats.prompt_tokens, "reused_tokens": stats.reused_tokens,
                "generated_tokens": stats.generated, "thinking_tokens": stats.thinking_tokens,
                "thinking_seconds": stats.thinking.as_secs_f64(),
                "prompt_seconds": stats.prefill.as_secs_f64(), "first_token_seconds": stats.first_token.as_secs_f64(),
                "generation_seconds": stats.decode.as_secs_f64(),
                "prompt_tokens_per_second": stats.prompt_rate(), "tokens_per_second": stats.decode_rate(),
            },
        })
    }
}

/// How many candidates each stage left.
fn kept(report: &Report) -> serde_json::Value {
    let stages = report
        .kept
        .iter()
        .map(|(stage, kept)| json!({ "stage": stage.name(), "candidates": kept }));
    stages.collect()
}

/// The likeliest tokens and what became of them.
fn candidates(report: &Report) -> serde_json::Value {
    let rows = report.candidates.iter().map(|c| {
        json!({
            "id": c.token.0, "text": c.text, "logit": c.logit, "probability": c.before, "probability_after": c.after,
            "removed_by": c.removed.map(Stage::name),
        })
    });
    rows.collect()
}

/// A setting as JSON; the seed is the one that was drawn.
fn number(value: Value, stats: &Stats) -> serde_json::Value {
    match value {
        // Through text, so that 0.8 stays 0.8 and does not become 0.800000011920929.
        Value::Real(x) => x
            .to_string()
            .parse::<f64>()
            .map_or(serde_json::Value::Null, |x| json!(x)),
        Value::Whole(n) => json!(n),
        Value::Seed(_) => json!(stats.seed),
        Value::Switch(on) => json!(on),
        Value::Text(text) => json!(text),
    }
}
