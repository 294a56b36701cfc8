//! What is on the screen, one file for each thing. All of them read the state and draw; none keeps anything but rendered text.

pub(super) mod compare;
pub(super) mod completion;
mod doctor;
mod field;
pub(super) mod figures;
pub(super) mod finding;
pub(super) mod header;
pub(super) mod help;
pub(super) mod inspector;
pub(super) mod notice;
pub(super) mod overlay;
pub(super) mod picker;
mod prompt;
pub(super) mod sessions;
pub(super) mod status;
mod token;
pub(super) mod tune;
pub(super) mod welcome;
pub(super) mod writing;
