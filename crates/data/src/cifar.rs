//! CIFAR-10's binary files: records of one label and 32 × 32 red, then green, then blue bytes
//! (Krizhevsky: Learning Multiple Layers of Features from Tiny Images, 2009).

use crate::error::FormatError;
use crate::images::Images;

pub const SIDE: u32 = 32;
const PIXEL_BYTES: usize = 3 * 32 * 32;
const RECORD_BYTES: usize = 1 + PIXEL_BYTES;

/// Adds the images of one file to `images`.
pub fn parse_into(bytes: &[u8], images: &mut Images) -> Result<(), FormatError> {
    if bytes.is_empty() {
        return Err(FormatError::Empty);
    }
    let (records, rest) = bytes.as_chunks::<RECORD_BYTES>();
    if !rest.is_empty() {
        let found_bytes = bytes.len() as u64;
        return Err(FormatError::Records {
            found_bytes,
            record_bytes: RECORD_BYTES as u64,
        });
    }
    if let Some(index) = records.iter().position(|record| record[0] > 9) {
        return Err(FormatError::Label {
            index,
            label: records[index][0],
        });
    }
    for record in records {
        images.labels.push(record[0].into());
        images.pixels.extend_from_slice(&record[1..]);
    }
    Ok(())
}

/// No images yet, of the right size.
pub fn empty() -> Images {
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
    use proptest::prelude::*;

    fn record(label: u8, pixel: u8) -> Vec<u8> {
        let mut record = vec![pixel; RECORD_BYTES];
        record[0] = label;
        record
    }

    #[test]
    fn records_are_read_in_order() {
        let mut images = empty();
        parse_into(&record(3, 7), &mut images).unwrap();
        parse_into(&[record(9, 8), record(0, 9)].concat(), &mut images).unwrap();
        assert_eq!(images.labels, [3, 9, 0]);
        assert_eq!(images.image(2), vec![9; PIXEL_BYTES]);
        assert_eq!(images.pixels.len(), 3 * PIXEL_BYTES);
    }

    #[test]
    fn mistakes_are_named() {
        let check = |bytes: &[u8], expected: FormatError| {
            let mut images = empty();
            assert_eq!(parse_into(bytes, &mut images), Err(expected));
            assert!(images.is_empty());
        };
        check(&[], FormatError::Empty);
        check(
            &[record(1, 0), record(10, 0)].concat(),
            FormatError::Label {
                index: 1,
                label: 10,
            },
        );
        check(
            &record(1, 0)[..3000],
            FormatError::Records {
                found_bytes: 3000,
                record_bytes: 3073,
            },
        );
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(head in prop::collection::vec(any::<u8>(), 0..40), length in 0usize..7000) {
            let mut bytes = head;
            bytes.resize(length, 255);
            let mut images = empty();
            let read = parse_into(&bytes, &mut images);
            prop_assert_eq!(read.is_ok(), !images.is_empty());
        }
    }
}
