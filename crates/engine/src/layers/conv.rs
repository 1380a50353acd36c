//! Convolutions as matrix products, a few rows of the output at a time, so that what the window
//! sees stays in the cache. Weight [out, in / groups, height, width].

use std::ops::Range;

use rayon::prelude::*;

use super::Gradients;
use super::sweep::Sweep;
use crate::dims::{pieces, sum};
use crate::product::{Before, Matrix, product};

#[derive(Clone, Copy)]
pub(crate) struct Conv {
    pub(crate) sweep: Sweep,
    pub(crate) channels: usize,
    pub(crate) outputs: usize,
    pub(crate) groups: usize,
}

/// Sizes of tasks depend on the layer alone: the same sums, whatever the number of threads.
/// Values of one task's matrix of what the window sees, and its least columns.
const SEEN: usize = 64 * 1024;
const LEAST_COLUMNS: usize = 64;
/// Of the way back: columns whose products are added at once, rows of one task (of whole channels,
/// where the gradient of the input is asked for).
const BACK_COLUMNS: usize = 512;
const BACK_ROWS: usize = 144;
const BACK_CHANNELS: usize = 16;

impl Conv {
    /// Whether each channel is convolved by itself.
    pub(crate) fn is_depthwise(&self) -> bool {
        self.groups == self.channels && self.groups == self.outputs
    }

    /// Rows of the matrix of what a group's window sees.
    fn inner(&self) -> usize {
        self.channels / self.groups * self.sweep.taps()
    }

    /// Output rows, so many columns at least, a task at a time.
    fn tasks(&self, columns: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let rows = self.sweep.rows();
        let step = columns.div_ceil(self.sweep.to[1]).max(1);
        (0..rows)
            .step_by(step)
            .map(move |row| row..(row + step).min(rows))
    }

    /// Rows of the matrix of what the window sees of a group's channels, for these output rows.
    fn gather(&self, group: &[f32], inner: Range<usize>, rows: Range<usize>, seen: &mut Vec<f32>) {
        let columns = rows.len() * self.sweep.to[1];
        let [run, _] = self.sweep.runs();
        let taps = self.sweep.taps();
        seen.resize(inner.len() * columns, 0.0);
        for (place, result) in inner.zip(seen.chunks_exact_mut(columns)) {
            let channel = &group[place / taps * run..][..run];
            self.sweep
                .gather(channel, place % taps, rows.clone(), result);
        }
    }
}

pub(crate) fn forward(
    conv: &Conv,
    input: &[f32],
    weight: &[f32],
    bias: Option<&[f32]>,
) -> Vec<f32> {
    let [run, result_run] = conv.sweep.runs();
    let inner = conv.inner();
    let tasks = conv.tasks((SEEN / inner).max(LEAST_COLUMNS));
    let width = conv.sweep.to[1];
    let mut output = vec![0.0; conv.outputs * result_run];
    // The same columns of every channel are what a task writes.
    let mut channels: Vec<&mut [f32]> = output.chunks_exact_mut(result_run).collect();
    let tasks: Vec<(Range<usize>, Vec<&mut [f32]>)> = tasks
        .map(|rows| {
            let columns = rows.len() * width;
            let pieces = channels
                .iter_mut()
                .filter_map(|rest| rest.split_off_mut(..columns));
            (rows, pieces.collect())
        })
        .collect();
    tasks.into_par_iter().for_each_init(
        || (Vec::new(), Vec::new()),
        |(seen, result), (rows, mut pieces)| {
            let columns = rows.len() * width;
            let outputs = conv.outputs / conv.groups;
            let groups = input
                .chunks_exact(conv.channels / conv.groups * run)
                .zip(weight.chunks_exact(outputs * inner));
            result.resize(outputs * columns, 0.0);
            for (group, (input, weight)) in groups.enumerate() {
                conv.gather(input, 0..inner, rows.clone(), seen);
                let seen = Matrix::dense(seen, columns);
                product(Matrix::dense(weight, inner), seen, result, Before::Replaced);
                let pieces = pieces[group * outputs..].iter_mut();
                for (place, (piece, result)) in pieces.zip(result.chunks_exact(columns)).enumerate()
                {
                    let bias = bias.map_or(0.0, |bias| bias[group * outputs + place]);
                    for (value, result) in piece.iter_mut().zip(result) {
                        *value = result + bias;
                    }
                }
            }
        },
    );
    output
}

/// What [`backward`] is given.
#[derive(Clone, Copy)]
pub(crate) struct Backward<'a> {
    pub(crate) input: &'a [f32],
    pub(crate) weight: &'a [f32],
    pub(crate) gradient: &'a [f32],
    pub(crate) has_bias: bool,
    pub(crate) wants_input: bool,
}

/// Rows of the matrix of what a group's window sees, and their part of the gradients.
struct Task<'a> {
    group: usize,
    inner: Range<usize>,
    /// Of the channels of these rows; empty if no one asks.
    input: &'a mut [f32],
}

pub(crate) fn backward(conv: &Conv, given: &Backward<'_>) -> Gradients {
    let [run, result_run] = conv.sweep.runs();
    let inner = conv.inner();
    let taps = conv.sweep.taps();
    let step = if given.wants_input {
        (BACK_ROWS / taps).clamp(1, BACK_CHANNELS) * taps
    } else {
        inner.div_ceil(4).min(BACK_ROWS)
    };
    let wanted = if given.wants_input {
        conv.channels * run
    } else {
        0
    };
    let mut input = vec![0.0; wanted];
    let mut rest = input.as_mut_slice();
    let places =
        (0..conv.groups).flat_map(|group| (0..inner).step_by(step).map(move |row| (group, row)));
    let tasks: Vec<Task> = places
        .map(|(group, row)| {
            let inner = row..(row + step).min(inner);
            let values = inner.len() / taps * run;
            let input = rest.split_off_mut(..values).unwrap_or_default();
            Task {
                group,
                inner,
                input,
            }
        })
        .collect();
    let parts: Vec<Part> = tasks
        .into_par_iter()
        .map(|task| task_backward(conv, given, task))
        .collect();
    let mut weight = vec![0.0; given.weight.len()];
    let outputs = conv.outputs / conv.groups;
    for part in parts {
        let group = weight.chunks_exact_mut(outputs * inner).nth(part.group);
        let rows = group
            .into_iter()
            .flat_map(|group| group.chunks_exact_mut(inner));
        for (row, found) in rows.zip(part.weight.chunks_exact(part.inner.len())) {
            row[part.inner.clone()].copy_from_slice(found);
        }
    }
    let sums = || pieces(given.gradient, result_run).map(|channel| sum(channel) as f32);
    Gradients {
        input: given.wants_input.then_some(input),
        weight,
        bias: given.has_bias.then(|| sums().collect()),
    }
}

/// The gradient of some columns of a group's weight: [outputs, these].
struct Part {
    group: usize,
    inner: Range<usize>,
    weight: Vec<f32>,
}

fn task_backward(conv: &Conv, given: &Backward<'_>, task: Task<'_>) -> Part {
    let [run, result_run] = conv.sweep.runs();
    let (inner, taps) = (conv.inner(), conv.sweep.taps());
    let outputs = conv.outputs / conv.groups;
    let input = &given.input[task.group * (conv.channels / conv.groups) * run..];
    let gradient = &given.gradient[task.group * outputs * result_run..];
    let sides = [outputs, task.inner.len()];
    let begin = task.group * outputs * inner + task.inner.start;
    let weight = Matrix::new(&given.weight[begin..], sides, inner);
    let mut weight_gradient = vec![0.0; outputs * task.inner.len()];
    let mut seen = Vec::new();
    for rows in conv.tasks(BACK_COLUMNS) {
        let columns = rows.len() * conv.sweep.to[1];
        let begin = rows.start * conv.sweep.to[1];
        let gradient = Matrix::new(&gradient[begin..], [outputs, columns], result_run);
        conv.gather(input, task.inner.clone(), rows.clone(), &mut seen);
        let transposed = Matrix::dense(&seen, columns).transposed();
        product(gradient, transposed, &mut weight_gradient, Before::Added);
        if task.input.is_empty() {
            continue;
        }
        product(weight.transposed(), gradient, &mut seen, Before::Replaced);
        for (place, seen) in seen.chunks_exact(columns).enumerate() {
            let channel = &mut task.input[place / taps * run..][..run];
            conv.sweep
                .scatter(seen, place % taps, rows.clone(), channel);
        }
    }
    Part {
        group: task.group,
        inner: task.inner,
        weight: weight_gradient,
    }
}
