//! Everything that we can cause, as one enum. Carrying it out is the shell's business.

use crate::domain::Preset;
use crate::domain::inference::{Command, LoadOptions, TurnId};
use crate::domain::inspection::Record;
use crate::domain::sampling::GrammarForm;
use crate::domain::session::StoreCommand;

/// Something that a person decided here and wants to find again.
#[derive(Clone, Debug, PartialEq)]
pub enum Keepable {
    /// A preset.
    Preset(Box<Preset>),
    /// The theme, by its name.
    Theme(String),
}

/// Something for the shell to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Find the model of this name (`None` is the one in the settings or the built-in one), check its file, and have the
    /// engine load it. What goes wrong comes back as a failed turn.
    Load {
        /// Names the events of the load.
        turn: TurnId,
        /// What the person typed.
        name: Option<String>,
        /// How to load it.
        options: LoadOptions,
    },
    /// Find the model of this name and check its file, as for a load, and do no more; it comes as [`super::Msg::Found`].
    Seek(String),
    /// Find the model of this name, as for a load, and examine it; what is found comes as [`super::Msg::Examined`]. It ends early
    /// where the turn is cancelled.
    Examine {
        /// Names the examination.
        turn: TurnId,
        /// What the person typed.
        name: Option<String>,
        /// How to load it.
        options: LoadOptions,
    },
    /// Write the tokens of an answer to a new file, as its name ends in `.json` or `.csv`; it comes back as
    /// [`super::Msg::Wrote`].
    WriteTokens(String, Box<Record>),
    /// Cut this text into the tokens that it has in the middle of an answer; they come as [`super::Msg::Tokenized`].
    Tokenize(String),
    /// Read the file of a grammar; it comes back as [`super::Msg::Grammar`].
    ReadGrammar {
        /// The file, as the person typed it.
        path: String,
        /// How it is written.
        form: GrammarForm,
    },
    /// Write this to the configuration; it comes back as [`super::Msg::Saved`].
    Save(Keepable),
    /// Look for models on this machine; they come back as [`super::Msg::Shelf`].
    ListModels,
    /// Fetch the model of this name from the hub; what is told of it comes as [`super::Msg::Fetched`].
    Download(String),
    /// Stop fetching; it says itself when it has.
    StopDownload,
    /// Show this theme from now on.
    Theme(String),
    /// Put this on the clipboard; what came of it comes back as [`super::Msg::Copied`].
    Copy(String),
    /// Ask the engine. An answer is not begun before what the store was asked to keep is kept, or cannot be.
    Engine(Command),
    /// Ask the store.
    Store(StoreCommand),
    /// Cancel this turn and all before it.
    Cancel(TurnId),
    /// Put this text into the composer, the cursor at its end.
    SetDraft(String),
    /// Put this text where the cursor is, folded to one character; the composer tells what it then says.
    Fold(String),
    /// Read a file for the message; it comes back as [`super::Msg::Attached`].
    ReadFile(String),
    /// Have the person's own editor edit this; it comes back as [`super::Msg::EditedOutside`].
    EditOutside(String),
    /// Look at what every token is drawn from, from now on or not any more; it comes as [`super::Msg::Prospect`].
    Watch(bool),
    /// Draw the whole screen anew.
    Redraw,
    /// Give the terminal back and stop until the shell continues us.
    Suspend,
    /// End with this exit code.
    Quit(u8),
}
