//! Models of the Hugging Face hub, or of a server that speaks its API: what a repository has, which file of it is meant, and fetching it.
//! The only place of quipu that goes out to the network for models, and only when somebody asks for one.

mod choose;
mod error;
mod fetch;
mod options;

#[cfg(test)]
mod tests;

use std::io::Read;

use serde::Deserialize;
use ureq::config::RedirectAuthHeaders;
use ureq::http::{Response, StatusCode};
use ureq::{Agent, Body};

pub use choose::{Choice, choose};
pub use error::HubError;
pub use fetch::{Patience, Progress, fetch};
pub use options::HubOptions;

/// Longest answer of the API that is read, in bytes: a repository with thousands of files has a few million.
const LONGEST_LISTING: u64 = 32 << 20;

/// A repository's name, and what of it is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoName {
    /// `OWNER/REPO`.
    pub repo: String,
    /// The quantization that is meant, such as `Q4_K_M`.
    pub quant: Option<String>,
}

impl RepoName {
    /// Reads `OWNER/REPO` or `OWNER/REPO:QUANT`; an address of the hub is one too.
    ///
    /// # Errors
    /// Where it is neither.
    pub fn read(text: &str) -> Result<Self, HubError> {
        let bare = ["https://huggingface.co/", "https://hf.co/", "hf.co/", "hf:"]
            .iter()
            .find_map(|prefix| text.strip_prefix(prefix))
            .unwrap_or(text);
        let (repo, quant) = match bare.split_once(':') {
            Some((repo, quant)) => (repo, Some(quant)),
            None => (bare, None),
        };
        // Both become part of an address and of a path.
        let plain = |part: &str| {
            let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            !part.is_empty() && part.len() <= 96 && part.chars().all(letters) && !part.starts_with('.')
        };
        let parts: Vec<_> = repo.split('/').collect();
        if parts.len() == 2 && parts.iter().chain(&quant).all(|part| plain(part)) {
            return Ok(Self {
                repo: repo.to_owned(),
                quant: quant.map(str::to_owned),
            });
        }
        Err(HubError::Name(text.to_owned()))
    }
}

/// A file of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteFile {
    /// Its path there.
    pub path: String,
    /// Its bytes.
    pub bytes: u64,
    /// Its SHA-256 in hexadecimal digits, where the repository records it.
    pub sha256: Option<String>,
}

/// What a repository has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Its name.
    pub repo: String,
    /// The revision that all of it is of.
    pub revision: String,
    /// Its GGUF files.
    pub files: Vec<RemoteFile>,
}

/// A connection to a hub.
#[derive(Debug)]
pub struct Hub {
    agent: Agent,
    options: HubOptions,
}

#[derive(Deserialize)]
struct Told {
    sha: Option<String>,
    #[serde(default)]
    siblings: Vec<Sibling>,
}

#[derive(Deserialize)]
struct Sibling {
    rfilename: String,
    size: Option<u64>,
    lfs: Option<Lfs>,
}

#[derive(Deserialize)]
struct Lfs {
    sha256: Option<String>,
    size: Option<u64>,
}

impl Hub {
    /// One that is asked as these options say. Proxies are those of the environment.
    pub fn new(options: HubOptions) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            // A file lies on another host than its repository, which the token is none of the business of.
            .redirect_auth_headers(RedirectAuthHeaders::SameHost)
            .timeout_connect(Some(options.stall))
            .timeout_recv_response(Some(options.stall))
            .timeout_per_read(Some(options.stall))
            .user_agent(concat!("quipu/", env!("CARGO_PKG_VERSION")));
        let agent = if options.direct { agent.proxy(None) } else { agent };
        Self {
            agent: agent.build().into(),
            options,
        }
    }

    /// The GGUF files of a repository.
    ///
    /// # Errors
    /// Where the hub cannot be asked or does not tell.
    pub fn list(&self, repo: &str) -> Result<Listing, HubError> {
        let response = self.get(&format!("api/models/{repo}/revision/main?blobs=true"), None)?;
        self.refused(&response, repo)?;
        let mut text = Vec::new();
        let mut body = response.into_body().into_reader().take(LONGEST_LISTING);
        body.read_to_end(&mut text)
            .map_err(|error| HubError::Connection(error.to_string()))?;
        let told: Told = serde_json::from_slice(&text).map_err(|_| HubError::Nonsense(repo.to_owned()))?;
        let hexadecimal = |digest: &String| digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        let files = told.siblings.into_iter().filter_map(|file| {
            let lfs = file.lfs.as_ref();
            let bytes = lfs.and_then(|lfs| lfs.size).or(file.size)?;
            let sha256 = lfs.and_then(|lfs| lfs.sha256.clone()).filter(hexadecimal);
            choose::is_plain(&file.rfilename).then_some(RemoteFile {
                path: file.rfilename,
                bytes,
                sha256: sha256.map(|digest| digest.to_lowercase()),
            })
        });
        Ok(Listing {
            repo: repo.to_owned(),
            files: files.collect(),
            revision: told
                .sha
                .filter(|sha| choose::is_revision(sha))
                .unwrap_or_else(|| "main".to_owned()),
        })
    }

    /// Asks for something below the endpoint, from a byte on where one is named.
    fn get(&self, path: &str, from: Option<u64>) -> Result<Response<Body>, HubError> {
        if self.options.offline {
            return Err(HubError::Offline);
        }
        let mut request = self.agent.get(format!("{}/{path}", self.options.endpoint));
        if let Some(token) = &self.options.token {
            request = request.header("Authorization", format!("Bearer {}", token.reveal()));
        }
        if let Some(from) = from {
            request = request.header("Range", format!("bytes={from}-"));
        }
        request.call().map_err(|error| HubError::Connection(error.to_string()))
    }

    /// What an answer that is none comes to.
    fn refused(&self, response: &Response<Body>, repo: &str) -> Result<(), HubError> {
        let repo = || repo.to_owned();
        Err(match response.status() {
            status if status.is_success() => return Ok(()),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => HubError::Denied {
                repo: repo(),
                known: self.options.token.is_some(),
            },
            StatusCode::NOT_FOUND => HubError::Missing(repo()),
            StatusCode::TOO_MANY_REQUESTS => HubError::Busy {
                seconds: response
                    .headers()
                    .get("retry-after")
                    .and_then(|value| value.to_str().ok()?.trim().parse().ok()),
            },
            status => HubError::Status(status.as_u16()),
        })
    }
}
