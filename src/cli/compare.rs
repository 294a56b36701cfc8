//! `quipu compare`: one question under several presets at once, or to several models one after the other, printed one below the
//! other or as JSON.

use std::io::{self, Write};

use clap::Args;
use serde_json::json;

use crate::app::compare::common_prefix;
use crate::app::tuning::Tuning;
use crate::domain::Sampling;
use crate::domain::inference::{
    Command, CompareRequest, Event, Failure, Finish, LoadOptions, ModelInfo, ModelSource, Part, PromptRequest, Said,
    Stats, Token, TurnId,
};
use crate::domain::sampling::Parameter;
use crate::engine::EngineHandle;
use crate::text::{nearest, sanitize, sanitize_line};

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
    /// The presets; none for the settings in force.
    pub(super) presets: &'a [String],
    /// The models; none for the one that the settings name.
    pub(super) models: &'a [String],
    /// The values given one by one, which hold in all columns.
    pub(super) values: &'a [(&'static Parameter, String)],
    /// Which presets there are.
    pub(super) tuning: Tuning,
    /// What to answer.
    pub(super) prompt: PromptRequest,
    /// Longest thinking in tokens.
    pub(super) thinking_budget: Option<u32>,
}

impl<'a> Comparison<'a> {
    /// The models, `None` being the one that the settings name.
    fn models(&self) -> Vec<Option<&'a str>> {
        match self.models {
            [] => vec![None],
            named => named.iter().map(|name| Some(name.as_str())).collect(),
        }
    }
}

const LOAD: TurnId = TurnId(1);
const ASK: TurnId = TurnId(2);

/// Loads each model, asks, prints.
///
/// # Errors
/// With the exit code for each way in which it can fail.
pub(super) async fn run(
    engine: &mut EngineHandle,
    (source, options): (impl Fn(Option<&str>) -> Result<ModelSource, Failure>, LoadOptions),
    mut comparison: Comparison<'_>,
    args: &CompareArgs,
    out: impl Write,
) -> Result<Exit, Stop> {
    // What cannot be compared need not be loaded for.
    let models = comparison.models();
    let count = models.len() * comparison.presets.len().max(1);
    if !(2..=CompareRequest::MOST).contains(&count) {
        let most = CompareRequest::MOST;
        let words = format!(
            "that makes {count} {}: name two to {most} presets, as in '--preset precise --preset creative', or models, as in \
             '--model cria --model FILE'",
            if count == 1 { "answer" } else { "answers" }
        );
        return Err(Stop::new(Exit::Usage, words));
    }
    settings(&mut comparison)?;
    if models.len() > 1 {
        for name in &models {
            source(*name)?;
        }
    }
    let asked = async {
        let mut columns = Vec::with_capacity(count);
        for name in models {
            let from = source(name)?;
            columns.extend(ask(engine, (from, options.clone()), &mut comparison, args.json).await?);
        }
        Ok::<_, Stop>(columns)
    };
    let asked = tokio::select! {
        asked = asked => asked,
        _ = tokio::signal::ctrl_c() => Err(Stop::quiet(Exit::Interrupted)),
    };
    engine.cancel.stop(ASK);
    let columns = asked?;
    let text = match columns.as_slice() {
        all if args.json => as_json(all),
        [] => String::new(),
        [first, ..] => columns.iter().map(|column| as_text(column, first)).collect(),
    };
    exit::print("the answers", &text, out)
}

/// Loads one of the models and has it answer under all settings at once.
async fn ask(
    engine: &mut EngineHandle,
    (source, options): (ModelSource, LoadOptions),
    comparison: &mut Comparison<'_>,
    report: bool,
) -> Result<Vec<Column>, Stop> {
    let model = load(engine, LOAD, source, options).await?;
    comparison.tuning.heed(model.recommended.clone());
    let settings = settings(comparison)?;
    let request = CompareRequest {
        prompt: comparison.prompt.clone(),
        columns: settings.clone(),
        thinking_budget: comparison.thinking_budget,
        report,
    };
    let request = Box::new(request);
    send(engine, Command::Compare { turn: ASK, request })?;
    let said = answers(engine, settings.len()).await?;
    let presets = comparison.presets.iter().map(Some).chain([None]);
    let several = comparison.models.len() > 1;
    let columns = presets
        .zip(settings)
        .zip(said)
        .map(|((preset, settings), answer)| Column {
            name: match preset {
                Some(preset) if several => format!("{preset}@{}", model.name),
                Some(preset) => preset.clone(),
                None => model.name.clone(),
            },
            preset: preset.cloned(),
            model: (*model).clone(),
            settings,
            answer,
        });
    Ok(columns.collect())
}

/// The settings of each column of a model: those of the presets, or those in force.
fn settings(comparison: &mut Comparison<'_>) -> Result<Vec<Sampling>, Stop> {
    let tuning = &mut comparison.tuning;
    if comparison.presets.is_empty() {
        return Ok(vec![tuning.sampling.clone()]);
    }
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

/// An answer beside others.
#[derive(Clone, Debug, Default)]
struct Column {
    name: String,
    /// The preset; `None` is the settings in force.
    preset: Option<String>,
    model: ModelInfo,
    settings: Sampling,
    answer: Answer,
}

impl Column {
    /// The first token that is another than in `first`, from 0. Where their models are two, their texts are held against each other.
    fn differs(&self, first: &Self) -> Option<usize> {
        if self.model.fingerprint == first.model.fingerprint {
            return self.answer.differs(&first.answer);
        }
        let (own, others) = (self.answer.text(), first.answer.text());
        let same = common_prefix(&own, &others);
        let mut end = 0;
        let said = self.answer.said.iter().filter(|said| said.part == Part::Answer);
        let texts = said.map(|said| {
            end += said.text.len();
            end
        });
        (own != others).then(|| texts.take_while(|end| *end <= same).count())
    }
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

    fn text(&self) -> String {
        let text = self.said.iter().filter(|said| said.part == Part::Answer);
        text.map(|said| said.text.as_str()).collect()
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

fn as_text(column: &Column, first: &Column) -> String {
    let Column { name, answer, .. } = column;
    let mut facts = vec![
        sanitize_line(name).into_owned(),
        format!("{} tokens", answer.tokens().len()),
    ];
    if let Some((finish, stats)) = answer.over {
        facts.extend(stats.decode_rate().map(|rate| format!("{rate:.0}/s")));
        facts.push(finish.to_string());
    }
    facts.extend(
        column
            .differs(first)
            .map(|at| format!("other than the first from token {} on", at + 1)),
    );
    format!("== {}\n{}\n\n", facts.join(" · "), sanitize(answer.text().trim_end()))
}

fn as_json(columns: &[Column]) -> String {
    let object = |column: &Column| {
        let (finish, stats) = column.answer.over.unwrap_or((Finish::Stopped, Stats::default()));
        let mut printer = Printer::new(io::sink(), Format::Json);
        for one in &column.answer.said {
            // It keeps what it is given, and writes nothing yet.
            let _ = printer.said(one.clone());
        }
        let mut object = printer.object(&column.model, &column.settings, finish, &stats);
        if let Some(object) = object.as_object_mut() {
            let differs = columns.first().and_then(|first| column.differs(first));
            object.insert("preset".to_owned(), json!(column.preset));
            object.insert("differs_at".to_owned(), json!(differs));
        }
        object
    };
    let columns: Vec<_> = columns.iter().map(object).collect();
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

    fn column(model: &str, ids: &[i32]) -> Column {
        Column {
            name: "code".to_owned(),
            model: ModelInfo {
                fingerprint: model.to_owned(),
                ..ModelInfo::default()
            },
            answer: answer(ids),
            ..Column::default()
        }
    }

    #[test]
    fn columns_are_told_by_where_they_leave_the_first() {
        let first = answer(&[1, 2, 3]);
        assert_eq!(first.differs(&first), None);
        assert_eq!(answer(&[1, 5]).differs(&first), Some(1));
        assert_eq!(answer(&[1, 2]).differs(&first), Some(2), "it ends earlier");
        assert_eq!(
            as_text(&column("a", &[1, 5]), &column("a", &[1, 2, 3])),
            "== code · 2 tokens · other than the first from token 2 on\n 1 5\n\n"
        );
    }

    #[test]
    fn columns_of_two_models_are_told_by_their_texts() {
        let first = column("a", &[1, 2, 3]);
        assert_eq!(column("b", &[1, 2, 3]).differs(&first), None);
        assert_eq!(column("b", &[1, 5]).differs(&first), Some(1));
        // Their ids are not the same tokens: what was said counts.
        let mut other = column("b", &[7, 8]);
        for (said, text) in other.answer.said.iter_mut().zip([" 1 2", " 4"]) {
            text.clone_into(&mut said.text);
        }
        assert_eq!(other.differs(&first), Some(1));
    }
}
