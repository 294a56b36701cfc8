//! Who speaks in a conversation. Nothing else.

use serde::{Deserialize, Serialize};

/// The speaker of a message, in the words that chat templates use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions that stand before the conversation.
    System,
    /// The person at the keyboard.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// The name that chat templates expect.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}
