//! Of two sides, which fails more: a run that ended badly is an outcome of its scenario, not a missing value.

use messages::message;
use serde::Serialize;

use crate::analysis::{LevelFacts, ScenarioResult, StatusCounts};
use crate::words::format;

/// Runs that ended by themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Outcomes {
    pub runs: usize,
    pub failed: usize,
}

impl Outcomes {
    pub(crate) fn of(scenario: &ScenarioResult) -> Self {
        let StatusCounts {
            ok,
            failed,
            out_of_memory,
            timed_out,
            ..
        } = scenario.runs;
        let failed = failed + out_of_memory + timed_out;
        Outcomes {
            runs: ok + failed,
            failed,
        }
    }

    fn and(self, other: Outcomes) -> Self {
        Outcomes {
            runs: self.runs + other.runs,
            failed: self.failed + other.failed,
        }
    }

    /// A larger share.
    fn has_failed_more_than(self, other: Outcomes) -> bool {
        self.failed * other.runs > other.failed * self.runs
    }

    /// More than one or the other that fails now and then explains.
    fn fails_more_than(self, other: Outcomes) -> bool {
        /// Of calling it worse where both fail alike.
        const LEVEL: f64 = 0.05;
        self.has_failed_more_than(other)
            && stats::chance_of_so_many(
                (self.failed, self.runs - self.failed),
                (other.failed, other.runs - other.failed),
            ) <= LEVEL
    }

    fn never_succeeds(self) -> bool {
        self.runs > 0 && self.failed == self.runs
    }

    fn ever_succeeds(self) -> bool {
        self.failed < self.runs
    }
}

/// Of all scenarios that both sides have.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    /// Of the first and the second side.
    pub(crate) sides: [Outcomes; 2],
    /// Levels of scenarios that succeed on the first side and never on the second.
    pub(crate) lost: Vec<String>,
}

impl Failures {
    pub(crate) fn of<'a>(
        pairs: impl Iterator<Item = (&'a ScenarioResult, &'a ScenarioResult)>,
    ) -> Self {
        let mut failures = Failures::default();
        for (first, second) in pairs {
            let (a, b) = (Outcomes::of(first), Outcomes::of(second));
            failures.sides = [failures.sides[0].and(a), failures.sides[1].and(b)];
            if a.ever_succeeds() && b.never_succeeds() {
                failures.lost.push(LevelFacts::phrase_of(&second.levels));
            }
        }
        failures
    }

    pub(crate) fn are_any(&self) -> bool {
        self.sides.iter().any(|side| side.failed > 0)
    }

    /// More runs of the second side fail, or a scenario no longer succeeds.
    pub(crate) fn make_worse(&self) -> bool {
        let [first, second] = self.sides;
        second.fails_more_than(first) || !self.lost.is_empty()
    }

    /// More runs of the second side failed, which may be chance.
    pub(crate) fn may_make_worse(&self) -> bool {
        let [first, second] = self.sides;
        second.has_failed_more_than(first) && !self.make_worse()
    }

    /// Nothing of the first side succeeds, and something of the second.
    pub(crate) fn make_better(&self) -> bool {
        let [first, second] = self.sides;
        first.never_succeeds() && second.ever_succeeds()
    }

    /// `C2: 1 of 24 runs did not succeed, 0 of 24 of C1 (inconclusive).`
    pub(crate) fn open_sentence(&self, [first, second]: [&str; 2]) -> String {
        let [of_first, of_second] = self.sides;
        message!(
            "compare-may-fail-more",
            second,
            failed = of_second.failed,
            runs = of_second.runs,
            before = of_first.failed,
            all = of_first.runs,
            first
        )
    }

    /// `C2 is worse: 7 of its 10 runs did not succeed, 0 of 10 of C1.`
    pub(crate) fn sentence(&self, [first, second]: [&str; 2], scenarios: usize) -> String {
        let [of_first, of_second] = self.sides;
        // Of one scenario it is said already.
        let lost = match scenarios > 1 && !self.lost.is_empty() {
            true => message!("compare-lost", names = format::listed(&self.lost, 4)),
            false => String::new(),
        };
        message!(
            "compare-fails-more",
            second,
            failed = of_second.failed,
            runs = of_second.runs,
            before = of_first.failed,
            all = of_first.runs,
            first,
            lost
        )
    }
}
