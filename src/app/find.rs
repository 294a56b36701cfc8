//! Looking for words in the transcript, as data. Where they stand is learnt from the frame, which lays the lines out; what happens
//! then is in `update/find.rs`.

/// What is looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Find {
    /// The words, as they are typed.
    pub query: String,
    /// Which of the lines with them is meant, counted from the first; `None` is the one nearest above the end of the screen.
    pub at: Option<u32>,
    /// Whether that line is still to be brought into sight.
    pub reveal: bool,
}

/// What a frame found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Lines with the words.
    pub count: u32,
    /// Which of them is meant, counted from 0.
    pub at: u32,
    /// Where it stands in the transcript.
    pub line: u32,
}
