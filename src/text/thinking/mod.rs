//! The ways in which models mark their thinking, and the finding of it in a stream. Pure functions over text and tokens; which
//! texts are tokens of a vocabulary is told from outside.

mod splitter;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub use splitter::{Parts, Splitter, Unit};

/// A way to mark thinking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// What it begins with.
    pub open: Cow<'static, str>,
    /// What it ends with.
    pub close: Cow<'static, str>,
    /// What brings a model that is to end its thinking now to its answer, in the way it was trained on.
    pub end: Cow<'static, str>,
}

impl Format {
    const fn of(open: &'static str, close: &'static str, end: &'static str) -> Self {
        Self {
            open: Cow::Borrowed(open),
            close: Cow::Borrowed(close),
            end: Cow::Borrowed(end),
        }
    }

    /// A way that is not among [`FORMATS`]: tags on either side.
    pub fn tags(open: &str, close: &str) -> Self {
        Self {
            open: Cow::Owned(open.to_owned()),
            close: Cow::Owned(close.to_owned()),
            end: Cow::Owned(format!("\n{close}\n\n")),
        }
    }
}

/// The ways of published models.
pub static FORMATS: [Format; 12] = [
    // DeepSeek R1, Qwen 3, GLM 4.5, Nemotron, SmolLM 3, MiniMax and most others.
    Format::of("<think>", "</think>", "\n</think>\n\n"),
    Format::of("<thinking>", "</thinking>", "\n</thinking>\n\n"),
    // EXAONE Deep.
    Format::of("<thought>", "</thought>", "\n</thought>\n\n"),
    Format::of("<reasoning>", "</reasoning>", "\n</reasoning>\n\n"),
    // Seed-OSS.
    Format::of("<seed:think>", "</seed:think>", "\n</seed:think>"),
    // Magistral.
    Format::of("[THINK]", "[/THINK]", "[/THINK]"),
    // Kimi.
    Format::of("◁think▷", "◁/think▷", "\n◁/think▷\n\n"),
    // Command A and R7B.
    Format::of(
        "<|START_THINKING|>",
        "<|END_THINKING|>",
        "<|END_THINKING|><|START_RESPONSE|>",
    ),
    // Apertus.
    Format::of("<|inner_prefix|>", "<|inner_suffix|>", "<|inner_suffix|>"),
    // Gemma 4.
    Format::of("<|channel>thought", "<channel|>", "\n<channel|>"),
    // gpt-oss (harmony).
    Format::of(
        "<|channel|>analysis<|message|>",
        "<|end|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
    // Granite 3.2.
    Format::of(
        "Here is my thought process:",
        "Here is my response:",
        "\n\nHere is my response:\n\n",
    ),
];

/// What stands around an answer and is no part of it: before it, and behind it where anything does. Texts that are no tokens count
/// only right behind thinking.
pub(super) const WRAPPERS: [(&str, &str); 8] = [
    ("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
    ("<|channel|>final<|message|>", ""),
    ("<|start|>assistant<|channel|>final<|message|>", ""),
    // What gpt-oss says to the person before it calls a tool.
    ("<|channel|>commentary<|message|>", "<|end|>"),
    ("<|start|>assistant<|channel|>commentary<|message|>", "<|end|>"),
    ("<response>", "</response>"),
    ("<answer>", "</answer>"),
    ("<|start|>assistant", ""),
];
