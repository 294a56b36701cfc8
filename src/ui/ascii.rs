//! The screen in ASCII, for terminals and fonts that have nothing else: after a frame is drawn, our own lines and marks are replaced in
//! its cells. What people and models said stays as it is: a terminal that cannot show it shows what it can.

use ratatui::buffer::Buffer;

/// Our marks and what stands for them, both one column wide.
const MARKS: &[(&str, &str)] = &[
    ("─", "-"),
    ("│", "|"),
    ("╭", "+"),
    ("╮", "+"),
    ("╰", "+"),
    ("╯", "+"),
    ("┼", "+"),
    ("▰", "#"),
    ("▱", "."),
    ("•", "*"),
    ("▎", "|"),
    ("…", "~"),
    ("↪", ">"),
    ("▸", ">"),
    ("▾", "v"),
    ("‹", "<"),
    ("›", ">"),
    ("●", "*"),
    ("▲", "^"),
    ("▽", "v"),
    ("✗", "x"),
    ("×", "x"),
    ("·", "."),
    ("↓", "v"),
    ("→", ">"),
    ("—", "-"),
    ("–", "-"),
    ("█", "#"),
    ("▉", "#"),
    ("▊", "#"),
    ("▋", "#"),
    ("▌", "#"),
    ("▍", "|"),
    ("▏", "|"),
    ("☑", "x"),
    ("☐", "o"),
    ("⏎", "$"),
    ("↻", "@"),
    ("⇥", ">"),
    ("␣", "_"),
    ("▤", "="),
    ("⠋", "|"),
    ("⠙", "/"),
    ("⠹", "-"),
    ("⠸", "\\"),
    ("⠼", "|"),
    ("⠴", "/"),
    ("⠦", "-"),
    ("⠧", "\\"),
    ("⠇", "|"),
    ("⠏", "/"),
];

/// Replaces our marks in all cells.
pub(super) fn replace(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        // Nearly every cell is one already.
        if cell.symbol().is_ascii() {
            continue;
        }
        if let Some((_, plain)) = MARKS.iter().find(|(mark, _)| *mark == cell.symbol()) {
            cell.set_symbol(plain);
        }
    }
}
