//! Where a value was chosen by a person. Nothing else.

/// The places in which a single value can be chosen, each over the ones before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// The configuration file.
    File,
    /// An environment variable.
    Environment,
    /// A flag.
    CommandLine,
    /// The chat.
    Chat,
}

impl Chosen {
    /// A word for the place.
    pub const fn place(self) -> &'static str {
        match self {
            Self::File => "configuration",
            Self::Environment => "environment",
            Self::CommandLine => "flag",
            Self::Chat => "set here",
        }
    }
}
