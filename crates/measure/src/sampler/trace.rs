//! What was counted up to each sample, kept so that any part of the run can be summed once its
//! phases are known. Bounded: a long run keeps every second point, then every fourth, …

/// So much memory and no more: about 6 MB.
const MOST_POINTS: usize = 1 << 16;

/// Everything is a sum since the start of the run, so that a part of it is a difference.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Point {
    pub(crate) seconds: f64,
    pub(crate) run_cpu_seconds: f64,
    /// Ready to run, but others had the cores.
    pub(crate) run_waited_seconds: f64,
    pub(crate) busy_core_seconds: f64,
    pub(crate) stolen_core_seconds: f64,
    pub(crate) core_seconds: f64,
    pub(crate) run_memory_byte_seconds: f64,
    /// Mean over the GPUs, times seconds.
    pub(crate) gpu_percent_seconds: f64,
    pub(crate) gpu_memory_percent_seconds: f64,
    pub(crate) gpu_joules: f64,
}

impl Point {
    /// Both, field by field: `self + share × other`.
    pub(crate) fn plus(&self, share: f64, other: &Point) -> Point {
        Point {
            seconds: self.seconds + share * other.seconds,
            run_cpu_seconds: self.run_cpu_seconds + share * other.run_cpu_seconds,
            run_waited_seconds: self.run_waited_seconds + share * other.run_waited_seconds,
            busy_core_seconds: self.busy_core_seconds + share * other.busy_core_seconds,
            stolen_core_seconds: self.stolen_core_seconds + share * other.stolen_core_seconds,
            core_seconds: self.core_seconds + share * other.core_seconds,
            run_memory_byte_seconds: self.run_memory_byte_seconds
                + share * other.run_memory_byte_seconds,
            gpu_percent_seconds: self.gpu_percent_seconds + share * other.gpu_percent_seconds,
            gpu_memory_percent_seconds: self.gpu_memory_percent_seconds
                + share * other.gpu_memory_percent_seconds,
            gpu_joules: self.gpu_joules + share * other.gpu_joules,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Trace {
    points: Vec<Point>,
    last: Option<Point>,
    every: usize,
    pushed: usize,
}

impl Trace {
    pub(crate) fn push(&mut self, point: Point) {
        self.every = self.every.max(1);
        if self.pushed.is_multiple_of(self.every) {
            self.points.push(point);
        }
        self.pushed += 1;
        self.last = Some(point);
        if self.points.len() >= MOST_POINTS {
            let mut index = 0;
            self.points.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.every *= 2;
        }
    }

    /// What was counted elsewhere shortly before the last point, and then no more: the point itself
    /// could not see it.
    pub(crate) fn count_last(&mut self, seconds: f64, run_cpu_seconds: f64) {
        let (Some(end), Some(last)) = (self.at(seconds), &mut self.last) else {
            return;
        };
        last.run_cpu_seconds = last.run_cpu_seconds.max(run_cpu_seconds);
        let (run_cpu_seconds, last) = (last.run_cpu_seconds, *last);
        let after = self.points.partition_point(|p| p.seconds <= seconds);
        self.points.truncate(after);
        self.points.push(Point {
            seconds,
            run_cpu_seconds,
            ..end
        });
        self.points.push(last);
    }

    pub(crate) fn last(&self) -> Option<Point> {
        self.last
    }

    /// What passed over the whole trace.
    pub(crate) fn whole(&self) -> Option<Point> {
        Some(self.last?.plus(-1.0, self.points.first()?))
    }

    /// What passed from one moment to another, with straight lines between the samples.
    pub(crate) fn between(&self, begin_seconds: f64, end_seconds: f64) -> Option<Point> {
        Some(self.at(end_seconds)?.plus(-1.0, &self.at(begin_seconds)?))
    }

    fn at(&self, seconds: f64) -> Option<Point> {
        let after = self
            .points
            .partition_point(|point| point.seconds <= seconds);
        let next = self.points.get(after).or(self.last.as_ref())?;
        let Some(before) = after
            .checked_sub(1)
            .and_then(|index| self.points.get(index))
        else {
            return Some(*next);
        };
        let span = next.seconds - before.seconds;
        if span <= 0.0 {
            return Some(*next);
        }
        let share = ((seconds - before.seconds) / span).min(1.0);
        Some(before.plus(share, &next.plus(-1.0, before)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(points: usize) -> Trace {
        let mut trace = Trace::default();
        for index in 0..points {
            let seconds = index as f64;
            trace.push(Point {
                seconds,
                run_cpu_seconds: 2.0 * seconds,
                ..Point::default()
            });
        }
        trace
    }

    #[test]
    fn parts_are_differences_with_straight_lines_between() {
        let check = |begin, end, expected: f64| {
            let passed = trace(11).between(begin, end).unwrap();
            assert!(
                (passed.run_cpu_seconds - expected).abs() < 1e-9,
                "{begin}..{end}: {passed:?}"
            );
        };
        check(0.0, 10.0, 20.0);
        check(2.5, 3.0, 1.0);
        check(9.5, 99.0, 1.0);
        check(-5.0, 1.0, 2.0);
    }

    #[test]
    fn long_traces_are_thinned_but_stay_whole() {
        let trace = trace(300_000);
        assert!(trace.points.len() <= MOST_POINTS);
        assert_eq!(trace.whole().unwrap().seconds, 299_999.0);
        let passed = trace.between(1000.5, 250_000.5).unwrap();
        assert!((passed.run_cpu_seconds - 498_000.0).abs() < 1e-6);
    }

    #[test]
    fn without_samples_nothing_is_said() {
        assert_eq!(Trace::default().whole(), None);
        assert_eq!(Trace::default().between(0.0, 1.0), None);
    }
}
