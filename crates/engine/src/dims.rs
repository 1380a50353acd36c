//! How values lie in memory, and how work on them is divided between threads.

use network::{Image, Shape};
use rayon::prelude::*;

/// Values are kept by channel: [channels, batch, height, width], vectors with sides of 1. A
/// channel, over which layers normalise and by which they concatenate, is then one piece of
/// memory, and a convolution of all images of a batch is one matrix product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dims {
    pub(crate) channels: usize,
    pub(crate) batch: usize,
    pub(crate) height: usize,
    pub(crate) width: usize,
}

impl Dims {
    pub(crate) fn new(shape: Shape, batch: usize) -> Self {
        let (channels, height, width) = match shape {
            Shape::Image(Image {
                channels,
                height,
                width,
            }) => (channels, height, width),
            Shape::Vector { features } => (features, 1, 1),
        };
        Dims {
            channels: channels as usize,
            batch,
            height: height as usize,
            width: width as usize,
        }
    }

    /// Values of one channel of one image.
    pub(crate) fn plane(self) -> usize {
        self.height * self.width
    }

    /// Values of one channel of all images.
    pub(crate) fn run(self) -> usize {
        self.batch * self.plane()
    }

    pub(crate) fn len(self) -> usize {
        self.channels * self.run()
    }

    /// From images one after the other.
    pub(crate) fn by_channel(self, images: &[f32]) -> Vec<f32> {
        exchange(images, [self.batch, self.channels], self.plane())
    }

    /// To images one after the other.
    pub(crate) fn by_image(self, values: &[f32]) -> Vec<f32> {
        exchange(values, [self.channels, self.batch], self.plane())
    }
}

/// [a, b, plane] → [b, a, plane].
fn exchange(values: &[f32], [a, b]: [usize; 2], plane: usize) -> Vec<f32> {
    let places = (0..b).flat_map(|second| (0..a).map(move |first| first * b + second));
    let mut result = Vec::with_capacity(values.len());
    for place in places {
        result.extend_from_slice(&values[place * plane..][..plane]);
    }
    result
}

/// Fewer values than these are not worth handing to another thread.
const TASK: usize = 16 * 1024;

/// Pieces of this many values, several to a task if they are short.
pub(crate) fn pieces_mut(
    values: &mut [f32],
    piece: usize,
) -> rayon::iter::MinLen<rayon::slice::ChunksMut<'_, f32>> {
    values
        .par_chunks_mut(piece.max(1))
        .with_min_len(TASK.div_ceil(piece.max(1)))
}

pub(crate) fn pieces(values: &[f32], piece: usize) -> rayon::slice::Chunks<'_, f32> {
    values.par_chunks(piece.max(1))
}

/// Changes every value of the first by the one of the second.
pub(crate) fn each(values: &mut [f32], other: &[f32], change: impl Fn(&mut f32, f32) + Sync) {
    let tasks = values.par_chunks_mut(TASK).zip(other.par_chunks(TASK));
    tasks.for_each(|(values, other)| {
        for (value, &other) in values.iter_mut().zip(other) {
            change(value, other);
        }
    });
}

const LANES: usize = 16;

/// Sums of short pieces in single precision, side by side, added up in double.
pub(crate) fn sum_of(values: &[f32], others: &[f32], term: impl Fn(f32, f32) -> f32) -> f64 {
    let piece = 64 * LANES;
    let mut total = 0.0;
    for (values, others) in values.chunks(piece).zip(others.chunks(piece)) {
        let mut lanes = [0.0f32; LANES];
        let (mut a, mut b) = (values.chunks_exact(LANES), others.chunks_exact(LANES));
        for (a, b) in (&mut a).zip(&mut b) {
            for (lane, (&a, &b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
                *lane += term(a, b);
            }
        }
        for (lane, (&a, &b)) in lanes
            .iter_mut()
            .zip(a.remainder().iter().zip(b.remainder()))
        {
            *lane += term(a, b);
        }
        total += f64::from(lanes.iter().sum::<f32>());
    }
    total
}

pub(crate) fn sum(values: &[f32]) -> f64 {
    sum_of(values, values, |value, _| value)
}
