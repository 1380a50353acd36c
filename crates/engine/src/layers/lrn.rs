//! Across channels: x / (k + α/size · Σ x²)^β (Krizhevsky, Sutskever, Hinton 2012, §3.3, with α
//! divided by the size as Caffe and PyTorch do). The sum reaches ⌊size/2⌋ channels back.

use std::ops::Range;

use rayon::prelude::*;

use crate::dims::{each, pieces, pieces_mut};

#[derive(Clone, Copy)]
pub(crate) struct Lrn {
    pub(crate) size: u32,
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    pub(crate) k: f64,
}

impl Lrn {
    /// The channels that this one is divided by.
    fn neighbours(&self, channel: usize, channels: usize) -> Range<usize> {
        let (size, before) = (self.size as usize, self.size as usize / 2);
        channel.saturating_sub(before)..(channel + size - before).min(channels)
    }

    /// The channels that are divided by this one.
    fn divided(&self, channel: usize, channels: usize) -> Range<usize> {
        let (size, before) = (self.size as usize, self.size as usize / 2);
        (channel + before + 1).saturating_sub(size)..(channel + before + 1).min(channels)
    }

    /// scale^−β.
    fn power(&self, scale: f32) -> f32 {
        // Nearly every network has this exponent, and roots are many times faster than powers.
        if self.beta == 0.75 {
            let root = scale.sqrt();
            1.0 / (root * root.sqrt())
        } else {
            scale.powf(-self.beta as f32)
        }
    }
}

pub(crate) struct Normalised {
    pub(crate) output: Vec<f32>,
    /// What is raised to the power.
    pub(crate) scale: Vec<f32>,
}

pub(crate) fn forward(rule: &Lrn, input: &[f32], run: usize) -> Normalised {
    let channels = input.len() / run;
    let share = (rule.alpha / f64::from(rule.size)) as f32;
    let mut scale = vec![rule.k as f32; input.len()];
    pieces_mut(&mut scale, run)
        .enumerate()
        .for_each(|(channel, scale)| {
            for neighbour in rule.neighbours(channel, channels) {
                for (scale, value) in scale.iter_mut().zip(&input[neighbour * run..][..run]) {
                    *scale += share * value * value;
                }
            }
        });
    let mut output = input.to_vec();
    each(&mut output, &scale, |value, scale| {
        *value *= rule.power(scale)
    });
    Normalised { output, scale }
}

/// dy · s^−β − 2αβ/size · x · Σ dy · x · s^(−β−1), summed over the channels divided by this one.
pub(crate) fn backward(
    rule: &Lrn,
    gradient: &[f32],
    input: &[f32],
    scale: &[f32],
    run: usize,
) -> Vec<f32> {
    let channels = input.len() / run;
    let factor = (2.0 * rule.alpha * rule.beta / f64::from(rule.size)) as f32;
    let mut parts = gradient.to_vec();
    each(&mut parts, scale, |part, scale| {
        *part *= rule.power(scale) / scale
    });
    each(&mut parts, input, |part, input| *part *= input);
    let mut result = gradient.to_vec();
    let tasks = pieces_mut(&mut result, run)
        .zip(pieces(scale, run))
        .zip(pieces(input, run));
    tasks.enumerate().for_each_init(
        || vec![0.0f32; run],
        |sums, (channel, ((result, scale), input))| {
            sums.fill(0.0);
            for other in rule.divided(channel, channels) {
                for (sum, part) in sums.iter_mut().zip(&parts[other * run..][..run]) {
                    *sum += part;
                }
            }
            let values = sums.iter().zip(scale.iter().zip(input));
            for (result, (sum, (&scale, input))) in result.iter_mut().zip(values) {
                *result = *result * rule.power(scale) - factor * input * sum;
            }
        },
    );
    result
}
