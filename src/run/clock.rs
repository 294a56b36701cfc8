//! Time for the loop: the one clock that `update` is told, and the pace of frames. Nothing else in the loop reads a clock.

use std::future::pending;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// Between two frames: 60 a second, which is as much as most screens show.
pub const FRAME: Duration = Duration::from_millis(16);

/// Where the time since start comes from.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// It runs since this moment.
    Running(Instant),
    /// It stands still here until someone moves it: for tests.
    Still(Duration),
}

impl Clock {
    /// A clock that runs from now on.
    pub fn start() -> Self {
        Self::Running(Instant::now())
    }

    /// The time since start.
    pub fn now(self) -> Duration {
        match self {
            Self::Running(start) => start.elapsed(),
            Self::Still(now) => now,
        }
    }

    /// Returns at this time: never, where the clock stands still before it.
    pub(super) async fn reach(self, time: Duration) {
        match self {
            Self::Running(start) => sleep_until(start + time).await,
            Self::Still(now) if now >= time => {}
            Self::Still(_) => pending().await,
        }
    }
}

/// When the next frame is due: only where something changed, and not sooner than the interval after the last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    interval: Duration,
    last: Option<Duration>,
    changed: bool,
}

impl Pace {
    /// The first frame is due at once.
    pub(super) fn new(interval: Duration) -> Self {
        Self {
            interval,
            last: None,
            changed: true,
        }
    }

    /// Something on the screen is not as drawn.
    pub(super) fn changed(&mut self) {
        self.changed = true;
    }

    /// When the next frame is to be drawn; `None` while nothing changes.
    pub(super) fn due(self) -> Option<Duration> {
        self.changed
            .then(|| self.last.map_or(Duration::ZERO, |last| last + self.interval))
    }

    /// A frame is drawn now.
    pub(super) fn drawn(&mut self, now: Duration) {
        self.last = Some(now);
        self.changed = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_when_something_changed_and_not_too_often() {
        let at = Duration::from_millis;
        let mut pace = Pace::new(FRAME);
        assert_eq!(pace.due(), Some(Duration::ZERO), "the first frame waits for nothing");
        pace.drawn(at(100));
        assert_eq!(pace.due(), None, "nothing changed, no frame");
        pace.changed();
        pace.changed();
        assert_eq!(pace.due(), Some(at(116)));
    }

    #[tokio::test]
    async fn a_still_clock_reaches_what_is_past() {
        let clock = Clock::Still(Duration::from_secs(5));
        clock.reach(Duration::from_secs(5)).await;
        tokio::select! {
            biased;
            () = clock.reach(Duration::from_secs(6)) => panic!("it stands still"),
            () = std::future::ready(()) => {}
        }
    }
}
