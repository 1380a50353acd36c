//! MNIST's idx files: a magic number, the sizes of the dimensions as big-endian u32, then bytes
//! (LeCun, Cortes, Burges: THE MNIST DATABASE of handwritten digits).

use crate::error::DataError;

const LABELS_MAGIC: u32 = 0x0000_0801;
const IMAGES_MAGIC: u32 = 0x0000_0803;
const GZIP_MAGIC: &[u8] = &[0x1F, 0x8B];
pub(crate) const IMAGES_HEADER_BYTES: usize = 16;
pub(crate) const LABELS_HEADER_BYTES: usize = 8;

/// What stands before the pixels of an idx3 file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ImagesHeader {
    pub(crate) count: usize,
    pub(crate) height: u32,
    pub(crate) width: u32,
}

/// `beginning` holds the header's bytes, or all where the file is shorter.
pub(crate) fn images_header(beginning: &[u8], file_bytes: u64) -> Result<ImagesHeader, DataError> {
    let [count, height, width] = header(beginning, file_bytes, IMAGES_MAGIC)?;
    if count == 0 || height == 0 || width == 0 {
        return Err(empty());
    }
    Ok(ImagesHeader {
        count: count as usize,
        height,
        width,
    })
}

/// The labels of a whole idx1 file, each below `classes`.
pub(crate) fn labels(bytes: &[u8], classes: u32) -> Result<Vec<u16>, DataError> {
    let [_] = header(bytes, bytes.len() as u64, LABELS_MAGIC)?;
    let labels = bytes.get(LABELS_HEADER_BYTES..).unwrap_or_default();
    match labels.iter().position(|&label| u32::from(label) >= classes) {
        Some(index) => Err(wrong_label(index, labels[index], classes)),
        None if labels.is_empty() => Err(empty()),
        None => Ok(labels.iter().map(|&label| label.into()).collect()),
    }
}

/// The sizes of the `N` dimensions, after which as many bytes come as they say.
fn header<const N: usize>(
    beginning: &[u8],
    found_bytes: u64,
    expected: u32,
) -> Result<[u32; N], DataError> {
    if beginning.starts_with(GZIP_MAGIC) {
        return Err(DataError::new(
            "the file is compressed; unpack it first with gunzip",
        ));
    }
    let truncated = |expected_bytes: u64| {
        DataError::new(format!(
            "ends after {found_bytes} of {expected_bytes} bytes: download it again"
        ))
    };
    let header_bytes = 4 * (N as u64 + 1);
    let found = word(beginning, 0).ok_or_else(|| truncated(header_bytes))?;
    if found != expected {
        return Err(DataError::new(format!(
            "begins with {found:#010x} instead of {expected:#010x}: a different type of file, or a damaged one"
        )));
    }
    let mut sizes = [0; N];
    for (index, size) in sizes.iter_mut().enumerate() {
        *size = word(beginning, index + 1).ok_or_else(|| truncated(header_bytes))?;
    }
    let body = sizes.iter().fold(1u64, |product, &size| {
        product.saturating_mul(u64::from(size))
    });
    let expected_bytes = body.saturating_add(header_bytes);
    match found_bytes {
        found if found < expected_bytes => Err(truncated(expected_bytes)),
        found if found > expected_bytes => Err(DataError::new(format!(
            "has {found} bytes, but its header says {expected_bytes}: download it again"
        ))),
        _ => Ok(sizes),
    }
}

pub(crate) fn empty() -> DataError {
    DataError::new("contains no images")
}

pub(crate) fn wrong_label(index: usize, label: u8, classes: u32) -> DataError {
    let last = classes.saturating_sub(1);
    DataError::new(format!(
        "image {index} has the label {label}, but labels go from 0 to {last}"
    ))
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

    fn whole(bytes: &[u8]) -> Result<ImagesHeader, DataError> {
        let beginning = &bytes[..bytes.len().min(IMAGES_HEADER_BYTES)];
        images_header(beginning, bytes.len() as u64)
    }

    #[test]
    fn images_are_described() {
        let bytes = file(IMAGES_MAGIC, &[2, 1, 3], &[1, 2, 3, 4, 5, 6]);
        let expected = ImagesHeader {
            count: 2,
            height: 1,
            width: 3,
        };
        assert_eq!(whole(&bytes), Ok(expected));
    }

    #[test]
    fn labels_are_read() {
        let bytes = file(LABELS_MAGIC, &[3], &[9, 0, 7]);
        assert_eq!(labels(&bytes, 10), Ok(vec![9, 0, 7]));
    }

    #[test]
    fn mistakes_are_named() {
        let check = |bytes: &[u8], expected: &str| {
            assert_eq!(whole(bytes).unwrap_err().to_string(), expected);
        };
        let gzip = "the file is compressed; unpack it first with gunzip";
        check(&[0x1F, 0x8B, 8, 0], gzip);
        check(&[], "ends after 0 of 16 bytes: download it again");
        let cut = "ends after 12 of 16 bytes: download it again";
        check(&file(IMAGES_MAGIC, &[2, 1], &[]), cut);
        let cut = "ends after 17 of 22 bytes: download it again";
        check(&file(IMAGES_MAGIC, &[2, 1, 3], &[1]), cut);
        let longer = "has 18 bytes, but its header says 17: download it again";
        check(&file(IMAGES_MAGIC, &[1, 1, 1], &[1, 2]), longer);
        let labels_file = "begins with 0x00000801 instead of 0x00000803: a different type of file, or a damaged one";
        check(&file(LABELS_MAGIC, &[1], &[1]), labels_file);
        check(&file(IMAGES_MAGIC, &[0, 28, 28], &[]), "contains no images");
        let enormous = "ends after 16 of 18446744073709551615 bytes: download it again";
        check(&file(IMAGES_MAGIC, &[u32::MAX; 3], &[]), enormous);
        let label = labels(&file(LABELS_MAGIC, &[2], &[1, 10]), 10).unwrap_err();
        let expected = "image 1 has the label 10, but labels go from 0 to 9";
        assert_eq!(label.to_string(), expected);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..64), magic: bool) {
            let mut bytes = bytes;
            if magic {
                bytes.splice(0..0, IMAGES_MAGIC.to_be_bytes());
            }
            let _ = whole(&bytes);
            let _ = labels(&bytes, 10);
        }
    }
}
