//! Tables of plain text. Knows nothing of what stands in them, and of no screen.

use std::fmt::Write;

/// Rows as lines, each column as wide as its widest cell.
pub fn aligned<const N: usize>(rows: Vec<[String; N]>) -> String {
    let widths: [usize; N] =
        std::array::from_fn(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0));
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["a", "b", ""], ["long", "c", "d"]].map(|row| row.map(str::to_owned));
        assert_eq!(aligned(rows.to_vec()), "a     b\nlong  c  d\n");
        assert_eq!(aligned::<2>(Vec::new()), "");
    }
}
