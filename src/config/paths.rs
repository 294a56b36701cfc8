//! Where quipu keeps its files on this platform. The only place that knows; creates nothing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use directories::{BaseDirs, ProjectDirs};

/// The variable that puts everything below one folder instead.
const HOME: &str = "QUIPU_HOME";

/// The folders of quipu. Any of them may not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    config: PathBuf,
    data: PathBuf,
    state: PathBuf,
    cache: PathBuf,
}

impl Paths {
    /// Below `QUIPU_HOME` where it is set, else where the platform keeps such files. `None` where there is no home folder
    /// either. `variable` looks up an environment variable.
    pub fn find(variable: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        match variable(HOME).filter(|home| !home.is_empty()) {
            Some(home) => Some(Self::below(Path::new(&home))),
            None => ProjectDirs::from("", "", "quipu").map(|dirs| Self::of_platform(&dirs)),
        }
    }

    /// Everything below `home`; a relative one counts from the working folder.
    pub fn below(home: &Path) -> Self {
        let home = std::path::absolute(home).unwrap_or_else(|_| home.to_owned());
        Self {
            data: home.join("data"),
            state: home.join("state"),
            cache: home.join("cache"),
            config: home,
        }
    }

    fn of_platform(dirs: &ProjectDirs) -> Self {
        Self {
            config: dirs.config_dir().to_owned(),
            data: dirs.data_dir().to_owned(),
            // Only Linux sets a folder for state apart.
            state: dirs
                .state_dir()
                .map_or_else(|| dirs.data_local_dir().join("state"), Path::to_owned),
            cache: dirs.cache_dir().to_owned(),
        }
    }

    /// The settings file.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The folder of the person's own themes.
    pub fn themes(&self) -> PathBuf {
        self.config.join("themes")
    }

    /// What must not be lost: models, sessions.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// What only this machine knows: logs.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// What can be made again.
    pub fn cache(&self) -> &Path {
        &self.cache
    }
}

/// The person's home folder.
pub fn home() -> Option<PathBuf> {
    BaseDirs::new().map(|dirs| dirs.home_dir().to_owned())
}

/// `~/` at the start of a file's name stands for the home folder, as in a shell, where no shell has seen it.
pub fn from_home(name: &str) -> String {
    let below = name.strip_prefix("~/").and_then(|rest| Some(home()?.join(rest)));
    below.map_or_else(|| name.to_owned(), |path| path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_folder_can_hold_it_all() {
        let paths = Paths::find(|name| (name == HOME).then(|| "/nest".into())).unwrap();
        assert_eq!(paths.config_file(), Path::new("/nest/config.toml"));
        for path in [paths.themes().as_path(), paths.data(), paths.state(), paths.cache()] {
            assert!(path.starts_with("/nest"), "{}", path.display());
        }
        let relative = Paths::find(|_| Some("nest".into())).unwrap();
        assert!(relative.cache().is_absolute());
    }

    #[test]
    fn an_empty_variable_leaves_it_to_the_platform() {
        let paths = Paths::find(|_| Some(OsString::new()));
        assert_eq!(paths, Paths::find(|_| None));
        if let Some(paths) = paths {
            let folders = [paths.config.as_path(), paths.data(), paths.state(), paths.cache()];
            assert!(folders.iter().all(|folder| folder.is_absolute()), "{folders:?}");
            assert!(
                folders.iter().all(|folder| folder.to_string_lossy().contains("quipu")),
                "{folders:?}"
            );
        }
    }

    #[test]
    fn only_a_leading_tilde_is_the_home_folder() {
        for name in ["cria", "a~/b", "~", "~user/x", "/tmp/~/x", ""] {
            assert_eq!(from_home(name), name);
        }
        let home = BaseDirs::new().map_or_else(|| PathBuf::from("~"), |dirs| dirs.home_dir().to_owned());
        assert_eq!(Path::new(&from_home("~/a b.gguf")), home.join("a b.gguf"));
    }
}
