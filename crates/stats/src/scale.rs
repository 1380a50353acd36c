//! Linear or logarithmic: on which scale do the data fit a simple model?

use serde::Serialize;

use crate::anova::{Design, Observation, Source, factorial};
use crate::error::{StatsError, logarithms};
use crate::precise::sum;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    Linear,
    Logarithmic,
}

impl Scale {
    pub fn word(self) -> &'static str {
        match self {
            Scale::Linear => "linear",
            Scale::Logarithmic => "logarithmic",
        }
    }
}

/// The scale to analyse on, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct ScaleChoice {
    pub scale: Scale,
    pub reason: ScaleReason,
}

/// Why a scale was chosen; gains are of the Box–Cox log-likelihood by the logarithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ScaleReason {
    NotPositive,
    /// There is nothing to judge by but the ratio of the largest to the smallest value.
    Spans {
        ratio: f64,
    },
    /// Range relative to the values, a fraction.
    Narrow {
        range: f64,
    },
    LogarithmsFitExactly,
    Multiplicative {
        gain: f64,
    },
    NoBetter {
        gain: f64,
    },
}

/// From the additive model of all factors: effects that multiply become additive on the logarithm.
pub fn choose_scale(
    design: &Design,
    observations: &[Observation],
) -> Result<ScaleChoice, StatsError> {
    let linear = additive_fit(design, observations)?;
    let values: Vec<f64> = observations
        .iter()
        .map(|observation| observation.value)
        .collect();
    let Ok(logs) = logarithms(&values) else {
        return Ok(not_positive());
    };
    let on_log: Vec<Observation> = observations
        .iter()
        .zip(&logs)
        .map(|(observation, log)| Observation {
            value: *log,
            ..observation.clone()
        })
        .collect();
    Ok(decide(&Evidence {
        linear,
        log: additive_fit(design, &on_log)?,
        logs: &logs,
        ratio: ratio(values.iter().copied()),
    }))
}

fn not_positive() -> ScaleChoice {
    ScaleChoice {
        scale: Scale::Linear,
        reason: ScaleReason::NotPositive,
    }
}

/// What a model leaves unexplained.
struct Fit {
    squares: f64,
    degrees_of_freedom: usize,
}

/// The residual of the main effects alone.
fn additive_fit(design: &Design, observations: &[Observation]) -> Result<Fit, StatsError> {
    let anova = factorial(design, observations, 1)?;
    let higher = anova
        .terms
        .iter()
        .find(|term| term.source == Source::HigherOrder);
    Ok(Fit {
        squares: anova.residual.sum_of_squares + higher.map_or(0.0, |term| term.sum_of_squares),
        degrees_of_freedom: anova.residual.degrees_of_freedom
            + higher.map_or(0, |term| term.degrees_of_freedom),
    })
}

fn ratio(values: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let largest = values.clone().fold(f64::NEG_INFINITY, f64::max);
    let smallest = values.fold(f64::INFINITY, f64::min);
    let ratio = largest / smallest;
    ratio.is_finite().then_some(ratio)
}

/// Largest less smallest logarithm: for narrow ranges, the range relative to the values.
fn log_range(logs: &[f64]) -> f64 {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let smallest = logs.iter().copied().fold(f64::INFINITY, f64::min);
    largest - smallest
}

struct Evidence<'a> {
    linear: Fit,
    log: Fit,
    logs: &'a [f64],
    ratio: Option<f64>,
}

/// Without anything left over to judge by, this ratio of the largest to the smallest speaks for the logarithm.
const WIDE_RATIO: f64 = 3.0;

/// Half the 95 % point of chi-squared with one degree of freedom: a smaller gain may be chance.
const CLEAR_GAIN: f64 = 1.92;

/// Over a range this narrow, relative to the values, the logarithm is a straight line: it leaves its chord by at
/// most an eighth of the relative range, here 0.125 % of the whole variation. It can change no conclusion there,
/// but it costs digits, and rounding would decide between the scales.
const NARROW_RANGE: f64 = 0.01;

/// Box–Cox likelihood of λ = 0 against λ = 1 (Box, Cox 1964, equation 8); the linear scale, which is easier to
/// read, is kept unless the logarithm is clearly better.
fn decide(evidence: &Evidence) -> ScaleChoice {
    let linear = |reason: ScaleReason| ScaleChoice {
        scale: Scale::Linear,
        reason,
    };
    let log = |reason: ScaleReason| ScaleChoice {
        scale: Scale::Logarithmic,
        reason,
    };
    let comparable = evidence.linear.degrees_of_freedom > 0 && evidence.linear.squares > 0.0;
    if !comparable {
        let wide = evidence.ratio.is_some_and(|ratio| ratio > WIDE_RATIO);
        let ratio = evidence.ratio.unwrap_or(1.0);
        let spans = ScaleReason::Spans { ratio };
        return match wide {
            true => log(spans),
            false => linear(spans),
        };
    }
    let range = log_range(evidence.logs);
    if range < NARROW_RANGE {
        return linear(ScaleReason::Narrow { range });
    }
    if evidence.log.squares <= 0.0 {
        return log(ScaleReason::LogarithmsFitExactly);
    }
    let count = evidence.logs.len() as f64;
    let gain =
        0.5 * count * (evidence.linear.squares / evidence.log.squares).ln() - sum(evidence.logs);
    if gain > CLEAR_GAIN {
        log(ScaleReason::Multiplicative { gain })
    } else {
        linear(ScaleReason::NoBetter { gain })
    }
}
