//! What is written down while a model is examined: each check as it begins and what came of it, told to whoever waits.

use crate::domain::examination::{Check, Examination, Finding, Verdict};
use crate::text::sanitize_line;

/// How far an examination is.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// A check begins.
    Begins(Check),
    /// A part of it is done, from 0 to 1.
    Part(Check, f32),
    /// It is over.
    Found(&'a Finding),
}

/// Is told how far it is, and answers whether to go on.
pub type Tell<'a> = dyn FnMut(Progress<'_>) -> bool + 'a;

/// What came of a check: verdict, evidence, remedy.
pub(super) struct Opinion(pub(super) Verdict, String, String);

impl Opinion {
    /// As it should be.
    pub(super) fn ok(evidence: impl Into<String>) -> Self {
        Self(Verdict::Ok, evidence.into(), String::new())
    }

    /// Odd.
    pub(super) fn warning(evidence: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self(Verdict::Warning, evidence.into(), remedy.into())
    }

    /// Wrong.
    pub(super) fn failed(evidence: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self(Verdict::Failed, evidence.into(), remedy.into())
    }

    /// Not asked here, for this reason.
    pub(super) fn not_applicable(why: impl Into<String>) -> Self {
        Self(Verdict::NotApplicable, why.into(), String::new())
    }
}

/// The chart of a model.
pub(super) struct Chart<'a> {
    pub(super) found: Examination,
    tell: &'a mut Tell<'a>,
    /// Whether nobody wants to know any more.
    stopped: bool,
}

impl<'a> Chart<'a> {
    /// An empty one.
    pub(super) fn new(tell: &'a mut Tell<'a>) -> Self {
        Self {
            found: Examination::default(),
            tell,
            stopped: false,
        }
    }

    /// Whether it was told to stop.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Makes a check, unless it was told to stop.
    pub(super) fn check(&mut self, check: Check, make: impl FnOnce(&mut dyn FnMut(f32) -> bool) -> Opinion) {
        if self.stopped || !(self.tell)(Progress::Begins(check)) {
            self.stopped = true;
            return;
        }
        let mut going = true;
        let Opinion(verdict, evidence, remedy) = make(&mut |part| {
            going &= (self.tell)(Progress::Part(check, part));
            going
        });
        if !going {
            self.stopped = true;
            return;
        }
        let finding = Finding {
            check,
            verdict,
            evidence: sanitize_line(&evidence).into_owned(),
            remedy: sanitize_line(&remedy).into_owned(),
        };
        self.stopped = !(self.tell)(Progress::Found(&finding));
        self.found.findings.push(finding);
    }

    /// Writes the checks of which nothing can be said, with the reason.
    pub(super) fn leave_out(&mut self, why: &str) {
        for check in Check::ALL {
            if !self.found.findings.iter().any(|finding| finding.check == check) {
                self.check(check, |_| Opinion::not_applicable(why));
            }
        }
    }
}
