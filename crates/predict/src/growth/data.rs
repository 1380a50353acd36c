//! Levels reduced to what laws need, and each law fitted to them.

use stats::Interval;
use stats::distribution::f_sf;

use super::fit::{Best, Fitter, Mean};
use super::fitted::{Fitted, Spread};
use super::law::Law;
use super::{Kind, LEAST_LEVELS, LEAST_REPEATED, LawFit, Level, Refusal};

/// From here on the distances of means from the law, not runs from their mean, make its intervals.
const DOUBTFUL_FIT: f64 = 0.05;
/// No machine measures time better than this, relative: keeps logarithms of sums of squares finite.
const FINEST: f64 = 1e-6;

pub(super) struct Data {
    pub(super) reference: f64,
    pub(super) means: Vec<Mean>,
    /// Squares of logarithms about the mean of their level.
    pure: f64,
    pub(super) runs: usize,
}

/// A law with its best shape, before intervals.
pub(super) struct Tried {
    pub(super) law: Law,
    pub(super) best: Best,
    pub(super) aicc: f64,
    pub(super) lack_of_fit_p: f64,
    pub(super) deviation: f64,
}

impl Data {
    pub(super) fn new(levels: &[Level], kind: Kind) -> Result<Data, Refusal> {
        let measured = || levels.iter().filter(|level| !level.values.is_empty());
        let is_positive = |value: &f64| value.is_finite() && *value > 0.0;
        let numbers = measured().flat_map(|level| level.values.iter().chain([&level.at]));
        if !numbers.into_iter().all(is_positive) {
            return Err(Refusal::NotPositive);
        }
        let smallest = measured().map(|level| level.at).fold(f64::MAX, f64::min);
        let reference = match kind {
            Kind::Count => 1.0,
            Kind::Size => smallest,
        };
        let mut pure = 0.0;
        let mean = |level: &Level| {
            let logarithms: Vec<f64> = level.values.iter().map(|value| value.ln()).collect();
            let ln_mean = stats::precise::mean(&logarithms);
            let squares = logarithms.iter().map(|value| (value - ln_mean).powi(2));
            pure += squares.sum::<f64>();
            Mean {
                u: level.at / reference,
                ln_mean,
                count: level.values.len() as f64,
            }
        };
        let means: Vec<Mean> = measured().map(mean).collect();
        let runs = measured().map(|level| level.values.len()).sum();
        let levels = means.len();
        if levels < LEAST_LEVELS {
            return Err(Refusal::TooFewLevels { levels });
        }
        let repeated = runs - levels;
        if repeated < LEAST_REPEATED {
            return Err(Refusal::TooFewRepetitions { repeated });
        }
        let least = runs as f64 * FINEST.powi(2);
        Ok(Data {
            reference,
            means,
            pure: pure.max(least),
            runs,
        })
    }

    pub(super) fn range(&self) -> Interval {
        let levels = || self.means.iter().map(|mean| mean.u * self.reference);
        Interval {
            low: levels().fold(f64::MAX, f64::min),
            high: levels().fold(0.0, f64::max),
        }
    }

    pub(super) fn fit(&self, law: Law) -> Tried {
        let means = &self.means;
        let best = Fitter { law, means }.best();
        let (runs, levels) = (self.runs as f64, means.len() as f64);
        // The spread is a parameter too.
        let parameters = law.parameters() as f64 + 1.0;
        let correction = 2.0 * parameters * (parameters + 1.0) / (runs - parameters - 1.0).max(0.5);
        let between = levels - law.parameters() as f64;
        let within = runs - levels;
        let f = (best.squares / between) / (self.pure / within);
        Tried {
            law,
            aicc: runs * ((self.pure + best.squares) / runs).ln() + 2.0 * parameters + correction,
            lack_of_fit_p: f_sf(f, between, within),
            // Beyond what the spread of runs does to means.
            deviation: ((best.squares - between * self.pure / within) / runs)
                .max(0.0)
                .sqrt(),
            best,
        }
    }

    pub(super) fn fitted(&self, tried: &Tried, confidence: f64) -> Fitted {
        let law = tried.law;
        let fitter = Fitter {
            law,
            means: &self.means,
        };
        let (runs, levels) = (self.runs as f64, self.means.len() as f64);
        let parameters = law.parameters() as f64;
        let pooled = (self.pure + tried.best.squares) / (runs - parameters);
        let doubtful = tried.lack_of_fit_p < DOUBTFUL_FIT;
        let (variance, freedom) = match doubtful {
            true => (
                tried.best.squares / (levels - parameters),
                levels - parameters,
            ),
            false => (pooled, runs - parameters),
        };
        let within = self.pure / (runs - levels);
        // What levels deviate by for reasons of their own.
        let own = ((variance - within) * levels / runs).max(0.0);
        let spread = Spread {
            variance,
            freedom,
            level_sd: if doubtful { own.sqrt() } else { 0.0 },
            run_sd: pooled.sqrt(),
            confidence,
        };
        Fitted::new(&fitter, tried.best, spread)
    }
}

impl Tried {
    pub(super) fn shown(&self, best: f64) -> LawFit {
        LawFit {
            law: self.law,
            aicc_above_best: self.aicc - best,
            lack_of_fit_p: self.lack_of_fit_p,
            deviation: self.deviation,
        }
    }

    pub(super) fn is_rejected(&self) -> bool {
        self.shown(0.0).is_rejected()
    }
}
