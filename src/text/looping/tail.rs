//! How the end of a sequence repeats, for every period at once. It knows symbols and no text.

/// Longest period that is looked for, in symbols.
pub(super) const LONGEST: usize = 512;

/// The end of a sequence that repeats: the last `period + run` symbols, of which each of the last `run` equals the one a period before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Periodic {
    pub(super) period: usize,
    pub(super) run: usize,
    /// Whether a place of it changes.
    pub(super) changing: bool,
}

impl Periodic {
    /// Symbols from its beginning to the end.
    pub(super) fn length(self) -> usize {
        self.period + self.run
    }

    /// Whole periods in it.
    pub(super) fn times(self) -> usize {
        self.length() / self.period
    }
}

/// What differs within a run, of one period.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Run {
    length: u32,
    /// Symbols since the last one that differs, with it; 0 where none does.
    since: u32,
}

/// The last symbols of a sequence and the runs of all periods. Each symbol is compared with the [`LONGEST`] before it, whatever
/// came earlier: the cost of one does not grow.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tail {
    /// At most twice the longest period; the older half is dropped at once.
    symbols: Vec<u32>,
    /// From the longest period down to 1, as the symbols lie.
    runs: Vec<Run>,
    /// Whether one place in a period may differ from time to time.
    lenient: bool,
}

impl Tail {
    /// One that takes only equal symbols for a repetition.
    pub(super) fn strict() -> Self {
        Self {
            symbols: Vec::with_capacity(2 * LONGEST),
            runs: vec![Run::default(); LONGEST],
            lenient: false,
        }
    }

    /// One that lets one place of a period hold something else each time, as a counter does.
    pub(super) fn lenient() -> Self {
        Self {
            lenient: true,
            ..Self::strict()
        }
    }

    pub(super) fn push(&mut self, symbol: u32) {
        let known = self.symbols.len().min(LONGEST);
        let before = &self.symbols[self.symbols.len() - known..];
        let runs = &mut self.runs[LONGEST - known..];
        for (at, (run, earlier)) in runs.iter_mut().zip(before).enumerate() {
            let period = (known - at) as u32;
            *run = match (*earlier == symbol, self.lenient) {
                (true, _) => run.goes_on(),
                (false, true) => run.differs(period),
                (false, false) => Run::default(),
            };
        }
        if self.symbols.len() == 2 * LONGEST {
            self.symbols.drain(..LONGEST);
        }
        self.symbols.push(symbol);
    }

    /// The repetition with the shortest period of at least `shortest`, among those of three whole periods or more and at least
    /// `length` symbols.
    pub(super) fn periodic(&self, shortest: usize, length: usize) -> Option<Periodic> {
        let found = self
            .runs
            .iter()
            .rev()
            .zip(1..)
            .skip(shortest - 1)
            .map(|(run, period)| Periodic {
                period,
                run: run.length as usize,
                changing: (1..=run.length).contains(&run.since),
            });
        found
            .into_iter()
            .find(|found| found.run >= 2 * found.period && found.length() >= length)
    }

    /// The last symbols, as many as a period has.
    pub(super) fn last(&self, period: usize) -> &[u32] {
        &self.symbols[self.symbols.len().saturating_sub(period)..]
    }
}

impl Run {
    fn goes_on(self) -> Self {
        Self {
            length: self.length + 1,
            since: self.since + u32::from(self.since > 0),
        }
    }

    /// A symbol differs from the one a period before. At the place of the last that did, it may; elsewhere the run begins anew
    /// behind that one.
    fn differs(self, period: u32) -> Self {
        if self.since.is_multiple_of(period) {
            Self {
                length: self.length + 1,
                since: 1,
            }
        } else {
            Self {
                length: self.since,
                since: 1,
            }
        }
    }
}
