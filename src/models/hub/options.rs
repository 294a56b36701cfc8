//! How a hub is asked: where it is, who asks, and whether anybody may. The variables are those of the hub's own programs.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where the hub is, unless `HF_ENDPOINT` says otherwise.
const ENDPOINT: &str = "https://huggingface.co";
/// Longest time in which nothing comes.
const STALL: Duration = Duration::from_secs(30);

/// How to ask.
#[derive(Clone, Debug)]
pub struct HubOptions {
    /// The address, without a slash at its end.
    pub endpoint: String,
    /// Who asks, to the endpoint alone.
    pub token: Option<Secret>,
    /// Whether nothing is asked at all.
    pub offline: bool,
    /// Longest time in which nothing comes.
    pub stall: Duration,
    /// Whether no proxy is gone through, whatever the environment says.
    pub direct: bool,
}

/// A text that is shown nowhere.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// The text. To be sent, and to be told nobody.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl HubOptions {
    /// As the environment has it. The token is `HF_TOKEN`'s, else the one that the hub's programs keep in a file.
    pub fn find(variable: impl Fn(&str) -> Option<OsString>, home: Option<&Path>) -> Self {
        let named = |name: &str| variable(name).filter(|value| !value.is_empty());
        let text = |name: &str| named(name).and_then(|value| value.into_string().ok());
        let path = |name: &str| named(name).map(PathBuf::from);
        let file = path("HF_TOKEN_PATH").or_else(|| {
            let hub = path("HF_HOME").or_else(|| {
                let cache = path("XDG_CACHE_HOME").or_else(|| home.map(|home| home.join(".cache")));
                cache.map(|cache| cache.join("huggingface"))
            });
            hub.map(|hub| hub.join("token"))
        });
        let token = text("HF_TOKEN").or_else(|| fs::read_to_string(file?).ok());
        // What a header cannot carry is no token.
        let sound = |token: &String| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
        let on = |value: String| matches!(value.to_lowercase().as_str(), "1" | "true" | "yes" | "on");
        Self {
            endpoint: text("HF_ENDPOINT").map_or_else(
                || ENDPOINT.to_owned(),
                |address| address.trim_end_matches('/').to_owned(),
            ),
            token: token.map(|token| token.trim().to_owned()).filter(sound).map(Secret),
            offline: text("HF_HUB_OFFLINE").is_some_and(on),
            stall: STALL,
            direct: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn of(set: &[(&str, &str)], home: Option<&Path>) -> HubOptions {
        let variable = |name: &str| set.iter().find(|(set, _)| *set == name).map(|(_, value)| value.into());
        HubOptions::find(variable, home)
    }

    #[test]
    fn the_environment_of_the_hubs_programs_counts() {
        let usual = of(&[], None);
        assert_eq!(
            (usual.endpoint.as_str(), usual.offline),
            ("https://huggingface.co", false)
        );
        assert!(usual.token.is_none());
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join(".cache/huggingface")).unwrap();
        fs::write(home.path().join(".cache/huggingface/token"), "hf_file\n").unwrap();
        let set = [("HF_ENDPOINT", "http://mirror/"), ("HF_HUB_OFFLINE", "True")];
        let found = of(&set, Some(home.path()));
        assert_eq!((found.endpoint.as_str(), found.offline), ("http://mirror", true));
        assert_eq!(found.token.unwrap().reveal(), "hf_file");
        let found = of(&[("HF_TOKEN", "hf_variable")], Some(home.path()));
        assert_eq!(found.token.as_ref().unwrap().reveal(), "hf_variable");
        assert!(!format!("{found:?}").contains("hf_variable"), "it is shown nowhere");
        let found = of(&[("HF_TOKEN", "two\nlines")], None);
        assert!(found.token.is_none(), "it would be another header");
    }
}
