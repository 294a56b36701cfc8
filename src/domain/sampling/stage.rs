//! The stages between raw logits and the draw, and lists of them as people write them. What a stage does to logits is the
//! engine's business.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One step between raw logits and the draw. Each stage removes candidates or changes their logits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Repeat, frequency and presence penalties over the last tokens.
    Penalties,
    /// "Don't repeat yourself": a penalty that grows with the length of a repeated sequence.
    Dry,
    /// Keep what lies within n standard deviations of the best logit.
    TopNSigma,
    /// Keep the k likeliest.
    TopK,
    /// Locally typical sampling.
    Typical,
    /// Nucleus sampling: keep the likeliest that together reach p.
    TopP,
    /// Keep what has at least p times the probability of the likeliest.
    MinP,
    /// Exclude top choices, now and then.
    Xtc,
    /// Sharpen or flatten what is left.
    Temperature,
}

/// Most edits between a word and the name it was meant to be: two slips of the finger.
const NEAR: usize = 2;

impl Stage {
    /// llama.cpp's default order.
    pub const ORDER: [Self; 9] = [
        Self::Penalties,
        Self::Dry,
        Self::TopNSigma,
        Self::TopK,
        Self::Typical,
        Self::TopP,
        Self::MinP,
        Self::Xtc,
        Self::Temperature,
    ];

    /// The name in lists.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Penalties => "penalties",
            Self::Dry => "dry",
            Self::TopNSigma => "top-n-sigma",
            Self::TopK => "top-k",
            Self::Typical => "typical",
            Self::TopP => "top-p",
            Self::MinP => "min-p",
            Self::Xtc => "xtc",
            Self::Temperature => "temperature",
        }
    }

    /// The other names that llama.cpp has for it, besides those that differ by their dashes.
    const fn aliases(self) -> &'static [&'static str] {
        match self {
            Self::Typical => &["typ-p", "typ", "typical-p"],
            Self::TopP => &["nucleus"],
            Self::Temperature => &["temp"],
            _ => &[],
        }
    }

    /// The stage of this name, in any of llama.cpp's spellings.
    pub fn find(name: &str) -> Option<Self> {
        let plain = |name: &str| name.trim().to_lowercase().replace(['_', '-'], "");
        let wanted = plain(name);
        Self::ORDER.into_iter().find(|stage| {
            let mut names = stage.aliases().iter().copied().chain([stage.name()]);
            names.any(|name| plain(name) == wanted)
        })
    }

    /// Reads stages separated by commas (or semicolons, as llama.cpp separates them) in the order in which they are to run.
    ///
    /// # Errors
    /// What is wrong: a name that no stage has, or one that stands twice.
    pub fn list(text: &str) -> Result<Vec<Self>, WrongStage> {
        let mut stages = Vec::new();
        for name in text.split([',', ';']).map(str::trim) {
            let stage = Self::find(name).ok_or_else(|| WrongStage::Unknown(name.to_owned(), Self::nearest(name)))?;
            if stages.contains(&stage) {
                return Err(WrongStage::Twice(stage));
            }
            stages.push(stage);
        }
        Ok(stages)
    }

    /// The stage whose name is most like `typed`, if any is.
    fn nearest(typed: &str) -> Option<Self> {
        let typed = typed.to_lowercase();
        let likened = Self::ORDER
            .into_iter()
            .map(|stage| (edits(&typed, stage.name()), stage));
        let (edits, stage) = likened.min_by_key(|(edits, _)| *edits)?;
        (edits <= NEAR).then_some(stage)
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is wrong with a list of stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrongStage {
    /// No stage has this name; the one most like it.
    Unknown(String, Option<Stage>),
    /// It stands more than once.
    Twice(Stage),
}

impl fmt::Display for WrongStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name, Some(near)) => write!(f, "there is no stage '{name}', did you mean {near}?"),
            Self::Unknown(name, None) => {
                let all = Stage::ORDER.map(Stage::name).join(", ");
                write!(f, "there is no stage '{name}', there are {all}")
            }
            Self::Twice(stage) => write!(f, "'{stage}' stands twice, name it once"),
        }
    }
}

impl std::error::Error for WrongStage {}

/// How many letters must be put in, left out or replaced to make `a` of `b` (Levenshtein's distance).
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_list_is_read_as_it_is_written(stages in Just(Stage::ORDER.to_vec()).prop_shuffle(), len in 1_usize..=9) {
            let stages = &stages[..len];
            let names: Vec<_> = stages.iter().map(|stage| stage.name()).collect();
            prop_assert_eq!(Stage::list(&names.join(",")), Ok(stages.to_vec()));
            prop_assert_eq!(Stage::list(&names.join("; ")), Ok(stages.to_vec()));
            let again = [names.as_slice(), &names[..1]].concat().join(",");
            prop_assert_eq!(Stage::list(&again), Err(WrongStage::Twice(stages[0])));
        }
    }

    #[test]
    fn the_spellings_of_llama_cpp_are_known() {
        for (name, stage) in [
            ("top_k", Stage::TopK),
            ("topk", Stage::TopK),
            ("typ_p", Stage::Typical),
            ("nucleus", Stage::TopP),
            ("temp", Stage::Temperature),
            ("TOP_N_SIGMA", Stage::TopNSigma),
        ] {
            assert_eq!(Stage::find(name), Some(stage), "{name}");
        }
        assert_eq!(Stage::find(""), None);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let words = |text: &str| Stage::list(text).unwrap_err().to_string();
        assert_eq!(
            words("top-k,tempreature"),
            "there is no stage 'tempreature', did you mean temperature?"
        );
        assert_eq!(words("top-k,topk"), "'top-k' stands twice, name it once");
        assert!(words("mirostat").starts_with("there is no stage 'mirostat', there are penalties, dry,"));
        assert!(words("top-k,,xtc").starts_with("there is no stage ''"));
    }
}
