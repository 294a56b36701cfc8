//! Why nothing could be fetched, in words for the person who asked. Names are untrusted text: sanitise the line before showing it.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::domain::Bytes;

/// Why nothing could be fetched.
#[derive(Debug, Error)]
pub enum HubError {
    /// Nobody may be asked.
    #[error("quipu is offline: leave '--offline' and HF_HUB_OFFLINE away to fetch models")]
    Offline,
    /// No name of a repository.
    #[error(
        "'{0}' is no repository: give OWNER/REPO or OWNER/REPO:QUANT, as in 'Qwen/Qwen2.5-0.5B-Instruct-GGUF:Q4_K_M'"
    )]
    Name(String),
    /// There is no such repository, or file.
    #[error("there is no '{0}' on the hub: look for its exact name there")]
    Missing(String),
    /// It may not be read.
    #[error(
        "the hub does not let '{repo}' be read: {}",
        if *known {
            "accept its conditions on its page, with the account of your token, or look for its exact name"
        } else {
            "it may not be there, or want an account: set HF_TOKEN to a token of yours"
        }
    )]
    Denied {
        /// The repository.
        repo: String,
        /// Whether a token was sent.
        known: bool,
    },
    /// It wants to be asked later.
    #[error("the hub is asked too often: try again later")]
    Busy {
        /// In how many seconds.
        seconds: Option<u64>,
    },
    /// It failed.
    #[error("the hub answers with the error {0}: try again later")]
    Status(u16),
    /// It cannot be reached, or went away.
    #[error("the hub cannot be reached ({0}): what came so far is kept, and the same command goes on from there")]
    Connection(String),
    /// It answers with what is no answer.
    #[error("what the hub tells of '{0}' makes no sense: is HF_ENDPOINT a hub?")]
    Nonsense(String),
    /// Nothing of it can be talked to.
    #[error("'{0}' has no GGUF file: look for a repository of the same model that has, often with GGUF in its name")]
    NoModel(String),
    /// It has models, but not the one that is meant.
    #[error("'{repo}' has no '{wanted}': there are {}", there.join(", "))]
    NoSuch {
        /// The repository.
        repo: String,
        /// What is meant.
        wanted: String,
        /// What there is.
        there: Vec<String>,
    },
    /// None of its models fits.
    #[error(
        "nothing of '{repo}' fits into memory: {} are free, and the smallest, '{smallest}', has {}; name it to fetch it all the same",
        Bytes(*free),
        Bytes(*bytes)
    )]
    NoRoom {
        /// The repository.
        repo: String,
        /// What the smallest is called.
        smallest: String,
        /// Its bytes.
        bytes: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// What came is not what the repository records.
    #[error(
        "'{file}' came damaged: its {what} is not what the hub records; it was removed, and the same command fetches it anew"
    )]
    Damaged {
        /// The file.
        file: String,
        /// What differs.
        what: &'static str,
    },
    /// It cannot be written.
    #[error("cannot write '{}': {source}", path.display())]
    Disk {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no room on the disk.
    #[error("the disk is full at '{}': {} are still missing; what came so far is kept, and the same command goes on from there", path.display(), Bytes(*missing))]
    Full {
        /// The file.
        path: PathBuf,
        /// Bytes that are missing.
        missing: u64,
    },
    /// Another process fetches the same.
    #[error("another quipu is fetching '{0}': wait for it, or stop it there")]
    Taken(String),
    /// Somebody stopped it.
    #[error("stopped: what came so far is kept, and the same command goes on from there")]
    Stopped,
}

impl HubError {
    /// Whether the same request may succeed a little later.
    pub(super) const fn passes(&self) -> bool {
        match self {
            Self::Busy { .. } | Self::Connection(_) => true,
            Self::Status(status) => *status >= 500,
            _ => false,
        }
    }
}
