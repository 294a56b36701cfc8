//! The functional core: `State`, everything that can happen (`Msg`), everything that we can cause (`Effect`), and the pure
//! function between them. No I/O, clock, randomness, channel or terminal here.

pub mod action;
pub mod caught;
pub mod click;
pub mod command;
pub mod compare;
pub mod draft;
pub mod effect;
pub mod find;
pub mod inspector;
pub mod msg;
pub mod notice;
pub mod picker;
pub mod sessions;
pub mod state;
pub mod tune;
pub mod tuning;
pub mod update;
pub mod ward;

pub use action::Action;
pub use command::{COMMANDS, Command, CommandId};
pub use effect::{Effect, Keepable};
pub use msg::Msg;
pub use state::State;
pub use update::update;
