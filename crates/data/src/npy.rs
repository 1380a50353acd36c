//! NumPy's file format, version 1.0: a magic number, a header of text padded so that the numbers
//! begin at a multiple of 64 bytes, then the numbers (NEP 1, "A Simple File Format for NumPy
//! Arrays"). Every framework's Python maps such a file without a copy.

use crate::error::DataError;

const MAGIC: &[u8; 8] = b"\x93NUMPY\x01\x00";
/// Magic number and length of the header.
const PREFIX_BYTES: usize = 10;
const ALIGNMENT: usize = 64;
/// More than any header written here: enough to read the numbers' place.
pub(crate) const LONGEST_HEADER_BYTES: usize = 512;

/// Kinds of numbers that are written and read here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Float32,
    Float64,
    Int32,
    Byte,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Float32, Kind::Float64, Kind::Int32, Kind::Byte];

    pub(crate) const fn bytes(self) -> u64 {
        match self {
            Kind::Float64 => 8,
            Kind::Float32 | Kind::Int32 => 4,
            Kind::Byte => 1,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Kind::Float32 => "<f4",
            Kind::Float64 => "<f8",
            Kind::Int32 => "<i4",
            Kind::Byte => "|u1",
        }
    }
}

/// What a file says of its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    pub(crate) shape: Vec<u64>,
}

impl Header {
    /// As it stands at the beginning of a file.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut sizes = String::new();
        for size in &self.shape {
            sizes.push_str(&format!("{size}, "));
        }
        let sizes = match self.shape.len() {
            1 => sizes.trim_end(),
            _ => sizes.trim_end_matches(", "),
        };
        let text = format!(
            "{{'descr': '{}', 'fortran_order': False, 'shape': ({sizes}), }}",
            self.kind.word()
        );
        let whole = (PREFIX_BYTES + text.len() + 1).next_multiple_of(ALIGNMENT);
        let header_bytes = whole - PREFIX_BYTES;
        let mut bytes = MAGIC.to_vec();
        bytes.extend((header_bytes as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.resize(whole - 1, b' ');
        bytes.push(b'\n');
        bytes
    }

    /// Bytes of the numbers; `None` if no file could be so large.
    pub(crate) fn data_bytes(&self) -> Option<u64> {
        let sizes = self.shape.iter();
        sizes.copied().try_fold(self.kind.bytes(), u64::checked_mul)
    }
}

/// A header that was read, and where the numbers begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) header: Header,
    pub(crate) data_offset: u64,
}

impl Found {
    /// Bytes of the whole file; `None` if no file could be so large.
    pub(crate) fn file_bytes(&self) -> Option<u64> {
        self.header.data_bytes()?.checked_add(self.data_offset)
    }
}

/// A whole file, its numbers still as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array<'b> {
    /// NumPy's word for the kind of numbers: `<f4`, `<i8`, `|u1` …
    pub kind: &'b str,
    pub shape: Vec<usize>,
    /// Little-endian, row after row.
    pub numbers: &'b [u8],
}

/// Of any kind of numbers; whoever knows the kind knows how many bytes there should be.
pub fn array(bytes: &[u8]) -> Result<Array<'_>, DataError> {
    let text = header_text(bytes)?;
    let sizes = shape(text)?;
    let sizes = sizes.into_iter().map(usize::try_from);
    Ok(Array {
        kind: quoted(text, "descr")
            .ok_or_else(|| DataError::new("has a header without a data type"))?,
        shape: sizes
            .collect::<Result<_, _>>()
            .map_err(|_| DataError::new("has an impossible shape"))?,
        numbers: &bytes[PREFIX_BYTES + text.len()..],
    })
}

/// Reads the header at the beginning of a file's bytes.
pub(crate) fn parse(bytes: &[u8]) -> Result<Found, DataError> {
    let text = header_text(bytes)?;
    let word = quoted(text, "descr");
    let kind = Kind::ALL
        .into_iter()
        .find(|kind| word == Some(kind.word()))
        .ok_or_else(|| DataError::new("contains a different type of numbers"))?;
    Ok(Found {
        header: Header {
            kind,
            shape: shape(text)?,
        },
        data_offset: (PREFIX_BYTES + text.len()) as u64,
    })
}

fn header_text(bytes: &[u8]) -> Result<&str, DataError> {
    let short = || DataError::new("ends inside its header");
    let prefix = bytes.get(..PREFIX_BYTES).ok_or_else(short)?;
    if !prefix.starts_with(MAGIC) {
        return Err(DataError::new("is not a NumPy file of version 1.0"));
    }
    let length = usize::from(u16::from_le_bytes([prefix[8], prefix[9]]));
    let text = bytes
        .get(PREFIX_BYTES..PREFIX_BYTES + length)
        .ok_or_else(short)?;
    std::str::from_utf8(text).map_err(|_| DataError::new("has a header that is not text"))
}

fn shape(text: &str) -> Result<Vec<u64>, DataError> {
    if after(text, "fortran_order").is_none_or(|rest| !rest.starts_with("False")) {
        return Err(DataError::new("is not in row-major order"));
    }
    after(text, "shape")
        .and_then(|rest| rest.strip_prefix('('))
        .and_then(|rest| rest.split_once(')'))
        .and_then(|(sizes, _)| sizes_of(sizes))
        .ok_or_else(|| DataError::new("has a header without its shape"))
}

fn sizes_of(text: &str) -> Option<Vec<u64>> {
    let sizes = text
        .split(',')
        .map(str::trim)
        .filter(|size| !size.is_empty());
    sizes.map(|size| size.parse().ok()).collect()
}

fn quoted<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let rest = after(text, key)?.strip_prefix('\'')?;
    rest.split_once('\'').map(|(value, _)| value)
}

/// What follows `'key': `.
fn after<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("'{key}':"))?;
    Some(rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn headers_are_those_that_numpy_writes() {
        let check = |kind, shape: &[u64], expected: &str| {
            let header = Header {
                kind,
                shape: shape.to_vec(),
            };
            let bytes = header.to_bytes();
            assert_eq!(bytes.len() % 64, 0);
            assert_eq!(bytes[..10], *b"\x93NUMPY\x01\x00\x76\x00");
            let text = std::str::from_utf8(&bytes[10..]).unwrap();
            assert_eq!(text.trim_end_matches([' ', '\n']), expected);
            assert!(text.ends_with('\n'));
        };
        check(
            Kind::Float32,
            &[60000, 1, 28, 28],
            "{'descr': '<f4', 'fortran_order': False, 'shape': (60000, 1, 28, 28), }",
        );
        check(
            Kind::Int32,
            &[7],
            "{'descr': '<i4', 'fortran_order': False, 'shape': (7,), }",
        );
        check(
            Kind::Byte,
            &[0, 3, 2, 2],
            "{'descr': '|u1', 'fortran_order': False, 'shape': (0, 3, 2, 2), }",
        );
    }

    #[test]
    fn mistakes_are_named() {
        let check = |bytes: &[u8], expected: &str| {
            assert_eq!(parse(bytes).unwrap_err().to_string(), expected);
        };
        let good = Header {
            kind: Kind::Int32,
            shape: vec![3],
        };
        let good = String::from_utf8_lossy(&good.to_bytes()[10..]).into_owned();
        let with = |from: &str, to: &str| {
            let text = good.replace(from, to);
            let length = (text.len() as u16).to_le_bytes();
            [&MAGIC[..], &length, text.as_bytes()].concat()
        };
        check(b"", "ends inside its header");
        check(&with("", "")[..60], "ends inside its header");
        check(b"PK\x03\x04......", "is not a NumPy file of version 1.0");
        check(&with("<i4", "<c8"), "contains a different type of numbers");
        check(&with("False", "True"), "is not in row-major order");
        check(&with("(3,)", "(-3,)"), "has a header without its shape");
        check(
            &with("'shape'", "'sahpe'"),
            "has a header without its shape",
        );
    }

    #[test]
    fn arrays_of_any_kind() {
        let header = Header {
            kind: Kind::Int32,
            shape: vec![1, 2],
        };
        let text = String::from_utf8(header.to_bytes()[8..].to_vec()).unwrap();
        let file = [MAGIC, text.replace("<i4", "<i8").as_bytes(), &[7; 16]].concat();
        let expected = Array {
            kind: "<i8",
            shape: vec![1, 2],
            numbers: &[7; 16],
        };
        assert_eq!(array(&file), Ok(expected));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(kind in 0usize..4, shape in prop::collection::vec(any::<u64>(), 1..5)) {
            let kind = Kind::ALL[kind];
            let header = Header { kind, shape };
            let bytes = header.to_bytes();
            let found = parse(&bytes).unwrap();
            prop_assert!(bytes.len() <= LONGEST_HEADER_BYTES);
            prop_assert_eq!(found.data_offset, bytes.len() as u64);
            prop_assert_eq!(found.header, header);
        }

        #[test]
        fn no_bytes_make_it_panic(tail in prop::collection::vec(any::<u8>(), 0..200), magic: bool) {
            let head: &[u8] = if magic { MAGIC } else { b"" };
            let _ = parse(&[head, &tail].concat());
        }
    }
}
