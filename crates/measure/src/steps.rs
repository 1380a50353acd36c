//! The steps of a run: how long, of how many images, with which loss.

use crate::story::{LastLoss, finite};

/// Step times kept for their median; of more, every second one, then every fourth, …
const MOST_STEPS: usize = 1 << 18;

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Steps {
    /// Seconds of single steps.
    seconds: Vec<f64>,
    every: usize,
    reported: usize,
    /// Whether any was reported, with its time or without.
    pub(crate) any: bool,
    /// Of the first step; none where it was not reported how long it took.
    pub(crate) first_seconds: Option<f64>,
    pub(crate) last_at: Option<f64>,
    pub(crate) images: u64,
    last_loss: Option<f64>,
    without_loss: u64,
    /// The most steps without a loss up to one that had it.
    longest_without_loss: u64,
}

/// One step as reported.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Step {
    pub(crate) took_seconds: Option<f64>,
    /// Since the start of the run.
    pub(crate) at_seconds: f64,
    pub(crate) images: u64,
    pub(crate) loss: Option<f64>,
}

impl Steps {
    pub(crate) fn take(&mut self, step: Step) {
        self.any = true;
        self.take_loss(finite(step.loss));
        // Steps reported without their time are as long as the time between two of them.
        let at = step.at_seconds;
        let took = finite(step.took_seconds).or_else(|| self.last_at.map(|last| at - last));
        self.last_at = Some(at);
        self.images = self.images.saturating_add(step.images);
        self.every = self.every.max(1);
        if let Some(took) = took.filter(|took| *took > 0.0) {
            if self.reported.is_multiple_of(self.every) {
                self.seconds.push(took);
            }
            // Where steps are reported without their time, the first one's is unknown.
            if self.reported == 0 {
                self.first_seconds = finite(step.took_seconds);
            }
            self.reported += 1;
        }
        if self.seconds.len() >= MOST_STEPS {
            let mut index = 0;
            self.seconds.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.every *= 2;
        }
    }

    /// Steps vary much at the start, so that the mean says little.
    pub(crate) fn median_seconds(&self) -> Option<f64> {
        let mut sorted = self.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        match sorted.len() {
            0 => None,
            odd if odd % 2 == 1 => Some(sorted[middle]),
            _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
        }
    }

    /// Many tell the loss of every tenth step or so: it is lost when it is missing for longer
    /// than it ever was.
    pub(crate) fn last_loss(&self) -> LastLoss {
        match self.last_loss {
            None => LastLoss::Untold,
            Some(_) if self.without_loss > self.longest_without_loss => {
                LastLoss::Lost { epoch: None }
            }
            Some(loss) => LastLoss::Told(loss),
        }
    }

    fn take_loss(&mut self, loss: Option<f64>) {
        if loss.is_none() {
            self.without_loss += 1;
            return;
        }
        self.last_loss = loss;
        self.longest_without_loss = self.longest_without_loss.max(self.without_loss);
        self.without_loss = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_steps_need_no_more_memory() {
        let mut steps = Steps::default();
        (0..3 * MOST_STEPS).for_each(|index| {
            steps.take(Step {
                took_seconds: Some(1.0 + (index % 2) as f64),
                ..Step::default()
            });
        });
        assert!(steps.seconds.len() < MOST_STEPS);
        assert!(steps.median_seconds().is_some());
    }

    #[test]
    fn a_loss_told_now_and_then_is_not_lost() {
        let check = |losses: &[Option<f64>], expected: LastLoss| {
            let mut steps = Steps::default();
            for &loss in losses {
                steps.take(Step {
                    loss,
                    ..Step::default()
                });
            }
            assert_eq!(steps.last_loss(), expected, "{losses:?}");
        };
        let lost = LastLoss::Lost { epoch: None };
        check(&[], LastLoss::Untold);
        check(&[Some(f64::NAN)], LastLoss::Untold);
        check(&[Some(2.0), Some(1.0)], LastLoss::Told(1.0));
        check(&[Some(2.0), Some(f64::INFINITY)], lost);
        check(&[Some(2.0), None], lost);
        check(&[None, Some(2.0), None], LastLoss::Told(2.0));
        check(&[None, Some(2.0), None, None], lost);
    }
}
