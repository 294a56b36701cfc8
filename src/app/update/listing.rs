//! Plain-text lists for overlays: parameters, presets, what is known of a model; and numbers for people.

use std::fmt::Write;

use crate::app::tuning::Tuning;
use crate::domain::inference::ModelInfo;
use crate::domain::sampling::{PARAMETERS, Sampling};

/// All parameters with value, default and help; a star marks what differs from the default.
pub(super) fn parameters(tuning: &Tuning) -> String {
    let row = |p: &crate::domain::sampling::Parameter| {
        let (value, default) = (p.get(&tuning.sampling), p.default());
        let mark = if value == default { "" } else { "*" };
        [
            mark.to_owned(),
            p.name.to_owned(),
            value.to_string(),
            default.to_string(),
            p.help.to_owned(),
        ]
    };
    let head = ["", "parameter", "value", "default", "what it does"].map(str::to_owned);
    let table = columns([head].into_iter().chain(PARAMETERS.iter().map(row)).collect());
    format!(
        "{table}\npreset {}; a star marks what is not the default; /set NAME VALUE sets one\n",
        tuning.label()
    )
}

/// All presets with what they change; a star marks the one in force.
pub(super) fn presets(tuning: &Tuning) -> String {
    let base = Sampling::default();
    let row = |p: &crate::domain::Preset| {
        let mark = if p.name == tuning.preset { "*" } else { "" };
        [mark.to_owned(), p.name.clone(), changes(&p.sampling, &base)]
    };
    let mut text = columns(tuning.presets.iter().map(row).collect());
    if let Some(preset) = tuning.find(&tuning.preset)
        && preset.sampling != tuning.sampling
    {
        let _ = write!(
            text,
            "\nchanged since: {}\n",
            changes(&tuning.sampling, &preset.sampling)
        );
    }
    text
}

fn changes(sampling: &Sampling, base: &Sampling) -> String {
    let values = sampling
        .differences(base)
        .map(|p| format!("{} {}", p.name, p.get(sampling)));
    let values: Vec<_> = values.collect();
    if values.is_empty() {
        "the defaults".to_owned()
    } else {
        values.join(", ")
    }
}

/// All that is known of a model.
pub(super) fn facts(model: &ModelInfo) -> String {
    let row = |label: &str, value: String| [label.to_owned(), value];
    let mut rows = vec![
        row("name", model.name.clone()),
        row("architecture", model.architecture.clone()),
        row("quantization", model.quantization.clone()),
        row("parameters", count(model.parameters)),
        row("weights", bytes(model.bytes)),
        row("vocabulary", format!("{} tokens", model.vocabulary)),
        row(
            "context",
            format!("{} tokens, trained on {}", model.context, model.context_trained),
        ),
        row("threads", model.threads.to_string()),
        row("gpu layers", model.gpu_layers.to_string()),
        row("chat template", model.template.clone()),
        row("fingerprint", model.fingerprint.clone()),
    ];
    if model.builtin {
        rows.push(row("built in", "yes".to_owned()));
    }
    rows.extend(model.warnings.iter().map(|warning| row("warning", warning.clone())));
    columns(rows)
}

/// Rows as lines, each column as wide as its widest cell.
fn columns<const N: usize>(rows: Vec<[String; N]>) -> String {
    let widths: [usize; N] =
        std::array::from_fn(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0));
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        let _ = writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    text
}

/// A large number in words with two or three digits that matter: `6.3 million`.
pub(super) fn count(n: u64) -> String {
    let words = [(1e12, "trillion"), (1e9, "billion"), (1e6, "million")];
    scaled(n, &words).unwrap_or_else(|| n.to_string())
}

/// A size in binary units: `6.4 MiB`.
fn bytes(n: u64) -> String {
    let units = [
        (f64::from(1 << 30), "GiB"),
        (f64::from(1 << 20), "MiB"),
        (1024.0, "KiB"),
    ];
    scaled(n, &units).unwrap_or_else(|| format!("{n} B"))
}

/// `n` in the largest unit of which there is at least one.
fn scaled(n: u64, units: &[(f64, &str)]) -> Option<String> {
    let n = n as f64;
    let (unit, name) = units.iter().find(|(unit, _)| n >= *unit)?;
    let scaled = n / unit;
    let digits = usize::from(scaled < 10.0);
    Some(format!("{scaled:.digits$} {name}"))
}
