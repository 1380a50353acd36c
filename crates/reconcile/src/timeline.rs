//! When runs were in progress: how much of any period was run time, and how much was
//! before, between and after the runs.

use crate::charge::Interval;

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Timeline {
    /// Where runs begin or end, in order of time.
    points: Vec<Point>,
    pub(crate) most_at_once: u64,
}

#[derive(Debug, PartialEq)]
struct Point {
    ms: i64,
    /// Run time so far; runs and machines side by side count each.
    run_ms: i64,
    /// Time so far in which any run was in progress.
    busy_ms: i64,
    /// Machines with runs from here on to the next point.
    running: i64,
}

/// Parts of a stretch of time without any run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Gaps {
    pub(crate) before_ms: i64,
    pub(crate) between_ms: i64,
    pub(crate) after_ms: i64,
}

impl Timeline {
    /// Each time with how many machines were at work in it.
    pub(crate) fn new(runs: impl IntoIterator<Item = (Interval, u16)>) -> Timeline {
        let mut changes: Vec<(i64, i64)> = runs
            .into_iter()
            .filter(|(run, _)| run.end_ms > run.start_ms)
            .flat_map(|(run, machines)| {
                let machines = i64::from(machines);
                [(run.start_ms, machines), (run.end_ms, -machines)]
            })
            .collect();
        // An end before a beginning at the same moment: those two are not side by side.
        changes.sort_unstable();
        let mut points: Vec<Point> = Vec::with_capacity(changes.len());
        for (ms, change) in changes {
            let (run_ms, busy_ms, running) = match points.last() {
                Some(last) => (last.run_at(ms), last.busy_at(ms), last.running),
                None => (0, 0, 0),
            };
            points.push(Point {
                ms,
                run_ms,
                busy_ms,
                running: running + change,
            });
        }
        let most = points.iter().map(|point| point.running).max().unwrap_or(0);
        Timeline {
            points,
            most_at_once: u64::try_from(most).unwrap_or(0),
        }
    }

    /// From the first run's beginning to the last one's end.
    pub(crate) fn span(&self) -> Option<Interval> {
        Some(Interval {
            start_ms: self.points.first()?.ms,
            end_ms: self.points.last()?.ms,
        })
    }

    /// When runs begin or end.
    pub(crate) fn moments(&self) -> impl Iterator<Item = i64> {
        self.points.iter().map(|point| point.ms)
    }

    pub(crate) fn run_ms(&self, time: Interval) -> i64 {
        self.at(time.end_ms, Point::run_at) - self.at(time.start_ms, Point::run_at)
    }

    pub(crate) fn gaps(&self, time: Interval) -> Gaps {
        let Some(span) = self.span() else {
            return Gaps {
                before_ms: time.end_ms - time.start_ms,
                ..Gaps::default()
            };
        };
        let busy = self.at(time.end_ms, Point::busy_at) - self.at(time.start_ms, Point::busy_at);
        let before_ms = (time.end_ms.min(span.start_ms) - time.start_ms).max(0);
        let after_ms = (time.end_ms - time.start_ms.max(span.end_ms)).max(0);
        Gaps {
            before_ms,
            between_ms: time.end_ms - time.start_ms - busy - before_ms - after_ms,
            after_ms,
        }
    }

    fn at(&self, ms: i64, value: impl Fn(&Point, i64) -> i64) -> i64 {
        let after = self.points.partition_point(|point| point.ms <= ms);
        match after.checked_sub(1) {
            Some(place) => value(&self.points[place], ms),
            None => 0,
        }
    }
}

impl Point {
    fn run_at(&self, ms: i64) -> i64 {
        self.run_ms + (ms - self.ms) * self.running
    }

    fn busy_at(&self, ms: i64) -> i64 {
        self.busy_ms + (ms - self.ms) * self.running.min(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(start_ms: i64, end_ms: i64) -> Interval {
        Interval { start_ms, end_ms }
    }

    #[test]
    fn stretches_are_divided_among_runs_and_gaps() {
        let line = Timeline::new([
            (interval(10, 20), 1),
            (interval(30, 40), 1),
            (interval(35, 45), 1),
        ]);
        let check = |from, to, run_ms: i64, before_ms, between_ms, after_ms| {
            let time = interval(from, to);
            let gaps = Gaps {
                before_ms,
                between_ms,
                after_ms,
            };
            assert_eq!((line.run_ms(time), line.gaps(time)), (run_ms, gaps));
        };
        check(0, 100, 30, 10, 10, 55);
        check(12, 18, 6, 0, 0, 0);
        check(15, 37, 14, 0, 10, 0);
        check(0, 5, 0, 5, 0, 0);
        check(50, 60, 0, 0, 0, 10);
        check(22, 28, 0, 0, 6, 0);
        assert_eq!(line.most_at_once, 2);
    }

    #[test]
    fn runs_that_follow_one_another_are_not_side_by_side() {
        let line = Timeline::new([
            (interval(0, 10), 1),
            (interval(10, 20), 1),
            (interval(5, 5), 1),
        ]);
        assert_eq!(line.most_at_once, 1);
        assert_eq!(Timeline::new([]).span(), None);
    }

    #[test]
    fn machines_of_one_run_count_each() {
        let line = Timeline::new([(interval(0, 10), 3), (interval(5, 20), 1)]);
        assert_eq!(line.most_at_once, 4);
        assert_eq!(line.run_ms(interval(0, 20)), 45);
        let gaps = line.gaps(interval(0, 30));
        assert_eq!((gaps.between_ms, gaps.after_ms), (0, 10));
    }
}
