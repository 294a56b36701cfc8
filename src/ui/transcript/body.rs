//! The text of a message as lines. A text that is over is rendered once; one that grows is rendered at its end.

use ratatui::text::Line;

use crate::domain::{Message, Role as Speaker};
use crate::text::{Growing, sanitize};
use crate::ui::markdown::wrap::{Piece, Prefix, wrap};
use crate::ui::markdown::{self, Live};
use crate::ui::theme::{Role, Theme};

/// Lines, and what it takes to go on with them.
pub(super) enum Body {
    Over(Vec<Line<'static>>),
    Growing(Box<(Growing, Live)>),
}

impl Default for Body {
    fn default() -> Self {
        Self::Over(Vec::new())
    }
}

impl Body {
    /// The body of a text that will not change.
    pub(super) fn over(message: &Message, width: u16, theme: &Theme) -> Self {
        let text = sanitize(&message.text);
        Self::Over(match message.role {
            Speaker::Assistant => markdown::render(&text, width, theme),
            Speaker::User | Speaker::System => {
                let piece = Piece::new(text, theme.style(Role::Text));
                wrap(&[piece], usize::from(width), &Prefix::default())
            }
        })
    }

    /// The body of what a model thought.
    pub(super) fn thoughts(text: &str, width: u16, theme: &Theme) -> Self {
        Self::Over(markdown::render(&sanitize(text), width, theme))
    }

    /// Goes on with what a model says, which grows.
    pub(super) fn grow(&mut self, said: &str, width: u16, theme: &Theme) {
        if let Self::Over(_) = self {
            *self = Self::Growing(Box::default());
        }
        if let Self::Growing(parts) = self {
            let (text, live) = &mut **parts;
            live.update(text.update(said), width, theme);
        }
    }

    pub(super) fn lines(&self) -> &[Line<'static>] {
        match self {
            Self::Over(lines) => lines,
            Self::Growing(parts) => parts.1.lines(),
        }
    }
}
