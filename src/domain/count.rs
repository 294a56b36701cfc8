//! Large numbers in words, the same everywhere. Knows nothing of what they count.

use std::fmt;

/// A number, in the largest word of which there is at least one, with two or three digits that matter: `6.3 million`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(pub u64);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const WORDS: [(f64, &str); 3] = [(1e12, "trillion"), (1e9, "billion"), (1e6, "million")];
        let n = self.0 as f64;
        let Some((unit, name)) = WORDS.into_iter().find(|(unit, _)| n >= *unit) else {
            return write!(f, "{}", self.0);
        };
        let scaled = n / unit;
        let digits = usize::from(scaled < 10.0);
        write!(f, "{scaled:.digits$} {name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_for_people() {
        let counts = [999, 6_291_456, 494_000_000, 1_100_000_000, 70_600_000_000].map(|n| Count(n).to_string());
        assert_eq!(
            counts,
            ["999", "6.3 million", "494 million", "1.1 billion", "71 billion"]
        );
    }
}
