//! Epochs whose log counts steps or images: which of them is known when all else is.

use super::told::{Step, Told};

/// What a log told at the end of an epoch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counted {
    pub(super) epoch: u32,
    /// Steps or images of the epoch.
    pub(super) count: Option<u64>,
    pub(super) counts: Counts,
    pub(super) loss: Option<f64>,
    pub(super) seconds: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counts {
    Steps,
    Images,
    /// Nothing in the log says which.
    Unclear,
}

/// Makes steps of what was counted, with the images of a step and of an epoch where these are known.
/// What stays unclear is told.
pub(super) fn settle(told: &mut Told, batch: Option<u64>, images: Option<u64>) -> Option<String> {
    let mut unclear = None;
    for (part, epoch) in (0..).zip(std::mem::take(&mut told.counted)) {
        let Some(count) = epoch.count.filter(|&count| count > 0) else {
            continue;
        };
        let steps = match epoch.counts {
            Counts::Unclear if images.is_none() => {
                unclear = unclear.or(Some(count));
                None
            }
            counts if counts == Counts::Images || images == Some(count) => {
                told.images = Some(count);
                // The last batch of an epoch may be smaller.
                batch.filter(|&b| b > 0).map(|batch| count.div_ceil(batch))
            }
            _ => Some(count),
        };
        let Some(steps) = steps else { continue };
        told.steps_per_epoch = Some(steps);
        told.step(Step {
            number: u64::from(epoch.epoch).saturating_mul(steps),
            loss: epoch.loss,
            at_seconds: None,
            seconds: epoch.seconds.map(|seconds| seconds / steps as f64),
            // What is told again replaces what was.
            part,
        });
    }
    unclear.map(|count| {
        format!(
            "`{count}/{count}` counts steps or images, and nothing in the log says which; neither is counted: give the images of an epoch with --images"
        )
    })
}
