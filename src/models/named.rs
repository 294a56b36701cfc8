//! Which of the models on this machine a name means: `OWNER/REPO`, `OWNER/REPO:QUANT`, what a list calls it, or a part of that which no
//! other has. Reads no headers.

use std::path::PathBuf;

use super::error::ModelError;
use super::found::{Found, found};
use super::places::Places;

/// What is taken of a repository where nothing is said: small, and hardly worse than larger ones.
const USUAL: &str = "q4_k_m";
/// How alike two names must be to be mentioned, from 0 to 1 (Jaro-Winkler). Names of models share beginnings and endings,
/// so less than this brings strangers.
const ALIKE: f64 = 0.85;
/// How many alike names are worth reading.
const ALIKE_MAX: usize = 3;

/// The file that a name means; `None` where it means none.
///
/// # Errors
/// Where it means several.
pub(super) fn by_name(name: &str, places: &Places) -> Result<Option<PathBuf>, ModelError> {
    pick(name, &found(places))
}

/// What is called nearly so.
pub(super) fn alike(name: &str, places: &Places) -> Vec<String> {
    let all = found(places).into_iter();
    most_alike(
        &name.to_lowercase(),
        all.map(|found| (found.label.to_lowercase(), found.label)),
    )
}

/// Of names, each with what is said where it is meant, what is said of those most like this one.
pub(super) fn most_alike(name: &str, names: impl Iterator<Item = (String, String)>) -> Vec<String> {
    let mut alike: Vec<(f64, String)> = names
        .map(|(other, said)| (strsim::jaro_winkler(name, &other), said))
        .filter(|(alike, _)| *alike >= ALIKE)
        .collect();
    alike.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    alike.into_iter().take(ALIKE_MAX).map(|(_, said)| said).collect()
}

/// `OWNER/REPO` and `QUANT`, where a name is both; else all of it.
pub(super) fn repo_and_tag(name: &str) -> (&str, Option<&str>) {
    match name.rsplit_once(':') {
        Some((repo, tag)) if repo.contains('/') => (repo, Some(tag)),
        _ => (name, None),
    }
}

fn pick(name: &str, all: &[Found]) -> Result<Option<PathBuf>, ModelError> {
    let wanted = name.to_lowercase();
    let (repo, tag) = repo_and_tag(&wanted);
    // The most exact reading that means anything counts.
    let of_repo = |found: &Found| found.repo.as_ref().is_some_and(|of| of.to_lowercase() == repo);
    let readings: [&dyn Fn(&Found) -> bool; 4] = [
        &|found| found.label.to_lowercase() == wanted,
        &|found| {
            let file = found.path.file_name().unwrap_or_default();
            file.to_string_lossy().to_lowercase() == wanted
        },
        &|found| of_repo(found) && tag.is_none_or(|tag| found.label.to_lowercase().contains(tag)),
        &|found| {
            let of = found.repo.as_deref().unwrap_or_default();
            tag.is_none() && format!("{of}/{}", found.label).to_lowercase().contains(&wanted)
        },
    ];
    for (nth, reading) in readings.iter().enumerate() {
        let mut fitting: Vec<&Found> = all.iter().filter(|found| reading(found)).collect();
        let by_repo = nth == 2;
        if by_repo && fitting.len() > 1 && tag.is_none() {
            let usual = |found: &&Found| found.label.to_lowercase().contains(USUAL);
            let usual: Vec<&Found> = fitting.iter().copied().filter(usual).collect();
            if usual.len() == 1 {
                fitting = usual;
            }
        }
        match fitting.as_slice() {
            [] => {}
            [one] => return Ok(Some(one.path.clone())),
            several => {
                return Err(ModelError::Ambiguous {
                    name: name.to_owned(),
                    models: several.iter().map(|found| told(found, several)).collect(),
                });
            }
        }
    }
    Ok(None)
}

/// What tells a model from these others: what it is called, or where it lies where others are called so too.
fn told(found: &Found, others: &[&Found]) -> String {
    let namesakes = others.iter().filter(|other| other.label == found.label).count();
    if namesakes > 1 {
        found.path.display().to_string()
    } else {
        found.label.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use pretty_assertions::assert_eq;

    use super::*;
    use crate::domain::shelf::Origin;

    fn all() -> Vec<Found> {
        let models = [
            ("Qwen2.5-0.5B-Instruct-Q4_K_M", Some("Qwen/Qwen2.5-0.5B-Instruct-GGUF")),
            ("Qwen2.5-0.5B-Instruct-Q8_0", Some("Qwen/Qwen2.5-0.5B-Instruct-GGUF")),
            ("tiny-Q8_0", Some("ada/tiny")),
            ("tiny-F16", Some("ada/tiny")),
            ("llama3:latest", None),
            ("llama3:8b", None),
        ];
        let found = |(label, repo): (&str, Option<&str>)| Found {
            path: PathBuf::from(format!("/m/{label}.gguf")),
            label: label.to_owned(),
            repo: repo.map(str::to_owned),
            origin: Origin::Folder,
        };
        models.map(found).to_vec()
    }

    fn of(name: &str) -> String {
        match pick(name, &all()) {
            Ok(Some(path)) => path.file_stem().unwrap().to_string_lossy().into_owned(),
            Ok(None) => "none".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_name_means_one_model_or_says_which_it_could() {
        for (name, model) in [
            ("llama3:8b", "llama3:8b"),
            ("TINY-f16.gguf", "tiny-F16"),
            ("qwen/qwen2.5-0.5b-instruct-gguf", "Qwen2.5-0.5B-Instruct-Q4_K_M"),
            ("Qwen/Qwen2.5-0.5B-Instruct-GGUF:q8_0", "Qwen2.5-0.5B-Instruct-Q8_0"),
            ("0.5b-instruct-q8", "Qwen2.5-0.5B-Instruct-Q8_0"),
            ("ada/tiny:F16", "tiny-F16"),
            ("ada/tiny:Q2_K", "none"),
            ("gemma", "none"),
            (
                "ada/tiny",
                "'ada/tiny' may be several models: 'tiny-Q8_0', 'tiny-F16'; name one of them",
            ),
            (
                "llama",
                "'llama' may be several models: 'llama3:latest', 'llama3:8b'; name one of them",
            ),
        ] {
            assert_eq!(of(name), model, "{name}");
        }
    }

    #[test]
    fn namesakes_are_told_by_where_they_lie() {
        let mut two = all();
        two.truncate(1);
        two.push(Found {
            path: Path::new("/other/Qwen2.5-0.5B-Instruct-Q4_K_M.gguf").to_owned(),
            ..two[0].clone()
        });
        let words = pick("qwen", &two).unwrap_err().to_string();
        assert!(words.contains("'/other/Qwen"), "{words}");
    }
}
