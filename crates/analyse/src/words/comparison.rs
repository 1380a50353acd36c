//! One level against another, as a sentence: `64 px takes 2.9× as long as 32 px [2.8, 3.0]`.

use stats::Estimate;

use crate::decides::Comparison;
use crate::words::format;
use crate::words::names::MetricInfo;
use crate::words::verbs::words;

pub(crate) struct Pair<'a> {
    pub(crate) metric: &'a MetricInfo,
    pub(crate) level: &'a str,
    pub(crate) baseline: &'a str,
    pub(crate) comparison: Comparison,
    pub(crate) estimate: &'a Estimate,
}

impl Pair<'_> {
    pub(crate) fn sentence(&self) -> String {
        let neutral = match self.comparison {
            Comparison::Ratio => 1.0,
            Comparison::Difference => 0.0,
        };
        let value = self.estimate.value;
        if !value.is_finite() {
            return format!("{} and {} cannot be compared", self.level, self.baseline);
        }
        // Sums of equal numbers differ in their last digits.
        let is_neutral = (value - neutral).abs() <= 1e-12;
        if is_neutral || self.estimate.interval.is_some_and(|i| i.contains(neutral)) {
            return self.no_difference();
        }
        match self.comparison {
            Comparison::Difference => self.difference(),
            Comparison::Ratio => self.ratio(),
        }
    }

    /// Whether the interval leaves both directions open.
    fn no_difference(&self) -> String {
        let ends = self
            .estimate
            .interval
            .map_or((0.0, f64::INFINITY), |i| (i.low, i.high));
        let signed = |value: f64| match self.comparison {
            Comparison::Ratio => signed(value - 1.0, |v| percent(v, ends)),
            Comparison::Difference => signed(value, |v| amount(self.metric, v)),
        };
        let bounds = match self.estimate.interval {
            Some(i) if i.high > i.low => format!(" {}", format::interval(i.low, i.high, signed)),
            _ => String::new(),
        };
        format!(
            "no significant difference between {} and {}{bounds}",
            self.level, self.baseline
        )
    }

    fn difference(&self) -> String {
        let value = self.estimate.value;
        let words = words(self.metric);
        let said = words.fill(
            if value > 0.0 { words.more } else { words.less },
            &amount(self.metric, value.abs()),
        );
        // The interval in the sentence's own direction: "2 s less [1, 3]".
        let bounds = self.estimate.interval.map(|i| {
            if value > 0.0 {
                (i.low, i.high)
            } else {
                (-i.high, -i.low)
            }
        });
        let bounds = bounds
            .filter(|(low, high)| amount(self.metric, *low) != amount(self.metric, *high))
            .map(|(low, high)| format::interval(low, high, |v| amount(self.metric, v)));
        self.joined(&said, bounds)
    }

    fn ratio(&self) -> String {
        let value = self.estimate.value;
        let words = words(self.metric);
        let ends = self.estimate.interval.map(|i| (i.low, i.high));
        if value >= 1.25 {
            let times = Times::new(value, ends);
            return self.joined(
                &words.fill(words.times, &format!("{}×", times.value)),
                times.bounds,
            );
        }
        if value <= 0.8
            && value > 0.0
            && let Some(as_fast) = words.inverse
        {
            let times = Times::new(1.0 / value, ends.map(|(low, high)| (1.0 / high, 1.0 / low)));
            return self.joined(
                &words.fill(as_fast, &format!("{}×", times.value)),
                times.bounds,
            );
        }
        let change = |ratio: f64| {
            if value > 1.0 {
                ratio - 1.0
            } else {
                1.0 - ratio
            }
        };
        let bounds = ends.map(|(low, high)| {
            if value > 1.0 {
                (low, high)
            } else {
                (high, low)
            }
        });
        let bounds = bounds.map(|(low, high)| (change(low), change(high)));
        let write = |fraction: f64| percent(fraction, bounds.unwrap_or((0.0, f64::INFINITY)));
        let said = words.fill(
            if value > 1.0 { words.more } else { words.less },
            &write(change(value)),
        );
        self.joined(
            &said,
            bounds.map(|(low, high)| format::interval(low, high, write)),
        )
    }

    fn joined(&self, said: &str, bounds: Option<String>) -> String {
        let bounds = bounds.map(|b| format!(" {b}")).unwrap_or_default();
        let said = if is_plural(self.level) {
            plural(said)
        } else {
            said.to_owned()
        };
        format!("{} {said} {}{bounds}", self.level, self.baseline)
    }
}

/// `4 cores`, `2 workers`: made by `phrase`, never a level's own name.
fn is_plural(level: &str) -> bool {
    let count = level
        .split_once(' ')
        .filter(|(number, _)| number.parse::<f64>().is_ok());
    count.is_some_and(|(_, what)| {
        matches!(what, "cores" | "threads" | "workers" | "GPUs" | "epochs")
    })
}

fn plural(said: &str) -> String {
    let (verb, rest) = said.split_once(' ').unwrap_or((said, ""));
    let verb = match verb {
        "takes" => "take",
        "is" => "are",
        "costs" => "cost",
        "processes" => "process",
        "responds" => "respond",
        "needs" => "need",
        "has" => "have",
        other => other,
    };
    format!("{verb} {rest}")
}

/// A ratio with just enough digits to tell the ends of its interval apart.
pub(crate) struct Times {
    pub(crate) value: String,
    pub(crate) bounds: Option<String>,
}

impl Times {
    pub(crate) fn new(value: f64, ends: Option<(f64, f64)>) -> Self {
        let Some((low, high)) = ends else {
            return Times {
                value: format::bare_ratio(value),
                bounds: None,
            };
        };
        let enough =
            |digits: &i32| format::significant(low, *digits) != format::significant(high, *digits);
        let least = if value < 9.95 { 2 } else { 3 };
        let digits = (least..=3).find(enough).unwrap_or(3);
        let write = |v: f64| format::significant(v, digits);
        Times {
            value: write(value),
            bounds: Some(format::interval(low, high, write)),
        }
    }
}

/// With a digit after the point where the interval is narrower than two percent.
fn percent(fraction: f64, (low, high): (f64, f64)) -> String {
    match high - low < 0.02 {
        true => format!("{:.1} %", fraction * 100.0),
        false => format!("{:.0} %", fraction * 100.0),
    }
}

fn signed(value: f64, write: impl Fn(f64) -> String) -> String {
    match value {
        v if v > 0.0 => format!("+{}", write(v)),
        v if v < 0.0 => format!("−{}", write(-v)),
        _ => write(0.0),
    }
}

pub(crate) fn amount(metric: &MetricInfo, value: f64) -> String {
    match metric.unit.as_str() {
        "%" => format!("{} points", format::significant(value, 2)),
        _ => crate::words::names::metric_value(metric, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::names::metric_info;
    use model::run::metric;
    use stats::Interval;

    fn check(
        name: &str,
        unit: &str,
        comparison: Comparison,
        (value, low, high): (f64, f64, f64),
        expected: &str,
    ) {
        let mut estimate = Estimate::bare(value, 0.95, 24, "test");
        estimate.interval = Some(Interval { low, high });
        let metric = metric_info(name, unit);
        let pair = Pair {
            metric: &metric,
            level: "B",
            baseline: "A",
            comparison,
            estimate: &estimate,
        };
        assert_eq!(pair.sentence(), expected);
    }

    #[test]
    fn a_comparison_reads_as_a_person_says_it() {
        use Comparison::{Difference, Ratio};
        let time = metric::TRAIN_SECONDS;
        check(
            time,
            "s",
            Ratio,
            (2.91, 2.81, 3.02),
            "B takes 2.9× as long as A [2.8, 3.0]",
        );
        check(
            time,
            "s",
            Ratio,
            (2.912, 2.908, 2.921),
            "B takes 2.91× as long as A [2.91, 2.92]",
        );
        check(
            time,
            "s",
            Ratio,
            (0.1, 0.095, 0.105),
            "B is 10.0× as fast as A [9.52, 10.5]",
        );
        check(
            time,
            "s",
            Ratio,
            (1.1, 1.05, 1.15),
            "B takes 10 % longer than A [5 %, 15 %]",
        );
        check(
            time,
            "s",
            Ratio,
            (0.9, 0.88, 0.92),
            "B takes 10 % less time than A [8 %, 12 %]",
        );
        check(
            time,
            "s",
            Ratio,
            (1.01, 0.98, 1.04),
            "no significant difference between B and A [−2 %, +4 %]",
        );
        check(
            time,
            "s",
            Difference,
            (3.2, 3.0, 3.4),
            "B takes 3.20 s longer than A [3.00 s, 3.40 s]",
        );
        check(
            metric::COST,
            "USD",
            Ratio,
            (0.2, 0.15, 0.25),
            "B costs 80 % less than A [75 %, 85 %]",
        );
        let accuracy = metric::ACCURACY;
        check(
            accuracy,
            "%",
            Difference,
            (-2.1, -2.5, -1.7),
            "B has 2.1 points less accuracy than A [1.7 points, 2.5 points]",
        );
        check(
            "queue_depth",
            "",
            Ratio,
            (3.0, 2.0, 4.0),
            "B has 3.0× the queue depth of A [2.0, 4.0]",
        );
    }

    #[test]
    fn several_take_and_one_takes() {
        let mut estimate = Estimate::bare(0.5, 0.95, 24, "test");
        estimate.interval = Some(Interval {
            low: 0.4,
            high: 0.625,
        });
        let metric = metric_info(metric::TRAIN_SECONDS, "s");
        let pair = Pair {
            metric: &metric,
            level: "4 cores",
            baseline: "1 core",
            comparison: Comparison::Ratio,
            estimate: &estimate,
        };
        assert_eq!(
            pair.sentence(),
            "4 cores are 2.0× as fast as 1 core [1.6, 2.5]"
        );
    }

    #[test]
    fn what_is_not_a_number_is_said_so() {
        let estimate = Estimate::bare(f64::NAN, 0.95, 0, "test");
        let metric = metric_info(metric::COST, "USD");
        let pair = Pair {
            metric: &metric,
            level: "B",
            baseline: "A",
            comparison: Comparison::Ratio,
            estimate: &estimate,
        };
        assert_eq!(pair.sentence(), "B and A cannot be compared");
    }
}
