//! Markdown to styled lines. The source is sanitised text that a model wrote: nothing in it is trusted to be well-formed.

mod highlight;
mod link;
mod live;
mod nest;
mod render;
mod signs;
mod table;
#[cfg(test)]
mod tests;
mod tex;
pub(in crate::ui) mod wrap;

use ratatui::text::Line;

use crate::ui::theme::Theme;

pub use live::Live;

/// Renders a whole text at a width in columns.
pub fn render(source: &str, width: u16, theme: &Theme) -> Vec<Line<'static>> {
    render::render(source, usize::from(width), theme)
}
