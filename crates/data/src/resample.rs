//! Images of one size → images of another.

use crate::images::Images;

/// Bilinear; when shrinking, the triangle is widened so that no pixel is left out (Heckbert 1989:
/// Fundamentals of Texture Mapping and Image Warping, §3.5).
pub(crate) fn resample(images: Images, side: u32) -> Images {
    if images.height == side && images.width == side {
        return images;
    }
    let rows = taps(images.height as usize, side as usize);
    let columns = taps(images.width as usize, side as usize);
    let plane = images.height as usize * images.width as usize;
    let planes = images.pixels.chunks_exact(plane.max(1));
    let mut pixels = Vec::with_capacity(planes.len() * (side as usize).pow(2));
    let mut narrowed = Vec::new();
    for plane in planes {
        narrowed.clear();
        for row in plane.chunks_exact(images.width as usize) {
            narrowed.extend(columns.iter().map(|tap| tap.of(row, 1)));
        }
        for tap in &rows {
            let height = side as usize;
            pixels.extend((0..height).map(|column| to_byte(tap.of(&narrowed[column..], height))));
        }
    }
    Images {
        height: side,
        width: side,
        pixels,
        ..images
    }
}

/// What one pixel of the result is made of.
struct Tap {
    first: usize,
    weights: Vec<f32>,
}

impl Tap {
    fn of<T: Copy + Into<f32>>(&self, values: &[T], step: usize) -> f32 {
        let values = values.iter().skip(self.first * step).step_by(step);
        self.weights
            .iter()
            .zip(values)
            .map(|(weight, &value)| weight * value.into())
            .sum()
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

fn to_byte(value: f32) -> u8 {
    value.round().clamp(0.0, 255.0) as u8
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
