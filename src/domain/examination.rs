//! What a doctor tells of a model: checks, verdicts, and the numbers that were seen. Plain data; how it is found out is not here.

use std::fmt;

use serde::Serialize;

/// What was made of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It does not concern this model or this machine, or there was nothing to check with.
    #[default]
    NotApplicable,
    /// As it should be.
    Ok,
    /// Odd, but it may be meant so.
    Warning,
    /// Wrong.
    Failed,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::NotApplicable => "n/a",
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failed => "failed",
        })
    }
}

/// What is checked, in the order in which it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// Header, and tensors within the file.
    File,
    /// As many rows as tokens.
    Vocabulary,
    /// The order in which pairs are merged.
    Merges,
    /// Every weight is a number.
    Weights,
    /// llama.cpp takes it.
    Load,
    /// Something ends an answer.
    Specials,
    /// The chat template renders, keeps what was said, and ends answers as the model does.
    Template,
    /// Texts survive the tokenizer.
    RoundTrip,
    /// The tokenizer is the publisher's.
    Tokenizer,
    /// What is computed are numbers, and not always the same.
    Logits,
    /// One token at a time comes to the same as all at once.
    Steps,
    /// So does going on after going back.
    Rewind,
    /// After saving and restoring.
    Restore,
    /// After a context shift.
    Shift,
    /// Fifty greedy tokens.
    Greedy,
    /// How widely the heads look.
    Attention,
    /// A graphics card computes what the processor does.
    Cards,
    /// Tokens per second, against what the memory allows.
    Speed,
    /// Another server says the same.
    Reference,
}

impl Check {
    /// All of them.
    pub const ALL: [Self; 19] = [
        Self::File,
        Self::Vocabulary,
        Self::Merges,
        Self::Weights,
        Self::Load,
        Self::Specials,
        Self::Template,
        Self::RoundTrip,
        Self::Tokenizer,
        Self::Logits,
        Self::Steps,
        Self::Rewind,
        Self::Restore,
        Self::Shift,
        Self::Greedy,
        Self::Attention,
        Self::Cards,
        Self::Speed,
        Self::Reference,
    ];

    /// The name by which it is told.
    pub const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Vocabulary => "vocabulary",
            Self::Merges => "merges",
            Self::Weights => "weights",
            Self::Load => "load",
            Self::Specials => "specials",
            Self::Template => "template",
            Self::RoundTrip => "round-trip",
            Self::Tokenizer => "tokenizer",
            Self::Logits => "logits",
            Self::Steps => "steps",
            Self::Rewind => "rewind",
            Self::Restore => "restore",
            Self::Shift => "shift",
            Self::Greedy => "greedy",
            Self::Attention => "attention",
            Self::Cards => "cards",
            Self::Speed => "speed",
            Self::Reference => "reference",
        }
    }

    /// What it asks, for people.
    pub const fn question(self) -> &'static str {
        match self {
            Self::File => "is the file whole?",
            Self::Vocabulary => "as many rows as tokens?",
            Self::Merges => "are pairs merged in order?",
            Self::Weights => "is every weight a number?",
            Self::Load => "does llama.cpp take it?",
            Self::Specials => "does something end an answer?",
            Self::Template => "does the template fit the model?",
            Self::RoundTrip => "do texts survive the tokenizer?",
            Self::Tokenizer => "is the tokenizer the publisher's?",
            Self::Logits => "does it compute numbers that differ?",
            Self::Steps => "one by one as all at once?",
            Self::Rewind => "the same after going back?",
            Self::Restore => "the same after save and restore?",
            Self::Shift => "the same after a context shift?",
            Self::Greedy => "50 greedy tokens without a loop?",
            Self::Attention => "do the heads look at something?",
            Self::Cards => "do card and processor agree?",
            Self::Speed => "as fast as the memory?",
            Self::Reference => "does another server say the same?",
        }
    }
}

/// What came of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The check.
    pub check: Check,
    /// What was made of it.
    pub verdict: Verdict,
    /// What was seen, in numbers; sanitised.
    pub evidence: String,
    /// What to do about it; empty where there is nothing to do.
    pub remedy: String,
}

impl fmt::Display for Finding {
    /// Verdict, check and evidence in a line, and the remedy in another.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:8} {:11} {}", self.verdict, self.check.name(), self.evidence)?;
        if self.remedy.is_empty() {
            return Ok(());
        }
        writeln!(f, "{:20} -> {}", "", self.remedy)
    }
}

/// What the model computed behind a token of the text that it was examined with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Position {
    /// The token, as text.
    pub token: String,
    /// The likeliest to follow.
    pub top: String,
    /// Its probability.
    pub probability: f32,
    /// The lowest logit.
    pub lowest: f32,
    /// The highest.
    pub highest: f32,
    /// Entropy of the distribution, in bits.
    pub entropy: f32,
}

/// What was seen of a layer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Layer {
    /// How widely each head looks, from 0 (at one token) to 1 (at all alike); empty without attention.
    pub heads: Vec<f32>,
    /// Time in microseconds, where it could be taken.
    pub micros: Option<u64>,
}

/// All that was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Examination {
    /// Check by check.
    pub findings: Vec<Finding>,
    /// Position by position.
    pub positions: Vec<Position>,
    /// Layer by layer.
    pub layers: Vec<Layer>,
}

impl Examination {
    /// The worst verdict.
    pub fn verdict(&self) -> Verdict {
        let verdicts = self.findings.iter().map(|finding| finding.verdict);
        verdicts.max().unwrap_or_default()
    }

    /// How many findings have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.findings
            .iter()
            .filter(|finding| finding.verdict == verdict)
            .count()
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_finding_is_a_line_and_its_remedy_another() {
        let finding = Finding {
            check: Check::Weights,
            verdict: Verdict::Failed,
            evidence: "'a' has 2 values".to_owned(),
            remedy: "get another".to_owned(),
        };
        let lines = "failed   weights     'a' has 2 values\n                     -> get another\n";
        assert_eq!(finding.to_string(), lines);
        let found = Examination {
            findings: vec![finding],
            ..Examination::default()
        };
        assert_eq!(
            (found.verdict(), found.count(Verdict::Failed), found.count(Verdict::Ok)),
            (Verdict::Failed, 1, 0)
        );
    }
}
