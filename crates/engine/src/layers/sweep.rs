//! A window that moves over the images of a batch, for convolutions and pools.

use std::ops::Range;

use network::Window;

use crate::dims::Dims;

/// `[height, width]` pairs throughout. Output rows are counted over all images of a batch.
#[derive(Clone, Copy)]
pub(crate) struct Sweep {
    pub(crate) batch: usize,
    pub(crate) from: [usize; 2],
    pub(crate) to: [usize; 2],
    pub(crate) kernel: [usize; 2],
    pub(crate) stride: [usize; 2],
    /// Padding above and on the left.
    pub(crate) before: [usize; 2],
}

impl Sweep {
    pub(crate) fn new(window: Window, from: Dims, to: Dims) -> Self {
        let pair = |values: [u32; 2]| values.map(|value| value as usize);
        Sweep {
            batch: from.batch,
            from: [from.height, from.width],
            to: [to.height, to.width],
            kernel: pair(window.kernel),
            stride: pair(window.stride),
            before: pair([window.padding.top, window.padding.left]),
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.batch * self.to[0]
    }

    pub(crate) fn taps(&self) -> usize {
        self.kernel[0] * self.kernel[1]
    }

    /// Values of one channel that the window goes over, and that it gives.
    pub(crate) fn runs(&self) -> [usize; 2] {
        [self.from, self.to].map(|[height, width]| self.batch * height * width)
    }

    /// Whether output and input are the same, place by place.
    fn is_identity(&self) -> bool {
        self.kernel == [1, 1] && self.stride == [1, 1] && self.from == self.to
    }

    /// Along an axis: which outputs see a value, not padding, at this place of the window.
    fn seen(&self, axis: usize, tap: usize) -> Range<usize> {
        let (stride, before) = (self.stride[axis], self.before[axis]);
        let first = before.saturating_sub(tap).div_ceil(stride);
        let end = (self.from[axis] + before)
            .saturating_sub(tap)
            .div_ceil(stride);
        let end = end.min(self.to[axis]);
        first.min(end)..end
    }

    /// What output rows see at one place of the window: for each row that sees any, where its
    /// first value is in the result and in the channel, and how many there are.
    fn strips(&self, tap: usize, rows: Range<usize>) -> impl Iterator<Item = Strip> {
        let sweep = *self;
        let [tap_y, tap_x] = [tap / self.kernel[1], tap % self.kernel[1]];
        let (seen_rows, seen) = (self.seen(0, tap_y), self.seen(1, tap_x));
        let [height, width] = self.from;
        let begin = rows.start;
        rows.filter_map(move |row| {
            let (image, y) = (row / sweep.to[0], row % sweep.to[0]);
            (seen_rows.contains(&y) && !seen.is_empty()).then(|| Strip {
                to: (row - begin) * sweep.to[1] + seen.start,
                from: (image * height + y * sweep.stride[0] + tap_y - sweep.before[0]) * width
                    + seen.start * sweep.stride[1]
                    + tap_x
                    - sweep.before[1],
                count: seen.len(),
            })
        })
    }

    /// One row of the matrix whose product with a kernel is the convolution: what these output
    /// rows see of a channel at one place of the window.
    pub(crate) fn gather(
        &self,
        channel: &[f32],
        tap: usize,
        rows: Range<usize>,
        result: &mut [f32],
    ) {
        if self.is_identity() {
            result.copy_from_slice(&channel[rows.start * self.to[1]..][..result.len()]);
            return;
        }
        let step = self.stride[1];
        result.fill(0.0);
        for Strip { to, from, count } in self.strips(tap, rows) {
            let result = &mut result[to..to + count];
            if step == 1 {
                result.copy_from_slice(&channel[from..from + count]);
            } else {
                for (value, &seen) in result.iter_mut().zip(channel[from..].iter().step_by(step)) {
                    *value = seen;
                }
            }
        }
    }

    /// The way back: every gradient is added to that of the value that was seen.
    pub(crate) fn scatter(
        &self,
        gradient: &[f32],
        tap: usize,
        rows: Range<usize>,
        channel: &mut [f32],
    ) {
        let step = self.stride[1];
        for Strip { to, from, count } in self.strips(tap, rows) {
            let gradient = &gradient[to..to + count];
            if step == 1 {
                for (value, gradient) in channel[from..from + count].iter_mut().zip(gradient) {
                    *value += gradient;
                }
            } else {
                for (value, gradient) in channel[from..].iter_mut().step_by(step).zip(gradient) {
                    *value += gradient;
                }
            }
        }
    }
}

struct Strip {
    to: usize,
    from: usize,
    count: usize,
}
