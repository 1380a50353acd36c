//! Linear or logarithmic: on which scale do the data fit a simple model?

use serde::{Deserialize, Serialize};

use crate::anova::{Design, Observation, Options, Source, factorial};
use crate::error::{StatsError, logarithms};
use crate::precise::{mean, sum};
use crate::summary::Moments;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    Linear,
    Log,
}

/// The scale to analyse on, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScaleChoice {
    pub scale: Scale,
    /// Why, as the end of a sentence.
    pub reason: String,
    /// By how much the logarithm is the more likely scale, in natural-log likelihood; `None` where the two cannot
    /// be compared.
    pub log_likelihood_gain: Option<f64>,
    /// Largest over smallest cell mean, where all values are above zero.
    pub ratio: Option<f64>,
}

/// From the values of each cell alone: on which scale is the spread within cells the same everywhere?
pub fn choose_scale(cells: &[Vec<f64>]) -> ScaleChoice {
    let values: Vec<f64> = cells.iter().flatten().copied().collect();
    let Ok(logs) = logarithms(&values) else {
        return not_positive();
    };
    let within = |cells: &[Vec<f64>]| -> Fit {
        let moments: Vec<Moments> = cells.iter().map(|cell| Moments::of(cell)).collect();
        Fit {
            squares: moments.iter().map(|cell| cell.squares).sum(),
            degrees_of_freedom: moments
                .iter()
                .map(|cell| cell.count.saturating_sub(1))
                .sum(),
        }
    };
    let log_cells: Vec<Vec<f64>> = cells
        .iter()
        .map(|cell| cell.iter().map(|v| v.ln()).collect())
        .collect();
    decide(&Evidence {
        linear: within(cells),
        log: within(&log_cells),
        logs: &logs,
        ratio: ratio(
            cells
                .iter()
                .filter(|cell| !cell.is_empty())
                .map(|cell| mean(cell)),
        ),
        model: "the variance within cells is more even",
    })
}

/// From the additive model of all factors: effects that multiply become additive on the logarithm.
pub fn choose_scale_factorial(
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
        model: "effects are multiplicative rather than additive",
    }))
}

fn not_positive() -> ScaleChoice {
    ScaleChoice {
        scale: Scale::Linear,
        reason: "some values are not above zero, so there are no logarithms".into(),
        log_likelihood_gain: None,
        ratio: None,
    }
}

/// What a model leaves unexplained.
struct Fit {
    squares: f64,
    degrees_of_freedom: usize,
}

/// The residual of the main effects alone.
fn additive_fit(design: &Design, observations: &[Observation]) -> Result<Fit, StatsError> {
    let options = Options {
        max_order: 1,
        blocks: false,
    };
    let anova = factorial(design, observations, options)?;
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

fn ratio(means: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let largest = means.clone().fold(f64::NEG_INFINITY, f64::max);
    let smallest = means.fold(f64::INFINITY, f64::min);
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
    model: &'a str,
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
    let ratio = evidence.ratio;
    let choice = |scale: Scale, reason: String, gain: Option<f64>| ScaleChoice {
        scale,
        reason,
        log_likelihood_gain: gain,
        ratio,
    };
    let comparable = evidence.linear.degrees_of_freedom > 0 && evidence.linear.squares > 0.0;
    if !comparable {
        let wide = ratio.is_some_and(|ratio| ratio > WIDE_RATIO);
        let spans = format!("values span a factor of {:.3}", ratio.unwrap_or(1.0));
        return if wide {
            choice(
                Scale::Log,
                format!("{spans}, but there are no residual degrees of freedom to decide"),
                None,
            )
        } else {
            choice(Scale::Linear, spans, None)
        };
    }
    let range = log_range(evidence.logs);
    if range < NARROW_RANGE {
        let reason = format!("all values are within {:.2} % of each other", 100.0 * range);
        return choice(Scale::Linear, reason, None);
    }
    if evidence.log.squares <= 0.0 {
        return choice(Scale::Log, "the logarithms fit exactly".into(), None);
    }
    let count = evidence.logs.len() as f64;
    let gain =
        0.5 * count * (evidence.linear.squares / evidence.log.squares).ln() - sum(evidence.logs);
    if gain > CLEAR_GAIN {
        let reason = format!(
            "{} (Box–Cox log-likelihood {gain:+.1} for the logarithm)",
            evidence.model
        );
        choice(Scale::Log, reason, Some(gain))
    } else {
        let reason = format!("the logarithm fits no better (Box–Cox log-likelihood {gain:+.1})");
        choice(Scale::Linear, reason, Some(gain))
    }
}
