//! MNIST's idx files: a magic number, the sizes of the dimensions as big-endian u32, then bytes
//! (LeCun, Cortes, Burges: THE MNIST DATABASE of handwritten digits).

use crate::error::FormatError;

const LABELS_MAGIC: u32 = 0x0000_0801;
const IMAGES_MAGIC: u32 = 0x0000_0803;
const GZIP_MAGIC: &[u8] = &[0x1F, 0x8B];

/// The pixels of an idx3 file, borrowed from its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdxImages<'a> {
    pub count: usize,
    pub height: u32,
    pub width: u32,
    pub pixels: &'a [u8],
}

pub fn parse_images(bytes: &[u8]) -> Result<IdxImages<'_>, FormatError> {
    let ([count, height, width], pixels) = header::<3>(bytes, IMAGES_MAGIC)?;
    if count == 0 || height == 0 || width == 0 {
        return Err(FormatError::Empty);
    }
    Ok(IdxImages {
        count: count as usize,
        height,
        width,
        pixels,
    })
}

/// The labels of an idx1 file, each from 0 to 9.
pub fn parse_labels(bytes: &[u8]) -> Result<&[u8], FormatError> {
    let ([_], labels) = header::<1>(bytes, LABELS_MAGIC)?;
    match labels.iter().position(|&label| label > 9) {
        Some(index) => Err(FormatError::Label {
            index,
            label: labels[index],
        }),
        None if labels.is_empty() => Err(FormatError::Empty),
        None => Ok(labels),
    }
}

/// The sizes of the `N` dimensions and the bytes after them, of which there are as many as said.
fn header<const N: usize>(bytes: &[u8], expected: u32) -> Result<([u32; N], &[u8]), FormatError> {
    if bytes.starts_with(GZIP_MAGIC) {
        return Err(FormatError::Compressed);
    }
    let found_bytes = bytes.len() as u64;
    let header_bytes = 4 * (N as u64 + 1);
    let truncated = FormatError::Truncated {
        expected_bytes: header_bytes,
        found_bytes,
    };
    let found = word(bytes, 0).ok_or(truncated.clone())?;
    if found != expected {
        return Err(FormatError::Magic { found, expected });
    }
    let mut sizes = [0; N];
    for (index, size) in sizes.iter_mut().enumerate() {
        *size = word(bytes, index + 1).ok_or(truncated.clone())?;
    }
    let body = sizes.iter().fold(1u64, |product, &size| {
        product.saturating_mul(u64::from(size))
    });
    let expected_bytes = body.saturating_add(header_bytes);
    match found_bytes {
        found_bytes if found_bytes < expected_bytes => Err(FormatError::Truncated {
            expected_bytes,
            found_bytes,
        }),
        found_bytes if found_bytes > expected_bytes => Err(FormatError::TrailingBytes {
            expected_bytes,
            found_bytes,
        }),
        _ => Ok((
            sizes,
            bytes.get(header_bytes as usize..).unwrap_or_default(),
        )),
    }
}

fn word(bytes: &[u8], index: usize) -> Option<u32> {
    let four = bytes.get(4 * index..4 * index + 4)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(magic: u32, sizes: &[u32], body: &[u8]) -> Vec<u8> {
        let words = std::iter::once(&magic).chain(sizes);
        words
            .flat_map(|word| word.to_be_bytes())
            .chain(body.iter().copied())
            .collect()
    }

    #[test]
    fn images_are_read() {
        let bytes = file(IMAGES_MAGIC, &[2, 1, 3], &[1, 2, 3, 4, 5, 6]);
        let expected = IdxImages {
            count: 2,
            height: 1,
            width: 3,
            pixels: &[1, 2, 3, 4, 5, 6],
        };
        assert_eq!(parse_images(&bytes), Ok(expected));
    }

    #[test]
    fn labels_are_read() {
        assert_eq!(
            parse_labels(&file(LABELS_MAGIC, &[3], &[9, 0, 7])),
            Ok(&[9u8, 0, 7][..])
        );
    }

    #[test]
    fn mistakes_are_named() {
        let check =
            |bytes: &[u8], expected: FormatError| assert_eq!(parse_images(bytes), Err(expected));
        check(&[0x1F, 0x8B, 8, 0], FormatError::Compressed);
        check(
            &[],
            FormatError::Truncated {
                expected_bytes: 16,
                found_bytes: 0,
            },
        );
        check(
            &file(IMAGES_MAGIC, &[2, 1], &[]),
            FormatError::Truncated {
                expected_bytes: 16,
                found_bytes: 12,
            },
        );
        check(
            &file(IMAGES_MAGIC, &[2, 1, 3], &[1]),
            FormatError::Truncated {
                expected_bytes: 22,
                found_bytes: 17,
            },
        );
        check(
            &file(IMAGES_MAGIC, &[1, 1, 1], &[1, 2]),
            FormatError::TrailingBytes {
                expected_bytes: 17,
                found_bytes: 18,
            },
        );
        check(
            &file(LABELS_MAGIC, &[1], &[1]),
            FormatError::Magic {
                found: LABELS_MAGIC,
                expected: IMAGES_MAGIC,
            },
        );
        check(&file(IMAGES_MAGIC, &[0, 28, 28], &[]), FormatError::Empty);
        let enormous = FormatError::Truncated {
            expected_bytes: u64::MAX,
            found_bytes: 16,
        };
        check(&file(IMAGES_MAGIC, &[u32::MAX; 3], &[]), enormous);
        let label = Err(FormatError::Label {
            index: 1,
            label: 10,
        });
        assert_eq!(parse_labels(&file(LABELS_MAGIC, &[2], &[1, 10])), label);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..64), magic: bool) {
            let mut bytes = bytes;
            if magic {
                bytes.splice(0..0, IMAGES_MAGIC.to_be_bytes());
            }
            let _ = parse_images(&bytes);
            let _ = parse_labels(&bytes);
        }

        #[test]
        fn what_is_written_is_read(height in 1u32..6, width in 1u32..6, body in prop::collection::vec(any::<u8>(), 1..80)) {
            let count = body.len() as u32 / (height * width);
            prop_assume!(count > 0);
            let body = &body[..(count * height * width) as usize];
            let bytes = file(IMAGES_MAGIC, &[count, height, width], body);
            let expected = IdxImages { count: count as usize, height, width, pixels: body };
            prop_assert_eq!(parse_images(&bytes), Ok(expected));
        }
    }
}
