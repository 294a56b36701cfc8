//! `quipu compare`: one question under several presets at once, printed one below the other or as JSON.

use std::io::{self, Write};

use clap::Args;
use serde_json::json;

use crate::app::tuning::Tuning;
use crate::domain::Sampling;
use crate::domain::inference::{
    Command, CompareRequest, Event, Finish, LoadOptions, ModelInfo, ModelSource, Part, PromptRequest, Said, Stats,
    Token, TurnId,
};
use crate::domain::sampling::Parameter;
use crate::engine::EngineHandle;
use crate::text::{nearest, sanitize};

use super::ask::{load, next, send};
use super::exit::{self, Exit, Stop};
use super::oneshot::{Format, Printer};

/// What to ask, and how to print it.
#[derive(Args, Clone, Debug)]
pub(super) struct CompareArgs {
    /// What to ask; standard input without it
    #[arg(value_name = "QUESTION")]
    pub(super) question: Vec<String>,
    /// Print JSON, with tokens, probabilities and timings of each
    #[arg(long)]
    json: bool,
}

/// What is compared.
#[derive(Debug)]
pub(super) struct Comparison<'a> {
    /// The presets.
    pub(super) presets: &'a [String],
    /// The values given one by one, which hold in all columns.
    pub(super) values: &'a [(&'static Parameter, String)],
    /// Which presets there are.
    pub(super) tuning: Tuning,
    /// What to answer.
    pub(super) prompt: PromptRequest,
    /// Longest thinking in tokens.
    pub(super) thinking_budget: Option<u32>,
}

const LOAD: TurnId = TurnId(1);
const ASK: TurnId = TurnId(2);

/// Loads the model, asks, prints.
///
/// # Errors
/// With the exit code for each way in which it can fail.
pub(super) async fn run(
    engine: &mut EngineHandle,
    (source, options): (ModelSource, LoadOptions),
    mut comparison: Comparison<'_>,
    args: &CompareArgs,
    out: impl Write,
) -> Result<Exit, Stop> {
    // What cannot be compared need not be loaded for.
    let count = comparison.presets.len();
    if !(2..=CompareRequest::MOST).contains(&count) {
        let named = match count {
            0 => "no preset is named".to_owned(),
            1 => "one preset is named".to_owned(),
            count => format!("{count} presets are named"),
        };
        let most = CompareRequest::MOST;
        let words = format!("{named}: name two to {most}, as in '--preset precise --preset creative'");
        return Err(Stop::new(Exit::Usage, words));
    }
    columns(&mut comparison)?;
    let asked = async {
        let model = load(engine, LOAD, source, options).await?;
        comparison.tuning.heed(model.recommended.clone());
        let columns = columns(&mut comparison)?;
        let request = CompareRequest {
            prompt: comparison.prompt.clone(),
            columns: columns.clone(),
            thinking_budget: comparison.thinking_budget,
            report: args.json,
        };
        let request = Box::new(request);
        send(engine, Command::Compare { turn: ASK, request })?;
        let said = answers(engine, columns.len()).await?;
        Ok::<_, Stop>((model, columns, said))
    };
    let asked = tokio::select! {
        asked = asked => asked,
        _ = tokio::signal::ctrl_c() => Err(Stop::quiet(Exit::Interrupted)),
    };
    engine.cancel.stop(ASK);
    let (model, columns, said) = asked?;
    let text = if args.json {
        as_json(&comparison, &model, &columns, &said)
    } else {
        comparison
            .presets
            .iter()
            .zip(&said)
            .map(|(name, one)| as_text(name, one, &said[0]))
            .collect()
    };
    exit::print("the answers", &text, out)
}

/// The settings of each column.
fn columns(comparison: &mut Comparison<'_>) -> Result<Vec<Sampling>, Stop> {
    let tuning = &mut comparison.tuning;
    let mut columns = Vec::with_capacity(comparison.presets.len());
    for name in comparison.presets {
        if !tuning.choose(name) {
            let known = nearest(name, tuning.presets.iter().map(|preset| preset.name.as_str()));
            let hint = known.map_or_else(String::new, |known| format!(": did you mean '{known}'?"));
            return Err(Stop::new(Exit::Usage, format!("there is no preset '{name}'{hint}")));
        }
        for (parameter, value) in comparison.values {
            let refused = |refused: crate::domain::sampling::Refused| Stop::new(Exit::Usage, refused.to_string());
            parameter.set(&mut tuning.sampling, value).map_err(refused)?;
        }
        columns.push(tuning.sampling.clone());
    }
    Ok(columns)
}

/// A column that is over.
#[derive(Clone, Debug, Default)]
struct Answer {
    said: Vec<Said>,
    over: Option<(Finish, Stats)>,
}

impl Answer {
    fn tokens(&self) -> Vec<Token> {
        self.said.iter().filter_map(|said| said.token).collect()
    }

    /// The first token that is another than in `first`, from 0.
    fn differs(&self, first: &Self) -> Option<usize> {
        let (own, others) = (self.tokens(), first.tokens());
        let same = own.iter().zip(&others).take_while(|(a, b)| a == b).count();
        (same < own.len().max(others.len())).then_some(same)
    }
}

async fn answers(engine: &mut EngineHandle, count: usize) -> Result<Vec<Answer>, Stop> {
    let mut columns = vec![Answer::default(); count];
    loop {
        match next(engine).await? {
            Event::Column { column, said, .. } => columns[column].said.push(said),
            Event::ColumnFinished {
                column, finish, stats, ..
            } => columns[column].over = Some((finish, stats)),
            Event::Compared { .. } => return Ok(columns),
            Event::Failed { failure, .. } => return Err(failure.into()),
            _ => {}
        }
    }
}

fn as_text(preset: &str, answer: &Answer, first: &Answer) -> String {
    let text = answer.said.iter().filter(|said| said.part == Part::Answer);
    let text: String = text.map(|said| said.text.as_str()).collect();
    let mut facts = vec![preset.to_owned(), format!("{} tokens", answer.tokens().len())];
    if let Some((finish, stats)) = answer.over {
        facts.extend(stats.decode_rate().map(|rate| format!("{rate:.0}/s")));
        facts.push(finish.to_string());
    }
    facts.extend(
        answer
            .differs(first)
            .map(|at| format!("other than the first from token {} on", at + 1)),
    );
    format!("== {}\n{}\n\n", facts.join(" · "), sanitize(text.trim_end()))
}

fn as_json(comparison: &Comparison<'_>, model: &ModelInfo, columns: &[Sampling], said: &[Answer]) -> String {
    let column = |((preset, sampling), answer): ((&String, &Sampling), &Answer)| {
        let (finish, stats) = answer.over.unwrap_or((Finish::Stopped, Stats::default()));
        let mut printer = Printer::new(io::sink(), Format::Json);
        for one in &answer.said {
            // It keeps what it is given, and writes nothing yet.
            let _ = printer.said(one.clone());
        }
        let mut object = printer.object(model, sampling, finish, &stats);
        if let Some(object) = object.as_object_mut() {
            object.insert("preset".to_owned(), json!(preset));
            object.insert(
                "differs_at".to_owned(),
                json!(said.first().and_then(|first| answer.differs(first))),
            );
        }
        object
    };
    let columns: Vec<_> = comparison.presets.iter().zip(columns).zip(said).map(column).collect();
    format!("{:#}\n", json!({ "columns": columns }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(ids: &[i32]) -> Answer {
        let said = |id: &i32| Said {
            token: Some(Token(*id)),
            text: format!(" {id}"),
            ..Said::default()
        };
        Answer {
            said: ids.iter().map(said).collect(),
            over: None,
        }
    }

    #[test]
    fn columns_are_told_by_where_they_leave_the_first() {
        let first = answer(&[1, 2, 3]);
        assert_eq!(first.differs(&first), None);
        assert_eq!(answer(&[1, 5]).differs(&first), Some(1));
        assert_eq!(answer(&[1, 2]).differs(&first), Some(2), "it ends earlier");
        assert_eq!(
            as_text("code", &answer(&[1, 5]), &first),
            "== code · 2 tokens · other than the first from token 2 on\n 1 5\n\n"
        );
    }
}
