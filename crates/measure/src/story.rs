//! What a run reported of itself: phases, epochs, steps, numbers. Taken in as it comes, so that a
//! long run needs no more memory than a short one.

use model::run::{Epoch, FrameworkRecord, OperatorTime, Phase, phase};
use model::{Event, EventKind, Warning};

use crate::reported_metrics::ReportedMetrics;
use crate::steps::{Step, Steps};

/// A clock that differs by more than this from ours is not believed.
const BELIEVED_SECONDS: f64 = 1.0;
/// A profile longer than this is no summary any more.
const MOST_OPERATORS: usize = 1000;
/// More epochs or phases than a record is meant for.
const MOST_EPOCHS: usize = 100_000;
const MOST_PHASES: usize = 1000;

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Story {
    /// The start of the run by the clock that events are reported by.
    started_unix_seconds: f64,
    marks: Vec<Mark>,
    pub(crate) epochs: Vec<Epoch>,
    last_epoch_seconds: Option<f64>,
    epochs_left_out: u64,
    phases_left_out: u64,
    pub(crate) steps: Steps,
    pub(crate) accuracy: Option<f64>,
    pub(crate) metrics: ReportedMetrics,
    pub(crate) out_of_memory: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) framework: Option<FrameworkRecord>,
    pub(crate) profile: Vec<OperatorTime>,
}

/// The loss a run ended with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum LastLoss {
    Untold,
    Told(f64),
    /// It was reported and then became NaN.
    Lost {
        epoch: Option<u32>,
    },
}

/// A phase began.
#[derive(Debug, Clone, PartialEq)]
struct Mark {
    name: String,
    begin_seconds: f64,
}

impl Story {
    pub(crate) fn new(started_unix_seconds: f64) -> Self {
        Story {
            started_unix_seconds,
            ..Story::default()
        }
    }

    /// Takes in one event, read `now` seconds after the start of the run.
    pub(crate) fn take(&mut self, event: &Event, now: f64) {
        let seconds = self.moment(event, now);
        match &event.kind {
            EventKind::Phase { phase } => self.begin(phase, seconds),
            EventKind::Step {
                loss,
                seconds: took,
                images,
                ..
            } => {
                self.steps.take(Step {
                    took_seconds: *took,
                    at_seconds: seconds,
                    images: images.unwrap_or(0),
                    loss: *loss,
                });
            }
            EventKind::Epoch {
                epoch,
                loss,
                accuracy,
                seconds: took,
            } => {
                let took = finite(*took).or_else(|| self.since_last_epoch(seconds));
                self.last_epoch_seconds = Some(seconds);
                self.steps.last_at = None;
                let (loss, accuracy) = (finite(*loss), finite(*accuracy));
                if self.epochs.len() >= MOST_EPOCHS {
                    self.epochs_left_out += 1;
                    return;
                }
                self.epochs.push(Epoch {
                    epoch: *epoch,
                    loss,
                    accuracy,
                    seconds: took,
                });
            }
            EventKind::Accuracy { value } => self.accuracy = Some(*value),
            EventKind::Metric { name, value, unit } => {
                self.metrics.take(name, *value, unit);
            }
            EventKind::Note { .. } | EventKind::Recognised { .. } => {}
            EventKind::Framework { name, version } => {
                self.framework = Some(FrameworkRecord {
                    name: name.clone(),
                    version: Some(version.clone()),
                    verified: None,
                });
            }
            EventKind::Operator {
                name,
                kind,
                calls,
                seconds,
            } if seconds.is_finite() && self.profile.len() < MOST_OPERATORS => {
                self.profile.push(OperatorTime {
                    name: name.clone(),
                    kind: kind.clone(),
                    calls: *calls,
                    seconds: *seconds,
                });
            }
            EventKind::Operator { .. } => {}
            EventKind::Error { text } => {
                if !text.trim().is_empty() {
                    self.error.get_or_insert_with(|| text.clone());
                }
            }
            EventKind::OutOfMemory { detail } => self.out_of_memory = Some(detail.clone()),
        }
    }

    /// What was left out, and what was refused.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let cut = |what: &str, kept: usize, left_out: u64| {
            (left_out > 0).then(|| Warning::EventsCut {
                kept: format!("{kept} {what}"),
                left_out,
            })
        };
        let epochs = cut("epochs", MOST_EPOCHS, self.epochs_left_out);
        let phases = cut("phases", MOST_PHASES, self.phases_left_out);
        epochs.into_iter().chain(phases).collect()
    }

    pub(crate) fn profile(&self) -> Vec<OperatorTime> {
        let mut profile = self.profile.clone();
        profile.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        profile
    }

    /// Of the last epoch and of no earlier one; of the steps where no epoch tells a loss.
    pub(crate) fn last_loss(&self) -> LastLoss {
        let reported = self.epochs.iter().rposition(|epoch| epoch.loss.is_some());
        let Some((reported, after)) =
            reported.and_then(|reported| self.epochs[reported..].split_first())
        else {
            return self.steps.last_loss();
        };
        // An epoch may be reported in two parts, its loss in one and its accuracy in another.
        let lost = after.iter().find(|later| later.epoch != reported.epoch);
        match (lost, reported.loss) {
            (Some(lost), _) => LastLoss::Lost {
                epoch: Some(lost.epoch),
            },
            (None, Some(loss)) => LastLoss::Told(loss),
            (None, None) => LastLoss::Untold,
        }
    }

    /// A container began and ended at these moments, in seconds of the Unix epoch: what is before
    /// and after is its engine's. A workload that reports phases says itself when it begins.
    pub(crate) fn was_contained(&mut self, started: Option<f64>, finished: Option<f64>) {
        let since = |moment: f64| (moment - self.started_unix_seconds).max(0.0);
        let (started, finished) = (started.map(since), finished.map(since));
        if let (true, Some(started)) = (self.marks.is_empty(), started) {
            self.begin(phase::TRAIN, started);
        }
        if let Some(finished) = finished {
            self.begin(phase::SHUTDOWN, finished);
        }
    }

    /// Whether a phase began that runs are there for.
    pub(crate) fn has_worked(&self) -> bool {
        self.marks.iter().any(|mark| phase::is_work(&mark.name))
    }

    /// The phases of a run of this length: without gap, summing to it. A run that reported none is
    /// all `train`; what comes before the first is `startup`; the last lasts to the end.
    pub(crate) fn phases(&self, total_seconds: f64) -> Vec<Phase> {
        let mut marks: Vec<Mark> = Vec::new();
        let first = if self.marks.is_empty() {
            phase::TRAIN
        } else {
            phase::STARTUP
        };
        marks.push(Mark {
            name: first.to_owned(),
            begin_seconds: 0.0,
        });
        for mark in &self.marks {
            let begin_seconds = mark.begin_seconds.min(total_seconds);
            match marks.last_mut() {
                Some(last) if last.name == mark.name => {}
                // Begun and ended at one moment: it had no time of its own.
                Some(last) if last.begin_seconds >= begin_seconds => {
                    last.name.clone_from(&mark.name)
                }
                _ => marks.push(Mark {
                    name: mark.name.clone(),
                    begin_seconds,
                }),
            }
        }
        let ends = marks
            .iter()
            .skip(1)
            .map(|mark| mark.begin_seconds)
            .chain([total_seconds]);
        let phase = |(mark, end): (&Mark, f64)| Phase {
            name: mark.name.clone(),
            begin_seconds: mark.begin_seconds,
            seconds: end - mark.begin_seconds,
        };
        marks.iter().zip(ends).map(phase).collect()
    }

    /// When it happened, in seconds since the start; the moment of reading where the workload's
    /// clock cannot be right.
    fn moment(&self, event: &Event, now: f64) -> f64 {
        let reported = event.at.map(|at| at - self.started_unix_seconds);
        let believed = -BELIEVED_SECONDS..=now + BELIEVED_SECONDS;
        // Not held to `now`, which was read before the file: what was written in between would all
        // fall on one moment.
        reported
            .filter(|seconds| believed.contains(seconds))
            .unwrap_or(now)
            .max(0.0)
    }

    fn begin(&mut self, name: &str, seconds: f64) {
        let last = self.marks.last();
        if last.is_none_or(|last| last.name != name) {
            if self.marks.len() >= MOST_PHASES {
                self.phases_left_out += 1;
                return;
            }
            // Time does not go back.
            let begin_seconds = last.map_or(seconds, |last| last.begin_seconds.max(seconds));
            self.marks.push(Mark {
                name: name.to_owned(),
                begin_seconds,
            });
            self.steps.last_at = None;
        }
    }

    /// For epochs reported without their time: since the one before, or since training began.
    fn since_last_epoch(&self, seconds: f64) -> Option<f64> {
        let trains = self
            .marks
            .iter()
            .rev()
            .find(|mark| mark.name == phase::TRAIN);
        let began = trains.map(|mark| mark.begin_seconds);
        let since = [began, self.last_epoch_seconds]
            .into_iter()
            .flatten()
            .reduce(f64::max)?;
        Some(seconds - since).filter(|took| *took > 0.0)
    }
}

pub(crate) fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const START: f64 = 1_000_000.0;

    fn phase_event(name: &str, at: Option<f64>) -> Event {
        Event {
            at,
            kind: EventKind::Phase {
                phase: name.to_owned(),
            },
        }
    }

    /// Phases reported (name, reported moment, moment of reading) → (name, seconds).
    fn check(reported: &[(&str, Option<f64>, f64)], total: f64, expected: &[(&str, f64)]) {
        let mut story = Story::new(START);
        for (name, at, now) in reported {
            story.take(&phase_event(name, at.map(|at| START + at)), *now);
        }
        let phases = story.phases(total);
        let seen: Vec<(&str, f64)> = phases
            .iter()
            .map(|p| (p.name.as_str(), p.seconds))
            .collect();
        assert_eq!(seen, expected, "{reported:?}");
    }

    #[test]
    fn phases_follow_one_another() {
        check(&[], 7.0, &[("train", 7.0)]);
        check(
            &[
                ("load-data", Some(1.0), 1.02),
                ("train", Some(2.0), 2.02),
                ("save", Some(8.0), 8.0),
            ],
            10.0,
            &[
                ("startup", 1.0),
                ("load-data", 1.0),
                ("train", 6.0),
                ("save", 2.0),
            ],
        );
        // Told again, it goes on.
        let reported = [("train", Some(1.0), 1.0), ("train", Some(2.0), 2.0)];
        check(&reported, 3.0, &[("startup", 1.0), ("train", 2.0)]);
        // Written between the look at the clock and the look into the file.
        let reported = [("verify", Some(8.5), 8.0), ("shutdown", Some(8.75), 8.0)];
        let expected = [("startup", 8.5), ("verify", 0.25), ("shutdown", 1.25)];
        check(&reported, 10.0, &expected);
        // From the very beginning there is no startup.
        check(&[("train", Some(0.0), 0.1)], 3.0, &[("train", 3.0)]);
    }

    #[test]
    fn clocks_that_cannot_be_right_are_not_believed() {
        let check_one = |at, now, expected| {
            check(
                &[("train", at, now)],
                10.0,
                &[("startup", expected), ("train", 10.0 - expected)],
            );
        };
        check_one(Some(-500.0), 2.0, 2.0);
        check_one(Some(1e9), 2.0, 2.0);
        // A moment ahead: written after the look at the clock.
        check_one(Some(2.5), 2.0, 2.5);
        check_one(Some(3.5), 2.0, 2.0);
        check_one(None, 4.0, 4.0);
        let backwards = [("train", Some(5.0), 5.0), ("save", Some(4.5), 5.1)];
        check(&backwards, 10.0, &[("startup", 5.0), ("save", 5.0)]);
    }

    #[test]
    fn epochs_without_time_last_from_one_to_the_next() {
        let mut story = Story::new(START);
        story.take(&phase_event("train", Some(START + 1.0)), 1.0);
        for (epoch, at) in [(1, 3.0), (2, 7.0)] {
            let kind = EventKind::Epoch {
                epoch,
                loss: None,
                accuracy: None,
                seconds: None,
            };
            story.take(
                &Event {
                    at: Some(START + at),
                    kind,
                },
                at,
            );
        }
        let seconds: Vec<Option<f64>> = story.epochs.iter().map(|e| e.seconds).collect();
        assert_eq!(seconds, [Some(2.0), Some(4.0)]);
    }

    #[test]
    fn a_loss_that_was_lost_is_not_taken_from_an_earlier_epoch() {
        let check = |reported: &[(u32, Option<f64>)], expected: LastLoss| {
            let mut story = Story::new(START);
            for &(epoch, loss) in reported {
                let (accuracy, seconds) = (None, Some(1.0));
                let kind = EventKind::Epoch {
                    epoch,
                    loss,
                    accuracy,
                    seconds,
                };
                story.take(&Event { at: None, kind }, 1.0);
            }
            assert_eq!(story.last_loss(), expected, "{reported:?}");
        };
        let lost = |epoch| LastLoss::Lost { epoch: Some(epoch) };
        check(&[], LastLoss::Untold);
        check(&[(1, None), (2, None)], LastLoss::Untold);
        check(&[(1, Some(2.0)), (2, Some(1.0))], LastLoss::Told(1.0));
        check(&[(1, Some(2.0)), (2, Some(1.0)), (3, None)], lost(3));
        check(&[(1, Some(2.0)), (2, Some(f64::NAN)), (3, None)], lost(2));
        check(
            &[(1, Some(2.0)), (2, None), (3, Some(1.0))],
            LastLoss::Told(1.0),
        );
        // Loss and accuracy of one epoch in two events.
        check(&[(1, Some(2.0)), (1, None)], LastLoss::Told(2.0));
        check(&[(1, Some(2.0)), (1, None), (2, None)], lost(2));
    }

    #[test]
    fn the_median_step_does_not_mind_a_slow_first_one() {
        let mut story = Story::new(START);
        for (index, took) in [9.0, 1.0, 2.0, 3.0].into_iter().enumerate() {
            let kind = EventKind::Step {
                step: index as u64,
                epoch: None,
                loss: Some(f64::NAN),
                seconds: Some(took),
                images: Some(128),
            };
            story.take(&Event { at: None, kind }, index as f64);
        }
        assert_eq!(story.steps.median_seconds(), Some(2.5));
        assert_eq!(story.steps.images, 512);
        assert_eq!(story.last_loss(), LastLoss::Untold);
    }

    proptest! {
        #[test]
        fn phases_always_sum_to_the_run(
            reported in proptest::collection::vec((0_usize..4, -10.0..40.0_f64, 0.0..30.0_f64), 0..12),
            total in 0.0..30.0_f64,
        ) {
            let names = ["load-data", "train", "verify", "startup"];
            let mut story = Story::new(START);
            for (name, at, now) in reported {
                story.take(&phase_event(names[name], Some(START + at)), now);
            }
            let phases = story.phases(total);
            let sum: f64 = phases.iter().map(|p| p.seconds).sum();
            prop_assert!((sum - total).abs() < 1e-9);
            prop_assert!(phases.iter().all(|p| p.seconds >= 0.0));
            for pair in phases.windows(2) {
                let end = pair[0].begin_seconds + pair[0].seconds;
                prop_assert!((end - pair[1].begin_seconds).abs() < 1e-9);
            }
        }
    }
}
