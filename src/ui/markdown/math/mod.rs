//! Formulas in TeX as text that a terminal can show: Greek letters, operators, powers and indices, fractions on one line. What
//! has no form in Unicode stays as it was written, so that nothing is guessed. The source is never lost: the raw view shows it.

mod read;
mod signs;
#[cfg(test)]
mod tests;

use read::Reader;

/// Longest formula that is read, in bytes: models write shorter ones, and what is longer is none.
pub(super) const LONGEST: usize = 4096;

/// Whether what stands between two dollar signs may be a formula, and not the text between two prices.
pub(super) fn is_likely(tex: &str) -> bool {
    let price = tex.starts_with(|c: char| c.is_ascii_digit());
    let signs = tex.contains(['\\', '^', '_', '=', '+', '<', '>']);
    let open = tex.ends_with([',', '.', '-', '–', ';', ':', ' ']);
    !tex.contains('`') && !(price && (open || (tex.contains(' ') && !signs)))
}

/// The formula in Unicode, its lines parted by line feeds. `None` where it cannot be read: braces that do not close, or
/// nothing at all.
pub(super) fn unicode(tex: &str) -> Option<String> {
    if tex.len() > LONGEST {
        return None;
    }
    let text = Reader::new(tex).all()?;
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}
