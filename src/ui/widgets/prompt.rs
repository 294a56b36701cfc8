//! The exact prompt, token by token: control tokens stand out, every other token is marked so that borders show, and what is in
//! the KV cache already is dimmed. Nothing of it is dropped: line feeds, tabs and blanks at line ends are drawn as marks.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

use crate::domain::inference::{PromptToken, PromptView};
use crate::text::sanitize;
use crate::ui::markdown::wrap::{Piece, Prefix, columns, wrap};
use crate::ui::theme::Role;
use crate::ui::view::Look;

/// Stands for a line feed.
const LINE_FEED: &str = "⏎";
/// Stands for a tab.
const TAB: &str = "⇥";
/// Stands for a blank that could not be seen.
const BLANK: &str = "·";

/// The lines of the prompt at this width.
pub(in crate::ui) fn lines(prompt: Option<&PromptView>, look: Look<'_>, width: usize) -> Vec<Line<'static>> {
    let dim = look.theme.style(Role::Dim);
    let Some(prompt) = prompt else {
        return vec![Line::styled("rendering…", dim)];
    };
    let mut facts = format!(
        "{} tokens, the first {} in the KV cache · {}",
        prompt.tokens.len(),
        prompt.cached,
        crate::text::sanitize_line(&prompt.template)
    );
    if prompt.window.left_out > 0 {
        facts = format!("{facts} · {} messages are left out", prompt.window.left_out);
    }
    let mut lines = wrap(&[Piece::new(facts, dim)], width, &Prefix::default());
    lines.push(Line::default());
    let mut page = Page::new(width, dim);
    for (n, token) in prompt.tokens.iter().enumerate() {
        page.token(token, style(token, n, prompt, look));
    }
    lines.extend(page.finish());
    lines
}

fn style(token: &PromptToken, n: usize, prompt: &PromptView, look: Look<'_>) -> Style {
    let role = match (token.control, n % 2) {
        (true, _) => Role::ControlToken,
        (false, 1) => Role::TokenOdd,
        (false, _) => Role::Overlay,
    };
    let style = look.theme.style(role);
    if n < prompt.cached as usize {
        style.add_modifier(Modifier::DIM)
    } else {
        style
    }
}

/// Lines being filled, broken wherever the width ends: words may be parted, characters are not lost.
struct Page {
    /// Columns for text; one more is kept for the mark of a line feed.
    room: usize,
    marks: Style,
    lines: Vec<Line<'static>>,
    line: Vec<Span<'static>>,
    used: usize,
}

impl Page {
    fn new(width: usize, marks: Style) -> Self {
        Self {
            room: width.saturating_sub(1).max(1),
            marks,
            lines: Vec::new(),
            line: Vec::new(),
            used: 0,
        }
    }

    fn token(&mut self, token: &PromptToken, style: Style) {
        for (n, line) in token.text.split('\n').enumerate() {
            if n > 0 {
                self.line_feed(style);
            }
            for (n, part) in line.split('\t').enumerate() {
                if n > 0 {
                    self.make_room(1);
                    self.line.push(Span::styled(TAB, style.patch(self.marks)));
                }
                for grapheme in sanitize(part).graphemes(true) {
                    self.put(grapheme, style);
                }
            }
        }
    }

    fn put(&mut self, grapheme: &str, style: Style) {
        self.make_room(columns(grapheme));
        // One span for a run of the same style keeps long prompts small; blanks stay single, to be marked at a line's end.
        match self.line.last_mut() {
            Some(last) if last.style == style && grapheme != " " && last.content != " " => {
                last.content.to_mut().push_str(grapheme);
            }
            _ => self.line.push(Span::styled(grapheme.to_owned(), style)),
        }
    }

    fn make_room(&mut self, size: usize) {
        if self.used + size > self.room && self.used > 0 {
            self.end();
        }
        self.used += size;
    }

    fn line_feed(&mut self, style: Style) {
        self.show_blanks();
        self.line.push(Span::styled(LINE_FEED, style.patch(self.marks)));
        self.end();
    }

    /// Blanks that nothing follows are drawn as marks.
    fn show_blanks(&mut self) {
        let marks = self.marks;
        let last = self.line.iter_mut().rev().take_while(|span| span.content == " ");
        last.for_each(|span| *span = Span::styled(BLANK, span.style.patch(marks)));
    }

    fn end(&mut self) {
        self.show_blanks();
        self.lines.push(Line::from(std::mem::take(&mut self.line)));
        self.used = 0;
    }

    fn finish(mut self) -> Vec<Line<'static>> {
        if !self.line.is_empty() {
            self.end();
        }
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;
    use crate::domain::inference::Token;

    fn shown(texts: &[&str], width: usize) -> Vec<String> {
        let mut page = Page::new(width, Style::new());
        for text in texts {
            let token = PromptToken {
                token: Token(1),
                text: (*text).to_owned(),
                control: false,
            };
            page.token(&token, Style::new());
        }
        page.finish().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_cannot_be_seen_is_marked() {
        assert_eq!(shown(&["a", "  \n", "\n", "\tb c ", " "], 20), ["a··⏎", "⏎", "⇥b c··"]);
        assert_eq!(shown(&["ab cdef"], 4), ["ab·", "cde", "f"]);
    }

    proptest! {
        #[test]
        fn nothing_is_dropped(texts in proptest::collection::vec("[a-cé漢 \n\t]{0,6}", 0..12), width in 2_usize..20) {
            let all: Vec<&str> = texts.iter().map(String::as_str).collect();
            let drawn = shown(&all, width);
            prop_assert!(drawn.iter().all(|line| columns(line) <= width.max(3)), "{:?}", drawn);
            let back: String = drawn
                .concat()
                .replace(BLANK, " ")
                .replace(TAB, "\t")
                .replace(LINE_FEED, "\n");
            prop_assert_eq!(back, all.concat());
        }
    }
}
