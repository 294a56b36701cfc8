//! Editing as in vi: modes, motions with counts, operators over them. It works on the text area alone and decides nothing about what is
//! sent; keys that the keymap wants never come here.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui_textarea::{CursorMove, TextArea};

/// Times that a command is repeated at most: a slip of the finger must not hold up the screen.
const MOST: usize = 9999;

/// What letters do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::ui) enum Mode {
    /// They are written.
    #[default]
    Insert,
    /// They move and change.
    Normal,
    /// They move one end of what is marked.
    Visual,
}

/// What a motion is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Delete,
    Change,
    Yank,
}

/// What was typed of a command that is not whole yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Pending {
    #[default]
    None,
    /// An operator waits for a motion, with the count before it.
    Operator(Operator, usize),
    /// `g`, for `gg`.
    Go,
    /// `r`, for a character.
    Replace,
    /// `f` or `t`, for a character; whether to stop before it.
    Find(bool),
}

/// The state of the modes.
#[derive(Clone, Debug, Default)]
pub(super) struct Vi {
    pub(super) mode: Mode,
    pending: Pending,
    count: usize,
}

impl Vi {
    /// Whether Esc has a meaning here, before it has one for the screen.
    pub(super) fn wants_escape(&self) -> bool {
        self.mode != Mode::Normal || self.pending != Pending::None || self.count > 0
    }

    /// Leaves the mode, or what was begun.
    pub(super) fn escape(&mut self, area: &mut TextArea<'_>) {
        area.cancel_selection();
        if self.mode == Mode::Insert {
            // As vi does: the cursor stands on the last character that was written.
            let at_head = area.cursor().1 == 0;
            if !at_head {
                area.move_cursor(CursorMove::Back);
            }
        }
        *self = Self {
            mode: Mode::Normal,
            ..Self::default()
        };
    }

    /// Takes a key outside of insert mode. Says whether the text changed.
    pub(super) fn key(&mut self, key: KeyEvent, area: &mut TextArea<'_>) -> bool {
        let KeyCode::Char(c) = key.code else {
            return false;
        };
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return c == 'r' && area.redo();
        }
        match std::mem::take(&mut self.pending) {
            Pending::Replace => return self.replace(c, area),
            Pending::Find(before) => {
                let count = self.take_count();
                (0..count).for_each(|_| find(area, c, before));
                return false;
            }
            Pending::Go => {
                if c == 'g' {
                    area.move_cursor(CursorMove::Top);
                }
                self.count = 0;
                return false;
            }
            Pending::Operator(operator, count) => return self.operate(operator, count, c, area),
            Pending::None => {}
        }
        if self.counts(c) {
            return false;
        }
        if self.mode == Mode::Visual {
            return self.visual(c, area);
        }
        self.command(c, area)
    }

    /// Takes a digit of a count; says whether it is one.
    fn counts(&mut self, c: char) -> bool {
        // A nought that begins none is a motion.
        let Some(digit) = c.to_digit(10).filter(|digit| *digit > 0 || self.count > 0) else {
            return false;
        };
        self.count = (self.count * 10 + digit as usize).min(MOST);
        true
    }

    fn take_count(&mut self) -> usize {
        std::mem::take(&mut self.count).max(1)
    }

    fn command(&mut self, c: char, area: &mut TextArea<'_>) -> bool {
        if self.begins(c, area) {
            return false;
        }
        let count = self.take_count();
        match c {
            'o' | 'O' => {
                area.move_cursor(if c == 'o' { CursorMove::End } else { CursorMove::Head });
                area.insert_newline();
                if c == 'O' {
                    area.move_cursor(CursorMove::Up);
                }
                self.mode = Mode::Insert;
                true
            }
            'x' => self.over(Operator::Delete, area, |area| (0..count).for_each(|_| right(area))),
            's' => self.over(Operator::Change, area, |area| (0..count).for_each(|_| right(area))),
            'X' => self.over(Operator::Delete, area, |area| (0..count).for_each(|_| left(area))),
            'D' => self.over(Operator::Delete, area, |area| area.move_cursor(CursorMove::End)),
            'C' => self.over(Operator::Change, area, |area| area.move_cursor(CursorMove::End)),
            'S' => self.lines(Operator::Change, count, area),
            'J' => join(area),
            'p' | 'P' => put(area, c == 'P', count),
            'u' => (0..count).fold(false, |changed, _| area.undo() || changed),
            _ => {
                motion(area, c, count);
                false
            }
        }
    }

    /// What only begins something, or changes the mode.
    fn begins(&mut self, c: char, area: &mut TextArea<'_>) -> bool {
        if let Some(operator) = operator(c) {
            self.pending = Pending::Operator(operator, self.take_count());
            return true;
        }
        match c {
            'i' => {}
            'a' => right(area),
            'I' => area.move_cursor(CursorMove::Head),
            'A' => area.move_cursor(CursorMove::End),
            'v' => {
                area.start_selection();
                self.mode = Mode::Visual;
                return true;
            }
            'g' => self.pending = Pending::Go,
            'r' => self.pending = Pending::Replace,
            'f' | 't' => self.pending = Pending::Find(c == 't'),
            _ => return false,
        }
        if matches!(c, 'i' | 'a' | 'I' | 'A') {
            *self = Self::default();
        }
        true
    }

    fn visual(&mut self, c: char, area: &mut TextArea<'_>) -> bool {
        let count = self.take_count();
        match c {
            'd' | 'x' | 'c' | 's' | 'y' => {
                // What the cursor stands on is marked, too.
                right(area);
                if c == 'y' {
                    area.copy();
                    area.cancel_selection();
                } else {
                    area.cut();
                }
                self.mode = if matches!(c, 'c' | 's') {
                    Mode::Insert
                } else {
                    Mode::Normal
                };
                c != 'y'
            }
            'v' => {
                self.escape(area);
                false
            }
            'g' => {
                self.pending = Pending::Go;
                false
            }
            _ => {
                motion(area, c, count);
                false
            }
        }
    }

    /// An operator over what a motion goes over; doubled, over whole lines.
    fn operate(&mut self, operator: Operator, before: usize, c: char, area: &mut TextArea<'_>) -> bool {
        if self.counts(c) {
            self.pending = Pending::Operator(operator, before);
            return false;
        }
        let count = (before * self.take_count()).min(MOST);
        if self::operator(c) == Some(operator) {
            return self.lines(operator, count, area);
        }
        // Changing a word leaves the blank behind it.
        let c = if operator == Operator::Change && c == 'w' {
            'e'
        } else {
            c
        };
        if !matches!(c, 'w' | 'b' | 'e' | '$' | '0' | '^' | 'h' | 'l' | 'G') {
            return false;
        }
        let row = area.cursor().0;
        self.over(operator, area, |area| {
            motion(area, c, count);
            // The last word of a line ends with it.
            if c == 'w' && area.cursor().0 != row {
                area.move_cursor(jump((row, 0)));
                area.move_cursor(CursorMove::End);
            }
            if c == 'e' {
                right(area);
            }
        })
    }

    /// Does something to what lies between the cursor and where `go` takes it.
    fn over(&mut self, operator: Operator, area: &mut TextArea<'_>, go: impl FnOnce(&mut TextArea<'_>)) -> bool {
        let from = area.cursor();
        area.start_selection();
        go(area);
        let empty = area.cursor() == from;
        if empty {
            area.cancel_selection();
        } else if operator == Operator::Yank {
            area.copy();
            area.cancel_selection();
            area.move_cursor(jump((from.0, from.1).min((area.cursor().0, area.cursor().1))));
        } else {
            area.cut();
        }
        if operator == Operator::Change {
            self.mode = Mode::Insert;
        }
        !empty && operator != Operator::Yank
    }

    /// Does something to whole lines, from the cursor's on.
    fn lines(&mut self, operator: Operator, count: usize, area: &mut TextArea<'_>) -> bool {
        let (row, column) = (area.cursor().0, area.cursor().1);
        let all = area.lines().len();
        let end = (row + count).min(all);
        let text = area.lines()[row..end].join("\n") + "\n";
        if operator == Operator::Yank {
            area.set_yank_text(text);
            return false;
        }
        let keeps_line = operator == Operator::Change;
        let (from, to) = match (keeps_line, end < all, row) {
            (true, ..) => ((row, 0), (end - 1, usize::MAX)),
            (false, true, _) => ((row, 0), (end, 0)),
            (false, false, 0) => ((0, 0), (end - 1, usize::MAX)),
            (false, false, _) => ((row - 1, usize::MAX), (end - 1, usize::MAX)),
        };
        let before = area.lines().to_vec();
        area.move_cursor(jump(from));
        if from.1 == usize::MAX {
            area.move_cursor(CursorMove::End);
        }
        area.start_selection();
        area.move_cursor(jump(to));
        if to.1 == usize::MAX {
            area.move_cursor(CursorMove::End);
        }
        area.cut();
        area.cancel_selection();
        area.set_yank_text(text);
        if keeps_line {
            self.mode = Mode::Insert;
        } else {
            area.move_cursor(CursorMove::Head);
        }
        let changed = area.lines() != before;
        if !changed {
            area.move_cursor(jump((row, column)));
        }
        changed
    }

    fn replace(&mut self, c: char, area: &mut TextArea<'_>) -> bool {
        let count = self.take_count();
        let (row, column) = (area.cursor().0, area.cursor().1);
        if column + count > area.lines()[row].chars().count() {
            return false;
        }
        area.delete_str(count);
        area.insert_str(c.to_string().repeat(count));
        area.move_cursor(CursorMove::Back);
        true
    }
}

fn operator(c: char) -> Option<Operator> {
    match c {
        'd' => Some(Operator::Delete),
        'c' => Some(Operator::Change),
        'y' => Some(Operator::Yank),
        _ => None,
    }
}

fn jump((row, column): (usize, usize)) -> CursorMove {
    let within = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
    CursorMove::Jump(within(row), within(column))
}

/// Goes a character to the right, not beyond the line.
fn right(area: &mut TextArea<'_>) {
    let (row, column) = (area.cursor().0, area.cursor().1);
    if column < area.lines()[row].chars().count() {
        area.move_cursor(CursorMove::Forward);
    }
}

/// Goes a character to the left, not beyond the line.
fn left(area: &mut TextArea<'_>) {
    if area.cursor().1 > 0 {
        area.move_cursor(CursorMove::Back);
    }
}

fn motion(area: &mut TextArea<'_>, c: char, count: usize) {
    for _ in 0..count {
        match c {
            'h' => left(area),
            'l' | ' ' => right(area),
            'j' => area.move_cursor(CursorMove::Down),
            'k' => area.move_cursor(CursorMove::Up),
            'w' => area.move_cursor(CursorMove::WordForward),
            'b' => area.move_cursor(CursorMove::WordBack),
            'e' => area.move_cursor(CursorMove::WordEnd),
            '0' | '^' => area.move_cursor(CursorMove::Head),
            '$' => area.move_cursor(CursorMove::End),
            'G' => area.move_cursor(CursorMove::Bottom),
            _ => return,
        }
    }
}

/// Goes to the next of these characters on the line, or before it.
fn find(area: &mut TextArea<'_>, wanted: char, before: bool) {
    let (row, column) = (area.cursor().0, area.cursor().1);
    let after = area.lines()[row].chars().skip(column + 1);
    if let Some(at) = after.into_iter().position(|c| c == wanted) {
        area.move_cursor(jump((row, column + 1 + at - usize::from(before))));
    }
}

/// Puts the next line behind this one, a blank between.
fn join(area: &mut TextArea<'_>) -> bool {
    let row = area.cursor().0;
    if row + 1 >= area.lines().len() {
        return false;
    }
    area.move_cursor(CursorMove::End);
    area.delete_next_char();
    let blanks = area.lines()[row]
        .chars()
        .skip(area.cursor().1)
        .take_while(|c| *c == ' ')
        .count();
    area.delete_str(blanks);
    area.insert_char(' ');
    area.move_cursor(CursorMove::Back);
    true
}

/// Puts what was deleted or copied behind the cursor, or before it; whole lines below, or above.
fn put(area: &mut TextArea<'_>, before: bool, count: usize) -> bool {
    let text = area.yank_text();
    if text.is_empty() {
        return false;
    }
    let many = text.repeat(count);
    if let Some(lines) = many.strip_suffix('\n') {
        if before {
            area.move_cursor(CursorMove::Head);
            area.insert_str(format!("{lines}\n"));
            let down = lines.matches('\n').count() + 1;
            (0..down).for_each(|_| area.move_cursor(CursorMove::Up));
        } else {
            area.move_cursor(CursorMove::End);
            area.insert_str(format!("\n{lines}"));
        }
        area.move_cursor(CursorMove::Head);
    } else {
        if !before {
            right(area);
        }
        area.insert_str(many);
        left(area);
    }
    area.set_yank_text(text);
    true
}
