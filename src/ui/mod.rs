//! State to cells and keys to messages: theme, keymap, markdown, widgets. Reads the state and never changes it.

mod ascii;
pub mod composer;
mod hits;
pub mod input;
pub mod keymap;
pub mod markdown;
#[cfg(test)]
mod tests;
pub mod theme;
mod transcript;
pub mod view;
#[cfg(test)]
mod view_tests;
mod widgets;

pub use composer::Composer;
pub use keymap::Keymap;
pub use theme::{Role, Theme};
pub use view::View;
