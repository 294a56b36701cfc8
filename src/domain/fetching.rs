//! The fetching of a model as data: how far it is, and what comes of it. Fetching itself is the business of `models/hub`.

use std::fmt;

/// How far it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// What the model is called that is fetched: by this name it can be loaded when it is here.
    pub label: String,
    /// Bytes that are there, those of earlier times among them.
    pub done: u64,
    /// Bytes of all of it.
    pub total: u64,
    /// Bytes that came in a second, on the whole; 0 where nothing came yet.
    pub rate: u64,
}

impl Sight {
    /// How much of it is there, from 0 to 1.
    pub fn part(&self) -> f64 {
        (self.done as f64 / self.total.max(1) as f64).min(1.0)
    }

    /// Whether all of it came, and is held against what the hub records.
    pub const fn is_checked(&self) -> bool {
        self.done >= self.total && self.total > 0
    }

    /// How long the rest will take, where anything came.
    pub fn left(&self) -> Option<TimeLeft> {
        let missing = self.total.saturating_sub(self.done);
        missing.checked_div(self.rate).map(TimeLeft)
    }
}

/// A time in whole seconds, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLeft(pub u64);

impl fmt::Display for TimeLeft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 / 3600, self.0 / 60 % 60, self.0 % 60) {
            (0, 0, seconds) => write!(f, "{seconds} s"),
            (0, minutes, seconds) => write!(f, "{minutes} min {seconds} s"),
            (hours, minutes, _) => write!(f, "{hours} h {minutes} min"),
        }
    }
}

/// What is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchEvent {
    /// It is under way.
    Under(Sight),
    /// It is here.
    Here {
        /// What was fetched.
        label: String,
        /// Its bytes.
        bytes: u64,
    },
    /// It was stopped; what came is kept.
    Stopped,
    /// It cannot be had, in words.
    Failed(String),
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn it_is_told_how_far_and_how_long() {
        let sight = |done, total, rate| Sight {
            label: "condor-Q4_K_M".to_owned(),
            done,
            total,
            rate,
        };
        let quarter = sight(1 << 20, 4 << 20, 1 << 20);
        assert_eq!(quarter.left(), Some(TimeLeft(3)));
        assert!((quarter.part() - 0.25).abs() < 1e-9);
        // Nothing came yet, and nothing is known.
        assert_eq!(sight(0, 0, 0).left(), None);
        assert!(sight(0, 0, 0).part() < 1e-9 && !sight(0, 0, 0).is_checked());
        assert!(sight(7, 7, 0).is_checked() && !quarter.is_checked());
        let times = [59, 61, 7300].map(|seconds| TimeLeft(seconds).to_string());
        assert_eq!(times, ["59 s", "1 min 1 s", "2 h 1 min"]);
    }
}
