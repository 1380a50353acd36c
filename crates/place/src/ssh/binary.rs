//! What this program's own file needs of a machine.

use std::fmt;
use std::fs;
use std::path::Path;

use host::Digest;
use object::LittleEndian as Little;
use object::elf::FileHeader64;
use object::read::elf::FileHeader as _;

use crate::error::PlaceError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Binary {
    pub(super) digest: String,
    /// As `uname -m` says it.
    pub(super) machine: String,
    /// The highest version of the GNU C library that one of its symbols needs; none where it is
    /// linked without.
    pub(super) glibc: Option<Version>,
    pub(super) bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version {
    major: u32,
    minor: u32,
}

impl Version {
    /// `2.36`, also with more behind it.
    pub(super) fn parse(text: &str) -> Option<Version> {
        let mut numbers = text.trim().split('.').map(str::parse);
        Some(Version {
            major: numbers.next()?.ok()?,
            minor: numbers.next()?.ok()?,
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl Binary {
    pub(super) fn read(path: &Path) -> Result<Binary, PlaceError> {
        let bytes = fs::read(path).map_err(|error| PlaceError::io("read", path, &error))?;
        Ok(Binary {
            digest: Digest::of(&bytes).to_string(),
            machine: std::env::consts::ARCH.to_owned(),
            glibc: highest_glibc(&bytes),
            bytes: bytes.len() as u64,
        })
    }
}

/// From the section of needed versions, as the dynamic loader checks them.
fn highest_glibc(bytes: &[u8]) -> Option<Version> {
    let header = FileHeader64::<Little>::parse(bytes).ok()?;
    let sections = header.sections(Little, bytes).ok()?;
    let (mut libraries, strings) = sections.gnu_verneed(Little, bytes).ok()??;
    let strings = sections.strings(Little, bytes, strings).ok()?;
    let mut highest = None;
    while let Some((_, mut symbols)) = libraries.next().ok()? {
        while let Some(symbol) = symbols.next().ok()? {
            let name = symbol.name(Little, strings).ok()?;
            let version = std::str::from_utf8(name).ok();
            let version = version.and_then(|name| name.strip_prefix("GLIBC_"));
            highest = highest.max(version.and_then(Version::parse));
        }
    }
    highest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_file_names_the_library_it_needs() {
        let own = Binary::read(&std::env::current_exe().unwrap()).unwrap();
        assert!(own.glibc > Version::parse("2.2"), "{:?}", own.glibc);
        assert!(own.glibc < Version::parse("3.0"), "{:?}", own.glibc);
        assert_eq!(own.digest.len(), 64);
        assert_eq!(highest_glibc(b"#!/bin/sh"), None);
    }

    #[test]
    fn versions_are_numbers() {
        assert!(Version::parse("2.9") < Version::parse("2.17"));
        assert_eq!(Version::parse("2.36.9000").unwrap().to_string(), "2.36");
        assert_eq!(Version::parse("PRIVATE"), None);
    }
}
