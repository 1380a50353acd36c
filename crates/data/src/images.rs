//! Images of one size with their labels.

/// Pixels lie image after image, channel after channel, row after row (NCHW).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Images {
    pub channels: u32,
    pub height: u32,
    pub width: u32,
    pub pixels: Vec<u8>,
    pub labels: Vec<u16>,
}

impl Images {
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Bytes of one image.
    pub fn image_bytes(&self) -> usize {
        self.channels as usize * self.height as usize * self.width as usize
    }

    /// The pixels of one image; empty where there is no such image.
    pub fn image(&self, index: usize) -> &[u8] {
        let size = self.image_bytes();
        index
            .checked_mul(size)
            .and_then(|start| self.pixels.get(start..start.checked_add(size)?))
            .unwrap_or_default()
    }

    /// The chosen images as a network sees them, from −1 to 1, one after the other.
    pub fn normalised(&self, indices: &[usize]) -> Vec<f32> {
        let mut values = Vec::with_capacity(indices.len() * self.image_bytes());
        for &index in indices {
            values.extend(self.image(index).iter().map(|&pixel| normalise(pixel)));
        }
        values
    }
}

/// `(x / 255 − 0.5) / 0.5`: the same for every dataset and every framework.
pub fn normalise(pixel: u8) -> f32 {
    (f32::from(pixel) / 255.0 - 0.5) / 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_images() -> Images {
        Images {
            channels: 1,
            height: 1,
            width: 2,
            pixels: vec![0, 255, 51, 204],
            labels: vec![3, 4],
        }
    }

    #[test]
    fn black_is_minus_one_and_white_is_one() {
        let expected = [-1.0, 1.0];
        assert_eq!(two_images().normalised(&[0]), expected);
    }

    #[test]
    fn batches_follow_the_order_asked() {
        let values = two_images().normalised(&[1, 0]);
        let expected = [-0.6, 0.6, -1.0, 1.0];
        for (value, expected) in values.iter().zip(expected) {
            assert!((value - expected).abs() < 1e-6, "{values:?}");
        }
    }

    #[test]
    fn an_image_that_is_not_there_is_empty() {
        assert!(two_images().image(2).is_empty());
        assert!(two_images().image(usize::MAX).is_empty());
    }
}
