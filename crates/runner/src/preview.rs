//! Only the beginning of a training is carried out, and its record is the whole run as predicted.

use std::fs;
use std::path::Path;

use model::job::PreviewJob;
use model::run::{Metric, Prediction, metric, phase};
use model::{Event, EventKind, Measurement, Order, Status, Work};
use predict::steady::FEWEST_STEPS;
use predict::whole_run::{self, Beginning, Length, StepSeen, ValidationSeen, WholeRun};

/// How much of a training is carried out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preview {
    /// Of its steps, at most.
    pub most: f64,
    /// At which the time of a step is known well enough to stop earlier.
    pub precision: f64,
}

impl Default for Preview {
    fn default() -> Self {
        Preview {
            most: 0.04,
            precision: 0.01,
        }
    }
}

/// Steps that are carried out however long the training is: warm-up, and enough after it.
const FEWEST: u32 = 3 * FEWEST_STEPS as u32;

impl Preview {
    /// `None` for a training so short that its beginning is most of it.
    pub fn of(&self, length: &Length) -> Option<PreviewJob> {
        let steps = length.whole_steps();
        let most = (steps as f64 * self.most).ceil() as u64;
        let most = most.max(u64::from(FEWEST));
        if most * 2 > steps {
            return None;
        }
        let validation = length.held_out.div_ceil(length.batch.max(1));
        let validation = f64::from(validation) * self.most;
        Some(PreviewJob {
            steps: u32::try_from(most).unwrap_or(u32::MAX),
            held_out_batches: 1 + (validation.ceil() as u32).max(2),
            enough: None,
            precision: self.precision,
            seconds: None,
        })
    }
}

/// What a run's folder says of its beginning.
#[derive(Debug)]
pub(crate) struct Predicted {
    pub(crate) measurement: Measurement,
    pub(crate) prediction: Prediction,
}

/// The whole run, of a measurement of its beginning; the measurement as it is where the order asked
/// for the whole, or where the beginning did not end well.
pub(crate) fn predict(
    order: &Order,
    length: Option<Length>,
    measurement: Measurement,
    folder: &Path,
) -> Result<Predicted, Box<Measurement>> {
    let (Work::Train(train), Some(length)) = (&order.work, length) else {
        return Err(Box::new(measurement));
    };
    let Some(preview) = &train.job.preview else {
        return Err(Box::new(measurement));
    };
    if measurement.outcome.status != Status::Ok {
        return Err(Box::new(measurement));
    }
    let beginning = beginning(folder, &measurement, preview);
    match whole_run::predict(&beginning, &length) {
        Some(whole) => Ok(stretched(measurement, &whole, &length)),
        None => Err(Box::new(not_predictable(
            measurement,
            beginning.steps.len(),
        ))),
    }
}

fn not_predictable(mut measurement: Measurement, steps: usize) -> Measurement {
    measurement.outcome.status = Status::Failed;
    measurement.outcome.detail = Some(format!(
        "only {steps} timed steps were seen of its beginning, too few to predict the whole run (it needs {FEWEST_STEPS} of full size): run it without --predict"
    ));
    measurement
}

/// What a run that was ended early shows, by the events in its folder.
pub(crate) fn beginning(
    folder: &Path,
    measurement: &Measurement,
    preview: &PreviewJob,
) -> Beginning {
    let events = fs::read_to_string(folder.join("events.jsonl")).unwrap_or_default();
    let lines = events.lines();
    let events = lines.filter_map(|line| serde_json::from_str::<Event>(line).ok());
    let mut found = Beginning {
        phases: measurement.phases.clone(),
        ..Beginning::default()
    };
    let mut phases: Vec<(String, f64)> = Vec::new();
    for event in events {
        match event.kind {
            EventKind::Step {
                epoch,
                seconds: Some(seconds),
                images,
                ..
            } => {
                found.epochs = found.epochs.max(epoch.unwrap_or(1));
                found.steps.push(StepSeen {
                    seconds,
                    images: images.unwrap_or_default(),
                });
            }
            EventKind::Phase { phase } => phases.extend(event.at.map(|at| (phase, at))),
            _ => {}
        }
    }
    found.validation = validation(&phases, &found, preview);
    found
}

/// Of phases with the moments at which they began.
fn validation(
    phases: &[(String, f64)],
    beginning: &Beginning,
    preview: &PreviewJob,
) -> Option<ValidationSeen> {
    let all = beginning.phases.iter();
    let all = all.filter(|seen| seen.name == phase::VERIFY);
    let all: f64 = all.map(|seen| seen.seconds).sum();
    let mut begun = phases.iter().filter(|(name, _)| name == phase::VERIFY);
    let (_, first) = begun.next()?;
    let batches = preview.held_out_batches.max(1);
    Some(match begun.next() {
        Some((_, others)) => {
            let first_seconds = (others - first).clamp(0.0, all);
            ValidationSeen {
                first_seconds,
                other_seconds: all - first_seconds,
                other_batches: batches - 1,
            }
        }
        // A workload that does not time its first batch apart.
        None => ValidationSeen {
            first_seconds: all / f64::from(batches),
            other_seconds: all,
            other_batches: batches,
        },
    })
}

/// Metrics that hold for the whole run as they were seen in its beginning.
const KEPT: [&str; 12] = [
    metric::STEP_SECONDS,
    metric::FIRST_STEP_SECONDS,
    metric::CPU_PERCENT,
    metric::PEAK_MEMORY_BYTES,
    metric::GPU_PERCENT,
    metric::GPU_MEMORY_PERCENT,
    metric::CORES_USED,
    metric::MACHINE_CPU_PERCENT,
    metric::GROUP_PEAK_MEMORY_BYTES,
    metric::MEMORY_PERCENT,
    metric::MEAN_MEMORY_PERCENT,
    metric::IMAGE_BYTES,
];

fn stretched(mut measurement: Measurement, whole: &WholeRun, length: &Length) -> Predicted {
    let seen_seconds = measurement.seconds;
    let seconds = whole.seconds();
    let train = whole.phases.iter().filter(|p| p.name == phase::TRAIN);
    let train: f64 = train.map(|p| p.seconds).sum();
    measurement.seconds = seconds;
    measurement.phases.clone_from(&whole.phases);
    // Loss and accuracy are those of a training that has hardly begun.
    measurement.epochs.clear();
    measurement.profile.clear();
    let metrics = &mut measurement.metrics;
    metrics.retain(|name, _| KEPT.contains(&name.as_str()));
    let images = f64::from(length.images) * f64::from(length.epochs);
    let made = [
        (metric::TRAIN_SECONDS, train),
        (metric::TOTAL_SECONDS, seconds),
        (
            metric::EPOCH_SECONDS,
            train / f64::from(length.epochs.max(1)),
        ),
        (metric::IMAGES_PER_SECOND, images / train),
    ];
    for (name, value) in made.into_iter().filter(|(_, value)| value.is_finite()) {
        let unit = metric::definition(name).map_or("", |known| known.unit.symbol());
        metrics.insert(
            name.to_owned(),
            Metric {
                value,
                unit: unit.to_owned(),
            },
        );
    }
    Predicted {
        measurement,
        prediction: Prediction {
            steps_seen: whole.steps_seen,
            steps: whole.steps,
            seen_seconds,
            relative_error: whole.relative_error,
            is_settled: whole.steady.is_settled,
        },
    }
}
