//! What is asked of Caffe beside the network.

use model::Optimizer;

use super::FORMAT;
use crate::formats::error::FormatError;

#[derive(Debug, Clone, PartialEq)]
pub struct Training {
    pub batch: u32,
    pub iterations: Iterations,
    /// `None` if there are no held-out images.
    pub test: Option<Test>,
    pub optimizer: Optimizer,
    pub device: Device,
    /// Of dropout; the weights and the order of the images are given.
    pub seed: u64,
    pub files: Files,
    /// Whether Caffe logs values of every layer and gradient, which takes time.
    pub debug: bool,
}

/// Names as Caffe shall open them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// The network's text file.
    pub net: String,
    /// A name and a label a line, all epochs one after the other: Caffe goes through it once.
    pub train_list: String,
    pub test_list: String,
    /// Put before every name of the lists; ends with `/`.
    pub images: String,
    /// `PREFIX_iter_N.caffemodel` is what Caffe saves.
    pub snapshot_prefix: String,
}

/// Images, batch and epochs as iterations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Iterations {
    pub an_epoch: u32,
    pub all: u32,
    /// Images of every epoch that fill no whole batch: all batches of Caffe are alike, so they
    /// are left out.
    pub left_out: u32,
}

impl Iterations {
    pub fn of(images: u32, batch: u32, epochs: u32) -> Result<Self, FormatError> {
        let an_epoch = images.checked_div(batch).unwrap_or(0);
        if an_epoch == 0 {
            return Err(settings(format!(
                "its batches all have the same size, and {images} images do not fill a batch of {batch}: use a smaller batch"
            )));
        }
        let all = an_epoch.checked_mul(epochs);
        // Its counter is a 32-bit number with a sign.
        let all = all.filter(|&all| all <= i32::MAX as u32).ok_or_else(|| {
            settings(format!(
                "{epochs} epochs of {an_epoch} iterations are more than it can count"
            ))
        })?;
        Ok(Iterations {
            an_epoch,
            all,
            left_out: images - an_epoch * batch,
        })
    }
}

/// How the held-out images are gone through, each once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Test {
    pub batch: u32,
    pub iterations: u32,
}

impl Test {
    /// The largest batch up to `most` that divides them: another would count images twice.
    pub fn of(held_out: u32, most: u32) -> Option<Self> {
        let batch = (1..=most.min(held_out))
            .rev()
            .find(|&batch| held_out.is_multiple_of(batch))?;
        Some(Test {
            batch,
            iterations: held_out / batch,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    Cpu,
    /// Its number.
    Gpu(u32),
}

impl Device {
    /// `cpu`, `cuda`, `cuda:1`.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        let text = text.trim();
        if text.contains(',') {
            return Err(settings(format!(
                "its image layer would give the same images to each device of `{text}`: train on one device"
            )));
        }
        match text.split_once(':') {
            None if text == "cpu" => Ok(Device::Cpu),
            None if text == "cuda" => Ok(Device::Gpu(0)),
            Some(("cuda", number)) if number.parse::<u32>().is_ok() => {
                Ok(Device::Gpu(number.parse().unwrap_or(0)))
            }
            _ => Err(settings(format!(
                "it has no device `{text}`: use cpu or cuda:0"
            ))),
        }
    }
}

pub(super) fn settings(what: String) -> FormatError {
    FormatError::Settings {
        format: FORMAT,
        what,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_become_iterations() {
        let check = |images, batch, epochs, expected: Option<(u32, u32, u32)>| {
            let made = Iterations::of(images, batch, epochs).ok();
            let made = made.map(|made| (made.an_epoch, made.all, made.left_out));
            assert_eq!(made, expected, "{images} in {batch}, {epochs} times");
        };
        check(1024, 128, 10, Some((8, 80, 0)));
        check(1000, 128, 2, Some((7, 14, 104)));
        check(4, 4, 1, Some((1, 1, 0)));
        check(3, 4, 1, None);
        check(3, 0, 1, None);
        check(u32::MAX, 1, 2, None);
        check(u32::MAX, 2, 1, Some((2_147_483_647, 2_147_483_647, 1)));
    }

    #[test]
    fn held_out_images_are_each_seen_once() {
        let check = |held_out, most, expected: Option<(u32, u32)>| {
            let made = Test::of(held_out, most).map(|test| (test.batch, test.iterations));
            assert_eq!(made, expected, "{held_out}, at most {most}");
        };
        check(10_000, 128, Some((125, 80)));
        check(256, 128, Some((128, 2)));
        check(7, 4, Some((1, 7)));
        check(3, 100, Some((3, 1)));
        check(0, 100, None);
    }

    #[test]
    fn devices_are_one() {
        let check = |text: &str, expected: Option<Device>| {
            assert_eq!(Device::parse(text).ok(), expected, "{text}");
        };
        check("cpu", Some(Device::Cpu));
        check("cuda", Some(Device::Gpu(0)));
        check(" cuda:3", Some(Device::Gpu(3)));
        check("cuda:0,cuda:1", None);
        check("cuda:x", None);
        check("tpu", None);
    }
}
