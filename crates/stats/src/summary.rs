//! What is said of one list of values.

use serde::Serialize;

use crate::dependence::Widened;
use crate::distribution::normal_quantile;
use crate::estimate::{Estimate, Interval, StudentParts};
use crate::precise::{centre, sum, sum_of_squares};

/// What is said of one list of values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    pub count: usize,
    /// Mean with its Student interval.
    pub mean: Estimate,
    /// Standard deviation, with n − 1; zero for one value.
    pub sd: f64,
    pub median: f64,
    /// Of order statistics: it supposes nothing of the distribution, and single values do not decide it. `None` for
    /// fewer values than the confidence needs (six for 95 %).
    pub median_interval: Option<Interval>,
    pub min: f64,
    pub max: f64,
    /// Coefficient of variation, sd / |mean|; `None` where the mean is zero or there is only one value.
    pub cv: Option<f64>,
}

/// `None` for no values, or where one is not finite.
pub fn summary(values: &[f64], confidence: f64) -> Option<Summary> {
    summarise(values, confidence, None)
}

/// Of values that are alike because they were measured one after the other: as wide as that makes their intervals, and
/// none where they say as little as two independent ones.
pub fn summary_of_alike(values: &[f64], confidence: f64, alike: Widened) -> Option<Summary> {
    let mut summary = summarise(values, confidence, Some(alike))?;
    // Order statistics suppose independent values.
    summary.median_interval = None;
    if alike.is_too_much(values.len()) {
        summary.mean.interval = None;
        summary.mean.method = "mean of runs that depend on each other too much".to_owned();
    }
    Some(summary)
}

fn summarise(values: &[f64], confidence: f64, alike: Option<Widened>) -> Option<Summary> {
    if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let moments = Moments::of(values);
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let free = values.len() as f64 - 1.0;
    let factor = alike.map_or(1.0, |alike| alike.factor);
    let parts = StudentParts {
        value: moments.mean,
        standard_error: factor * moments.standard_error(),
        degrees_of_freedom: alike.map_or(free, |alike| alike.degrees_of_freedom),
        confidence,
        count: values.len(),
    };
    let mut mean = mean_of_times(&parts, values, factor);
    if alike.is_some() {
        mean.method += ", widened because successive runs are alike";
    }
    Some(Summary {
        count: values.len(),
        mean,
        sd: moments.sd(),
        median: quantile(&sorted, 0.5)?,
        median_interval: median_interval(&sorted, confidence),
        min: *sorted.first()?,
        max: *sorted.last()?,
        cv: (moments.mean != 0.0 && values.len() > 1).then(|| moments.sd() / moments.mean.abs()),
    })
}

/// Student's interval; of values above zero, with an upper end for skewed ones. Times have a long tail, and Student's
/// interval alone covers the mean of log-normal ones (σ = 0.5) in 92 % of samples of three to ten. The upper end of Cox's
/// interval for the mean of a log-normal distribution (Zhou, Gao 1997) makes that 95 %; of nearly normal values it is
/// Student's.
fn mean_of_times(parts: &StudentParts, values: &[f64], factor: f64) -> Estimate {
    let mut estimate = parts.estimate("mean, Student interval");
    let (Some(interval), true) = (&mut estimate.interval, values.iter().all(|v| *v > 0.0)) else {
        return estimate;
    };
    // Two values say nothing of their skewness; a mean of values above zero is not below it.
    if values.len() < 3 {
        interval.low = interval.low.max(0.0);
        return estimate;
    }
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let moments = Moments::of(&logarithms);
    let (count, variance) = (values.len() as f64, moments.variance());
    let skewed = StudentParts {
        value: moments.mean + variance / 2.0,
        standard_error: factor
            * (variance / count + variance * variance / (2.0 * (count - 1.0))).sqrt(),
        ..*parts
    };
    let Some(skewed) = skewed.mapped("", f64::exp).interval else {
        return estimate;
    };
    interval.high = interval.high.max(skewed.high);
    if interval.low <= 0.0 {
        interval.low = skewed.low.min(parts.value);
    }
    estimate.method = "mean, Student interval, upper end by Cox for skewed values".to_owned();
    estimate
}

/// Between the order statistics that leave the median out as rarely as wanted: the number of values below it is
/// binomial (Conover 1999, section 3.2).
fn median_interval(sorted: &[f64], confidence: f64) -> Option<Interval> {
    /// From here on the normal distribution is exact enough, and 2⁻ⁿ becomes zero.
    const MANY: usize = 500;
    let count = sorted.len();
    let tail = (1.0 - confidence) / 2.0;
    if count > MANY {
        let reach = normal_quantile(1.0 - tail) * (count as f64).sqrt() / 2.0;
        let place = (count as f64 / 2.0 - reach).floor().max(1.0) as usize - 1;
        return Interval::finite(*sorted.get(place)?, *sorted.get(count - 1 - place)?);
    }
    // Of so many values below the median, the probability, and that of fewer.
    let mut exactly = (-(count as f64) * std::f64::consts::LN_2).exp();
    let mut at_most = 0.0;
    let mut left_out = 0;
    while left_out < count / 2 && at_most + exactly <= tail {
        at_most += exactly;
        exactly *= (count - left_out) as f64 / (left_out + 1) as f64;
        left_out += 1;
    }
    let place = left_out.checked_sub(1)?;
    Interval::finite(*sorted.get(place)?, *sorted.get(count - 1 - place)?)
}

/// Quantile of values in growing order, by linear interpolation between order statistics (Hyndman, Fan 1996,
/// type 7). `None` for no values or a `q` outside 0 to 1.
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&q) {
        return None;
    }
    at_place(sorted, sorted.len().checked_sub(1)? as f64 * q)
}

/// Percentile of values in growing order that stand for many more: the order statistic below which the share lies on
/// average (Hyndman, Fan 1996, type 6). Other types put the 99th of some hundred values too low.
pub fn percentile(sorted: &[f64], share: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&share) {
        return None;
    }
    let last = sorted.len().checked_sub(1)? as f64;
    at_place(sorted, (share * (last + 2.0) - 1.0).clamp(0.0, last))
}

/// Between the order statistics next to a place, counted from zero.
fn at_place(sorted: &[f64], place: f64) -> Option<f64> {
    let below = place.floor() as usize;
    let low = *sorted.get(below)?;
    let fraction = place - place.floor();
    match sorted.get(below + 1) {
        Some(high) if fraction > 0.0 => Some(low + fraction * (high - low)),
        _ => Some(low),
    }
}

/// Mean and sum of squared deviations, exact to nearly all digits: two passes over centred values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moments {
    pub(crate) count: usize,
    pub(crate) mean: f64,
    pub(crate) squares: f64,
}

impl Moments {
    pub(crate) fn of(values: &[f64]) -> Self {
        let centred = centre(values);
        let rest = sum(&centred.values) / values.len().max(1) as f64;
        Self {
            count: values.len(),
            mean: centred.shift + rest,
            squares: sum_of_squares(centred.values.iter().map(|value| value - rest)),
        }
    }

    pub(crate) fn variance(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        self.squares / (self.count - 1) as f64
    }

    pub(crate) fn sd(&self) -> f64 {
        self.variance().sqrt()
    }

    pub(crate) fn standard_error(&self) -> f64 {
        (self.variance() / self.count.max(1) as f64).sqrt()
    }
}
