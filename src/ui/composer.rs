//! The composer: where a message is written. Wraps the text area, keeps the terminal's own cursor in it, so that input methods
//! compose where one types. Sends nothing; its text is told to the core after every change.

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;
use ratatui_textarea::{CursorMove, TextArea, WrapMode};

/// Spaces that a tab is worth.
const TAB: u8 = 4;

/// What is being written, with its cursor.
pub struct Composer {
    area: TextArea<'static>,
}

impl Default for Composer {
    fn default() -> Self {
        Self::holding(vec![String::new()])
    }
}

impl Composer {
    fn holding(lines: Vec<String>) -> Self {
        let mut area = TextArea::new(lines);
        area.set_wrap_mode(WrapMode::WordOrGlyph);
        area.set_tab_length(TAB);
        // The terminal draws its own cursor; a painted one beside it would be a second.
        area.set_cursor_style(Style::default());
        area.set_cursor_line_style(Style::default());
        Self { area }
    }

    /// The text.
    pub fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// Replaces the text and puts the cursor at its end.
    pub fn set_text(&mut self, text: &str) {
        *self = Self::holding(text.split('\n').map(str::to_owned).collect());
        self.area.move_cursor(CursorMove::Bottom);
        self.area.move_cursor(CursorMove::End);
    }

    /// Takes a key that nothing else wanted. Says whether the text changed.
    pub fn key(&mut self, key: KeyEvent) -> bool {
        self.area.input(key)
    }

    /// Breaks the line.
    pub fn newline(&mut self) {
        self.area.insert_newline();
    }

    /// Puts pasted text at the cursor, with line ends made one kind and everything that is no text left out.
    pub fn paste(&mut self, text: &str) -> bool {
        let clean = text.replace("\r\n", "\n").replace('\r', "\n");
        let clean: String = clean
            .chars()
            .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
            .collect();
        self.area.insert_str(clean)
    }

    /// Whether the cursor is on the first row as it is wrapped on the screen.
    pub fn at_first_row(&self) -> bool {
        self.area.screen_cursor().row == 0
    }

    /// Whether the cursor is on the last row as it is wrapped on the screen.
    pub fn at_last_row(&self) -> bool {
        let cursor = self.area.cursor();
        let last = self.area.lines().len().saturating_sub(1);
        // Within the last line the screen cursor of the line's end tells whether rows follow.
        cursor.0 == last && {
            let mut end = self.area.clone();
            end.move_cursor(CursorMove::End);
            end.screen_cursor().row == self.area.screen_cursor().row
        }
    }

    /// Rows that the text needs at this width, at least one and at most `most`.
    pub fn height(&self, width: u16, most: u16) -> u16 {
        let width = usize::from(width.max(1));
        let most = usize::from(most.max(1));
        let mut rows = 0;
        for line in self.area.lines() {
            rows += unicode_width::UnicodeWidthStr::width(line.as_str()) / width + 1;
            if rows >= most {
                break;
            }
        }
        rows.clamp(1, most) as u16
    }

    /// Draws it into `area`, `placeholder` where nothing is written, and puts the terminal's cursor there.
    pub fn draw(&self, frame: &mut Frame<'_>, area: Rect, placeholder: &Span<'_>) {
        if area.is_empty() {
            return;
        }
        frame.render_widget(&self.area, area);
        if self.is_empty() {
            frame.buffer_mut().set_span(area.x, area.y, placeholder, area.width);
        }
        let cursor = self.area.screen_cursor();
        let (top, left) = self.area.scroll_offset();
        let row = (cursor.row as u16).saturating_sub(top).min(area.height - 1);
        let column = (cursor.col as u16).saturating_sub(left).min(area.width - 1);
        frame.set_cursor_position((area.x + column, area.y + row));
    }
}
