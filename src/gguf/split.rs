//! The names of models that come in several files: `NAME-00002-of-00005.gguf`. Only names; reading the parts is `model`'s work.

use std::path::{Path, PathBuf};

/// A file name taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitName {
    /// What stands before the numbers.
    pub prefix: String,
    /// Which part this is, from 1.
    pub number: u16,
    /// How many parts there are.
    pub total: u16,
}

impl SplitName {
    /// Takes a file's name apart; `None` when it is not of the form or its numbers make no sense.
    pub fn of(path: &Path) -> Option<Self> {
        let stem = path.file_name()?.to_str()?.strip_suffix(".gguf")?;
        let (rest, total) = stem.rsplit_once("-of-")?;
        let (prefix, number) = rest.rsplit_once('-')?;
        let (number, total) = (five_digits(number)?, five_digits(total)?);
        ((1..=total).contains(&number)).then(|| Self {
            prefix: prefix.to_owned(),
            number,
            total,
        })
    }

    /// What the model of a file is called: the file without its ending, and without the numbers of its parts.
    pub fn model_of(path: &Path) -> String {
        Self::of(path).map_or_else(
            || path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            |split| split.prefix,
        )
    }

    /// The path of part `number` in the folder of `beside`.
    pub fn part(&self, number: u16, beside: &Path) -> PathBuf {
        beside.with_file_name(format!("{}-{number:05}-of-{:05}.gguf", self.prefix, self.total))
    }
}

/// The number that exactly five digits write.
fn five_digits(text: &str) -> Option<u16> {
    let digits = text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart_and_put_together_again() {
        let path = Path::new("/models/big-model-00002-of-00005.gguf");
        let name = SplitName::of(path).unwrap();
        assert_eq!(name.prefix, "big-model");
        assert_eq!((name.number, name.total), (2, 5));
        assert_eq!(name.part(2, path), path);
        assert_eq!(name.part(1, path), Path::new("/models/big-model-00001-of-00005.gguf"));
    }

    #[test]
    fn other_names_are_not_parts() {
        for name in [
            "model.gguf",
            "model-2-of-5.gguf",
            "model-00000-of-00005.gguf",
            "model-00006-of-00005.gguf",
            "model-00002-of-00005.bin",
            "model-+0002-of-00005.gguf",
            "-of-.gguf",
        ] {
            assert_eq!(SplitName::of(Path::new(name)), None, "{name}");
        }
    }
}
