//! Plain-text lists for overlays: parameters, presets, what is known of a model.

use std::fmt::Write;

use crate::app::tuning::Tuning;
use crate::domain::inference::ModelInfo;
use crate::domain::sampling::{PARAMETERS, Parameter, Sampling};
use crate::domain::{Bytes, Count, Preset};
use crate::text::{aligned, sanitize_line};

const STAR: &str = "* ";
const NO_STAR: &str = "  ";

/// All parameters with value, where it comes from where that is not the default, and help; a star marks what differs from it.
pub(super) fn parameters(tuning: &Tuning) -> String {
    let row = |p: &Parameter| {
        let (value, default) = (p.get(&tuning.sampling), p.default());
        let mark = if value == default { NO_STAR } else { STAR };
        [
            format!("{mark}{}", p.name),
            short(&value.to_string()),
            Some(tuning.origin(p))
                .filter(|origin| origin != Tuning::DEFAULT)
                .unwrap_or_default(),
            p.help.to_owned(),
        ]
    };
    let head = ["  parameter", "value", "from", "what it does"].map(str::to_owned);
    let table = aligned([head].into_iter().chain(PARAMETERS.iter().map(row)).collect());
    format!(
        "{table}\npreset {}; a star marks what is not the default; /set NAME VALUE sets one\n",
        tuning.label()
    )
}

/// A value as far as it fits into a column; `/set NAME` shows all of it.
fn short(value: &str) -> String {
    const WIDEST: usize = 7;
    if value.chars().count() <= WIDEST {
        return value.to_owned();
    }
    value.chars().take(WIDEST - 1).chain(['…']).collect()
}

/// All presets with what they change; a star marks the one in force.
pub(super) fn presets(tuning: &Tuning) -> String {
    let base = Sampling::default();
    let row = |p: &Preset| {
        let mark = if p.name == tuning.preset { STAR } else { NO_STAR };
        [format!("{mark}{}", p.name), changes(&p.sampling, &base)]
    };
    let mut text = aligned(tuning.presets.iter().map(row).collect());
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

/// What a model recommends, on one line.
pub(super) fn recommended(model: &ModelInfo) -> String {
    let values = model.recommended.iter().map(|(name, value)| format!("{name} {value}"));
    values.collect::<Vec<_>>().join(", ")
}

/// All that is known of a model.
pub(super) fn facts(model: &ModelInfo) -> String {
    let row = |label: &str, value: String| [label.to_owned(), value];
    let mut rows = vec![
        row("name", model.name.clone()),
        row("architecture", model.architecture.clone()),
        row("quantization", model.quantization.clone()),
        row("parameters", Count(model.parameters).to_string()),
        row("weights", Bytes(model.bytes).to_string()),
        row("vocabulary", format!("{} tokens", model.vocabulary)),
        row(
            "context",
            format!("{} tokens, trained on {}", model.context, model.context_trained),
        ),
        row("threads", model.threads.to_string()),
        row("gpu layers", model.gpu_layers.to_string()),
        row("chat template", model.template.clone()),
        row("file", sanitize_line(&model.path.display().to_string()).into_owned()),
        row("fingerprint", model.fingerprint.clone()),
    ];
    if !model.recommended.is_empty() {
        rows.push(row("recommends", recommended(model)));
    }
    if model.builtin {
        rows.push(row("built in", "yes".to_owned()));
    }
    rows.extend(model.warnings.iter().map(|warning| row("warning", warning.clone())));
    aligned(rows)
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::domain::inference::ThinkingControls;
    use crate::domain::inference::TurnEnd;

    #[test]
    fn a_star_marks_what_was_changed() {
        let mut tuning = Tuning::default();
        tuning.sampling.top_k = 5;
        tuning.choose_value(Parameter::find("top-k").unwrap());
        let text = parameters(&tuning);
        let head: Vec<_> = text.lines().take(4).collect();
        assert_snapshot!(head.join("\n"), @r"
          parameter           value    from      what it does
          temperature         0.8                how freely it draws; 0 always takes the likeliest token
        * top-k               5        set here  keep the k likeliest candidates; 0 is off
          top-p               0.95               keep the likeliest that together reach this probability; 1 is off
        ");
        assert_eq!(text.lines().filter(|line| line.starts_with('*')).count(), 1);
        assert!(
            PARAMETERS
                .iter()
                .all(|p| text.contains(p.name) && text.contains(p.help))
        );
        assert_snapshot!(text.lines().last().unwrap(), @"preset balanced*; a star marks what is not the default; /set NAME VALUE sets one");
        assert_snapshot!(presets(&tuning), @r"
          precise        temperature 0.3, top-p 0.9, min-p 0.1
        * balanced       the defaults
          creative       temperature 1.1, top-k 0, top-p 1, xtc-probability 0.3
          code           temperature 0.2, top-k 20, min-p 0.1
          deterministic  temperature 0, seed 0
          llama.cpp      the defaults

        changed since: top-k 5
        ");
    }

    #[test]
    fn all_that_is_known_of_a_model_is_said() {
        let model = ModelInfo {
            turn_end: TurnEnd::default(),
            name: "cria".to_owned(),
            path: "/m/cria.gguf".into(),
            fingerprint: "5e0f".to_owned(),
            architecture: "llama".to_owned(),
            quantization: "Q8_0".to_owned(),
            parameters: 6_291_456,
            bytes: 6_710_886,
            vocabulary: 4096,
            context: 1024,
            context_trained: 2048,
            threads: 4,
            gpu_layers: 0,
            build: "llama.cpp b1".to_owned(),
            template: "chatml, from the file".to_owned(),
            template_digest: "0f".to_owned(),
            thinking: ThinkingControls::default(),
            recommended: vec![("top-k", "20".to_owned())],
            warnings: vec!["a smaller context than asked for".to_owned()],
            builtin: true,
        };
        assert_snapshot!(facts(&model), @r"
        name           cria
        architecture   llama
        quantization   Q8_0
        parameters     6.3 million
        weights        6.4 MiB
        vocabulary     4096 tokens
        context        1024 tokens, trained on 2048
        threads        4
        gpu layers     0
        chat template  chatml, from the file
        file           /m/cria.gguf
        fingerprint    5e0f
        recommends     top-k 20
        built in       yes
        warning        a smaller context than asked for
        ");
    }
}
