//! How long a job may take, and whose limit that is.

use model::Order;
use model::location::Slurm;

/// For the worker itself and the start of the run, beyond the run's own timeout.
const EXTRA_SECONDS: f64 = 120.0;
/// A forecast is no promise: other nodes are slower, and the first run there reads everything from a
/// cold disk. A limit that is too high only makes a job wait longer for a gap in the queue.
const FORECAST_FACTOR: f64 = 2.0;
const FORECAST_EXTRA_SECONDS: f64 = 300.0;
const FORECAST_LEAST_SECONDS: f64 = 900.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimeLimit {
    /// Slurm counts in minutes.
    pub(super) minutes: u64,
    source: Source,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Environment,
    Timeout,
    Forecast,
}

impl TimeLimit {
    /// None leaves it to the partition. `longest` are the most minutes that the partition allows: a
    /// job that asks for more never starts.
    pub(super) fn of(slurm: &Slurm, order: Option<&Order>, longest: Option<u64>) -> Option<Self> {
        let limit = |seconds: f64, source: Source| TimeLimit {
            minutes: ((seconds / 60.0).ceil() as u64).max(1),
            source,
        };
        if let Some(seconds) = slurm.time_limit_seconds {
            return Some(limit(seconds as f64, Source::Environment));
        }
        let order = order?;
        let measure = &order.measure;
        if let Some(timeout) = measure.timeout_seconds {
            let seconds = timeout + measure.grace_seconds + EXTRA_SECONDS;
            return Some(limit(seconds, Source::Timeout));
        }
        let expected = order.expected_seconds?;
        let seconds = expected * FORECAST_FACTOR + FORECAST_EXTRA_SECONDS;
        let mut limit = limit(seconds.max(FORECAST_LEAST_SECONDS), Source::Forecast);
        limit.minutes = limit.minutes.min(longest.unwrap_or(u64::MAX));
        Some(limit)
    }

    /// For people, of a job that reached it.
    pub(super) fn words(limit: Option<Self>) -> String {
        let Some(TimeLimit { minutes, source }) = limit else {
            return "the partition's time limit".to_owned();
        };
        let whose = match source {
            Source::Environment => "`time_limit` of the environment",
            Source::Timeout => "from the run's timeout",
            Source::Forecast => {
                "from the forecast; `time_limit` of the environment sets a different one"
            }
        };
        format!("its time limit in Slurm of {minutes} min, {whose}")
    }
}

/// The most minutes that one of the partitions in `sinfo`'s lines of time limit and name allows; none
/// where there is no limit.
pub(super) fn longest(text: &str, is_default: bool) -> Option<u64> {
    let lines = text.lines().filter_map(|line| line.split_once('|'));
    let meant = lines.filter(|(_, name)| !is_default || name.ends_with('*'));
    let minutes: Vec<Option<u64>> = meant.map(|(limit, _)| minutes_of(limit.trim())).collect();
    minutes
        .into_iter()
        .collect::<Option<Vec<u64>>>()?
        .into_iter()
        .max()
}

/// `1-02:30:00`, `02:30:00`, `30:00`; none for `infinite`.
fn minutes_of(limit: &str) -> Option<u64> {
    let (days, time) = limit.split_once('-').unwrap_or(("0", limit));
    let parts: Option<Vec<u64>> = time.split(':').map(|part| part.parse().ok()).collect();
    let (hours, minutes) = match parts?[..] {
        [hours, minutes, _] => (hours, minutes),
        [minutes, _] => (0, minutes),
        _ => return None,
    };
    Some(days.parse::<u64>().ok()? * 24 * 60 + hours * 60 + minutes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{ENDS_WELL, command_order};

    #[test]
    fn the_nearest_limit_counts() {
        let mut order = command_order("x", ENDS_WELL);
        let mut slurm = Slurm::default();
        let check = |slurm: &Slurm, order: &Order, longest, minutes: Option<u64>, words: &str| {
            let limit = TimeLimit::of(slurm, Some(order), longest);
            assert_eq!(limit.map(|limit| limit.minutes), minutes);
            let found = TimeLimit::words(limit);
            assert!(found.contains(words), "{found}");
        };
        check(&slurm, &order, None, None, "partition");
        order.expected_seconds = Some(10.0);
        check(&slurm, &order, None, Some(15), "15 min, from the forecast");
        order.expected_seconds = Some(3600.0);
        check(&slurm, &order, None, Some(125), "forecast");
        check(&slurm, &order, Some(60), Some(60), "forecast");
        order.measure.timeout_seconds = Some(60.0);
        check(&slurm, &order, Some(1), Some(4), "timeout");
        slurm.time_limit_seconds = Some(61);
        check(&slurm, &order, Some(1), Some(2), "environment");
    }

    #[test]
    fn a_partition_may_have_a_limit() {
        let text = "infinite|small*\n1-02:30:00|gpu\n30:00|debug\n";
        assert_eq!(longest(text, true), None);
        assert_eq!(longest("1-02:30:00|gpu\n30:00|debug\n", false), Some(1590));
        assert_eq!(longest(text, false), None, "one of them has no limit");
        assert_eq!(longest("30:00|debug*\n", true), Some(30));
        assert_eq!(longest("n/a|debug\n", false), None);
    }
}
