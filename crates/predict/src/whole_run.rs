//! A whole run from the beginning of one: time by phase, with a prediction interval.
//!
//! Phases that a run has once (start, loading, saving, end) are taken as they were seen. Steps that
//! are still to come take the mean of the steady ones; held-out images that are still to be asked
//! take the time of those after the first batch, in which frameworks compile.

use model::Phase;
use model::run::phase;
use stats::distribution::student_quantile;

use crate::steady::{Steady, steady};

/// Relative standard deviation between whole runs of one scenario, where no repetitions show more:
/// memory layout, other programs and the processor's clock differ from run to run. Beginnings that
/// agree are no evidence of less: they were made within minutes of each other, and a machine varies
/// over hours.
pub const ASSUMED_SPREAD: f64 = 0.05;
/// Of a validation that was seen in part, relative: it has no steps to be averaged.
const VALIDATION_ERROR: f64 = 0.1;

/// How long the whole is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    pub epochs: u32,
    /// Of an epoch.
    pub images: u32,
    pub batch: u32,
    pub held_out: u32,
    /// After every epoch, not only after the last.
    pub validates_each_epoch: bool,
}

impl Length {
    /// In full batches: the last one of an epoch may be smaller.
    fn steps(&self) -> f64 {
        f64::from(self.epochs) * f64::from(self.images) / f64::from(self.batch.max(1))
    }

    /// With smaller ones.
    pub fn whole_steps(&self) -> u64 {
        u64::from(self.epochs) * u64::from(self.images.div_ceil(self.batch.max(1)))
    }

    fn held_out_batches(&self) -> f64 {
        f64::from(self.held_out) / f64::from(self.batch.max(1))
    }

    fn validations(&self) -> f64 {
        match self.validates_each_epoch {
            true => f64::from(self.epochs),
            false => 1.0,
        }
    }
}

/// What was seen of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Beginning {
    pub phases: Vec<Phase>,
    pub steps: Vec<StepSeen>,
    /// Epochs that were begun.
    pub epochs: u32,
    pub validation: Option<ValidationSeen>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepSeen {
    pub seconds: f64,
    pub images: u64,
}

/// Held-out images that were asked: the first batch, then others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValidationSeen {
    pub first_seconds: f64,
    pub other_seconds: f64,
    pub other_batches: u32,
}

/// The whole run, as predicted.
#[derive(Debug, Clone, PartialEq)]
pub struct WholeRun {
    pub phases: Vec<Phase>,
    pub steps_seen: u64,
    pub steps: u64,
    /// Standard error of the whole time, relative to it, by what was seen of this run.
    pub relative_error: f64,
    pub steady: Steady,
}

impl WholeRun {
    pub fn seconds(&self) -> f64 {
        self.phases.iter().map(|phase| phase.seconds).sum()
    }
}

/// `None` where too few steps of full size were seen.
pub fn predict(beginning: &Beginning, length: &Length) -> Option<WholeRun> {
    let full = u64::from(length.batch.min(length.images));
    let is_full = |step: &&StepSeen| step.images == full;
    let full_steps = beginning.steps.iter().filter(is_full);
    let full_steps: Vec<f64> = full_steps.map(|step| step.seconds).collect();
    let steady = steady(&full_steps)?;
    let phases = phases(beginning, length, steady.seconds);
    let seconds: f64 = phases.iter().map(|phase| phase.seconds).sum();
    let validation = validation_seconds(beginning.validation, length);
    let validation_error = VALIDATION_ERROR * validation.unwrap_or(0.0);
    let step_error = left(beginning, length) * steady.standard_error;
    let error = step_error.hypot(validation_error);
    Some(WholeRun {
        phases,
        steps_seen: beginning.steps.len() as u64,
        steps: length.whole_steps(),
        relative_error: if seconds > 0.0 { error / seconds } else { 0.0 },
        steady,
    })
}

/// Phases of the whole run by the median of the few steps that were seen, without the first: for slow
/// steps, of which nobody wants to wait for more. `None` where none was seen.
pub fn roughly(beginning: &Beginning, length: &Length) -> Option<Vec<Phase>> {
    let mut steps: Vec<f64> = beginning.steps.iter().map(|step| step.seconds).collect();
    if steps.len() > 1 {
        steps.remove(0);
    }
    steps.sort_by(f64::total_cmp);
    let median = *steps.get(steps.len() / 2)?;
    Some(phases(beginning, length, median))
}

/// Steps that are still to come, in full batches.
fn left(beginning: &Beginning, length: &Length) -> f64 {
    let seen: u64 = beginning.steps.iter().map(|step| step.images).sum();
    (length.steps() - seen as f64 / f64::from(length.batch.max(1))).max(0.0)
}

fn phases(beginning: &Beginning, length: &Length, step_seconds: f64) -> Vec<Phase> {
    let left = left(beginning, length);
    let validation = validation_seconds(beginning.validation, length);
    let mut at = 0.0;
    let phases = merged(&beginning.phases).into_iter().map(|seen| {
        let seconds = match seen.name.as_str() {
            phase::TRAIN => train_seconds(&seen, beginning, length) + left * step_seconds,
            phase::VERIFY => validation.unwrap_or(seen.seconds),
            _ => seen.seconds,
        };
        let begin_seconds = at;
        at += seconds;
        Phase {
            name: seen.name,
            begin_seconds,
            seconds,
        }
    });
    phases.collect()
}

/// Of the steps that were seen, and of what every epoch has beside its steps.
fn train_seconds(train: &Phase, beginning: &Beginning, length: &Length) -> f64 {
    let steps: f64 = beginning.steps.iter().map(|step| step.seconds).sum();
    let between = (train.seconds - steps).max(0.0);
    let epochs = f64::from(length.epochs) / f64::from(beginning.epochs.max(1));
    steps + between * epochs.max(1.0)
}

/// `None` where none was seen.
fn validation_seconds(seen: Option<ValidationSeen>, length: &Length) -> Option<f64> {
    let ValidationSeen {
        first_seconds,
        other_seconds,
        other_batches,
    } = seen?;
    let batches = length.held_out_batches() * length.validations();
    if other_batches == 0 {
        return Some(first_seconds * length.validations());
    }
    let each = other_seconds / f64::from(other_batches);
    let compiling = (first_seconds - each).max(0.0);
    Some(compiling + each * batches)
}

/// Phases that came several times, once, in the order of their first.
fn merged(phases: &[Phase]) -> Vec<Phase> {
    let mut found: Vec<Phase> = Vec::new();
    for phase in phases {
        match found.iter_mut().find(|known| known.name == phase.name) {
            Some(known) => known.seconds += phase.seconds,
            None => found.push(phase.clone()),
        }
    }
    found
}

/// How far whole runs of one scenario differ from each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunSpread {
    /// Standard deviation, relative.
    pub relative: f64,
    pub degrees_of_freedom: f64,
    /// Nothing showed more: [`ASSUMED_SPREAD`].
    pub is_assumed: bool,
}

impl RunSpread {
    /// Pooled over scenarios; each item has the predicted times of one scenario's runs.
    pub fn pooled<'t>(scenarios: impl IntoIterator<Item = &'t [f64]>) -> Self {
        let (mut squares, mut degrees) = (0.0, 0.0);
        for times in scenarios {
            let logs: Vec<f64> = times.iter().filter(|t| **t > 0.0).map(|t| t.ln()).collect();
            let count = logs.len() as f64;
            if count < 2.0 {
                continue;
            }
            let mean = logs.iter().sum::<f64>() / count;
            squares += logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
            degrees += count - 1.0;
        }
        let relative = (squares / degrees).sqrt();
        // So few degrees of freedom show nothing either.
        match degrees >= 2.0 && relative > ASSUMED_SPREAD {
            true => RunSpread {
                relative,
                degrees_of_freedom: degrees,
                is_assumed: false,
            },
            false => RunSpread::assumed(),
        }
    }

    pub fn assumed() -> Self {
        RunSpread {
            relative: ASSUMED_SPREAD,
            degrees_of_freedom: f64::INFINITY,
            is_assumed: true,
        }
    }

    /// Factors of the predicted time between which one whole run is expected, 95 of 100 times.
    /// `predictions` is how many beginnings the predicted time is the mean of.
    pub fn factors(&self, relative_error: f64, predictions: usize) -> (f64, f64) {
        let predictions = predictions.max(1) as f64;
        let variance = self.relative.powi(2) * (1.0 + 1.0 / predictions)
            + relative_error.powi(2) / predictions;
        let quantile = match self.degrees_of_freedom.is_finite() {
            true => student_quantile(0.975, self.degrees_of_freedom),
            false => stats::distribution::normal_quantile(0.975),
        };
        let half = quantile * variance.sqrt();
        ((-half).exp(), half.exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(name: &str, seconds: f64) -> Phase {
        Phase {
            name: name.to_owned(),
            begin_seconds: 0.0,
            seconds,
        }
    }

    fn length() -> Length {
        Length {
            epochs: 10,
            images: 1000,
            batch: 10,
            held_out: 200,
            validates_each_epoch: false,
        }
    }

    fn beginning(first: f64, each: f64, steps: usize) -> Beginning {
        let mut seen = vec![each; steps];
        seen[0] = first;
        let train: f64 = seen.iter().sum();
        Beginning {
            phases: vec![
                phase("startup", 2.0),
                phase("train", train),
                phase("verify", 1.5),
                phase("save", 0.5),
            ],
            steps: seen
                .into_iter()
                .map(|seconds| StepSeen {
                    seconds,
                    images: 10,
                })
                .collect(),
            epochs: 1,
            validation: Some(ValidationSeen {
                first_seconds: 1.1,
                other_seconds: 0.4,
                other_batches: 4,
            }),
        }
    }

    #[test]
    fn the_whole_is_the_sum_of_its_phases() {
        let whole = predict(&beginning(5.0, 0.1, 40), &length()).unwrap();
        let seconds = |name: &str| {
            let found = whole.phases.iter().find(|phase| phase.name == name);
            found.unwrap().seconds
        };
        // 1,000 steps, the first of which took 5 s; 20 batches of 0.1 s after compiling for 1 s.
        assert!((seconds("train") - (5.0 + 999.0 * 0.1)).abs() < 1e-9);
        assert!((seconds("verify") - 3.0).abs() < 1e-9);
        assert_eq!((seconds("startup"), seconds("save")), (2.0, 0.5));
        assert_eq!((whole.steps_seen, whole.steps), (40, 1000));
        assert!((whole.seconds() - 110.4).abs() < 1e-9);
    }

    #[test]
    fn a_validation_after_every_epoch_compiles_once() {
        let each_epoch = Length {
            validates_each_epoch: true,
            ..length()
        };
        let whole = predict(&beginning(0.1, 0.1, 40), &each_epoch).unwrap();
        let verify = whole.phases.iter().find(|phase| phase.name == "verify");
        assert!((verify.unwrap().seconds - (1.0 + 10.0 * 20.0 * 0.1)).abs() < 1e-9);
    }

    #[test]
    fn a_smaller_last_batch_is_no_step_of_full_size() {
        let mut seen = beginning(0.1, 0.1, 40);
        seen.steps[39] = StepSeen {
            seconds: 0.01,
            images: 1,
        };
        let whole = predict(&seen, &length()).unwrap();
        assert!((whole.steady.seconds - 0.1).abs() < 1e-12);
    }

    #[test]
    fn of_too_few_steps_nothing_is_predicted_but_roughly() {
        let few = beginning(5.0, 0.1, 4);
        assert_eq!(predict(&few, &length()), None);
        let phases = roughly(&few, &length()).unwrap();
        let train = phases.iter().find(|phase| phase.name == "train").unwrap();
        assert!((train.seconds - (5.0 + 999.0 * 0.1)).abs() < 1e-9);
        assert_eq!(roughly(&Beginning::default(), &length()), None);
    }

    #[test]
    fn one_run_of_each_scenario_or_agreement_shows_no_spread() {
        let alone: [&[f64]; 3] = [&[1.0], &[2.0], &[3.0]];
        assert!(RunSpread::pooled(alone).is_assumed);
        let alike: [&[f64]; 2] = [&[1.0, 1.001, 0.999], &[10.0, 10.01]];
        assert!(RunSpread::pooled(alike).is_assumed);
        let repeated: [&[f64]; 2] = [&[1.0, 1.1, 0.9], &[10.0, 10.5]];
        let spread = RunSpread::pooled(repeated);
        assert!(!spread.is_assumed && spread.degrees_of_freedom == 3.0);
        assert!(spread.relative > 0.02 && spread.relative < 0.15);
        let (low, high) = spread.factors(0.0, 1);
        assert!(low < 0.95 && high > 1.05 && (low * high - 1.0).abs() < 1e-12);
    }
}
