//! Only the beginning of a training: it is ended when the time of its steps is known.

use std::fs;
use std::path::{Path, PathBuf};

use model::run::phase;
use model::{EventKind, Happening, Order, Work};

/// Of a preview that is over by its time: of slow steps nobody waits for more.
const FEWEST_IN_TIME: usize = 5;
/// Looking at every step would find one by chance that seems to be known.
const LOOK_AFTER: f64 = 1.25;
/// Steps of a few tenths of a second are alike, and say nothing of how a machine varies over seconds
/// (its clock, its neighbours): a mean that seems to be known is believed after that long.
const FEWEST_SECONDS: f64 = 10.0;

/// Watches the steps of a training.
#[derive(Debug)]
pub struct Preview {
    enough: PathBuf,
    precision: f64,
    most_seconds: Option<f64>,
    /// Of a full step.
    images: u64,
    steps: Vec<f64>,
    look_at: usize,
    began: Option<f64>,
}

impl Preview {
    /// `None` for an order of a whole run. Tells the workload where to look.
    pub fn of(order: &mut Order, folder: &Path) -> Option<Self> {
        let Work::Train(train) = &mut order.work else {
            return None;
        };
        let images = u64::from(train.job.batch);
        let preview = train.job.preview.as_mut()?;
        let folder = std::path::absolute(folder).ok()?;
        let enough = folder.join("enough");
        preview.enough = Some(enough.clone());
        Some(Preview {
            enough,
            precision: preview.precision,
            most_seconds: preview.seconds,
            images,
            steps: Vec::new(),
            look_at: predict::steady::FEWEST_STEPS,
            began: None,
        })
    }

    pub fn take(&mut self, happening: &Happening) {
        let Happening::Event(event) = happening else {
            return;
        };
        match &event.kind {
            EventKind::Phase { phase } if phase == phase::TRAIN => self.began = event.at,
            EventKind::Step {
                seconds: Some(seconds),
                images,
                ..
            } => {
                if images.is_none_or(|images| images == self.images) {
                    self.steps.push(*seconds);
                }
                let is_enough = match self.most_seconds {
                    Some(most) => self.is_known() || self.is_long(most, event.at),
                    None => self.steps.iter().sum::<f64>() >= FEWEST_SECONDS && self.is_known(),
                };
                if is_enough {
                    // A workload that does not find it goes on to the last of its steps.
                    _ = fs::write(&self.enough, []);
                }
            }
            _ => {}
        }
    }

    fn is_known(&mut self) -> bool {
        if self.steps.len() < self.look_at {
            return false;
        }
        self.look_at = (self.steps.len() as f64 * LOOK_AFTER).ceil() as usize;
        let steady = predict::steady::steady(&self.steps);
        steady.is_some_and(|steady| steady.is_settled && steady.precision() <= self.precision)
    }

    fn is_long(&self, most: f64, at: Option<f64>) -> bool {
        let seconds = at.zip(self.began).map(|(at, began)| at - began);
        seconds.is_some_and(|seconds| seconds > most) && self.steps.len() >= FEWEST_IN_TIME
    }
}

impl Drop for Preview {
    fn drop(&mut self) {
        // It is no result.
        _ = fs::remove_file(&self.enough);
    }
}
