//! Notices: short words to the person that are no part of the conversation. The newest is shown for a while; all are kept.

use std::time::Duration;

/// How much a notice matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Good to know.
    Info,
    /// Something is not as asked for.
    Warn,
    /// Something failed.
    Error,
}

/// One notice.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// How much it matters.
    pub level: Level,
    /// The words.
    pub text: String,
    /// When it came, since start.
    pub at: Duration,
}

/// How long a notice is shown: long enough to read two lines, and errors long enough to act on.
const SHOWN: Duration = Duration::from_secs(6);
const SHOWN_ERROR: Duration = Duration::from_secs(20);

/// Notices kept: more than anyone reads back, and bounded.
const KEPT: usize = 100;

/// All notices, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notices {
    all: Vec<Notice>,
    dismissed: usize,
}

impl Notices {
    /// Adds one, saying the same thing twice in a row only once.
    pub fn push(&mut self, level: Level, text: impl Into<String>, at: Duration) {
        let notice = Notice {
            level,
            text: text.into(),
            at,
        };
        if self
            .all
            .last()
            .is_some_and(|last| last.text == notice.text && last.level == level)
        {
            self.dismissed = self.dismissed.min(self.all.len() - 1);
            self.all.pop();
        }
        self.all.push(notice);
        if self.all.len() > KEPT {
            self.all.remove(0);
            self.dismissed = self.dismissed.saturating_sub(1);
        }
    }

    /// All that were given, oldest first.
    pub fn all(&self) -> &[Notice] {
        &self.all
    }

    /// The one to show at `now`: the newest of the highest level among those whose time is not over.
    pub fn current(&self, now: Duration) -> Option<&Notice> {
        let live = self.all[self.dismissed..].iter().filter(|n| now < ends(n));
        live.max_by_key(|n| (n.level, n.at))
    }

    /// When the notice on the screen goes away by itself.
    pub fn changes_at(&self, now: Duration) -> Option<Duration> {
        self.current(now).map(ends)
    }

    /// Takes all off the screen. Says whether there was one.
    pub fn dismiss(&mut self, now: Duration) -> bool {
        let shown = self.current(now).is_some();
        self.dismissed = self.all.len();
        shown
    }
}

fn ends(notice: &Notice) -> Duration {
    notice.at
        + if notice.level == Level::Error {
            SHOWN_ERROR
        } else {
            SHOWN
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gravest_is_shown_first_and_each_goes_away() {
        let mut notices = Notices::default();
        let at = Duration::from_secs;
        notices.push(Level::Error, "broken", at(1));
        notices.push(Level::Info, "done", at(2));
        assert_eq!(notices.current(at(3)).unwrap().text, "broken");
        assert_eq!(notices.changes_at(at(3)), Some(at(21)));
        assert!(notices.current(at(30)).is_none());
        assert!(notices.dismiss(at(3)) && !notices.dismiss(at(3)));
        notices.push(Level::Info, "done", at(40));
        assert_eq!(notices.current(at(41)).unwrap().text, "done");
        assert_eq!(notices.all().len(), 2, "the same words in a row count once");
    }
}
