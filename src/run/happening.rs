//! What reaches the loop from outside, over one channel: keys, signals, and the word of helpers that something is done. The
//! engine's events have a channel of their own.

use crossterm::event::Event;

use crate::app::Msg;
use crate::domain::inference::{Failure, LoadOptions, ModelSource, TurnId};
use crate::ui::Theme;

use super::effects::Fresh;

/// Something for the loop.
#[derive(Clone, Debug, PartialEq)]
pub enum Happening {
    /// The terminal said something.
    Input(Event),
    /// The process is to end, by this signal's number. Also told where the terminal went away.
    Terminate(i32),
    /// The process is to stop until it is continued.
    Suspend,
    /// The process was stopped and goes on.
    Continue,
    /// The frame before is out.
    Written,
    /// Something for the core, from a helper that is done.
    Message(Box<Msg>),
    /// A theme was read, and these are the words on what is wrong with it.
    Dressed(Box<Theme>, Vec<String>),
    /// The message was edited outside, or could not be, in words.
    EditedOutside(Result<String, String>),
    /// The draft of this revision was counted, where a model was there to do it with.
    Counted(Option<(u64, u32)>),
    /// The settings or a theme were saved.
    SettingsSaved,
    /// The settings were read again, or have a mistake, in words.
    Settled(Result<Box<Fresh>, String>),
    /// The desktop could not take this to its clipboard.
    NotCopied(String),
    /// A model was looked for.
    Found {
        /// The load that it is for.
        turn: TurnId,
        /// How to load it.
        options: Box<LoadOptions>,
        /// Where it is, or why there is none.
        source: Result<ModelSource, Failure>,
    },
}
