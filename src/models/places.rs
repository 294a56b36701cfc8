//! Where models may lie: quipu's own folder, folders of the settings, and the caches of other programs, which are read and never
//! written. Looks at nothing; whoever asks gives the variables and the home folder.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::domain::shelf::Origin;

/// All folders in which models are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Where the built-in model is unpacked, and what is known of files is noted.
    pub cache: PathBuf,
    /// Where quipu puts the models that it fetches, as `OWNER/REPO/FILE`.
    pub own: Option<PathBuf>,
    /// Folders of the person's own.
    pub folders: Vec<PathBuf>,
    /// Caches of other programs.
    pub caches: Vec<(Origin, PathBuf)>,
}

impl Places {
    /// No place but the one of the built-in model.
    pub fn only(cache: &Path) -> Self {
        Self {
            cache: cache.to_owned(),
            ..Self::default()
        }
    }
}

/// The caches of other programs, which may not exist: where their variables point, else where they lie below `home`. Every program's
/// own order counts.
pub fn caches(variable: impl Fn(&str) -> Option<OsString>, home: Option<&Path>) -> Vec<(Origin, PathBuf)> {
    let named = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let below = |folder: &str| home.map(|home| home.join(folder));
    let general = || named("XDG_CACHE_HOME").or_else(|| below(".cache"));
    let hub = named("HF_HUB_CACHE")
        .or_else(|| named("HUGGINGFACE_HUB_CACHE"))
        .or_else(|| named("HF_HOME").map(|folder| folder.join("hub")))
        .or_else(|| general().map(|folder| folder.join("huggingface/hub")));
    let llama = named("LLAMA_CACHE").or_else(|| {
        if cfg!(target_os = "macos") {
            below("Library/Caches/llama.cpp")
        } else {
            general().map(|folder| folder.join("llama.cpp"))
        }
    });
    let ollama = match named("OLLAMA_MODELS") {
        Some(folder) => vec![folder],
        // Its service on Linux has a user and a home of its own.
        None => below(".ollama/models")
            .into_iter()
            .chain([PathBuf::from("/usr/share/ollama/.ollama/models")])
            .collect(),
    };
    let studio = [below(".lmstudio/models"), below(".cache/lm-studio/models")];
    let all = [
        (Origin::HuggingFace, hub.into_iter().collect()),
        (Origin::LlamaCpp, llama.into_iter().collect()),
        (Origin::LmStudio, studio.into_iter().flatten().collect()),
        (Origin::Ollama, ollama),
    ];
    all.into_iter()
        .flat_map(|(origin, folders)| folders.into_iter().map(move |folder| (origin, folder)))
        .collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn of(set: &[(&str, &str)], origin: Origin) -> Vec<PathBuf> {
        let variable = |name: &str| set.iter().find(|(set, _)| *set == name).map(|(_, value)| value.into());
        let found = caches(variable, Some(Path::new("/home/ada")));
        let of_it = found.into_iter().filter(|(of, _)| *of == origin);
        of_it.map(|(_, folder)| folder).collect()
    }

    #[test]
    fn variables_come_before_the_home_folder() {
        use Origin::{HuggingFace, LlamaCpp, LmStudio, Ollama};
        let one = |path: &str| vec![PathBuf::from(path)];
        assert_eq!(of(&[], HuggingFace), one("/home/ada/.cache/huggingface/hub"));
        assert_eq!(of(&[("XDG_CACHE_HOME", "/c")], HuggingFace), one("/c/huggingface/hub"));
        let both = [("HF_HOME", "/hf"), ("XDG_CACHE_HOME", "/c")];
        assert_eq!(of(&both, HuggingFace), one("/hf/hub"));
        let all = [("HF_HUB_CACHE", "/hub"), ("HF_HOME", "/hf")];
        assert_eq!(of(&all, HuggingFace), one("/hub"));
        assert_eq!(of(&[("LLAMA_CACHE", "/l")], LlamaCpp), one("/l"));
        assert_eq!(of(&[("OLLAMA_MODELS", "/o")], Ollama), one("/o"));
        assert_eq!(
            of(&[("OLLAMA_MODELS", "")], Ollama)[0],
            Path::new("/home/ada/.ollama/models")
        );
        assert_eq!(of(&[], LmStudio).len(), 2);
    }
}
