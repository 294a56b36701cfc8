//! Everything that can happen, as one enum. What happens then is `update`'s business.

use std::sync::Arc;
use std::time::Duration;

use crate::domain::Preset;
use crate::domain::fetching::FetchEvent;
use crate::domain::inference::{Event, Failure, Token, TurnId};
use crate::domain::prospect::Prospect;
use crate::domain::sampling::Grammar;
use crate::domain::session::StoreEvent;
use crate::domain::shelf::Shelf;

use super::action::Action;
use super::click::{Click, Drag};
use super::effect::Keepable;
use super::notice::Level;
use super::sessions::Typed;
use super::state::{Looks, ViewInfo};
use super::ward::Word;

/// A file that goes with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Its name, without its folder.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The tokens that it takes, where a model is there to say.
    pub tokens: Option<u32>,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Msg {
    /// The time since start, told before the messages of a batch and whenever [`super::State::wakes_at`] asked for it.
    Tick(Duration),
    /// A key or a click asked for this.
    Action(Action),
    /// The composer's text changed.
    Edited(String),
    /// Something on the screen was clicked.
    Click(Click),
    /// The mouse marks a stretch of the screen, or none any more.
    Drag(Option<Drag>),
    /// The mouse let go of this text.
    Marked(String),
    /// The transcript or the open overlay is to move by lines; down is positive.
    ScrollBy(i32),
    /// The engine told something.
    Engine(Event),
    /// Something was typed in the panel that lies over the transcript.
    TypedOver(Typed),
    /// The engine left what the newest token was drawn from.
    Prospect(Arc<Prospect>),
    /// The store told something.
    Store(StoreEvent),
    /// A frame was drawn and this is what it looked like.
    Viewed(ViewInfo),
    /// The shell has something to tell the person.
    Notice(Level, String),
    /// The file of a grammar was read, or could not be, in words.
    Grammar(Result<Grammar, String>),
    /// This was written to the configuration, or could not be, in words.
    Saved(Keepable, Result<(), String>),
    /// The settings were saved: how it looks now, and the presets there are.
    Settled(Looks, Vec<Preset>),
    /// The models on this machine, or in words why they cannot be listed.
    Shelf(Result<Shelf, String>),
    /// The model of this name is there and sound, or why not.
    Found(String, Result<(), Failure>),
    /// Something was told of the model that is being fetched.
    Fetched(FetchEvent),
    /// A file that goes with the message was read, or could not be, in words.
    Attached(Result<Attachment, String>),
    /// The message was edited outside, or could not be, in words.
    EditedOutside(Result<String, String>),
    /// The draft of this revision takes so many tokens.
    Counted(u64, u32),
    /// The doctor told something of the examination of this turn.
    Examined(TurnId, Box<Word>),
    /// A text was cut into tokens, each with its bytes; none where no model is there to do it.
    Tokenized(Vec<(Token, Vec<u8>)>),
    /// A file was written, or could not be, in words.
    Wrote(Result<String, String>),
    /// What was to be on the clipboard is, or is not, in words.
    Copied(Result<String, String>),
    /// The process was asked to end by this signal's number, or the terminal went away.
    Terminate(i32),
}
