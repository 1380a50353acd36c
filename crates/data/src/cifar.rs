//! CIFAR's binary files: records of a label (CIFAR-100: a coarse label, then the fine one) and
//! 32 × 32 red, then green, then blue bytes (Krizhevsky: Learning Multiple Layers of Features from
//! Tiny Images, 2009).

use crate::error::DataError;
use crate::idx::{empty as no_images, wrong_label};
use crate::images::Images;

pub(crate) const SIDE: u32 = 32;
const PIXEL_BYTES: usize = 3 * 32 * 32;

/// What stands before the pixels of a record; its last byte is the label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) label_bytes: usize,
    pub(crate) classes: u32,
}

impl Layout {
    pub(crate) const CIFAR10: Layout = Layout {
        label_bytes: 1,
        classes: 10,
    };
    pub(crate) const CIFAR100: Layout = Layout {
        label_bytes: 2,
        classes: 100,
    };

    pub(crate) fn record_bytes(self) -> usize {
        self.label_bytes + PIXEL_BYTES
    }

    /// Images in a file of so many bytes.
    pub(crate) fn count(self, file_bytes: u64) -> Result<usize, DataError> {
        let record_bytes = self.record_bytes() as u64;
        if file_bytes == 0 {
            Err(no_images())
        } else if !file_bytes.is_multiple_of(record_bytes) {
            Err(DataError::new(format!(
                "has {file_bytes} bytes, not a multiple of the {record_bytes} of an image: download it again"
            )))
        } else {
            Ok((file_bytes / record_bytes) as usize)
        }
    }

    /// Adds the images of whole records to `images`; `first` is the index of the first one in its
    /// file.
    pub(crate) fn parse_into(
        self,
        records: &[u8],
        first: usize,
        images: &mut Images,
    ) -> Result<(), DataError> {
        for (index, record) in records.chunks_exact(self.record_bytes()).enumerate() {
            let label = record[self.label_bytes - 1];
            if u32::from(label) >= self.classes {
                return Err(wrong_label(first + index, label, self.classes));
            }
            images.labels.push(label.into());
            images.pixels.extend_from_slice(&record[self.label_bytes..]);
        }
        Ok(())
    }
}

/// No images yet, of the right size.
pub(crate) fn empty() -> Images {
    Images {
        channels: 3,
        height: SIDE,
        width: SIDE,
        ..Images::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(labels: &[u8], pixel: u8) -> Vec<u8> {
        [labels, &[pixel; PIXEL_BYTES]].concat()
    }

    #[test]
    fn records_are_read_in_order() {
        let mut images = empty();
        let layout = Layout::CIFAR10;
        layout.parse_into(&record(&[3], 7), 0, &mut images).unwrap();
        let two = [record(&[9], 8), record(&[0], 9)].concat();
        layout.parse_into(&two, 1, &mut images).unwrap();
        assert_eq!(images.labels, [3, 9, 0]);
        assert_eq!(images.image(2), vec![9; PIXEL_BYTES]);
        assert_eq!(images.pixels.len(), 3 * PIXEL_BYTES);
    }

    #[test]
    fn the_fine_label_counts() {
        let mut images = empty();
        let records = [record(&[19, 99], 1), record(&[0, 50], 2)].concat();
        assert_eq!(Layout::CIFAR100.count(records.len() as u64), Ok(2));
        Layout::CIFAR100
            .parse_into(&records, 0, &mut images)
            .unwrap();
        assert_eq!(images.labels, [99, 50]);
        assert_eq!(images.image(1), vec![2; PIXEL_BYTES]);
    }

    #[test]
    fn mistakes_are_named() {
        let check_count = |bytes: u64, expected: &str| {
            let error = Layout::CIFAR10.count(bytes).unwrap_err();
            assert_eq!(error.to_string(), expected);
        };
        check_count(0, "contains no images");
        check_count(
            3000,
            "has 3000 bytes, not a multiple of the 3073 of an image: download it again",
        );
        let check = |layout: Layout, labels: &[u8], expected: &str| {
            let read = layout.parse_into(&record(labels, 0), 5, &mut empty());
            assert_eq!(read.unwrap_err().to_string(), expected);
        };
        let label = "image 5 has the label 10, but labels go from 0 to 9";
        check(Layout::CIFAR10, &[10], label);
        let label = "image 5 has the label 100, but labels go from 0 to 99";
        check(Layout::CIFAR100, &[0, 100], label);
    }
}
