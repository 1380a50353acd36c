//! Time to a target over several runs, of which some did not reach it: these are censored at their end, not dropped.

use serde::Serialize;
use stats::{Estimate, Interval};

/// One run on its way to a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observed {
    /// Until it was reached, or until the run ended without.
    pub seconds: f64,
    pub reached: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToTarget {
    /// Of the runs that reached it within their length.
    pub share: Estimate,
    /// Median time by Kaplan and Meier (1958), with the interval of Brookmeyer and Crowley (1982) on the scale of
    /// log(−log); `None` where fewer than half got there, an end that the runs do not determine is left open.
    pub median: Option<Median>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Median {
    pub seconds: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// A step of the share that has not reached the target.
struct Step {
    seconds: f64,
    left: f64,
    /// Greenwood's sum.
    variance: f64,
}

/// `None` for no runs, or a time that is not finite.
pub fn to_target(runs: &[Observed], confidence: f64) -> Option<ToTarget> {
    if runs.iter().any(|run| !run.seconds.is_finite()) {
        return None;
    }
    let reached = runs.iter().filter(|run| run.reached).count();
    let share = stats::proportion(reached, runs.len(), confidence)?;
    Some(ToTarget {
        share,
        median: median(&steps(runs), confidence),
    })
}

fn steps(runs: &[Observed]) -> Vec<Step> {
    let mut runs = runs.to_vec();
    // A run that ended when another arrived was still on its way then.
    runs.sort_by(|a, b| {
        let time = a.seconds.total_cmp(&b.seconds);
        time.then(b.reached.cmp(&a.reached))
    });
    let (mut left, mut variance) = (1.0, 0.0);
    let mut steps: Vec<Step> = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        if !run.reached {
            continue;
        }
        let at_risk = (runs.len() - place) as f64;
        left *= 1.0 - 1.0 / at_risk;
        variance += match at_risk > 1.0 {
            true => 1.0 / (at_risk * (at_risk - 1.0)),
            false => f64::INFINITY,
        };
        steps.push(Step {
            seconds: run.seconds,
            left,
            variance,
        });
    }
    steps
}

fn median(steps: &[Step], confidence: f64) -> Option<Median> {
    const HALF: f64 = 0.5 + 1e-9;
    let place = steps.iter().position(|step| step.left <= HALF)?;
    // An even number of runs has two in the middle.
    let next = steps
        .get(place + 1)
        .filter(|_| (steps[place].left - 0.5).abs() < 1e-9);
    let seconds = next.map_or(steps[place].seconds, |next| {
        0.5 * (steps[place].seconds + next.seconds)
    });
    let z = stats::distribution::normal_quantile(0.5 + confidence / 2.0);
    let is_inside = |step: &Step| {
        let log = step.left.ln();
        let distance = (-log).ln() - 2.0_f64.ln().ln();
        let error = step.variance.sqrt() / log.abs();
        error.is_finite() && (distance / error).abs() <= z
    };
    let inside = steps.iter().filter(|step| is_inside(step));
    let inside: Vec<f64> = inside.map(|step| step.seconds).collect();
    // The interval ends with the first step after the last that is still inside.
    let after = inside.last().and_then(|last| {
        let rest = steps.iter().find(|step| step.seconds > *last);
        rest.map(|step| step.seconds)
    });
    let ends = Interval {
        low: inside.first().copied().unwrap_or(seconds),
        high: after.unwrap_or(f64::INFINITY),
    };
    Some(Median {
        seconds,
        low: Some(ends.low.min(seconds)).filter(|_| steps.len() > 2),
        high: Some(ends.high.max(seconds)).filter(|high| high.is_finite() && steps.len() > 2),
    })
}
