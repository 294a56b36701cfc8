//! The composer: where a message is written. Wraps the text area, keeps the terminal's own cursor in it, so that input methods
//! compose where one types. Sends nothing; its text is told to the core after every change.

mod long;
mod rows;
#[cfg(test)]
mod tests;
mod vi;
#[cfg(test)]
mod vi_tests;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::buffer::CellWidth;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui_textarea::{CursorMove, TextArea, WrapMode};
use unicode_segmentation::UnicodeSegmentation;

use super::theme::{Role, Theme};
use crate::text::is_invisible;
use long::LongTexts;
use vi::Vi;

pub(in crate::ui) use long::Folded;
pub(in crate::ui) use vi::Mode;

/// Spaces that a tab is worth.
const TAB: u8 = 4;

/// Bytes of text that are edited in sight; what a paste brings beyond is folded. The text area wraps everything anew at every
/// key: half a millisecond for this much, and 20 to 36 for a megabyte. It also counts rows in 16 bits.
const MOST: usize = 32 << 10;

/// What a folded text looks like.
pub(in crate::ui) const FOLD: &str = "▤";

/// The keys that edit, and what they do: for the help. The keymap is asked before, so a key may have another use.
pub(in crate::ui) const EDITING: &[(&str, &str)] = &[
    ("ctrl-a", "to the beginning of the line"),
    ("ctrl-e", "to the end of the line"),
    ("alt-b", "a word back"),
    ("alt-f", "a word on"),
    ("ctrl-w", "delete the word before"),
    ("alt-d", "delete the word after"),
    ("ctrl-u", "delete to the beginning of the line"),
    ("ctrl-k", "delete to the end of the line"),
    ("alt-y", "put back what was deleted last"),
    ("ctrl-_", "undo"),
    ("alt-_", "redo"),
];

/// What is being written, with its cursor.
pub struct Composer {
    area: TextArea<'static>,
    long: LongTexts,
    /// The modes of vi, where they are wanted.
    vi: Option<Vi>,
}

impl Default for Composer {
    fn default() -> Self {
        Self {
            area: area_of(vec![String::new()]),
            long: LongTexts::default(),
            vi: None,
        }
    }
}

/// A text as it could have been typed: line ends of one kind, and no other control characters but tabs.
fn typable(text: &str) -> String {
    let clean = text.replace("\r\n", "\n").replace('\r', "\n");
    clean
        .chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect()
}

fn area_of(lines: Vec<String>) -> TextArea<'static> {
    let mut area = TextArea::new(lines);
    area.set_wrap_mode(WrapMode::WordOrGlyph);
    area.set_tab_length(TAB);
    // The terminal draws its own cursor; a painted one beside it would be a second.
    area.set_cursor_style(Style::default());
    area.set_cursor_line_style(Style::default());
    area.set_selection_style(Style::default().reversed());
    area
}

impl Composer {
    /// The whole text, with nothing folded.
    pub fn text(&self) -> String {
        self.long.unfold(&self.area.lines().join("\n"))
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// Replaces the text and puts the cursor at its end.
    pub fn set_text(&mut self, text: &str) {
        // It may come from a file or from another program's session.
        let shown = self.long.fold(&typable(text), MOST);
        self.area = area_of(shown.split('\n').map(str::to_owned).collect());
        self.area.move_cursor(CursorMove::Bottom);
        self.area.move_cursor(CursorMove::End);
        self.vi = self.vi.take().map(|_| Vi::default());
    }

    /// Edits as in vi from now on, or not any more.
    pub fn set_vi(&mut self, on: bool) {
        self.vi = on.then(|| self.vi.take().unwrap_or_default());
    }

    /// What letters do, where one edits as in vi.
    pub(in crate::ui) fn mode(&self) -> Option<Mode> {
        self.vi.as_ref().map(|vi| vi.mode)
    }

    /// Whether Esc leaves a mode here, before it means anything else.
    pub(in crate::ui) fn wants_escape(&self) -> bool {
        self.vi.as_ref().is_some_and(Vi::wants_escape)
    }

    /// Leaves the mode.
    pub(in crate::ui) fn escape(&mut self) {
        if let Some(vi) = &mut self.vi {
            vi.escape(&mut self.area);
        }
    }

    /// Puts the cursor here.
    #[cfg(test)]
    fn jump(&mut self, row: usize, column: usize) {
        self.area.move_cursor(CursorMove::Jump(row as u16, column as u16));
    }

    /// Where the cursor stands.
    #[cfg(test)]
    fn place(&self) -> (usize, usize) {
        (self.area.cursor().0, self.area.cursor().1)
    }

    /// Takes a key that nothing else wanted. Says whether the text changed.
    pub fn key(&mut self, key: KeyEvent) -> bool {
        if let Some(vi) = self
            .vi
            .as_mut()
            .filter(|vi| vi.mode != Mode::Insert && matches!(key.code, KeyCode::Char(_)))
        {
            return vi.key(key, &mut self.area);
        }
        let held = |modifier| key.modifiers.contains(modifier);
        if key
            .modifiers
            .intersects(KeyModifiers::SUPER | KeyModifiers::HYPER | KeyModifiers::META)
        {
            return false;
        }
        let changed = match (key.code, held(KeyModifiers::CONTROL), held(KeyModifiers::ALT)) {
            // Windows tells AltGr as both: what it writes is a character like any other.
            (KeyCode::Char(c), true, true) if !c.is_ascii_alphanumeric() => self.paste(c.encode_utf8(&mut [0; 4])),
            (KeyCode::Char(c), false, false) if long::is_mark(c) => self.paste(c.encode_utf8(&mut [0; 4])),
            (KeyCode::Char('u'), true, false) => self.area.delete_line_by_head(),
            // Without the newer protocols, terminals tell Ctrl with the underscore or the slash as Ctrl-7.
            (KeyCode::Char('_' | '/' | '7'), true, false) => self.area.undo(),
            (KeyCode::Char('y'), false, true) => self.area.paste(),
            (KeyCode::Char('_'), false, true) => self.area.redo(),
            // Line ends as terminals without names for them tell: they break the line by the keymap or not at all.
            (KeyCode::Char('j' | 'm'), true, false) => false,
            (KeyCode::Left | KeyCode::Backspace, false, false) => self.over(key, self.before_cursor()),
            (KeyCode::Right | KeyCode::Delete, false, false) => self.over(key, self.after_cursor()),
            _ => self.area.input(key),
        };
        // Only what was cut and put back again and again grows that far.
        if changed && self.bytes() > 2 * MOST {
            let cut = self.area.yank_text();
            self.set_text(&self.text());
            self.area.set_yank_text(cut);
        }
        changed
    }

    /// Breaks the line.
    pub fn newline(&mut self) {
        self.area.insert_newline();
    }

    /// Puts pasted text at the cursor, with line ends made one kind and everything that is no text left out. A long one is
    /// folded: it counts as one character for the cursor and whole for [`text`](Self::text).
    pub fn paste(&mut self, text: &str) -> bool {
        let clean = typable(text);
        if clean.is_empty() {
            return false;
        }
        if self.bytes() + clean.len() > MOST || clean.contains(long::is_mark) {
            let mark = self.long.keep(clean);
            self.area.insert_str(mark.encode_utf8(&mut [0; 4]))
        } else {
            self.area.insert_str(clean)
        }
    }

    /// Puts a text where the cursor is, folded however short it is.
    pub fn fold(&mut self, text: &str) {
        let mark = self.long.keep(text.to_owned());
        self.area.insert_str(mark.encode_utf8(&mut [0; 4]));
    }

    /// Whether the cursor is on the first row as it is wrapped on the screen.
    pub fn at_first_row(&self) -> bool {
        self.area.screen_cursor().row == 0
    }

    /// Whether the cursor is on the last row as it is wrapped on the screen.
    pub fn at_last_row(&self) -> bool {
        // A row beyond the last is taken for the last.
        let last = self.area.screen_to_data(usize::MAX, 0);
        last == self.row_start()
    }

    /// Rows that the text needs at this width, at least one and at most `most`.
    pub fn height(&self, width: u16, most: u16) -> u16 {
        let most = usize::from(most.max(1));
        let mut rows = 0;
        for line in self.area.lines() {
            rows += rows::count(line, usize::from(width.max(1)), TAB, most - rows);
            if rows >= most {
                break;
            }
        }
        rows.clamp(1, most) as u16
    }

    /// What is folded, where something is.
    pub(in crate::ui) fn folded(&self) -> Option<Folded> {
        self.long.among(self.area.lines())
    }

    /// Characters of what is edited in sight that cannot be seen and change how it reads.
    pub(in crate::ui) fn hidden(&self) -> usize {
        self.area
            .lines()
            .iter()
            .flat_map(|line| line.chars())
            .filter(|c| is_invisible(*c))
            .count()
    }

    /// Draws it into `area`, `placeholder` where nothing is written.
    pub(in crate::ui) fn draw(&self, frame: &mut Frame<'_>, area: Rect, theme: &Theme, placeholder: &str) {
        if area.is_empty() {
            return;
        }
        frame.render_widget(&self.area, area);
        let buffer = frame.buffer_mut();
        if self.is_empty() {
            buffer.set_stringn(
                area.x,
                area.y,
                placeholder,
                usize::from(area.width),
                theme.style(Role::Placeholder),
            );
        }
        for place in area.positions() {
            let cell = &mut buffer[place];
            // What hides or reorders must not act here; that it is there is told beside.
            if cell.symbol().contains(is_invisible) {
                let seen: String = cell.symbol().chars().filter(|c| !is_invisible(*c)).collect();
                cell.set_symbol(&seen);
            }
            if cell.symbol().starts_with(long::is_mark) {
                cell.set_symbol(FOLD).set_style(theme.style(Role::Accent));
            }
        }
    }

    /// Puts the terminal's cursor where the next character goes. Behind a full row it stands just outside of `area`.
    pub(in crate::ui) fn place_cursor(&self, frame: &mut Frame<'_>, area: Rect) {
        if area.is_empty() {
            return;
        }
        let row = self.area.screen_cursor().row;
        let (top, _) = self.area.scroll_offset();
        let row = row.saturating_sub(usize::from(top)).min(usize::from(area.height - 1));
        let column = self.column().min(usize::from(area.width));
        frame.set_cursor_position((area.x + column as u16, area.y + row as u16));
    }

    /// The cursor's column as it is drawn. The text area adds up characters, which for emoji of several is too much.
    fn column(&self) -> usize {
        let (start, cursor) = (self.row_start(), self.area.cursor());
        let line = &self.area.lines()[cursor.0];
        let before: String = line.chars().take(cursor.1).skip(start.1).collect();
        if before.contains('\t') {
            self.area.screen_cursor().col
        } else {
            before.graphemes(true).map(|g| usize::from(g.cell_width())).sum()
        }
    }

    /// Where the cursor's row begins, as line and character.
    fn row_start(&self) -> (usize, usize) {
        let start = self.area.screen_to_data(self.area.screen_cursor().row, 0);
        (start.0, start.1)
    }

    /// Moves or deletes over what people see as one character, of `size` characters.
    fn over(&mut self, key: KeyEvent, size: usize) -> bool {
        let deletes = matches!(key.code, KeyCode::Backspace | KeyCode::Delete);
        if size < 2 || self.area.is_selecting() {
            return self.area.input(key);
        }
        if !deletes {
            for _ in 0..size {
                self.area.input(key);
            }
            return false;
        }
        if key.code == KeyCode::Backspace {
            (0..size).for_each(|_| self.area.move_cursor(CursorMove::Back));
        }
        // A single character is no cut: what was cut before stays to be put back.
        let cut = self.area.yank_text();
        let changed = self.area.delete_str(size);
        self.area.set_yank_text(cut);
        changed
    }

    fn before_cursor(&self) -> usize {
        let cursor = self.area.cursor();
        let before: String = self.area.lines()[cursor.0].chars().take(cursor.1).collect();
        before
            .graphemes(true)
            .next_back()
            .map_or(0, |last| last.chars().count())
    }

    fn after_cursor(&self) -> usize {
        let cursor = self.area.cursor();
        let after: String = self.area.lines()[cursor.0].chars().skip(cursor.1).collect();
        after.graphemes(true).next().map_or(0, |first| first.chars().count())
    }

    /// Bytes that stand in the text area.
    fn bytes(&self) -> usize {
        self.area.lines().iter().map(|line| line.len() + 1).sum()
    }
}
