//! How time grows with cores, workers, batch and image size: laws fitted, chosen and extrapolated.
//!
//! Logarithms of times are fitted by least squares, all runs with the same relative spread. Among laws
//! with fewer parameters than there are levels, the one with the lowest AICc (Hurvich, Tsai 1989) is
//! chosen. Intervals are those of the profile likelihood (Bates, Watts 1988, chapter 6), which keep to
//! the bounds of parameters, as the hull over the laws that are nearly as good; beyond the measured
//! levels, over all laws that the data support. A law that the spread inside levels rejects and that misses their means by more than
//! [`MOST_DEVIATION`] is not stated at all.

mod cheapest;
mod data;
mod fit;
mod fitted;
mod law;

use serde::Serialize;
use stats::{Estimate, Interval};

pub use cheapest::{Cheapest, Priced};
use data::{Data, Tried};
pub(crate) use fit::{Fitter, Mean};
pub(crate) use fitted::{Fitted, Spread};
pub use law::Law;

/// Runs at one level of a factor.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    pub at: f64,
    /// Times above zero.
    pub values: Vec<f64>,
}

/// What the factor counts, which decides the laws that are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Work is divided among so many: cores, workers.
    Count,
    /// So much at once: batch, image size, memory.
    Size,
}

impl Kind {
    fn laws(self) -> &'static [Law] {
        match self {
            Kind::Count => &[Law::Constant, Law::Amdahl, Law::Power, Law::Scalability],
            Kind::Size => &[
                Law::Constant,
                Law::Linear,
                Law::Amdahl,
                Law::Power,
                Law::PowerAndConstant,
            ],
        }
    }
}

pub const LEAST_LEVELS: usize = 3;
/// Runs besides one at each level: fewer say nothing of the spread that a law is held against.
pub const LEAST_REPEATED: usize = 3;
/// Predictions end at so many times the largest level, and at that part of the smallest.
pub const MOST_EXTRAPOLATION: f64 = 2.0;
/// Typical relative distance of the means from a law that is still worth stating.
pub const MOST_DEVIATION: f64 = 0.05;
/// A law below this probability is held to be rejected by the runs.
const LACK_OF_FIT: f64 = 0.01;
/// Laws within this AICc of the best are supported (Burnham, Anderson 2002: less than a twentieth of its weight
/// beyond).
const SUPPORTED: f64 = 6.0;
/// Within this, laws are nearly as good: a quarter of the best one's weight or more.
const NEARLY_BEST: f64 = 2.8;

/// Why no law is stated.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "reason")]
pub enum Refusal {
    TooFewLevels {
        levels: usize,
    },
    /// A level or a time is zero, negative or not finite.
    NotPositive,
    TooFewRepetitions {
        repeated: usize,
    },
    NoLawFits {
        /// Of the best law: typical relative distance of the means from it.
        deviation: f64,
        p: f64,
    },
}

/// How one law did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LawFit {
    pub law: Law,
    /// Above the best law's.
    pub aicc_above_best: f64,
    /// Of an F test of the means about the law against the runs about their means.
    pub lack_of_fit_p: f64,
    /// Typical relative distance of the means from the law.
    pub deviation: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Parameter {
    pub name: &'static str,
    pub estimate: Estimate,
}

/// The law that was chosen.
#[derive(Debug, Clone)]
pub struct Growth {
    pub law: Law,
    /// Of the law's shape; its scale is the prediction at `reference`.
    pub parameters: Vec<Parameter>,
    pub reference: f64,
    /// By AICc, the chosen one first.
    pub laws: Vec<LawFit>,
    /// Smallest and largest level with results.
    pub measured: Interval,
    pub levels: usize,
    pub runs: usize,
    /// The level from which on more is slower, where the law has one.
    pub turning_point: Option<f64>,
    means: Vec<Mean>,
    /// The chosen one first, then those that are supported too.
    supported: Vec<Candidate>,
    confidence: f64,
}

/// A law that the data support.
#[derive(Debug, Clone)]
struct Candidate {
    fitted: Fitted,
    aicc: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Predicted {
    pub at: f64,
    /// Of the typical (median) run.
    pub typical: Estimate,
    /// Where one more run is expected.
    pub one_run: Interval,
    pub extrapolated: bool,
}

/// Outside of what may be predicted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TooFar {
    pub allowed: Interval,
}

pub fn grow(levels: &[Level], kind: Kind, confidence: f64) -> Result<Growth, Refusal> {
    let data = Data::new(levels, kind)?;
    let laws = kind.laws().iter();
    let possible = laws.filter(|law| law.parameters() < data.means.len());
    let mut fits: Vec<Tried> = possible.map(|law| data.fit(*law)).collect();
    fits.sort_by(|a, b| a.aicc.total_cmp(&b.aicc));
    let Some(best) = fits.first() else {
        let levels = data.means.len();
        return Err(Refusal::TooFewLevels { levels });
    };
    if best.is_rejected() {
        return Err(Refusal::NoLawFits {
            deviation: best.deviation,
            p: best.lack_of_fit_p,
        });
    }
    let supported = fits.iter().enumerate().filter(|(place, fit)| {
        *place == 0 || fit.aicc - best.aicc <= SUPPORTED && !fit.is_rejected()
    });
    let supported: Vec<Candidate> = supported
        .map(|(_, fit)| Candidate {
            fitted: data.fitted(fit, confidence),
            aicc: fit.aicc,
        })
        .collect();
    Ok(Growth {
        law: best.law,
        parameters: parameters(&supported[0].fitted, confidence, data.runs),
        reference: data.reference,
        laws: fits.iter().map(|fit| fit.shown(best.aicc)).collect(),
        measured: data.range(),
        levels: data.means.len(),
        runs: data.runs,
        turning_point: best.law.turning_point(best.best.shape),
        means: data.means,
        supported,
        confidence,
    })
}

impl Growth {
    pub fn allowed(&self) -> Interval {
        Interval {
            low: self.measured.low / MOST_EXTRAPOLATION,
            high: self.measured.high * MOST_EXTRAPOLATION,
        }
    }

    pub fn at(&self, at: f64) -> Result<Predicted, TooFar> {
        let allowed = self.allowed();
        if !allowed.contains(at) {
            return Err(TooFar { allowed });
        }
        let extrapolated = !self.measured.contains(at);
        let best = &self.supported[0];
        let chosen = &best.fitted;
        let u = at / self.reference;
        let value = chosen.ln_at(u);
        let furthest = if extrapolated { SUPPORTED } else { NEARLY_BEST };
        let asked = self.supported.iter();
        let asked = asked.filter(|law| law.aicc - best.aicc <= furthest);
        let hull = |ends: Interval, other: Interval| Interval {
            low: ends.low.min(other.low),
            high: ends.high.max(other.high),
        };
        let own = chosen.ln_interval(u);
        let ends = asked.map(|law| law.fitted.ln_interval(u)).fold(own, hull);
        let run = chosen.quantile * chosen.spread.run_sd;
        let wider = |end: f64| (end - value).hypot(run);
        let method = "law of growth, hull of the profile likelihood intervals of supported laws";
        Ok(Predicted {
            at,
            typical: Estimate {
                interval: Some(exponential(ends)),
                ..Estimate::bare(value.exp(), self.confidence, self.runs, method)
            },
            one_run: exponential(Interval {
                low: value - wider(ends.low),
                high: value + wider(ends.high),
            }),
            extrapolated,
        })
    }

    /// Laws that describe the runs nearly as well as the chosen one.
    pub fn rivals(&self) -> impl Iterator<Item = &LawFit> {
        let others = self.laws.iter().skip(1);
        others.filter(|fit| fit.aicc_above_best <= NEARLY_BEST && !fit.is_rejected())
    }
}

impl LawFit {
    fn is_rejected(&self) -> bool {
        self.lack_of_fit_p < LACK_OF_FIT && self.deviation > MOST_DEVIATION
    }

    /// Whether means deviate from the law by more than the spread of runs explains.
    pub fn is_approximate(&self) -> bool {
        self.lack_of_fit_p < LACK_OF_FIT
    }
}

fn exponential(ends: Interval) -> Interval {
    Interval {
        low: ends.low.exp(),
        high: ends.high.exp(),
    }
}

fn parameters(fitted: &Fitted, confidence: f64, runs: usize) -> Vec<Parameter> {
    let slots = fitted.law.slots().iter().enumerate();
    let parameter = |(place, slot): (usize, &law::Slot)| Parameter {
        name: slot.name,
        estimate: Estimate {
            interval: Some(fitted.parameter(place)),
            ..Estimate::bare(
                fitted.best.shape[place],
                confidence,
                runs,
                "least squares on logarithms, profile likelihood",
            )
        },
    };
    slots.map(parameter).collect()
}
