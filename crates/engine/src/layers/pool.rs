//! Pools: the largest value or the mean of a window, padding not counted; the mean of an image.

use std::ops::Range;

use rayon::prelude::*;

use super::sweep::Sweep;
use crate::dims::{pieces, pieces_mut, sum};

/// What the window of an output sees of an image.
struct Seen {
    /// Where the image begins in its channel.
    image: usize,
    rows: Range<usize>,
    columns: Range<usize>,
}

impl Sweep {
    /// The outputs of a channel in their order, and what they see.
    fn windows(&self) -> impl Iterator<Item = Seen> {
        let seen = |axis: usize, place: usize| {
            let begin = place * self.stride[axis];
            let end = (begin + self.kernel[axis]).saturating_sub(self.before[axis]);
            begin.saturating_sub(self.before[axis])..end.min(self.from[axis])
        };
        (0..self.rows()).flat_map(move |row| {
            let image = row / self.to[0] * self.from[0] * self.from[1];
            let rows = seen(0, row % self.to[0]);
            (0..self.to[1]).map(move |column| Seen {
                image,
                rows: rows.clone(),
                columns: seen(1, column),
            })
        })
    }
}

pub(crate) struct Largest {
    pub(crate) output: Vec<f32>,
    /// Where in its channel each was found; the first of equals.
    pub(crate) places: Vec<u32>,
}

pub(crate) fn largest(sweep: &Sweep, input: &[f32]) -> Largest {
    let [run, result_run] = sweep.runs();
    let values = input.len() / run * result_run;
    let (mut output, mut places) = (vec![0.0; values], vec![0; values]);
    let channels = pieces_mut(&mut output, result_run)
        .zip(places.par_chunks_mut(result_run))
        .zip(pieces(input, run));
    channels.for_each(|((output, places), input)| {
        let results = output.iter_mut().zip(places);
        for (seen, (output, place)) in sweep.windows().zip(results) {
            let (mut best, mut found) = (
                f32::NEG_INFINITY,
                seen.image + seen.rows.start * sweep.from[1] + seen.columns.start,
            );
            for row in seen.rows {
                let begin = seen.image + row * sweep.from[1];
                let row = &input[begin + seen.columns.start..begin + seen.columns.end];
                for (at, &value) in (begin + seen.columns.start..).zip(row) {
                    // NaN stays, as in other frameworks.
                    if value > best || value.is_nan() {
                        (best, found) = (value, at);
                    }
                }
            }
            (*output, *place) = (best, found as u32);
        }
    });
    Largest { output, places }
}

pub(crate) fn largest_backward(sweep: &Sweep, gradient: &[f32], places: &[u32]) -> Vec<f32> {
    let [run, result_run] = sweep.runs();
    let mut input = vec![0.0; gradient.len() / result_run * run];
    let channels = pieces_mut(&mut input, run)
        .zip(pieces(gradient, result_run))
        .zip(places.par_chunks(result_run));
    channels.for_each(|((input, gradient), places)| {
        for (gradient, &place) in gradient.iter().zip(places) {
            input[place as usize] += gradient;
        }
    });
    input
}

pub(crate) fn mean(sweep: &Sweep, input: &[f32]) -> Vec<f32> {
    let [run, result_run] = sweep.runs();
    let mut output = vec![0.0; input.len() / run * result_run];
    let channels = pieces_mut(&mut output, result_run).zip(pieces(input, run));
    channels.for_each(|(output, input)| {
        for (seen, output) in sweep.windows().zip(output) {
            let count = seen.rows.len() * seen.columns.len();
            let rows = seen.rows.map(|row| {
                let begin = seen.image + row * sweep.from[1];
                &input[begin + seen.columns.start..begin + seen.columns.end]
            });
            *output = rows.flatten().sum::<f32>() / count as f32;
        }
    });
    output
}

pub(crate) fn mean_backward(sweep: &Sweep, gradient: &[f32]) -> Vec<f32> {
    let [run, result_run] = sweep.runs();
    let mut input = vec![0.0; gradient.len() / result_run * run];
    let channels = pieces_mut(&mut input, run).zip(pieces(gradient, result_run));
    channels.for_each(|(input, gradient)| {
        for (seen, gradient) in sweep.windows().zip(gradient) {
            let share = gradient / (seen.rows.len() * seen.columns.len()) as f32;
            for row in seen.rows {
                let begin = seen.image + row * sweep.from[1];
                for value in &mut input[begin + seen.columns.start..begin + seen.columns.end] {
                    *value += share;
                }
            }
        }
    });
    input
}

/// One value for each channel of each image.
pub(crate) fn global_mean(input: &[f32], plane: usize) -> Vec<f32> {
    let planes = input.chunks_exact(plane);
    planes
        .map(|values| (sum(values) / plane as f64) as f32)
        .collect()
}

pub(crate) fn global_mean_backward(gradient: &[f32], plane: usize) -> Vec<f32> {
    let mut input = vec![0.0; gradient.len() * plane];
    for (values, gradient) in input.chunks_exact_mut(plane).zip(gradient) {
        values.fill(gradient / plane as f32);
    }
    input
}
