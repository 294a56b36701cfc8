//! `quipu doctor`: prints what came of an examination, check by check as it is made, or all of it as JSON.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::doctor::{self, Order, Progress};
use crate::domain::examination::{Check, Examination, Layer, Position, Verdict};
use crate::text::sanitize_line;

use super::exit::{self, Exit, Stop};

/// What to examine, and how thoroughly.
#[derive(Args, Clone, Debug)]
pub(super) struct DoctorArgs {
    /// A GGUF file, or 'cria'
    #[arg(value_name = "MODEL")]
    pub(super) model: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Tell also of every position and every layer: top tokens, logits, entropies, times
    #[arg(long)]
    deep: bool,
    /// The publisher's tokenizer.json, to hold the model's own against
    #[arg(long, value_name = "FILE")]
    pub(super) tokenizer: Option<PathBuf>,
    /// A server with the OpenAI API that runs the same model, to hold tokens and probabilities against
    #[arg(long, value_name = "URL")]
    pub(super) against: Option<String>,
}

/// Examines and prints.
///
/// # Errors
/// When it cannot be written; a reader that went away is no error.
pub(super) fn run(args: &DoctorArgs, order: &Order<'_>, mut out: impl Write) -> Result<Exit, Stop> {
    let mut failure = None;
    let live = !args.json;
    let mut waiting = Waiting::default();
    let examined = doctor::examine(order, &mut |progress| {
        waiting.tell(progress);
        let Progress::Found(finding) = progress else {
            return true;
        };
        if live && let Err(stop) = exit::print("what was found", &finding.to_string(), &mut out) {
            failure = Some(stop);
        }
        failure.is_none()
    });
    if let Some(stop) = failure {
        return Err(stop);
    }
    let Some(found) = examined else {
        return Ok(Exit::Interrupted);
    };
    let text = if args.json {
        format!("{:#}\n", as_json(order, &found, args.deep))
    } else {
        let mut text = format!("\n{}\n", sum(&found));
        if args.deep {
            text.push_str(&positions(&found.positions));
            text.push_str(&layers(&found.layers));
        }
        text
    };
    exit::print("what was found", &text, out)?;
    Ok(if found.verdict() == Verdict::Failed {
        Exit::Failed
    } else {
        Exit::Success
    })
}

/// What is going on, in one line on standard error that is wiped off again, where somebody looks at it.
#[derive(Default)]
struct Waiting {
    shown: String,
}

impl Waiting {
    fn tell(&mut self, progress: Progress<'_>) {
        if !io::stderr().is_terminal() {
            return;
        }
        let words = match progress {
            Progress::Begins(check) => format!("{} …", check.question()),
            Progress::Part(check, part) => format!("{} {:.0} %", check.question(), part * 100.0),
            Progress::Found(_) => String::new(),
        };
        if words != self.shown {
            // A closed terminal has nobody before it.
            let _ = write!(io::stderr(), "\r\x1b[K{words}");
            self.shown = words;
        }
    }
}

fn sum(found: &Examination) -> String {
    let count = |verdict| found.count(verdict);
    format!(
        "{} of {} checks ok, {} warnings, {} failed, {} not applicable",
        count(Verdict::Ok),
        Check::ALL.len(),
        count(Verdict::Warning),
        count(Verdict::Failed),
        count(Verdict::NotApplicable)
    )
}

/// Text of a token as one word of a table.
fn word(text: &str) -> String {
    format!("'{}'", sanitize_line(&text.escape_debug().to_string()))
}

fn positions(all: &[Position]) -> String {
    let mut text = "\nposition  probability  entropy  logits              read -> likeliest to follow\n".to_owned();
    for (at, position) in all.iter().enumerate() {
        let _ = writeln!(
            text,
            "{at:>8}  {:>11.4}  {:>7.2}  {:>8.2} {:>8.2}   {} -> {}",
            position.probability,
            position.entropy,
            position.lowest,
            position.highest,
            word(&position.token),
            word(&position.top)
        );
    }
    text
}

fn layers(all: &[Layer]) -> String {
    let mut text = "\n   layer        time  how widely each head looks, 0 at one token, 1 at all alike\n".to_owned();
    for (at, layer) in all.iter().enumerate() {
        let time = layer
            .micros
            .map_or_else(|| "-".to_owned(), |micros| format!("{micros} us"));
        let heads: Vec<_> = layer.heads.iter().map(|share| format!("{share:.2}")).collect();
        let _ = writeln!(text, "{at:>8}  {time:>10}  {}", heads.join(" "));
    }
    text
}

fn as_json(order: &Order<'_>, found: &Examination, deep: bool) -> serde_json::Value {
    let mut object = json!({
        "model": order.path.display().to_string(),
        "verdict": found.verdict(),
        "findings": found.findings,
    });
    if deep && let Some(object) = object.as_object_mut() {
        object.insert("positions".to_owned(), json!(found.positions));
        object.insert("layers".to_owned(), json!(found.layers));
    }
    object
}
