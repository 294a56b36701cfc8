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
    /// The same as it was written.
    Raw(Box<(Growing, Written)>),
}

impl Default for Body {
    fn default() -> Self {
        Self::Over(Vec::new())
    }
}

impl Body {
    /// The body of a text that will not change.
    pub(super) fn over(message: &Message, raw: bool, width: u16, theme: &Theme) -> Self {
        let text = sanitize(&message.text);
        Self::Over(match message.role {
            Speaker::Assistant if !raw => markdown::render(&text, width, theme),
            _ => {
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
    pub(super) fn grow(&mut self, said: &str, raw: bool, width: u16, theme: &Theme) {
        match self {
            Self::Growing(_) if !raw => {}
            Self::Raw(_) if raw => {}
            _ if raw => *self = Self::Raw(Box::default()),
            _ => *self = Self::Growing(Box::default()),
        }
        match self {
            Self::Growing(parts) => {
                let (text, live) = &mut **parts;
                live.update(text.update(said), width, theme);
            }
            Self::Raw(parts) => {
                let (text, written) = &mut **parts;
                written.update(text.update(said), width, theme);
            }
            Self::Over(_) => {}
        }
    }

    pub(super) fn lines(&self) -> &[Line<'static>] {
        match self {
            Self::Over(lines) => lines,
            Self::Growing(parts) => parts.1.lines(),
            Self::Raw(parts) => &parts.1.lines,
        }
    }
}

/// A text that grows, shown as it is written: the lines that are over are not wrapped again.
#[derive(Default)]
pub(super) struct Written {
    source: String,
    lines: Vec<Line<'static>>,
    /// Where the last line of the source begins, and how many lines come before it.
    last: (usize, usize),
}

impl Written {
    fn update(&mut self, source: &str, width: u16, theme: &Theme) {
        if !source.starts_with(&self.source) {
            *self = Self::default();
        }
        let wrapped = |text: &str| {
            let piece = Piece::new(text, theme.style(Role::Text));
            wrap(&[piece], usize::from(width), &Prefix::default())
        };
        self.lines.truncate(self.last.1);
        if let Some(end) = source[self.last.0..].rfind('\n') {
            let end = self.last.0 + end;
            self.lines.extend(wrapped(&source[self.last.0..end]));
            self.last = (end + 1, self.lines.len());
        }
        self.lines.extend(wrapped(&source[self.last.0..]));
        self.source.push_str(&source[self.source.len()..]);
    }
}
