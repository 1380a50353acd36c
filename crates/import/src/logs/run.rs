//! Contents of a log → the numbers of a run.

use std::collections::BTreeMap;

use model::run::{metric, phase};
use model::{Epoch, Event, EventKind, Metric, Outcome, Phase, Warning};

use super::told::{Ended, Step, Told, TrainClock};
use crate::summary::{IMAGES, STEPS, in_unit};

pub(super) struct Run<'t> {
    pub(super) told: &'t Told,
    /// Images of a step.
    pub(super) batch: Option<u64>,
    /// Images of an epoch.
    pub(super) images: Option<u64>,
}

/// A step that was reported, and how long was trained until its end.
struct Reached<'t> {
    step: &'t Step,
    trained_seconds: Option<f64>,
}

impl Run<'_> {
    pub(super) fn phases(&self) -> Vec<Phase> {
        if self.told.phases.is_timed() {
            return self.told.phases.all();
        }
        // Without times of lines, what its steps took is all that is known.
        let trained = self.train_seconds().filter(|seconds| *seconds > 0.0);
        let train = trained.map(|seconds| Phase {
            name: phase::TRAIN.to_owned(),
            begin_seconds: 0.0,
            seconds,
        });
        train.into_iter().collect()
    }

    pub(super) fn metrics(&self) -> BTreeMap<String, Metric> {
        let trained = self.train_seconds().filter(|seconds| *seconds > 0.0);
        let done = self.told.done_steps();
        let images = self.images_done();
        let total: f64 = self.phases().iter().map(|phase| phase.seconds).sum();
        let told = [
            (metric::TOTAL_SECONDS, "s", Some(total).filter(|s| *s > 0.0)),
            (metric::TRAIN_SECONDS, "s", trained),
            (metric::STEP_SECONDS, "s", self.step_seconds()),
            (metric::EPOCH_SECONDS, "s", self.epoch_seconds()),
            (metric::LOSS, "", self.loss()),
            (metric::ACCURACY, "%", self.told.accuracy.map(|a| 100.0 * a)),
            (STEPS, "", (done > 0).then_some(done as f64)),
            (IMAGES, "", images.filter(|images| *images > 0.0)),
            (
                metric::IMAGES_PER_SECOND,
                "1/s",
                images
                    .zip(trained)
                    .map(|(images, trained)| images / trained),
            ),
        ];
        told.into_iter()
            .filter_map(|(name, unit, value)| Some((name.to_owned(), in_unit(value?, unit))))
            .chain(self.told.metrics.clone())
            .collect()
    }

    /// The last batch of an epoch may be smaller; an epoch that was begun may not have seen all.
    fn images_done(&self) -> Option<f64> {
        let (told, done) = (self.told, self.told.done_steps());
        let of_steps = self.batch.map(|batch| batch.saturating_mul(done));
        let of_steps = of_steps.filter(|&images| images > 0);
        let of_epochs = |epochs: usize| Some(self.images?.saturating_mul(epochs as u64));
        let images = match of_steps {
            Some(of_steps) if told.epochs.is_empty() => Some(of_steps),
            Some(of_steps) => of_epochs(told.epochs.len())
                .into_iter()
                .chain([of_steps])
                .min(),
            None => of_epochs(told.finished_epochs()),
        };
        images.map(|images| images as f64)
    }

    /// Empty where it is not known how many images a step and an epoch have.
    pub(super) fn epochs(&self) -> Vec<Epoch> {
        if !self.told.epochs.is_empty() {
            return self.told.epochs.clone();
        }
        let (Some(batch), Some(images)) = (self.batch, self.images.filter(|&i| i > 0)) else {
            return Vec::new();
        };
        let mut losses: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for step in &self.told.steps {
            if let Some(epoch) = self.epoch_of(step.number) {
                losses.entry(epoch).or_default().extend(step.loss);
            }
        }
        let reached = self.reached();
        let epoch = |(epoch, losses): (u32, Vec<f64>)| {
            // Steps until its end, which need not be a whole number.
            let until = |epoch: u32| f64::from(epoch) * images as f64 / batch.max(1) as f64;
            let (begin, end) = (until(epoch - 1), until(epoch));
            let trained = self.trained_at(&reached, begin);
            let trained = trained.zip(self.trained_at(&reached, end));
            let mean = losses.iter().sum::<f64>() / losses.len() as f64;
            Epoch {
                epoch,
                loss: Some(mean).filter(|mean| mean.is_finite()),
                accuracy: None,
                seconds: trained
                    .map(|(begin, end)| end - begin)
                    .filter(|seconds| self.is_whole(epoch) && *seconds > 0.0),
            }
        };
        losses.into_iter().map(epoch).collect()
    }

    /// Of the last complete epoch, or of the last step without epochs; `None` if it diverged.
    fn loss(&self) -> Option<f64> {
        let last = self.told.steps.last().and_then(|step| step.loss);
        let epochs = self.epochs();
        let whole = epochs.iter().rev().find(|epoch| self.is_whole(epoch.epoch));
        let loss = whole.map_or(last, |epoch| epoch.loss);
        loss.filter(|loss| loss.is_finite() && last.is_none_or(f64::is_finite))
    }

    fn is_whole(&self, epoch: u32) -> bool {
        let last = self.told.epochs.last();
        if let Some(last) = last {
            return self.told.unfinished.is_none() || epoch < last.epoch;
        }
        let (batch, images) = (self.batch.unwrap_or(0), self.images.unwrap_or(0));
        let trained = batch.saturating_mul(self.told.last_step());
        images.saturating_mul(epoch.into()) <= trained
    }

    /// By their times, where lines have them.
    pub(super) fn events(&self) -> Vec<Event> {
        let started = self.told.started.map(|at| at.as_nanosecond() as f64 / 1e9);
        let event = |at_seconds: Option<f64>, kind| Event {
            at: started.zip(at_seconds).map(|(start, at)| start + at),
            kind,
        };
        let phases = match self.told.phases.is_timed() {
            true => self.told.phases.all(),
            false => Vec::new(),
        };
        let phases = phases.into_iter().map(|phase| {
            let at_seconds = Some(phase.begin_seconds);
            event(at_seconds, EventKind::Phase { phase: phase.name })
        });
        let steps = self.told.steps.iter().map(|step| {
            let kind = EventKind::Step {
                step: step.number,
                epoch: self.epoch_of(step.number),
                loss: step.loss.filter(|loss| loss.is_finite()),
                seconds: step.seconds,
                images: self.batch,
            };
            event(step.at_seconds, kind)
        });
        let accuracy = self.told.accuracy;
        let accuracy = accuracy.map(|value| event(None, EventKind::Accuracy { value }));
        // A step without a time stays behind the one before it.
        let mut last = f64::NEG_INFINITY;
        let steps = steps.map(|event| {
            last = event.at.unwrap_or(last);
            (last, event)
        });
        let phases = phases.map(|event| (event.at.unwrap_or(0.0), event));
        let mut all: Vec<(f64, Event)> = phases.chain(steps).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut all: Vec<Event> = all.into_iter().map(|(_, event)| event).collect();
        let epochs = self.told.epochs.iter().map(|epoch| EventKind::Epoch {
            epoch: epoch.epoch,
            loss: epoch.loss,
            accuracy: epoch.accuracy,
            seconds: epoch.seconds,
        });
        all.extend(epochs.map(|kind| event(None, kind)));
        all.extend(accuracy);
        all
    }

    /// Where it is known how many images a step and an epoch have.
    fn epoch_of(&self, step: u64) -> Option<u32> {
        let before = step.saturating_sub(1);
        let before = match self.told.steps_per_epoch.filter(|&steps| steps > 0) {
            Some(steps) => before / steps,
            None => before.saturating_mul(self.batch?) / self.images.filter(|&i| i > 0)?,
        };
        let before = u32::try_from(before).unwrap_or(u32::MAX);
        Some(before.saturating_add(1))
    }

    pub(super) fn outcome(&self, file: &str) -> Outcome {
        let status = self.told.ended.status();
        let last_epoch = self.told.epochs.last();
        let ends = match (self.told.last_step(), last_epoch) {
            (0, Some(last)) => format!("{file} ends after epoch {}", last.epoch),
            (0, None) => format!("{file} ends before its first step"),
            (last, _) => format!("{file} ends after step {last}"),
        };
        let detail = match &self.told.ended {
            Ended::Whole => None,
            Ended::Cut => Some(format!("{ends} without a final line")),
            Ended::OutOfMemory(said) | Ended::Failed(said) => Some(format!("{ends}: {said}")),
        };
        Outcome {
            status,
            detail,
            exit_code: None,
            signal: None,
        }
    }

    pub(super) fn warnings(&self) -> Vec<Warning> {
        let last = self.told.steps.last();
        let last = last.and_then(|step| step.loss);
        if last.is_none_or(f64::is_finite) {
            return self.told.warnings.clone();
        }
        let mut epochs = self.epochs().into_iter();
        let diverged = epochs.find(|epoch| epoch.loss.is_none());
        let epoch = diverged.map(|epoch| epoch.epoch);
        let mut warnings = self.told.warnings.clone();
        warnings.push(Warning::Diverged { epoch });
        warnings
    }

    /// By the times of the lines; or by the epochs; or by the steps, each standing for those since the one before.
    fn train_seconds(&self) -> Option<f64> {
        if self.told.phases.is_timed() {
            let trains = self.told.phases.all().into_iter();
            let trains = trains.filter(|part| part.name == phase::TRAIN);
            return trains.map(|part| part.seconds).reduce(|a, b| a + b);
        }
        let epochs = self.told.epochs.iter().map(|epoch| epoch.seconds);
        let epochs = epochs.take(self.told.finished_epochs());
        let begun = self.told.unfinished.map(|epoch| epoch.seconds);
        let sum: Option<f64> = epochs.chain(begun).sum();
        if let Some(seconds) = sum.filter(|seconds| *seconds > 0.0) {
            return Some(seconds);
        }
        self.reached().last()?.trained_seconds
    }

    /// The median over the steps that were reported.
    fn step_seconds(&self) -> Option<f64> {
        let mut seconds = Vec::new();
        let mut before: Option<(&Step, f64)> = None;
        for reached in self.reached() {
            let Some(trained) = reached.trained_seconds else {
                continue;
            };
            let step = reached.step;
            let took = match before {
                // A log that lacks its beginning does not tell when the first step began.
                None => Some((self.told.earlier_steps(), trained)).filter(|(_, took)| *took > 0.0),
                // What was re-run after a restart is not of this step.
                Some((last, before)) => {
                    (last.part == step.part).then_some((last.number, trained - before))
                }
            };
            if let Some((earlier, took)) = took {
                let steps = step.number.saturating_sub(earlier);
                seconds.extend((steps > 0).then(|| took / steps as f64));
            }
            before = Some((step, trained));
        }
        seconds.sort_by(f64::total_cmp);
        let middle = seconds.len() / 2;
        let upper = *seconds.get(middle)?;
        let median = match seconds.len() % 2 {
            0 => f64::midpoint(*seconds.get(middle - 1)?, upper),
            _ => upper,
        };
        (median > 0.0).then_some(median)
    }

    fn epoch_seconds(&self) -> Option<f64> {
        let seconds: Vec<f64> = self.epochs().iter().filter_map(|e| e.seconds).collect();
        (!seconds.is_empty()).then(|| seconds.iter().sum::<f64>() / seconds.len() as f64)
    }

    fn reached(&self) -> Vec<Reached<'_>> {
        let phases = self.told.phases.all();
        let clock = self.told.phases.is_timed().then(|| TrainClock::of(&phases));
        let mut sum_seconds = 0.0;
        let mut before = self.told.earlier_steps();
        let mut reached = Vec::with_capacity(self.told.steps.len());
        for step in &self.told.steps {
            let trained_seconds = match &clock {
                Some(clock) => step.at_seconds.map(|at| clock.until(at)),
                None => step.seconds.map(|seconds| {
                    sum_seconds += seconds * step.number.saturating_sub(before) as f64;
                    sum_seconds
                }),
            };
            before = step.number;
            reached.push(Reached {
                step,
                trained_seconds,
            });
        }
        reached
    }

    /// Between the steps that were reported, in proportion; none before the first step of the log and
    /// beyond the last.
    fn trained_at(&self, reached: &[Reached<'_>], steps: f64) -> Option<f64> {
        let told = reached.iter();
        let told = told.filter_map(|r| Some((r.step.number as f64, r.trained_seconds?)));
        let end = (self.told.last_step() as f64, self.train_seconds()?);
        let mut before = (self.told.earlier_steps() as f64, 0.0);
        for (number, trained) in told.chain([end]) {
            if before.0 <= steps && steps <= number && before.0 < number {
                let share = (steps - before.0) / (number - before.0);
                return Some(before.1 + share * (trained - before.1));
            }
            before = (number, trained);
        }
        None
    }
}
