//! Which file of a repository is meant: the quantization that was named, or the usual one as far as memory goes. Reads names and sizes
//! only.

use std::collections::BTreeMap;
use std::path::Path;

use crate::gguf::SplitName;

use super::error::HubError;
use super::{Listing, RemoteFile};
use crate::models::resolve::{is_gguf, is_projector};

/// What is taken where nothing is named, the best first: small, and hardly worse than what is larger.
const USUAL: [&str; 8] = [
    "Q4_K_M", "Q4_K_S", "Q4_0", "IQ4_NL", "IQ4_XS", "MXFP4", "Q5_K_M", "Q8_0",
];
/// What a context and computing take beside the weights, at least, as a part of them.
const BESIDE: u64 = 10;

/// A model of a repository: its files, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What it is called.
    pub label: String,
    /// Its files.
    pub files: Vec<RemoteFile>,
}

impl Choice {
    /// Bytes of all its files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.bytes))
    }
}

/// The model that is meant.
///
/// # Errors
/// Where there is none, or none that fits into `free` bytes.
pub fn choose(listing: &Listing, wanted: Option<&str>, free: Option<u64>) -> Result<Choice, HubError> {
    let models = models(listing);
    let Some(smallest) = models.iter().min_by_key(|model| model.bytes()) else {
        return Err(HubError::NoModel(listing.repo.clone()));
    };
    if let Some(wanted) = wanted {
        // The shortest name says nothing besides: of 'x-Q4_K_M' and 'x-draft-Q4_K_M' the first.
        let fitting = models.iter().filter(|model| says(&model.label, wanted));
        return fitting
            .min_by_key(|model| model.label.len())
            .cloned()
            .ok_or_else(|| HubError::NoSuch {
                repo: listing.repo.clone(),
                wanted: wanted.to_owned(),
                there: models.iter().map(|model| model.label.clone()).collect(),
            });
    }
    let fits = |model: &&Choice| {
        let bytes = model.bytes();
        free.is_none_or(|free| bytes.saturating_add(bytes / BESIDE) <= free)
    };
    let fitting: Vec<_> = models.iter().filter(fits).collect();
    let named = |quant: &&str| {
        let of_it = fitting.iter().filter(|model| says(&model.label, quant));
        of_it.min_by_key(|model| model.label.len()).copied()
    };
    let usual = USUAL.iter().find_map(named);
    // Else the best that memory allows.
    let largest = || fitting.iter().max_by_key(|model| model.bytes()).copied();
    usual.or_else(largest).cloned().ok_or_else(|| HubError::NoRoom {
        repo: listing.repo.clone(),
        smallest: smallest.label.clone(),
        bytes: smallest.bytes(),
        free: free.unwrap_or(0),
    })
}

/// The models of a repository; of those in several parts only the whole ones.
fn models(listing: &Listing) -> Vec<Choice> {
    let mut models: BTreeMap<String, Vec<RemoteFile>> = BTreeMap::new();
    for file in &listing.files {
        models
            .entry(SplitName::model_of(Path::new(&file.path)))
            .or_default()
            .push(file.clone());
    }
    let whole = models.into_iter().filter_map(|(label, mut files)| {
        files.sort_by(|one, other| one.path.cmp(&other.path));
        let parts = SplitName::of(Path::new(&files.first()?.path)).map_or(1, |split| usize::from(split.total));
        (files.len() == parts).then_some(Choice { label, files })
    });
    whole.collect()
}

/// Whether a name has these words, whole: `Q4_K` is not said by `x-Q4_K_M`.
fn says(label: &str, words: &str) -> bool {
    let (label, words) = (label.to_lowercase(), words.to_lowercase());
    let letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    label.match_indices(&words).any(|(at, found)| {
        let before = label[..at].chars().next_back();
        !letter(before) && !letter(label[at + found.len()..].chars().next())
    })
}

/// Whether a path there can be one here: a model's, below where it is put, and of plain letters.
pub(super) fn is_plain(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '=' | '/');
    let parts_sound = path.split('/').all(|part| !part.is_empty() && !part.starts_with('.'));
    is_gguf(name) && !is_projector(name) && path.chars().all(letter) && parts_sound
}

/// Whether a text can be a revision's name in an address.
pub(super) fn is_revision(text: &str) -> bool {
    !text.is_empty() && text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn listing(files: &[(&str, u64)]) -> Listing {
        let file = |(path, bytes): &(&str, u64)| RemoteFile {
            path: (*path).to_owned(),
            bytes: *bytes,
            sha256: None,
        };
        Listing {
            repo: "ada/owl".to_owned(),
            revision: "main".to_owned(),
            files: files.iter().map(file).collect(),
        }
    }

    fn chosen(files: &[(&str, u64)], wanted: Option<&str>, free: Option<u64>) -> String {
        match choose(&listing(files), wanted, free) {
            Ok(choice) => format!("{} of {}", choice.label, choice.files.len()),
            Err(error) => error.to_string(),
        }
    }

    const FILES: [(&str, u64); 6] = [
        ("owl-Q2_K.gguf", 300),
        ("owl-Q4_K_M.gguf", 500),
        ("owl-Q4_K_S.gguf", 450),
        ("owl-Q8_0-00001-of-00002.gguf", 500),
        ("owl-Q8_0-00002-of-00002.gguf", 500),
        ("F16/owl-F16-00001-of-00003.gguf", 900),
    ];

    #[test]
    fn the_usual_one_is_taken_or_what_fits_or_what_is_named() {
        for (wanted, free, model) in [
            (None, None, "owl-Q4_K_M of 1"),
            (None, Some(550), "owl-Q4_K_M of 1"),
            (None, Some(549), "owl-Q4_K_S of 1"),
            (None, Some(400), "owl-Q2_K of 1"),
            (
                None,
                Some(100),
                "nothing of 'ada/owl' fits into memory: 100 B are free, and the smallest, 'owl-Q2_K', has 300 B; name it to fetch \
                 it all the same",
            ),
            (Some("q8_0"), Some(100), "owl-Q8_0 of 2"),
            (
                Some("Q4_K"),
                None,
                "'ada/owl' has no 'Q4_K': there are owl-Q2_K, owl-Q4_K_M, owl-Q4_K_S, owl-Q8_0",
            ),
            (
                Some("F16"),
                None,
                "'ada/owl' has no 'F16': there are owl-Q2_K, owl-Q4_K_M, owl-Q4_K_S, owl-Q8_0",
            ),
        ] {
            assert_eq!(chosen(&FILES, wanted, free), model);
        }
        assert_eq!(
            chosen(&[], None, None),
            "'ada/owl' has no GGUF file: look for a repository of the same model that has, often with GGUF in its name"
        );
    }

    #[test]
    fn paths_that_lead_elsewhere_are_none() {
        for path in ["owl.gguf", "Q8_0/owl-Q8_0.gguf"] {
            assert!(is_plain(path), "{path}");
        }
        for path in [
            "../owl.gguf",
            "/owl.gguf",
            "a//owl.gguf",
            ".hid.gguf",
            "a\\owl.gguf",
            "owl.bin",
            "mmproj-owl.gguf",
            "o?l.gguf",
        ] {
            assert!(!is_plain(path), "{path}");
        }
    }
}
