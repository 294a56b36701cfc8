//! Amounts of memory in words, the same everywhere. Knows nothing of what they measure.

use std::fmt;

/// A number of bytes, shown in the largest binary unit of which there is at least one, with two or three digits that
/// matter: `1023 B`, `6.4 MiB`, `12 GiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u32, &str); 4] = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
        let Some((bits, unit)) = UNITS.into_iter().find(|(bits, _)| self.0 >> bits > 0) else {
            return write!(f, "{} B", self.0);
        };
        let scaled = self.0 as f64 / (1_u64 << bits) as f64;
        let digits = usize::from(scaled < 10.0);
        write!(f, "{scaled:.digits$} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_in_the_unit_that_fits() {
        let told = [0, 1023, 1 << 10, 6_710_886, 47 << 20, 3 << 30, u64::MAX].map(|n| Bytes(n).to_string());
        assert_eq!(
            told,
            [
                "0 B",
                "1023 B",
                "1.0 KiB",
                "6.4 MiB",
                "47 MiB",
                "3.0 GiB",
                "16777216 TiB"
            ]
        );
    }
}
