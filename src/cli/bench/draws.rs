//! Times what drawing a token costs, stage by stage, on logits that have the shape of a model's but need no model to compute.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use serde_json::json;

use crate::domain::Sampling;
use crate::domain::inference::{Failure, FailureKind};
use crate::domain::sampling::{Parameter, Seed};
use crate::engine::local::{Drawing, Lexicon};
use crate::gguf::{GgufError, ModelFile};
use crate::text::sanitize_line;

use super::median;

/// What is timed: a name, and what is changed of settings without any stage.
const WAYS: [(&str, &[(&str, &str)]); 13] = [
    ("no stage", &[]),
    ("greedy", &[("temperature", "0")]),
    (
        "penalties",
        &[("stages", "penalties,temperature"), ("repeat-penalty", "1.1")],
    ),
    ("dry", &[("stages", "dry,temperature"), ("dry-multiplier", "0.8")]),
    (
        "top-n-sigma",
        &[("stages", "top-n-sigma,temperature"), ("top-n-sigma", "1")],
    ),
    ("top-k", &[("stages", "top-k,temperature"), ("top-k", "40")]),
    ("typical", &[("stages", "typical,temperature"), ("typical-p", "0.9")]),
    ("top-p", &[("stages", "top-p,temperature"), ("top-p", "0.95")]),
    ("min-p", &[("stages", "min-p,temperature"), ("min-p", "0.05")]),
    ("xtc", &[("stages", "xtc,temperature"), ("xtc-probability", "0.5")]),
    ("mirostat 1", &[("mirostat", "1")]),
    ("mirostat 2", &[("mirostat", "2")]),
    ("adaptive-p", &[("adaptive-target", "0.5")]),
];

/// Draws before the clock starts, so that memory is there.
const WARM: usize = 3;
/// Draws for every repetition.
const DRAWS: u32 = 20;

/// What drawing a token costs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Draws {
    vocabulary: u32,
    /// Names and milliseconds; medians.
    costs: Vec<(&'static str, f64)>,
}

/// Measures every stage alone, and the settings in force, without and with a report on each token.
///
/// # Errors
/// When the vocabulary cannot be read, or the settings cannot be followed with it.
pub(super) fn measure(path: &Path, vocabulary: u32, sampling: &Sampling, repetitions: u32) -> Result<Draws, Failure> {
    let rows: Vec<_> = (0..8).map(|row| logits(vocabulary, row)).collect();
    let unusable = |error: GgufError| Failure::new(FailureKind::Model, sanitize_line(&error.to_string()).into_owned());
    let lexicon = Lexicon::open(&ModelFile::open(path).map_err(unusable)?)?;
    let time = |drawing: Drawing| time(drawing, &rows, repetitions * DRAWS);
    let mut costs = Vec::new();
    for (name, changes) in WAYS {
        costs.push((name, time(Drawing::new(&lexicon, &way(changes))?)?));
    }
    let in_force = || Drawing::new(&lexicon, sampling);
    costs.push(("as set", time(in_force()?)?));
    costs.push(("as set, reported", time(in_force()?.reporting())?));
    Ok(Draws { vocabulary, costs })
}

/// Settings with nothing but these.
fn way(changes: &[(&str, &str)]) -> Sampling {
    let mut settings = Sampling {
        seed: Seed::Fixed(1),
        ..Sampling::default()
    };
    for (name, value) in [("stages", "temperature")].iter().chain(changes) {
        // The table above is held to the parameters by a test.
        let _ = Parameter::find(name).map(|parameter| parameter.set(&mut settings, value));
    }
    settings
}

/// The median time of a draw, in milliseconds.
fn time(mut drawing: Drawing, rows: &[Vec<f32>], draws: u32) -> Result<f64, Failure> {
    let mut times = Vec::with_capacity(draws as usize);
    for (number, row) in rows.iter().cycle().take(WARM + draws as usize).enumerate() {
        let began = Instant::now();
        if drawing.draw(row).is_none() {
            let message = "these settings let nothing be drawn: '/set' shows them";
            return Err(Failure::new(FailureKind::Grammar, message));
        }
        if number >= WARM {
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
    }
    times.sort_by(f64::total_cmp);
    Ok(median(&times).unwrap_or_default())
}

/// Logits as models have them: most of them in a bell, a few high. The same every time.
fn logits(vocabulary: u32, row: u32) -> Vec<f32> {
    // Knuth's multiplicative hash for noise from 0 to 1, and four of its values for a bell.
    let noise = |n: u32| (n.wrapping_mul(2_654_435_761) >> 8) as f32 / 16_777_216.0;
    let number = |id: u32, part: u32| {
        id.wrapping_mul(5)
            .wrapping_add(part)
            .wrapping_add(row.wrapping_mul(7_919))
    };
    let bell = |id: u32| (0..4).map(|part| noise(number(id, part))).sum::<f32>();
    let peak = |id: u32| {
        if id % 997 == 17 {
            9.0 * noise(number(id, 4))
        } else {
            0.0
        }
    };
    (0..vocabulary).map(|id| bell(id) * 4.0 - 10.0 + peak(id)).collect()
}

impl Draws {
    pub(super) fn json(&self) -> serde_json::Value {
        let cost = |(name, cost): &(&str, f64)| json!({ "stage": name, "median_milliseconds": cost });
        json!({ "vocabulary": self.vocabulary, "draws": self.costs.iter().map(cost).collect::<Vec<_>>() })
    }

    pub(super) fn table(&self) -> String {
        let mut text = format!("drawing from {} tokens, milliseconds\n", self.vocabulary);
        for (name, cost) in &self.costs {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "  {name:<18} {cost:>8.4}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stage_is_timed_and_every_way_is_one() {
        use crate::domain::sampling::Stage;
        for stage in Stage::ORDER {
            let timed = stage == Stage::Temperature || WAYS.iter().any(|(name, _)| *name == stage.name());
            assert!(timed, "{}", stage.name());
        }
        for (name, changes) in WAYS {
            for (parameter, value) in changes {
                let parameter = Parameter::find(parameter).unwrap();
                parameter.set(&mut Sampling::default(), value).unwrap();
            }
            assert!(name == "no stage" || way(changes) != way(&[]), "{name}");
        }
        assert!(logits(1000, 0) != logits(1000, 1));
    }
}
