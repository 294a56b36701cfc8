//! `quipu bench`: prompt and generation speed of the engine that chats, sampling included, and what a conversation waits for,
//! as a table or JSON. Only
//! ratios within one run mean anything on a busy machine; compare with another program by interleaving the two.

use std::fmt::Write as _;
use std::io::Write;
use std::time::Duration;

use clap::Args;
use serde_json::json;

use crate::domain::Sampling;
use crate::domain::inference::{
    BenchRequest, BenchResult, Command, Event, LoadOptions, ModelInfo, ModelSource, TurnId, rate,
};
use crate::engine::EngineHandle;

use super::ask::{load, next, send};
use super::exit::{Exit, Stop};
use returns::Return;
use turns::Turns;

mod columns;
#[cfg(feature = "llama")]
mod draws;
pub(super) mod returns;
mod turns;

/// What to time.
#[derive(Args, Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct BenchArgs {
    /// A GGUF file; the built-in model where none is named
    pub(super) model: Option<String>,
    /// Prompt tokens to read under the clock
    #[arg(long, default_value_t = 256, value_name = "TOKENS")]
    pub(super) prompt: u32,
    /// Tokens to generate under the clock
    #[arg(long, default_value_t = 32, value_name = "TOKENS")]
    pub(super) generate: u32,
    /// Tokens in the context before the clock starts; several as 0,256,1024
    #[arg(long, default_value = "0", value_name = "TOKENS", value_delimiter = ',')]
    pub(super) depth: Vec<u32>,
    /// How often to time; the median counts
    #[arg(long, default_value_t = 5, value_name = "TIMES", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) repetitions: u32,
    /// Time turns of a conversation as long as the largest depth too
    #[arg(long)]
    pub(super) turns: bool,
    /// Time a step of several columns against one, as 'quipu compare' decodes them
    #[arg(long)]
    pub(super) columns: bool,
    /// Time the return to a conversation of every depth too, by its state and by reading it anew
    #[arg(long)]
    pub(super) returns: bool,
    /// Time what drawing a token costs too, stage by stage
    #[cfg(feature = "llama")]
    #[arg(long)]
    pub(super) sampling: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Loads the model, times it, prints.
///
/// # Errors
/// With the exit code for each way in which it can fail.
pub(super) async fn run(
    engine: &mut EngineHandle,
    source: ModelSource,
    mut options: LoadOptions,
    sampling: Sampling,
    args: &BenchArgs,
    mut out: impl Write,
) -> Result<Exit, Stop> {
    let deepest = args.depth.iter().copied().max().unwrap_or(0);
    // Exactly as much context as is timed, as llama-bench does: attention over empty cells costs time too.
    let mut needed = args.prompt.max(args.generate).saturating_add(deepest).saturating_add(1);
    if args.columns {
        needed = needed.max(columns::room(args.generate));
    }
    options.context = options.context.or(Some(needed));
    let mut turn = TurnId(1);
    #[cfg(feature = "llama")]
    let path = source.path.clone();
    let model = load(engine, turn, source, options).await?;
    let mut report = Report {
        args,
        speeds: Vec::new(),
        turns: None,
        columns: None,
        returns: Vec::new(),
        #[cfg(feature = "llama")]
        draws: None,
    };
    for depth in &args.depth {
        let speed = speed(engine, &mut turn, args, *depth, &sampling).await?;
        report.speeds.push(speed);
    }
    if args.turns {
        report.turns = Some(turns::measure(engine, &model, &sampling, deepest, args.repetitions).await?);
    }
    if args.columns {
        report.columns = Some(columns::measure(engine, &sampling, args.generate, args.repetitions).await?);
    }
    if args.returns {
        report.returns = returns::measure(engine, &model, &sampling, &args.depth, args.repetitions).await?;
    }
    #[cfg(feature = "llama")]
    if args.sampling {
        report.draws = Some(draws::measure(&path, model.vocabulary, &sampling, args.repetitions)?);
    }
    let text = if args.json {
        report.json(&model)
    } else {
        report.table(&model)
    };
    out.write_all(text.as_bytes())
        .map_err(|error| Stop::new(Exit::Failed, format!("cannot write: {error}")))?;
    Ok(Exit::Success)
}

/// Times prompt reading and generation at a depth.
async fn speed(
    engine: &mut EngineHandle,
    turn: &mut TurnId,
    args: &BenchArgs,
    depth: u32,
    sampling: &Sampling,
) -> Result<Speed, Stop> {
    let request = BenchRequest {
        depth,
        prompt: args.prompt,
        generate: args.generate,
        sampling: sampling.clone(),
    };
    let mut results = Vec::new();
    for _ in 0..args.repetitions {
        *turn = turn.next();
        let (turn, request) = (*turn, request.clone());
        send(engine, Command::Bench { turn, request })?;
        let result = wait(engine, |event| match event {
            Event::Benched { result, .. } => Some(result),
            _ => None,
        });
        results.push(result.await?);
    }
    Ok(Speed::new(args, depth, &results))
}

/// Waits for the event that is wanted.
async fn wait<T>(engine: &mut EngineHandle, wanted: impl Fn(Event) -> Option<T>) -> Result<T, Stop> {
    loop {
        match next(engine).await? {
            Event::Failed { failure, .. } => return Err(failure.into()),
            event => {
                if let Some(found) = wanted(event) {
                    return Ok(found);
                }
            }
        }
    }
}

/// Tokens per second of every repetition at a depth, sorted.
struct Speed {
    depth: u32,
    prompt: Vec<f64>,
    generate: Vec<f64>,
}

impl Speed {
    fn new(args: &BenchArgs, depth: u32, results: &[BenchResult]) -> Self {
        let rates = |count: u32, time: fn(&BenchResult) -> Duration| {
            let mut rates: Vec<f64> = results.iter().filter_map(|r| rate(count, time(r))).collect();
            rates.sort_by(f64::total_cmp);
            rates
        };
        Self {
            depth,
            prompt: rates(args.prompt, |r| r.prompt),
            generate: rates(args.generate, |r| r.generate),
        }
    }
}

/// All that was timed.
struct Report<'a> {
    args: &'a BenchArgs,
    speeds: Vec<Speed>,
    turns: Option<Turns>,
    columns: Option<columns::Columns>,
    returns: Vec<Return>,
    #[cfg(feature = "llama")]
    draws: Option<draws::Draws>,
}

impl Report<'_> {
    fn json(&self, model: &ModelInfo) -> String {
        let test = |count: u32, rates: &[f64]| json!({ "tokens": count, "median_tokens_per_second": median(rates), "tokens_per_second": rates });
        let speeds = self.speeds.iter().map(|speed| {
            json!({
                "depth": speed.depth, "prompt": test(self.args.prompt, &speed.prompt),
                "generate": test(self.args.generate, &speed.generate),
            })
        });
        let object = json!({
            "model": { "name": model.name, "quantization": model.quantization, "parameters": model.parameters },
            "threads": model.threads, "gpu_layers": model.gpu_layers, "context": model.context,
            "speeds": speeds.collect::<Vec<_>>(), "turns": self.turns.map(|turns| turns.json()),
            "columns": self.columns.as_ref().map(columns::Columns::json),
            "returns": self.returns.iter().map(Return::json).collect::<Vec<_>>(),
        });
        #[cfg(feature = "llama")]
        let object = {
            let mut object = object;
            object["sampling"] = json!(self.draws.as_ref().map(draws::Draws::json));
            object
        };
        format!("{object:#}\n")
    }

    fn table(&self, model: &ModelInfo) -> String {
        let mut text = format!(
            "{} {} · {} threads · {} layers on a graphics card\n",
            model.name, model.quantization, model.threads, model.gpu_layers
        );
        for speed in &self.speeds {
            for (name, count, rates) in [
                ("prompt", self.args.prompt, &speed.prompt),
                ("generate", self.args.generate, &speed.generate),
            ] {
                if let (Some(median), Some(least), Some(most)) = (median(rates), rates.first(), rates.last()) {
                    // Writing to a String cannot fail.
                    let _ = writeln!(
                        text,
                        "{name:<10} {count:>6} tokens at {:>6}  {median:>9.2} tok/s  ({least:.2} to {most:.2})",
                        speed.depth
                    );
                }
            }
        }
        if let Some(turns) = &self.turns {
            text.push_str(&turns.table());
        }
        if let Some(columns) = &self.columns {
            text.push_str(&columns.table());
        }
        for back in &self.returns {
            text.push_str(&back.line());
        }
        #[cfg(feature = "llama")]
        if let Some(draws) = &self.draws {
            text.push_str(&draws.table());
        }
        text
    }
}

/// The middle one, or the mean of the middle two.
fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0, 2.0, 9.0]), Some(2.0));
        assert_eq!(median(&[1.0, 2.0, 4.0, 9.0]), Some(3.0));
    }
}
