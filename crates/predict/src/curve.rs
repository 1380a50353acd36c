//! Learning curves: time to a target accuracy or loss, and curves continued beyond their last epoch.
//!
//! A curve is the distance from perfect after each epoch: 1 − accuracy, or the loss. Two families are
//! fitted to its logarithm after the first quarter, a power and an exponential decay, each to a floor
//! (Domhan, Springenberg, Hutter 2015 use these among others), and the interval is the hull of both:
//! what is not known is which of them holds. Epochs of one run depend on each other, which widens the
//! intervals; and a curve is first asked to predict its own last part from the part before, and its
//! intervals are widened by what it misses there.

mod reached;

use serde::Serialize;
use stats::Interval;

use crate::growth::{Fitted, Fitter, Law, Mean, Spread};

pub use reached::{Median, Observed, ToTarget, to_target};

/// Fewer epochs are not continued.
pub const LEAST_EPOCHS: usize = 8;
/// Curves are continued to so many times their epochs.
pub const MOST_CONTINUATION: usize = 3;
/// First part of a curve that is not fitted: other things happen there.
const BEGINNING: f64 = 0.25;
/// Part of a curve that predicts the rest, as a check.
const CHECKED_FROM: f64 = 0.6;
/// Relative spread of epochs about the fit above which a curve says nothing.
const NOISIEST: f64 = 0.35;
/// A curve whose own last part is further off than so many half widths is not continued.
const WIDEST: f64 = 5.0;
const FAMILIES: [Law; 2] = [Law::PowerDecay, Law::ExponentialDecay];

/// Why a curve is not continued, or not up to the target.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "reason")]
pub enum NotContinued {
    TooFewEpochs {
        epochs: usize,
    },
    /// A distance is not above zero: nothing is left to learn, or the run diverged.
    NothingLeft,
    Noisy {
        /// Relative spread of epochs about the fit.
        spread: f64,
    },
    /// The last half is not better than the half before by more than the noise.
    Flat,
    /// The first part of the curve does not predict the rest of it.
    Unpredictable,
    /// The whole interval stays short of the target.
    OutOfReach {
        /// Epochs up to which was looked.
        epochs: usize,
        /// The best that the interval holds there.
        best: f64,
    },
    /// The interval holds both reaching the target and not reaching it.
    Open {
        epochs: usize,
    },
}

/// A curve with what is expected after its last epoch.
#[derive(Debug, Clone)]
pub struct Continued {
    pub epochs: usize,
    families: Vec<Fitted>,
    first: f64,
    /// What the curve's own check was off by, for each logarithm of epochs: it grows with the distance.
    drift: f64,
    /// Of one epoch about the curve, with its quantile.
    noise: f64,
}

/// Of the distance from perfect after an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Expected {
    pub value: f64,
    /// Where the curve without noise is.
    pub curve: Interval,
    /// Where the epoch's own value is.
    pub epoch: Interval,
}

/// When a target is reached, in epochs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Arrival {
    pub epoch: usize,
    pub earliest: usize,
    /// `None` where the interval does not reach it as far as curves are continued.
    pub latest: Option<usize>,
}

/// Distances from perfect, one an epoch.
pub fn continued(distances: &[f64], confidence: f64) -> Result<Continued, NotContinued> {
    let epochs = distances.len();
    if epochs < LEAST_EPOCHS {
        return Err(NotContinued::TooFewEpochs { epochs });
    }
    if !distances
        .iter()
        .all(|value| value.is_finite() && *value > 0.0)
    {
        return Err(NotContinued::NothingLeft);
    }
    let mut curve = Continued::fit(distances, confidence);
    let spread = curve.families[0].spread.run_sd;
    if spread > NOISIEST {
        return Err(NotContinued::Noisy { spread });
    }
    if is_flat(distances, spread) {
        return Err(NotContinued::Flat);
    }
    let known = (CHECKED_FROM * epochs as f64).round() as usize;
    let check = Continued::fit(&distances[..known], confidence);
    let missed = (known..epochs).map(|place| check.missed(place + 1, distances[place].ln()));
    if missed.fold(1.0, f64::max) > WIDEST {
        return Err(NotContinued::Unpredictable);
    }
    curve.drift = check.drift(known, distances);
    Ok(curve)
}

/// Halves of what is fitted differ by less than two standard errors.
fn is_flat(distances: &[f64], spread: f64) -> bool {
    let fitted = &distances[beginning(distances.len())..];
    let (before, after) = fitted.split_at(fitted.len() / 2);
    let mean = |values: &[f64]| values.iter().map(|v| v.ln()).sum::<f64>() / values.len() as f64;
    let error = spread * (1.0 / before.len() as f64 + 1.0 / after.len() as f64).sqrt();
    mean(before) - mean(after) < 2.0 * error
}

fn beginning(epochs: usize) -> usize {
    (BEGINNING * epochs as f64).floor() as usize
}

impl Continued {
    fn fit(distances: &[f64], confidence: f64) -> Self {
        let skipped = beginning(distances.len());
        let first = (skipped + 1) as f64;
        let mean = |(place, value): (usize, &f64)| Mean {
            u: (place + 1) as f64 / first,
            ln_mean: value.ln(),
            count: 1.0,
        };
        let means: Vec<Mean> = distances
            .iter()
            .enumerate()
            .skip(skipped)
            .map(mean)
            .collect();
        let mut families: Vec<Fitted> = FAMILIES
            .iter()
            .map(|law| family(*law, &means, confidence))
            .collect();
        families.sort_by(|a, b| a.best.squares.total_cmp(&b.best.squares));
        let noise = families[0].quantile * families[0].spread.run_sd;
        Continued {
            epochs: distances.len(),
            families,
            first,
            drift: 0.0,
            noise,
        }
    }

    fn ln_interval(&self, epoch: usize) -> (f64, Interval) {
        let u = epoch as f64 / self.first;
        // One of them fits better, which says little of where it goes.
        let values = self.families.iter().map(|family| family.ln_at(u));
        let value = values.sum::<f64>() / self.families.len() as f64;
        let ends = self.families.iter().map(|family| family.ln_interval(u));
        let hull = ends.fold(
            Interval {
                low: value,
                high: value,
            },
            |a, b| Interval {
                low: a.low.min(b.low),
                high: a.high.max(b.high),
            },
        );
        let ahead = (epoch as f64 / self.epochs as f64).ln().max(0.0);
        let drift = self.drift * ahead;
        let interval = Interval {
            low: value - (value - hull.low).hypot(drift),
            high: value + (hull.high - value).hypot(drift),
        };
        (value, interval)
    }

    fn drift(&self, known: usize, distances: &[f64]) -> f64 {
        let later = distances.iter().enumerate().skip(known);
        let rates = later.map(|(place, value)| {
            let (expected, _) = self.ln_interval(place + 1);
            let ahead = ((place + 1) as f64 / known as f64).ln();
            ((value.ln() - expected).abs() - self.noise).max(0.0) / ahead
        });
        rates.fold(0.0, f64::max)
    }

    /// How many half widths a value is away.
    fn missed(&self, epoch: usize, ln_value: f64) -> f64 {
        let (value, interval) = self.ln_interval(epoch);
        let half = match ln_value < value {
            true => (value - interval.low).hypot(self.noise),
            false => (interval.high - value).hypot(self.noise),
        };
        (ln_value - value).abs() / half.max(1e-9)
    }

    /// Epochs up to which the curve is continued.
    pub fn furthest(&self) -> usize {
        MOST_CONTINUATION * self.epochs
    }

    /// `None` beyond that.
    pub fn at(&self, epoch: usize) -> Option<Expected> {
        if epoch == 0 || epoch > self.furthest() {
            return None;
        }
        let (value, curve) = self.ln_interval(epoch);
        Some(Expected {
            value: value.exp(),
            curve: Interval {
                low: curve.low.exp(),
                high: curve.high.exp(),
            },
            epoch: Interval {
                low: (value - (value - curve.low).hypot(self.noise)).exp(),
                high: (value + (curve.high - value).hypot(self.noise)).exp(),
            },
        })
    }

    /// The first epoch after the last at which the distance is at most the target.
    pub fn reaches(&self, target: f64) -> Result<Arrival, NotContinued> {
        let epochs = self.furthest();
        let after = || self.epochs + 1..=epochs;
        let first = |reached: &dyn Fn(&Expected) -> bool| {
            after().find(|epoch| self.at(*epoch).is_some_and(|expected| reached(&expected)))
        };
        let Some(earliest) = first(&|expected| expected.epoch.low <= target) else {
            let best = self.at(epochs).map_or(f64::NAN, |e| e.epoch.low);
            return Err(NotContinued::OutOfReach { epochs, best });
        };
        match first(&|expected| expected.value <= target) {
            Some(epoch) => Ok(Arrival {
                epoch,
                earliest,
                latest: first(&|expected| expected.curve.high <= target),
            }),
            None => Err(NotContinued::Open { epochs }),
        }
    }
}

/// Neighbouring epochs err alike: there is less to learn from them than their number says (Bartlett 1935).
fn family(law: Law, means: &[Mean], confidence: f64) -> Fitted {
    let fitter = Fitter { law, means };
    let best = fitter.best();
    let freedom = (means.len() - law.parameters()).max(1) as f64;
    let rest = |mean: &Mean| mean.ln_mean - best.ln_scale - law.ln_shape(best.shape, mean.u);
    let rests: Vec<f64> = means.iter().map(rest).collect();
    let products: f64 = rests.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let alike = (products / best.squares.max(1e-12)).clamp(0.0, 0.8);
    let variance = (best.squares / freedom).max(1e-12);
    let spread = Spread {
        variance: variance * (1.0 + alike) / (1.0 - alike),
        freedom,
        level_sd: 0.0,
        run_sd: variance.sqrt(),
        confidence,
    };
    Fitted::new(&fitter, best, spread)
}
