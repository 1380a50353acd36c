//! Samples whose truth is known: how often do intervals contain it?

use seeded::SplitMix64;
use stats::normal;

/// What runs of one kind differ by; their mean is about one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Kind {
    /// With this coefficient of variation.
    Normal(f64),
    /// With this σ of the logarithm.
    LogNormal(f64),
    /// AR(1) with 0.9, a standard deviation of 5 %: each run is much like the one before.
    Drifting,
    /// 2 % apart, and one in twenty takes twice as long.
    Outliers,
}

impl Kind {
    pub(crate) fn sample(self, count: usize, random: &mut SplitMix64) -> Vec<f64> {
        let mut before = normal(random);
        let one = |_| {
            let own = normal(random);
            match self {
                Kind::Normal(cv) => 1.0 + cv * own,
                Kind::LogNormal(sigma) => (sigma * own).exp(),
                Kind::Drifting => {
                    before = 0.9 * before + (1.0_f64 - 0.81).sqrt() * own;
                    1.0 + 0.05 * before
                }
                Kind::Outliers if random.below(20) == 0 => 2.0 * (1.0 + 0.02 * own),
                Kind::Outliers => 1.0 + 0.02 * own,
            }
        };
        (0..count).map(one).collect()
    }

    fn median(self) -> f64 {
        match self {
            Kind::Normal(_) | Kind::Drifting | Kind::LogNormal(_) => 1.0,
            // Half of all values are below: 0.5 / 0.95 of the usual ones.
            Kind::Outliers => 1.0 + 0.02 * stats::distribution::normal_quantile(0.5 / 0.95),
        }
    }

    pub(crate) fn mean(self) -> f64 {
        match self {
            Kind::Normal(_) | Kind::Drifting => 1.0,
            Kind::LogNormal(sigma) => (sigma * sigma / 2.0).exp(),
            Kind::Outliers => 1.05,
        }
    }
}

/// What an interval is of.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Of {
    Mean,
    /// Of order statistics.
    Median,
    /// What runs cost that are rounded up to steps of a tenth of their time.
    RoundedCost,
    /// The second kind takes 1.3 times as long.
    Ratio,
    Difference,
    /// Hours from which on a machine pays, of the ratio.
    BreakEven,
}

const STEPS: stats::Steps = stats::Steps {
    step: 0.1,
    minimum: 0.0,
};

impl Of {
    pub(crate) const ALL: [Of; 6] = [
        Of::Mean,
        Of::Median,
        Of::RoundedCost,
        Of::Ratio,
        Of::Difference,
        Of::BreakEven,
    ];

    /// Share of 95 % intervals that contain the truth, of those that are given; `None` where none is.
    pub(crate) fn coverage(self, kind: Kind, count: usize, samples: u64) -> Option<f64> {
        let truth = self.truth(kind);
        let mut given = 0;
        let covered = (1..=samples).filter(|seed| {
            let mut random = SplitMix64::new(*seed);
            let first = kind.sample(count, &mut random);
            let second: Vec<f64> = kind.sample(count, &mut random);
            let second: Vec<f64> = second.iter().map(|value| 1.3 * value).collect();
            let found = match self {
                Of::Mean => stats::summary(&first, 0.95).unwrap().mean,
                Of::Median => {
                    let summary = stats::summary(&first, 0.95).unwrap();
                    let mut estimate = summary.mean;
                    estimate.interval = summary.median_interval;
                    estimate
                }
                Of::RoundedCost => stats::billed_mean(&first, STEPS, 0.95).unwrap(),
                Of::Difference => {
                    stats::welch_difference(&second, &first, 0.95)
                        .unwrap()
                        .estimate
                }
                Of::Ratio | Of::BreakEven => {
                    stats::welch_ratio(&second, &first, 0.95).unwrap().estimate
                }
            };
            let Some(mut interval) = found.interval else {
                return false;
            };
            if self == Of::BreakEven {
                // As in the analysis: no interval where renting may be cheaper at any number of hours.
                if interval.low <= 0.5 {
                    return false;
                }
                (interval.low, interval.high) = (hours(interval.high), hours(interval.low));
            }
            given += 1;
            interval.contains(truth)
        });
        let covered = covered.count() as f64;
        (given > 0).then(|| covered / f64::from(given))
    }

    fn truth(self, kind: Kind) -> f64 {
        match self {
            Of::Mean => kind.mean(),
            Of::Median => kind.median(),
            Of::RoundedCost => {
                let mut random = SplitMix64::new(0);
                let many = kind.sample(400_000, &mut random);
                many.iter().map(|value| STEPS.billed(*value)).sum::<f64>() / many.len() as f64
            }
            Of::Ratio => 1.3,
            Of::Difference => 0.3 * kind.mean(),
            Of::BreakEven => hours(1.3),
        }
    }
}

/// A machine costs 100 a month and saves 2 · ratio − 1 an hour.
fn hours(ratio: f64) -> f64 {
    100.0 / (2.0 * ratio - 1.0)
}

/// A percentile of latency, over runs of so many requests that depend on each other.
pub(crate) struct Percentile {
    pub(crate) share: f64,
    pub(crate) requests: usize,
}

impl Percentile {
    /// Requests are log-normal (σ = 0.5) and AR(1) with 0.7 inside a run; runs differ by 5 %.
    pub(crate) fn coverage(&self, runs: usize, samples: u64) -> f64 {
        const SIGMA: f64 = 0.5;
        let z = stats::distribution::normal_quantile(self.share);
        let truth = (SIGMA * z + 0.05 * 0.05 / 2.0).exp();
        let covered = (1..=samples).filter(|seed| {
            let mut random = SplitMix64::new(*seed);
            let one = |_| self.of_run(SIGMA, &mut random);
            let values: Vec<f64> = (0..runs).map(one).collect();
            let found = stats::summary(&values, 0.95).unwrap().mean;
            found.interval.unwrap().contains(truth)
        });
        covered.count() as f64 / samples as f64
    }

    fn of_run(&self, sigma: f64, random: &mut SplitMix64) -> f64 {
        let run = 0.05 * normal(random);
        let mut before = normal(random);
        let one = |_| {
            before = 0.7 * before + (1.0_f64 - 0.49).sqrt() * normal(random);
            (run + sigma * before).exp()
        };
        let mut latencies: Vec<f64> = (0..self.requests).map(one).collect();
        latencies.sort_by(f64::total_cmp);
        stats::percentile(&latencies, self.share).unwrap()
    }
}

/// Share of promises that hold: after as many repetitions as were named, the intervals of all scenarios are within ± 5 %.
/// As in the analysis, the number is the largest of those that need more, none above four hundred is named, and none where
/// there are too few repetitions to know the spread. `None` where it is said in fewer than one study in a hundred.
pub(crate) fn kept_promises(
    kind: Kind,
    scenarios: usize,
    count: usize,
    samples: u64,
) -> Option<f64> {
    const FEWEST: usize = 8;
    const MOST: usize = 400;
    let (mut made, mut kept) = (0.0, 0.0);
    for seed in 1..=samples {
        let mut random = SplitMix64::new(seed);
        let mut all: Vec<Vec<f64>> = Vec::new();
        all.resize_with(scenarios, || kind.sample(count, &mut random));
        let needed = all.iter().filter_map(|values| needed(values)).max();
        let is_named = |needed: &usize| *needed <= MOST && scenarios * (count - 1) >= FEWEST;
        let Some(needed) = needed.filter(is_named) else {
            continue;
        };
        for values in &mut all {
            values.extend(kind.sample(needed - count, &mut random));
        }
        made += 1.0;
        kept += f64::from(all.iter().all(|values| margin(values) <= WANTED));
    }
    (made > 0.01 * samples as f64).then_some(kept / made)
}

const WANTED: f64 = 0.05;

fn margin(values: &[f64]) -> f64 {
    let summary = stats::summary(values, 0.95).unwrap();
    summary.mean.relative_margin().unwrap()
}

fn needed(values: &[f64]) -> Option<usize> {
    let known = stats::summary(values, 0.95).unwrap();
    let spread = stats::Spread {
        mean: known.mean.value,
        sd: known.sd,
        count: values.len(),
    };
    let needed = stats::repetitions_for(WANTED, spread, 0.95)?;
    (margin(values) > WANTED && needed > values.len()).then_some(needed)
}

/// A study of scenarios that do not differ, each repetition in an order of its own, whose runs are each much like the
/// one before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InSeries {
    pub(crate) scenarios: usize,
    pub(crate) repetitions: usize,
    /// Of a run and the next; zero for independent ones.
    pub(crate) correlation: f64,
}

/// Shares of the scenarios of many studies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stated {
    /// Their interval does not contain the mean, and nothing is said against it.
    pub(crate) wrong: f64,
    /// They have no interval, because successive runs were found to be alike.
    pub(crate) withheld: f64,
    /// It is said that there are too few runs to know.
    pub(crate) unchecked: bool,
}

impl InSeries {
    pub(crate) fn stated(self, studies: u64) -> Stated {
        let (mut wrong, mut withheld, mut unchecked) = (0.0, 0.0, false);
        for seed in 1..=studies {
            let values = self.values(&mut SplitMix64::new(seed));
            let found = stats::dependence(&values);
            unchecked |= found == stats::Dependence::Unknown;
            for scenario in 0..self.scenarios {
                let own = values.iter().filter(|value| value.cell == scenario);
                let (own, places): (Vec<f64>, Vec<usize>) = own.map(|v| (v.value, v.place)).unzip();
                let summary = match found {
                    stats::Dependence::Alike(correlation) => {
                        let widened = stats::widened(&places, correlation);
                        stats::summary_of_alike(&own, 0.95, widened)
                    }
                    _ => stats::summary(&own, 0.95),
                };
                match summary.unwrap().mean.interval {
                    Some(interval) => wrong += f64::from(!interval.contains(1.0)),
                    None => withheld += 1.0,
                }
            }
        }
        let all = studies as f64 * self.scenarios as f64;
        Stated {
            wrong: wrong / all,
            withheld: withheld / all,
            unchecked,
        }
    }

    fn values(self, random: &mut SplitMix64) -> Vec<stats::InOrder> {
        let mut before = normal(random);
        let mut values = Vec::new();
        for repetition in 0..self.repetitions {
            let mut order: Vec<usize> = (0..self.scenarios).collect();
            for place in (1..order.len()).rev() {
                order.swap(place, random.below(place + 1));
            }
            for (place, cell) in order.into_iter().enumerate() {
                let own = normal(random);
                let kept = self.correlation;
                before = kept * before + (1.0 - kept * kept).sqrt() * own;
                values.push(stats::InOrder {
                    cell,
                    place: repetition * self.scenarios + place,
                    value: 1.0 + 0.05 * before,
                });
            }
        }
        values
    }
}
