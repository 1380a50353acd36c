//! Tar archives, read from beginning to end (POSIX.1-1988, ustar). Long names of later formats are
//! not looked at: the wanted files have short ones.

use std::io::{self, Read};

const BLOCK_BYTES: u64 = 512;

/// A file's place in the archive, to be read by whoever wants it.
pub(crate) struct Entry<'e> {
    /// With its folders.
    pub(crate) name: String,
    pub(crate) content: &'e mut dyn Read,
}

/// Shows every plain file; what is not read of it is left out.
pub(crate) fn read(
    mut archive: impl Read,
    mut show: impl FnMut(Entry<'_>) -> io::Result<()>,
) -> io::Result<()> {
    loop {
        let mut block = [0; BLOCK_BYTES as usize];
        archive.read_exact(&mut block)?;
        if block.iter().all(|&byte| byte == 0) {
            return Ok(());
        }
        let header = parse(&block).ok_or_else(|| wrong("it is not a tar archive"))?;
        let mut content = (&mut archive).take(header.bytes);
        if header.is_file {
            show(Entry {
                name: header.name,
                content: &mut content,
            })?;
        }
        let padding = header.bytes.next_multiple_of(BLOCK_BYTES) - header.bytes;
        let left = content.limit() + padding;
        let skipped = io::copy(&mut (&mut archive).take(left), &mut io::sink())?;
        if skipped < left {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Header {
    name: String,
    bytes: u64,
    is_file: bool,
}

fn parse(block: &[u8; BLOCK_BYTES as usize]) -> Option<Header> {
    let (checksum_at, checksum_end) = (148, 156);
    // The checksum is counted as if its own place were blank.
    let sum = block.iter().enumerate().map(|(place, &byte)| {
        let is_checksum = (checksum_at..checksum_end).contains(&place);
        u64::from(if is_checksum { b' ' } else { byte })
    });
    if octal(&block[checksum_at..checksum_end])? != sum.sum::<u64>() {
        return None;
    }
    let mut name = text(&block[..100]);
    let prefix = text(&block[345..500]);
    if block[257..262] == *b"ustar" && !prefix.is_empty() {
        name = format!("{prefix}/{name}");
    }
    let bytes = octal(&block[124..136])?;
    // So that nothing overflows when blocks are counted.
    (bytes < 1 << 50).then_some(Header {
        name,
        bytes,
        is_file: matches!(block[156], 0 | b'0'),
    })
}

fn text(field: &[u8]) -> String {
    let end = field.iter().position(|&byte| byte == 0);
    let field = &field[..end.unwrap_or(field.len())];
    String::from_utf8_lossy(field).into_owned()
}

fn octal(field: &[u8]) -> Option<u64> {
    let field = text(field);
    u64::from_str_radix(field.trim(), 8).ok()
}

fn wrong(problem: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An archive of these files, as tar writes it.
    pub(crate) fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut archive = Vec::new();
        for (name, content) in files {
            archive.extend(header(name, content.len(), b'0'));
            archive.extend_from_slice(content);
            archive.resize(archive.len().next_multiple_of(512), 0);
        }
        archive.resize(archive.len() + 1024, 0);
        archive
    }

    fn header(name: &str, bytes: usize, kind: u8) -> [u8; 512] {
        let mut block = [0; 512];
        block[..name.len()].copy_from_slice(name.as_bytes());
        block[124..135].copy_from_slice(format!("{bytes:011o}").as_bytes());
        block[156] = kind;
        block[257..263].copy_from_slice(b"ustar\0");
        block[148..156].fill(b' ');
        let sum: u64 = block.iter().map(|&byte| u64::from(byte)).sum();
        block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        block
    }

    fn all(archive: &[u8]) -> io::Result<Vec<(String, Vec<u8>)>> {
        let mut found = Vec::new();
        read(archive, |entry| {
            let mut content = Vec::new();
            entry.content.read_to_end(&mut content)?;
            found.push((entry.name, content));
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn files_are_read_in_order() {
        let bytes = archive(&[("a/one", b"1"), ("empty", b""), ("a/long", &[7; 1500])]);
        let expected = [
            ("a/one".to_owned(), b"1".to_vec()),
            ("empty".to_owned(), vec![]),
            ("a/long".to_owned(), vec![7; 1500]),
        ];
        assert_eq!(all(&bytes).unwrap(), expected);
    }

    #[test]
    fn what_is_not_wanted_is_passed_over() {
        let mut bytes = header("folder/", 0, b'5').to_vec();
        bytes.extend(archive(&[("a", &[1; 600]), ("b", b"2")]));
        let mut names = Vec::new();
        read(bytes.as_slice(), |entry| {
            names.push(entry.name);
            Ok(())
        })
        .unwrap();
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn broken_archives_are_errors() {
        let good = archive(&[("a", &[1; 600]), ("b", b"2")]);
        for end in [0, 100, 600, 1200, 1536 + 100] {
            assert!(all(&good[..end]).is_err(), "{end}");
        }
        let mut changed = good;
        changed[0] = b'c';
        assert!(all(&changed).is_err());
        assert!(all(&[b'x'; 2048]).is_err());
    }
}
