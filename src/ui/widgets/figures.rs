//! Numbers as people read them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Bytes in MiB or GiB.
pub(in crate::ui) fn bytes(bytes: u64) -> String {
    let mib = bytes as f64 / f64::from(1 << 20);
    if mib < 1024.0 {
        format!("{mib:.0} MiB")
    } else {
        format!("{:.1} GiB", mib / 1024.0)
    }
}

/// A number of weights.
pub(in crate::ui) fn parameters(count: u64) -> String {
    let count = count as f64;
    if count < 1e9 {
        format!("{:.0} million", count / 1e6)
    } else {
        format!("{:.1} billion", count / 1e9)
    }
}

/// Tokens per second, with a decimal where it matters.
pub(in crate::ui) fn rate(rate: f64) -> String {
    if rate < 10.0 {
        format!("{rate:.1}")
    } else {
        format!("{rate:.0}")
    }
}

/// A bar of `cells` cells filled to `part` (0 to 1), as its filled and its empty text.
pub(in crate::ui) fn gauge(part: f64, cells: usize) -> (String, String) {
    // Anything at all shows as one cell, and only what is full shows as full.
    let filled = (part.clamp(0.0, 1.0) * cells as f64).ceil() as usize;
    let filled = if part < 1.0 {
        filled.min(cells.saturating_sub(1))
    } else {
        cells
    };
    ("▰".repeat(filled), "▱".repeat(cells - filled))
}

/// How long ago something was, both in milliseconds since 1970; a day, where it is longer than a week.
pub(in crate::ui) fn ago(now: i64, then: i64) -> String {
    const MINUTE: i64 = 60_000;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    // A clock that was set back is no reason to speak of the future.
    match now.saturating_sub(then).max(0) {
        age if age < MINUTE => "now".to_owned(),
        age if age < HOUR => format!("{} min", age / MINUTE),
        age if age < DAY => format!("{} h", age / HOUR),
        age if age < 7 * DAY => format!("{} d", age / DAY),
        _ => Timestamp::from_millisecond(then).map_or_else(
            |_| String::new(),
            |at| at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d").to_string(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        assert_eq!((bytes(6_272_352), bytes(5 << 30)), ("6 MiB".into(), "5.0 GiB".into()));
        assert_eq!(
            (parameters(5_770_000), parameters(7_620_000_000)),
            ("6 million".into(), "7.6 billion".into())
        );
        assert_eq!((rate(3.12), rate(212.4)), ("3.1".into(), "212".into()));
        let day = 24 * 60 * 60 * 1000;
        let ages = [
            (5, "now"),
            (-day, "now"),
            (90_000, "1 min"),
            (day - 1, "23 h"),
            (3 * day, "3 d"),
            (9 * day, "2026-11-12"),
        ];
        for (age, words) in ages {
            let now = 1_795_219_200_000;
            assert_eq!(ago(now, now - age), words);
        }
        assert_eq!(gauge(0.01, 4), ("▰".into(), "▱▱▱".into()));
        assert_eq!(gauge(0.99, 4), ("▰▰▰".into(), "▱".into()));
        assert_eq!(gauge(1.0, 4), ("▰▰▰▰".into(), String::new()));
    }
}
