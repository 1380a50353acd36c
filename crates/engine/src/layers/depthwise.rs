//! Convolutions of each channel by itself. In rows with zeros around every image, a place of the
//! window is the same distance away for all values of a channel: sums go along whole images, one
//! place of the window after the other, without a look at edges.

use rayon::prelude::*;

use super::Gradients;
use super::conv::Backward;
use super::sweep::Sweep;
use crate::dims::{pieces, pieces_mut, sum, sum_of};

/// Values that are worked on at once, to stay in the nearest cache.
const AT_ONCE: usize = 2048;
const LANES: usize = 16;

/// Some images of a channel with their padding, one row after the other.
struct Padded {
    images: usize,
    /// Of one image, with padding.
    height: usize,
    width: usize,
    /// How far each place of the window is from its first.
    distances: Vec<usize>,
    /// The farthest, and the lanes that may reach beyond the end.
    slack: usize,
}

impl Padded {
    fn new(sweep: &Sweep) -> Self {
        // The farthest value that any output sees; less than the padding, if strides leave some out.
        let reach = |axis: usize| (sweep.to[axis] - 1) * sweep.stride[axis] + sweep.kernel[axis];
        let side = |axis: usize| reach(axis).max(sweep.from[axis] + sweep.before[axis]);
        let (height, width) = (side(0), side(1));
        let places = (0..sweep.kernel[0]).flat_map(|y| (0..sweep.kernel[1]).map(move |x| (y, x)));
        let distances: Vec<usize> = places.map(|(y, x)| y * width + x).collect();
        Padded {
            images: (AT_ONCE / (height * width)).clamp(1, sweep.batch),
            height,
            width,
            slack: distances.last().map_or(0, |&last| last) + LANES,
            distances,
        }
    }

    /// Room for the images and for what is read before or after them.
    fn room(&self) -> Vec<f32> {
        vec![0.0; (self.images * self.height * self.width).next_multiple_of(LANES) + self.slack]
    }

    /// Rows of an image of the input and where they begin in the padded image.
    fn inside(&self, sweep: &Sweep, image: usize, row: usize) -> usize {
        (image * self.height + row + sweep.before[0]) * self.width + sweep.before[1]
    }

    fn pad(&self, sweep: &Sweep, images: &[f32], padded: &mut [f32]) {
        for (place, row) in images.chunks_exact(sweep.from[1]).enumerate() {
            let [image, row_place] = [place / sweep.from[0], place % sweep.from[0]];
            let begin = self.inside(sweep, image, row_place);
            padded[begin..][..row.len()].copy_from_slice(row);
        }
    }

    /// Where an output row begins, if outputs lie at the first value that they see.
    fn outside(&self, sweep: &Sweep, row: usize) -> usize {
        let [image, y] = [row / sweep.to[0], row % sweep.to[0]];
        (image * self.height + y * sweep.stride[0]) * self.width
    }
}

/// result[i] = Σ weight · values[i + distance], over the places of the window.
fn filter(
    values: &[f32],
    weight: &[f32],
    distances: impl Iterator<Item = usize> + Clone,
    result: &mut [f32],
) {
    for (place, result) in result.chunks_exact_mut(LANES).enumerate() {
        let mut sums = [0.0f32; LANES];
        for (weight, distance) in weight.iter().zip(distances.clone()) {
            let values = &values[place * LANES + distance..][..LANES];
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum += weight * value;
            }
        }
        result.copy_from_slice(&sums);
    }
}

pub(crate) fn forward(
    sweep: &Sweep,
    input: &[f32],
    weight: &[f32],
    bias: Option<&[f32]>,
) -> Vec<f32> {
    let [run, result_run] = sweep.runs();
    let layout = Padded::new(sweep);
    let mut output = vec![0.0; weight.len() / sweep.taps() * result_run];
    let channels = pieces_mut(&mut output, result_run)
        .zip(pieces(input, run))
        .zip(weight.par_chunks(sweep.taps()))
        .enumerate();
    channels.for_each_init(
        || (layout.room(), layout.room()),
        |(padded, filtered), (channel, ((output, input), weight))| {
            let bias = bias.map_or(0.0, |bias| bias[channel]);
            let some = input.chunks(layout.images * sweep.from[0] * sweep.from[1]);
            let outputs = output.chunks_mut(layout.images * sweep.to[0] * sweep.to[1]);
            for (input, output) in some.zip(outputs) {
                layout.pad(sweep, input, padded);
                let end = filtered.len() - layout.slack;
                filter(
                    padded,
                    weight,
                    layout.distances.iter().copied(),
                    &mut filtered[..end],
                );
                for (row, output) in output.chunks_exact_mut(sweep.to[1]).enumerate() {
                    let filtered = &filtered[layout.outside(sweep, row)..];
                    for (value, &sum) in output
                        .iter_mut()
                        .zip(filtered.iter().step_by(sweep.stride[1]))
                    {
                        *value = sum + bias;
                    }
                }
            }
        },
    );
    output
}

pub(crate) fn backward(sweep: &Sweep, given: &Backward<'_>) -> Gradients {
    let &Backward {
        input,
        weight,
        gradient,
        ..
    } = given;
    let [run, result_run] = sweep.runs();
    let layout = Padded::new(sweep);
    let mut input_gradient = vec![0.0; input.len()];
    let mut weight_gradient = vec![0.0; weight.len()];
    let channels = pieces_mut(&mut input_gradient, run)
        .zip(pieces(input, run))
        .zip(pieces(gradient, result_run))
        .zip(weight.par_chunks(sweep.taps()))
        .zip(weight_gradient.par_chunks_mut(sweep.taps()));
    channels.for_each_init(
        || [layout.room(), layout.room(), layout.room()],
        |rooms, ((((input_gradient, input), gradient), weight), weight_gradient)| {
            let inputs = layout.images * sweep.from[0] * sweep.from[1];
            let outputs = layout.images * sweep.to[0] * sweep.to[1];
            let some = input.chunks(inputs).zip(gradient.chunks(outputs));
            let mut sums = vec![0.0f64; weight.len()];
            for ((input, gradient), result) in some.zip(input_gradient.chunks_mut(inputs)) {
                some_images_backward(
                    sweep,
                    &layout,
                    rooms,
                    [input, gradient, weight],
                    &mut sums,
                    result,
                );
            }
            for (gradient, sum) in weight_gradient.iter_mut().zip(sums) {
                *gradient = sum as f32;
            }
        },
    );
    let sums = || pieces(gradient, result_run).map(|channel| sum(channel) as f32);
    Gradients {
        input: Some(input_gradient),
        weight: weight_gradient,
        bias: given.has_bias.then(|| sums().collect()),
    }
}

fn some_images_backward(
    sweep: &Sweep,
    layout: &Padded,
    [padded, spread, filtered]: &mut [Vec<f32>; 3],
    [input, gradient, weight]: [&[f32]; 3],
    sums: &mut [f64],
    result: &mut [f32],
) {
    layout.pad(sweep, input, padded);
    // Gradients where their outputs lie; before them, room for the way back.
    spread.fill(0.0);
    for (row, gradient) in gradient.chunks_exact(sweep.to[1]).enumerate() {
        let begin = layout.slack + layout.outside(sweep, row);
        for (value, gradient) in spread[begin..]
            .iter_mut()
            .step_by(sweep.stride[1])
            .zip(gradient)
        {
            *value = *gradient;
        }
    }
    let places = &spread[layout.slack..];
    for (sum, distance) in sums.iter_mut().zip(&layout.distances) {
        *sum += sum_of(places, &padded[*distance..][..places.len()], |a, b| a * b);
    }
    let end = filtered.len() - layout.slack;
    let distances = layout
        .distances
        .iter()
        .map(|distance| layout.slack - distance);
    filter(spread, weight, distances, &mut filtered[..end]);
    for (place, row) in result.chunks_exact_mut(sweep.from[1]).enumerate() {
        let begin = layout.inside(sweep, place / sweep.from[0], place % sweep.from[0]);
        row.copy_from_slice(&filtered[begin..][..row.len()]);
    }
}
