//! One level against another, as a sentence: `64 px takes 2.9× as long as 32 px [2.8, 3.0]`.

use messages::{message, number};
use stats::Estimate;

use crate::decides::{Comparison, Verdict};
use crate::words::format;
use crate::words::names::MetricInfo;
use crate::words::verbs::{self, Said, Way};

pub(crate) struct Pair<'a> {
    pub(crate) metric: &'a MetricInfo,
    pub(crate) level: &'a str,
    pub(crate) baseline: &'a str,
    pub(crate) comparison: Comparison,
    pub(crate) estimate: &'a Estimate,
    pub(crate) verdict: Verdict,
}

impl Pair<'_> {
    pub(crate) fn sentence(&self) -> String {
        let (level, baseline) = (self.level, self.baseline);
        if !self.estimate.value.is_finite() {
            return message!("pair-incomparable", level, baseline);
        }
        let described = || match self.comparison {
            Comparison::Difference => self.difference(),
            Comparison::Ratio => self.ratio(),
        };
        match self.verdict {
            Verdict::Different => described(),
            Verdict::Described => message!("pair-by-means", said = described()),
            Verdict::PracticallyEqual => {
                let bounds = self.both_ways();
                message!("pair-equal", level, baseline, bounds)
            }
            Verdict::Inconclusive => {
                let bounds = self.both_ways();
                message!("pair-open", level, baseline, bounds)
            }
            Verdict::NotEstimable => message!("pair-incomparable", level, baseline),
        }
    }

    /// The ends of the interval, where it has any.
    fn ends(&self) -> Option<(f64, f64)> {
        self.estimate.interval.map(|i| (i.low, i.high))
    }

    /// An interval that may leave both directions open: ` [−2 %, +4 %]`.
    fn both_ways(&self) -> String {
        let ends = self.ends().unwrap_or((0.0, f64::INFINITY));
        let signed = |value: f64| match self.comparison {
            Comparison::Ratio => signed(value - 1.0, |v| percent(v, ends)),
            Comparison::Difference => signed(value, |v| amount(self.metric, v)),
        };
        after(self.ends().filter(|(low, high)| high > low), signed)
    }

    fn difference(&self) -> String {
        let value = self.estimate.value;
        let write = |v: f64| amount(self.metric, v);
        // The interval in the sentence's own direction: "2 s less [1, 3]".
        let (way, bounds) = match value > 0.0 {
            true => (Way::More, self.ends()),
            false => (Way::Less, self.ends().map(|(low, high)| (-high, -low))),
        };
        let bounds = bounds.filter(|(low, high)| write(*low) != write(*high));
        self.said(way, &write(value.abs()), &after(bounds, write))
    }

    fn ratio(&self) -> String {
        let value = self.estimate.value;
        let times =
            |way: Way, times: Times| self.said(way, &format!("{}×", times.value), &times.bounds);
        if value >= 1.25 {
            return times(Way::Times, Times::new(value, self.ends()));
        }
        if value <= 0.8 && value > 0.0 && verbs::has_inverse(self.metric) {
            let ends = self.ends().map(|(low, high)| (1.0 / high, 1.0 / low));
            return times(Way::AsFast, Times::new(1.0 / value, ends));
        }
        let (way, change, bounds) = match value > 1.0 {
            true => {
                let bounds = self.ends().map(|(low, high)| (low - 1.0, high - 1.0));
                (Way::More, value - 1.0, bounds)
            }
            false => {
                let bounds = self.ends().map(|(low, high)| (1.0 - high, 1.0 - low));
                (Way::Less, 1.0 - value, bounds)
            }
        };
        let write = |fraction: f64| percent(fraction, bounds.unwrap_or((0.0, f64::INFINITY)));
        self.said(way, &write(change), &after(bounds, write))
    }

    fn said(&self, way: Way, amount: &str, bounds: &str) -> String {
        let said = Said {
            info: self.metric,
            amount,
            way,
        };
        said.of(self.level, self.baseline, bounds)
    }
}

/// ` [2.8, 3.0]`, or nothing.
fn after(ends: Option<(f64, f64)>, write: impl Fn(f64) -> String) -> String {
    ends.map_or_else(String::new, |(low, high)| {
        format!(" {}", format::interval(low, high, write))
    })
}

/// A ratio with just enough digits to tell the ends of its interval apart.
pub(crate) struct Times {
    pub(crate) value: String,
    /// ` [2.8, 3.0]`; empty without an interval.
    pub(crate) bounds: String,
}

impl Times {
    pub(crate) fn new(value: f64, ends: Option<(f64, f64)>) -> Self {
        let Some((low, high)) = ends else {
            return Times {
                value: format::bare_ratio(value),
                bounds: String::new(),
            };
        };
        let enough =
            |digits: &i32| format::significant(low, *digits) != format::significant(high, *digits);
        let least = if value < 9.95 { 2 } else { 3 };
        let digits = (least..=3).find(enough).unwrap_or(3);
        let write = |v: f64| format::significant(v, digits);
        Times {
            value: write(value),
            bounds: after(ends, write),
        }
    }

    pub(crate) fn of(estimate: &Estimate) -> Self {
        let interval = estimate.interval;
        Times::new(estimate.value, interval.map(|i| (i.low, i.high)))
    }
}

/// With a digit after the point where the interval is narrower than two percent.
fn percent(fraction: f64, (low, high): (f64, f64)) -> String {
    match high - low < 0.02 {
        true => format!("{} %", number(&format!("{:.1}", fraction * 100.0))),
        false => format!("{} %", number(&format!("{:.0}", fraction * 100.0))),
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
        "%" => message!("points", value = format::significant(value, 2)),
        _ => crate::words::names::metric_value(metric, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::names::metric_info;
    use model::run::metric;
    use stats::Interval;

    fn sentence(name: &str, unit: &str, levels: [&str; 2], pair: (Comparison, Estimate)) -> String {
        let metric = metric_info(name, unit);
        let [level, baseline] = levels;
        let pair = Pair {
            metric: &metric,
            level,
            baseline,
            comparison: pair.0,
            verdict: match (pair.0, pair.1.interval) {
                (Comparison::Ratio, Some(i)) if i.contains(1.0) => Verdict::Inconclusive,
                (Comparison::Difference, Some(i)) if i.contains(0.0) => Verdict::Inconclusive,
                _ => Verdict::Different,
            },
            estimate: &pair.1,
        };
        pair.sentence()
    }

    fn estimate([value, low, high]: [f64; 3]) -> Estimate {
        let mut estimate = Estimate::bare(value, 0.95, 24, "test");
        estimate.interval = Some(Interval { low, high });
        estimate
    }

    #[test]
    fn a_comparison_reads_as_a_person_says_it() {
        use Comparison::{Difference, Ratio};
        let check = |name: &str, unit, how, numbers, expected: &str| {
            let found = sentence(name, unit, ["B", "A"], (how, estimate(numbers)));
            assert_eq!(found, expected);
        };
        let time = |numbers: [f64; 3], expected: &str| {
            check(metric::TRAIN_SECONDS, "s", Ratio, numbers, expected);
        };
        time([2.91, 2.81, 3.02], "B takes 2.9× as long as A [2.8, 3.0]");
        let narrow = "B takes 2.91× as long as A [2.91, 2.92]";
        time([2.912, 2.908, 2.921], narrow);
        time([0.1, 0.095, 0.105], "B is 10.0× as fast as A [9.52, 10.5]");
        time([1.1, 1.05, 1.15], "B takes 10 % longer than A [5 %, 15 %]");
        let less = "B takes 10 % less time than A [8 %, 12 %]";
        time([0.9, 0.88, 0.92], less);
        let none = "inconclusive: B against A [−2 %, +4 %]";
        time([1.01, 0.98, 1.04], none);
        let seconds = "B takes 3.20 s longer than A [3.00 s, 3.40 s]";
        let time = metric::TRAIN_SECONDS;
        check(time, "s", Difference, [3.2, 3.0, 3.4], seconds);
        let cost = "B costs 80 % less than A [75 %, 85 %]";
        check(metric::COST, "USD", Ratio, [0.2, 0.15, 0.25], cost);
        let points = "B has 2.1 points less accuracy than A [1.7 points, 2.5 points]";
        let accuracy = metric::ACCURACY;
        check(accuracy, "%", Difference, [-2.1, -2.5, -1.7], points);
        let own = "B has 3.0× the queue depth of A [2.0, 4.0]";
        check("queue_depth", "", Ratio, [3.0, 2.0, 4.0], own);
    }

    #[test]
    fn several_take_and_one_takes() {
        let pair = (Comparison::Ratio, estimate([0.5, 0.4, 0.625]));
        let found = sentence(metric::TRAIN_SECONDS, "s", ["4 cores", "1 core"], pair);
        assert_eq!(found, "4 cores are 2.0× as fast as 1 core [1.6, 2.5]");
    }

    #[test]
    fn what_is_not_a_number_is_said_so() {
        let pair = (Comparison::Ratio, Estimate::bare(f64::NAN, 0.95, 0, "test"));
        let found = sentence(metric::COST, "USD", ["B", "A"], pair);
        assert_eq!(found, "B and A cannot be compared");
    }
}
