//! What a click can mean. Where it meant it is the view's business, which knows what it drew where.

use crate::domain::MessageId;

/// Something on the screen that was clicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Click {
    /// A message.
    Message(MessageId),
    /// The mark of its versions, at its left half: the one before.
    VersionBefore(MessageId),
    /// At its right half: the one after.
    VersionAfter(MessageId),
    /// The line that sums up what the model thought.
    Thinking(MessageId),
    /// The line that stands for the rest of a folded message.
    Fold(MessageId),
    /// A row of the list or panel that is open.
    Row(usize),
    /// A slider of the panel of sampling: its row, and how far along it, in thousandths.
    Slider(usize, u16),
    /// The word that the transcript goes on below.
    More,
    /// The box in which one writes.
    Composer,
}

/// A stretch of the screen that is marked with the mouse: the cells where it begins and where the pointer is, as column and row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drag {
    /// Where the button was pressed.
    pub from: (u16, u16),
    /// Where the pointer is.
    pub to: (u16, u16),
}
