//! Only the beginning of a training or of a command is carried out, and its record is the whole run as predicted.

use std::fs;
use std::path::Path;

use model::event::CountUnit;
use model::job::PreviewJob;
use model::measurement::Foreseen;
use model::run::{Metric, Prediction, metric, phase};
use model::{Event, EventKind, Measurement, Order, Phase, Status, Work};
use predict::steady::FEWEST_STEPS;
use predict::whole_run::{self, Beginning, Length, StepSeen, ValidationSeen, WholeRun};

/// How much of a training, or of a command, is carried out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preview {
    /// Of its steps, at most.
    pub most: f64,
    /// At which the time of a step is known well enough to stop earlier.
    pub precision: f64,
    /// At which the whole time of a command, by what it prints, is known well enough to end it.
    pub known_at: f64,
}

impl Default for Preview {
    fn default() -> Self {
        Preview {
            most: 0.04,
            precision: 0.01,
            known_at: 0.05,
        }
    }
}

/// Steps that are carried out however long the training is: warm-up, and enough after it.
const FEWEST: u32 = 3 * FEWEST_STEPS as u32;

impl Preview {
    /// [`Order::known_at`].
    pub(crate) fn of_command(&self, work: &Work) -> Option<f64> {
        matches!(work, Work::Command(_)).then_some(self.known_at)
    }

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
    if let Some(foreseen) = measurement.foreseen {
        return Ok(continued(measurement, &foreseen));
    }
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

fn stretched(measurement: Measurement, whole: &WholeRun, length: &Length) -> Predicted {
    let prediction = Prediction {
        steps_seen: whole.steps_seen,
        steps: whole.steps,
        unit: CountUnit::Steps,
        seen_seconds: measurement.seconds,
        relative_error: whole.relative_error,
        is_settled: whole.steady.is_settled,
    };
    let mut measurement = with_phases(measurement, whole.phases.clone());
    let train = train_seconds(&measurement.phases);
    let epochs = f64::from(length.epochs);
    let made = [
        (metric::EPOCH_SECONDS, train / epochs.max(1.0)),
        (
            metric::IMAGES_PER_SECOND,
            f64::from(length.images) * epochs / train,
        ),
    ];
    set_metrics(&mut measurement, &made);
    Predicted {
        measurement,
        prediction,
    }
}

/// A command that was ended because its output said how long it takes: what it was doing then goes on
/// to the end.
fn continued(measurement: Measurement, foreseen: &Foreseen) -> Predicted {
    let seen_seconds = measurement.seconds;
    let mut phases = measurement.phases.clone();
    if let Some(last) = phases.last_mut() {
        last.seconds += (foreseen.total_seconds - seen_seconds).max(0.0);
    }
    Predicted {
        measurement: with_phases(measurement, phases),
        prediction: Prediction {
            steps_seen: foreseen.done as u64,
            steps: foreseen.total as u64,
            unit: foreseen.unit,
            seen_seconds,
            relative_error: foreseen.relative_error,
            is_settled: true,
        },
    }
}

/// The measurement of a beginning as that of a whole run with these phases, and without what is not
/// known of the whole.
fn with_phases(mut measurement: Measurement, phases: Vec<Phase>) -> Measurement {
    measurement.seconds = phases.iter().map(|phase| phase.seconds).sum();
    measurement.phases = phases;
    // Loss and accuracy are those of a training that has hardly begun.
    measurement.epochs.clear();
    measurement.profile.clear();
    let metrics = &mut measurement.metrics;
    metrics.retain(|name, _| KEPT.contains(&name.as_str()));
    let made = [
        (metric::TRAIN_SECONDS, train_seconds(&measurement.phases)),
        (metric::TOTAL_SECONDS, measurement.seconds),
    ];
    set_metrics(&mut measurement, &made);
    measurement
}

fn train_seconds(phases: &[Phase]) -> f64 {
    let train = phases.iter().filter(|p| p.name == phase::TRAIN);
    train.map(|p| p.seconds).sum()
}

fn set_metrics(measurement: &mut Measurement, made: &[(&str, f64)]) {
    for (name, value) in made.iter().filter(|(_, value)| value.is_finite()) {
        let unit = metric::definition(name).map_or("", |known| known.unit.symbol());
        let metric = Metric {
            value: *value,
            unit: unit.to_owned(),
        };
        measurement.metrics.insert((*name).to_owned(), metric);
    }
}
