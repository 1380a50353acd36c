//! SHA-256.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use sha2::Digest as _;

/// Printed as 64 hexadecimal digits; `{:.16}` prints the first 16 of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    pub fn of(bytes: impl AsRef<[u8]>) -> Digest {
        Digest(sha2::Sha256::digest(bytes).into())
    }

    /// Of a file's content, a piece at a time.
    pub fn of_file(path: &Path) -> io::Result<Digest> {
        let mut digester = Digester::default();
        io::copy(&mut File::open(path)?, &mut digester)?;
        Ok(digester.finish())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&hex(&self.0))
    }
}

/// The digest of what is given piece by piece, or written.
#[derive(Debug, Clone, Default)]
pub struct Digester {
    state: sha2::Sha256,
}

impl Digester {
    pub fn update(&mut self, bytes: impl AsRef<[u8]>) {
        self.state.update(bytes);
    }

    pub fn finish(self) -> Digest {
        Digest(self.state.finalize().into())
    }
}

impl Write for Digester {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Two lower-case digits a byte.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| char::from(DIGITS[usize::from(half)]);
    let digits = |byte: &u8| [digit(byte >> 4), digit(byte & 15)];
    bytes.iter().flat_map(digits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF_NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    /// FIPS 180-2, appendix B.1.
    const OF_ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn digests_are_the_published_ones() {
        let check = |bytes: &str, expected: &str| {
            assert_eq!(Digest::of(bytes).to_string(), expected);
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("file");
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(Digest::of_file(&path).unwrap().to_string(), expected);
        };
        check("", OF_NOTHING);
        check("abc", OF_ABC);
        let mut pieces = Digester::default();
        pieces.update("a");
        pieces.write_all(b"bc").unwrap();
        assert_eq!(pieces.finish(), Digest::of("abc"));
    }

    #[test]
    fn a_large_file_is_read_in_pieces() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let bytes = vec![7; 300_001];
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(Digest::of_file(&path).unwrap(), Digest::of(&bytes));
    }

    #[test]
    fn digits() {
        assert_eq!(hex(&[0x00, 0x0f, 0xa0, 0xff]), "000fa0ff");
        assert_eq!(format!("{:.16}", Digest::of("abc")), OF_ABC[..16]);
    }
}
