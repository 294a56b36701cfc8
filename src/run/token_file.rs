//! Writes what is known of an answer's tokens to a file: all of it as JSON, or its candidates as CSV, one a line.

use std::path::Path;

use serde::Serialize;

use crate::config::from_home;
use crate::domain::inference::Candidate;
use crate::domain::inspection::{Entry, Record};
use crate::store::export::write_new;
use crate::text::sanitize_line;

/// A line of the CSV: a token that could have been said.
#[derive(Serialize)]
struct Row<'a> {
    /// The place in the answer, from 0.
    place: usize,
    /// Whether it was said.
    said: bool,
    /// Whether it was put in and not drawn.
    put_in: bool,
    token: i32,
    text: &'a str,
    logit: f32,
    /// Before any stage.
    probability: f32,
    /// After all; empty where a stage removed it.
    after: Option<f32>,
    /// The stage that did.
    removed_by: Option<String>,
    /// Of the distribution before any stage, in bits.
    entropy: f32,
}

/// Writes the file and says so.
///
/// # Errors
/// In words.
pub fn write(path: &str, record: &Record) -> Result<String, String> {
    let path = from_home(path);
    let path = Path::new(&path);
    let shown = path.display().to_string();
    let shown = sanitize_line(&shown);
    let unwritten = |why: String| format!("cannot write '{shown}' ({why}): name another file");
    let content = if path.extension().is_some_and(|end| end == "csv") {
        csv(record).map_err(|error| unwritten(error.to_string()))?
    } else {
        serde_json::to_vec_pretty(record).map_err(|error| unwritten(error.to_string()))?
    };
    write_new(path, &content)?;
    Ok(format!("{} tokens are in '{shown}'", record.tokens.len()))
}

fn csv(record: &Record) -> Result<Vec<u8>, csv::Error> {
    let mut lines = csv::Writer::from_writer(Vec::new());
    for entry in &record.tokens {
        for candidate in &entry.report.candidates {
            lines.serialize(row(entry, candidate))?;
        }
    }
    lines.into_inner().map_err(|error| error.into_error().into())
}

fn row<'a>(entry: &Entry, candidate: &'a Candidate) -> Row<'a> {
    Row {
        place: entry.place,
        said: candidate.token == entry.token,
        put_in: entry.report.put_in,
        token: candidate.token.0,
        text: &candidate.text,
        logit: candidate.logit,
        probability: candidate.before,
        after: candidate.after,
        removed_by: candidate.removed.map(|stage| stage.name().to_owned()),
        entropy: entry.report.entropy,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::domain::inference::{Report, Token};
    use crate::domain::sampling::Stage;

    fn record() -> Record {
        let candidate = |token, text: &str, removed: Option<Stage>| Candidate {
            token: Token(token),
            text: text.to_owned(),
            logit: 1.5,
            before: 0.25,
            after: removed.is_none().then_some(0.5),
            removed,
        };
        let report = Report {
            entropy: 2.0,
            candidates: vec![candidate(7, " \"a\",\n", None), candidate(8, "b", Some(Stage::TopK))],
            ..Report::default()
        };
        let entry = Entry {
            place: 3,
            token: Token(7),
            text: " a".to_owned(),
            report,
        };
        Record {
            model: "condor".to_owned(),
            summary: None,
            takes: Vec::new(),
            tokens: vec![entry],
        }
    }

    #[test]
    fn a_csv_has_a_line_for_each_candidate_whatever_its_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.csv");
        write(path.to_str().unwrap(), &record()).unwrap();
        let lines = "place,said,put_in,token,text,logit,probability,after,removed_by,entropy\n\
                     3,true,false,7,\" \"\"a\"\",\n\",1.5,0.25,0.5,,2.0\n\
                     3,false,false,8,b,1.5,0.25,,top-k,2.0\n";
        assert_eq!(fs::read_to_string(&path).unwrap(), lines);
        // What is there stays.
        assert!(
            write(path.to_str().unwrap(), &record())
                .unwrap_err()
                .contains("is there already")
        );
    }

    #[test]
    fn json_has_all_there_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.json");
        write(path.to_str().unwrap(), &record()).unwrap();
        let read: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        assert_eq!(read["tokens"][0]["report"]["candidates"][1]["removed"], "top-k");
        assert_eq!(read["model"], "condor");
    }
}
