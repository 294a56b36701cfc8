//! State to cells and keys to messages: theme, keymap, markdown, widgets. Reads the state and never changes it.

pub mod theme;

pub use theme::{Role, Theme};
