//! Images of one size → images of another.

use crate::images::Images;

pub(crate) fn resample(images: Images, side: u32) -> Images {
    let (height, width) = (images.height, images.width);
    Images {
        height: side,
        width: side,
        pixels: resample_planes(images.pixels, (height, width), (side, side)),
        ..images
    }
}

/// Planes of (height, width) one after the other.
pub(crate) fn resample_planes(pixels: Vec<u8>, from: (u32, u32), to: (u32, u32)) -> Vec<u8> {
    if from == to {
        return pixels;
    }
    let plane = from.0 as usize * from.1 as usize;
    let planes = pixels.chunks_exact(plane.max(1));
    planes
        .flat_map(|plane| resample_interleaved::<1>(plane, from, to))
        .collect()
}

/// Channels that lie side by side in every pixel → of another size, one after the other. Bilinear;
/// when shrinking, the triangle is widened so that no pixel is left out (Heckbert 1989:
/// Fundamentals of Texture Mapping and Image Warping, §3.5).
///
/// Rows are added up first, whole rows at once: the compiler makes wide instructions of it, and
/// little is left for the columns.
pub(crate) fn resample_interleaved<const CHANNELS: usize>(
    pixels: &[u8],
    from: (u32, u32),
    to: (u32, u32),
) -> Vec<u8> {
    let (to_height, to_width) = (to.0 as usize, to.1 as usize);
    let columns = taps(from.1 as usize, to_width);
    let mut sums = vec![0.0; from.1 as usize * CHANNELS];
    let mut planes = vec![0; CHANNELS * to_height * to_width];
    for (y, tap) in taps(from.0 as usize, to_height).iter().enumerate() {
        tap.add_rows(pixels, &mut sums);
        let (summed, _) = sums.as_chunks::<CHANNELS>();
        for (x, column) in columns.iter().enumerate() {
            for (channel, value) in column.of(summed).into_iter().enumerate() {
                planes[(channel * to_height + y) * to_width + x] = to_byte(value);
            }
        }
    }
    planes
}

/// What one pixel of the result is made of.
struct Tap {
    first: usize,
    weights: Vec<f32>,
}

impl Tap {
    fn of<const CHANNELS: usize>(&self, row: &[[f32; CHANNELS]]) -> [f32; CHANNELS] {
        let mut sums = [0.0; CHANNELS];
        for (weight, pixel) in self.weights.iter().zip(&row[self.first..]) {
            for (sum, value) in sums.iter_mut().zip(pixel) {
                *sum += weight * value;
            }
        }
        sums
    }

    /// Of rows that are as long as `sums`.
    fn add_rows(&self, pixels: &[u8], sums: &mut [f32]) {
        sums.fill(0.0);
        let rows = pixels.chunks_exact(sums.len().max(1)).skip(self.first);
        for (weight, row) in self.weights.iter().zip(rows) {
            for (sum, &value) in sums.iter_mut().zip(row) {
                *sum += weight * f32::from(value);
            }
        }
    }
}

fn taps(from: usize, to: usize) -> Vec<Tap> {
    let scale = from as f32 / to as f32;
    let reach = scale.max(1.0);
    (0..to)
        .map(|index| {
            let centre = (index as f32 + 0.5) * scale - 0.5;
            let first = (centre - reach).ceil().max(0.0) as usize;
            let last = ((centre + reach).floor() as usize).min(from - 1);
            let mut weights: Vec<f32> = (first..=last)
                .map(|source| (1.0 - (source as f32 - centre).abs() / reach).max(0.0))
                .collect();
            let sum: f32 = weights.iter().sum();
            weights.iter_mut().for_each(|weight| *weight /= sum);
            Tap { first, weights }
        })
        .collect()
}

/// The nearest; the conversion keeps to 0 … 255 by itself.
fn to_byte(value: f32) -> u8 {
    (value + 0.5) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn square(side: u32, pixels: Vec<u8>) -> Images {
        Images {
            channels: 1,
            height: side,
            width: side,
            pixels,
            labels: vec![0],
        }
    }

    fn check(side: u32, pixels: &[u8], to: u32, expected: &[u8]) {
        assert_eq!(resample(square(side, pixels.to_vec()), to).pixels, expected);
    }

    #[test]
    fn known_results() {
        check(2, &[0, 100, 100, 200], 2, &[0, 100, 100, 200]);
        check(1, &[77], 3, &[77; 9]);
        check(2, &[0, 100, 100, 200], 1, &[100]);
        check(
            2,
            &[0, 0, 200, 200],
            4,
            &[
                0, 0, 0, 0, 50, 50, 50, 50, 150, 150, 150, 150, 200, 200, 200, 200,
            ],
        );
    }

    proptest! {
        #[test]
        fn an_even_image_stays_even(from in 1u32..20, to in 1u32..40, pixel: u8) {
            let images = resample(square(from, vec![pixel; (from * from) as usize]), to);
            prop_assert_eq!(images.pixels, vec![pixel; (to * to) as usize]);
        }

        #[test]
        fn no_pixel_leaves_the_range(pixels in prop::collection::vec(any::<u8>(), 36), to in 1u32..20) {
            let low = *pixels.iter().min().unwrap();
            let high = *pixels.iter().max().unwrap();
            let images = resample(square(6, pixels), to);
            prop_assert!(images.pixels.iter().all(|pixel| (low..=high).contains(pixel)));
        }
    }
}
