//! What blocks stand in, quotes and lists, and what that puts before their lines. Knows nothing of what the blocks say.

use ratatui::style::Style;
use ratatui::text::Span;

use crate::ui::theme::{Role, Theme};

use super::wrap::{Prefix, columns};

/// Quotes and items deeper than this are drawn as deep as this: no one can tell them apart, and lines must keep room for text.
const DEEPEST: usize = 8;

/// The containers that are open, the outermost first.
pub(super) struct Nest {
    width: usize,
    quote: Style,
    marker: Style,
    kinds: Vec<Kind>,
    /// Those of them that are drawn: at most `DEEPEST`.
    drawn: Vec<Drawn>,
    /// The marker of an item that is too deep to be indented, until it is shown.
    late: Option<String>,
}

enum Kind {
    Quote,
    /// The number of the next item, or none for bullets.
    List(Option<u64>),
    Item,
    Note,
}

/// A container that puts something before lines.
struct Drawn {
    /// Its place among all containers.
    at: usize,
    /// What stands before every line in it.
    before: Span<'static>,
    /// What stands before the first line instead, until it is shown.
    marker: Option<Span<'static>>,
}

impl Nest {
    pub(super) fn new(width: usize, theme: &Theme) -> Self {
        Self {
            width,
            quote: theme.style(Role::Quote),
            marker: theme.style(Role::ListMarker),
            kinds: Vec::new(),
            drawn: Vec::new(),
            late: None,
        }
    }

    /// How many containers are open.
    pub(super) fn depth(&self) -> usize {
        self.kinds.len()
    }

    pub(super) fn enter_quote(&mut self) {
        let bar = Span::styled("▎ ", self.quote);
        self.draw(bar, None);
        self.kinds.push(Kind::Quote);
    }

    /// A footnote: its mark stands before it as that of an item does.
    pub(super) fn enter_note(&mut self, mark: &str) {
        let marker = format!("{mark} ");
        let indent = Span::raw(" ".repeat(columns(&marker)));
        self.draw(indent, Some(Span::styled(marker, self.marker)));
        self.kinds.push(Kind::Note);
    }

    pub(super) fn enter_list(&mut self, first: Option<u64>) {
        self.kinds.push(Kind::List(first));
    }

    pub(super) fn enter_item(&mut self) {
        let marker = match self.kinds.last_mut() {
            Some(Kind::List(Some(number))) => {
                let marker = format!("{number}. ");
                *number = number.saturating_add(1);
                marker
            }
            _ => "• ".to_owned(),
        };
        if self.drawn.len() < DEEPEST {
            let indent = Span::raw(" ".repeat(columns(&marker)));
            self.draw(indent, Some(Span::styled(marker, self.marker)));
        } else {
            self.late = Some(marker);
        }
        self.kinds.push(Kind::Item);
    }

    fn draw(&mut self, before: Span<'static>, marker: Option<Span<'static>>) {
        if self.drawn.len() < DEEPEST {
            let at = self.kinds.len();
            self.drawn.push(Drawn { at, before, marker });
        }
    }

    /// Leaves the innermost container.
    pub(super) fn leave(&mut self) {
        self.kinds.pop();
        if self.drawn.last().is_some_and(|drawn| drawn.at >= self.kinds.len()) {
            self.drawn.pop();
        }
    }

    /// Whether the innermost container is an item whose marker is not shown yet.
    pub(super) fn owes_marker(&self) -> bool {
        let inner = self.drawn.last().filter(|drawn| drawn.at + 1 == self.kinds.len());
        self.late.is_some() || inner.is_some_and(|drawn| drawn.marker.is_some())
    }

    /// Whether the innermost container is a list directly in an item that something has been said in.
    pub(super) fn goes_on_in_item(&self) -> bool {
        let shown = self.late.is_none() && self.drawn.last().is_none_or(|drawn| drawn.marker.is_none());
        shown && matches!(self.kinds.as_slice(), [.., Kind::Item, Kind::List(_)])
    }

    /// What stands before the next block; markers are used up by it.
    pub(super) fn prefix(&mut self) -> Prefix {
        let mut rest = self.hanging(usize::MAX);
        let fitting = rest.len();
        // A marker that has no room is passed over: it must not turn up later before another block.
        let markers: Vec<_> = self.drawn.iter_mut().map(|drawn| drawn.marker.take()).collect();
        let mut first: Vec<Span<'static>> = rest
            .iter()
            .zip(markers)
            .map(|(before, marker)| marker.unwrap_or_else(|| before.clone()))
            .collect();
        if let Some(marker) = self.late.take() {
            let used: usize = rest.iter().map(|span| columns(&span.content)).sum();
            let size = columns(&marker);
            if fitting == self.drawn.len() && used + size <= self.width / 2 {
                first.push(Span::styled(marker, self.marker));
                rest.push(Span::raw(" ".repeat(size)));
            }
        }
        Prefix { first, rest }
    }

    /// What stands before a line that begins no block, within the outermost `depth` containers. Never more than half of the
    /// width.
    pub(super) fn hanging(&self, depth: usize) -> Vec<Span<'static>> {
        let mut used = 0;
        self.drawn
            .iter()
            .take_while(|drawn| {
                used += columns(&drawn.before.content);
                drawn.at < depth && used <= self.width / 2
            })
            .map(|drawn| drawn.before.clone())
            .collect()
    }
}
