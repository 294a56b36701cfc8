//! The clipboard: the system's, by a thread of its own that holds what was copied for as long as quipu runs (X11 and Wayland ask its
//! owner for it), or the terminal's, over ssh and where there is no desktop. It is only ever written, and only when a person asks.

use std::env;
use std::fmt::Write as _;
use std::io;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use arboard::Clipboard;
use crossterm::Command as _;
use crossterm::clipboard::CopyToClipboard;
use tokio::sync::mpsc::UnboundedSender;

use crate::app::Msg;

use super::happening::Happening;

/// Bytes that terminals take at once; several drop what is longer without a word.
const MOST: usize = 74_000;

/// Where copies go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// To the desktop, and to the terminal where that fails.
    Desktop,
    /// To the terminal, by its OSC 52 sequence.
    Terminal,
}

impl Route {
    /// The way that fits where we run.
    pub fn find() -> Self {
        let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
        let remote = set("SSH_CONNECTION") || set("SSH_TTY");
        let desktop = cfg!(target_os = "macos") || set("WAYLAND_DISPLAY") || set("DISPLAY");
        if desktop && !remote {
            Self::Desktop
        } else {
            Self::Terminal
        }
    }
}

/// The thread that owns what was copied to the desktop.
pub(super) struct Desktop {
    texts: Sender<String>,
}

impl Desktop {
    /// Starts the thread. What could not be copied is told as [`Happening::NotCopied`], so that another way is tried.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(super) fn start(to: UnboundedSender<Happening>) -> io::Result<Self> {
        let (texts, wanted) = channel::<String>();
        thread::Builder::new()
            .name("quipu-clipboard".to_owned())
            .spawn(move || {
                let mut clipboard = None;
                for text in wanted {
                    let told = match copy(&mut clipboard, &text) {
                        Ok(()) => Happening::Message(Box::new(Msg::Copied(Ok(words(&text))))),
                        Err(error) => {
                            tracing::warn!(%error, "the desktop's clipboard cannot be used");
                            clipboard = None;
                            Happening::NotCopied(text)
                        }
                    };
                    if to.send(told).is_err() {
                        return;
                    }
                }
            })?;
        Ok(Self { texts })
    }

    /// Copies; gives the text back where nobody is there to do it.
    pub(super) fn copy(&self, text: String) -> Result<(), String> {
        self.texts.send(text).map_err(|refused| refused.0)
    }
}

fn copy(clipboard: &mut Option<Clipboard>, text: &str) -> Result<(), arboard::Error> {
    let clipboard = match clipboard {
        Some(clipboard) => clipboard,
        empty => empty.insert(Clipboard::new()?),
    };
    clipboard.set_text(text)
}

/// What makes the terminal copy this text.
///
/// # Errors
/// In words, when it is longer than terminals take.
pub(super) fn sequence(text: &str) -> Result<String, String> {
    if text.len() > MOST {
        return Err(format!(
            "{} bytes are more than a terminal's clipboard takes: /export writes the session to a file",
            text.len()
        ));
    }
    let mut bytes = String::new();
    let copy = CopyToClipboard::to_clipboard_from(text);
    copy.write_ansi(&mut bytes)
        .map_err(|_| "the text cannot be copied".to_owned())?;
    Ok(bytes)
}

/// What was copied, in words.
pub(super) fn words(text: &str) -> String {
    let (lines, characters) = (text.lines().count(), text.chars().count());
    let mut words = format!("copied {characters} characters");
    if lines > 1 {
        // Writing to a string cannot fail.
        let _ = write!(words, " in {lines} lines");
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terminal_is_told_in_base64() {
        assert_eq!(sequence("hi").unwrap(), "\x1b]52;c;aGk=\x1b\\");
        assert!(sequence(&"x".repeat(MOST + 1)).is_err());
    }
}
