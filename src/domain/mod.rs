//! The words everyone uses: conversations, sampling settings, the engine's vocabulary. Plain data on std and serde;
//! nothing here reads a clock, a file or a terminal.

pub mod bytes;
pub mod compaction;
pub mod conversation;
pub mod count;
pub mod counter;
pub mod examination;
pub mod fetching;
pub mod inference;
pub mod inspection;
pub mod load_option;
pub mod loading;
pub mod loop_guard;
pub mod outlook;
pub mod preset;
pub mod prospect;
pub mod replay;
pub mod request;
pub mod role;
pub mod sampling;
pub mod session;
pub mod shelf;
pub mod thinking;

pub use bytes::Bytes;
pub use conversation::{Answer, Changes, Conversation, Head, Message, MessageId, Take, Thought};
pub use count::Count;
pub use loop_guard::LoopGuard;
pub use preset::Preset;
pub use role::Role;
pub use sampling::Sampling;
