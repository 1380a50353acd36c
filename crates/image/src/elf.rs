//! What the header of a program or shared library says of the machine and the libraries it needs.
//!
//! Only what the dynamic loader itself looks at; of 64-bit little-endian files, which both architectures have.
//! Layout: System V ABI, chapters 4 and 5.

use std::fmt;

const HEADER_BYTES: usize = 64;
const PROGRAM_HEADER_BYTES: u16 = 56;
const LOAD: u32 = 1;
const DYNAMIC: u32 = 2;
const INTERPRETER: u32 = 3;
const NEEDED: u64 = 1;
const STRING_TABLE: u64 = 5;
const RPATH: u64 = 15;
const RUNPATH: u64 = 29;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Elf {
    pub machine: u16,
    /// The dynamic loader; programs name it, libraries do not.
    pub interpreter: Option<String>,
    pub needed: Vec<String>,
    /// Folders to look in first; `$ORIGIN` is not yet replaced.
    pub run_paths: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElfProblem {
    NotElf,
    NotSupported,
    Truncated,
}

impl fmt::Display for ElfProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ElfProblem::NotElf => "it is not an ELF file (Linux program or library)",
            ElfProblem::NotSupported => "it is not a 64-bit little-endian ELF file",
            ElfProblem::Truncated => "its headers point beyond its end: it is truncated",
        })
    }
}

impl Elf {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Elf, ElfProblem> {
        if !bytes.starts_with(b"\x7fELF") {
            return Err(ElfProblem::NotElf);
        }
        if bytes.len() < HEADER_BYTES {
            return Err(ElfProblem::Truncated);
        }
        // Class 2 has 64 bits, encoding 1 is little-endian.
        if bytes[4..6] != [2, 1] {
            return Err(ElfProblem::NotSupported);
        }
        let file = File { bytes };
        let segments = file.segments()?;
        let interpreter = segments.iter().find(|segment| segment.kind == INTERPRETER);
        let interpreter = interpreter.map(|segment| file.text(segment.offset));
        let mut elf = Elf {
            machine: u16::from_le_bytes(file.at(18)?),
            interpreter: interpreter.transpose()?,
            needed: Vec::new(),
            run_paths: Vec::new(),
        };
        if let Some(dynamic) = segments.iter().find(|segment| segment.kind == DYNAMIC) {
            elf.add_dynamic(&file, &segments, dynamic)?;
        }
        Ok(elf)
    }

    fn add_dynamic(
        &mut self,
        file: &File<'_>,
        segments: &[Segment],
        dynamic: &Segment,
    ) -> Result<(), ElfProblem> {
        let tags = file.tags(dynamic)?;
        let Some(strings) = tags.iter().find(|tag| tag.kind == STRING_TABLE) else {
            return Ok(());
        };
        let strings = offset_of(strings.value, segments).ok_or(ElfProblem::Truncated)?;
        for tag in &tags {
            let text = || file.text(strings.saturating_add(tag.value));
            match tag.kind {
                NEEDED => self.needed.push(text()?),
                RPATH | RUNPATH => self.run_paths.extend(
                    text()?
                        .split(':')
                        .filter(|path| !path.is_empty())
                        .map(str::to_owned),
                ),
                _ => (),
            }
        }
        Ok(())
    }
}

struct File<'a> {
    bytes: &'a [u8],
}

struct Segment {
    kind: u32,
    offset: u64,
    address: u64,
    file_bytes: u64,
}

struct Tag {
    kind: u64,
    value: u64,
}

impl File<'_> {
    fn at<const N: usize>(&self, offset: u64) -> Result<[u8; N], ElfProblem> {
        let offset = usize::try_from(offset).map_err(|_| ElfProblem::Truncated)?;
        let rest = self.bytes.get(offset..);
        let found = rest.and_then(|rest| rest.first_chunk());
        found.copied().ok_or(ElfProblem::Truncated)
    }

    fn number(&self, offset: u64) -> Result<u64, ElfProblem> {
        Ok(u64::from_le_bytes(self.at(offset)?))
    }

    /// Up to the zero that ends it.
    fn text(&self, offset: u64) -> Result<String, ElfProblem> {
        let offset = usize::try_from(offset).map_err(|_| ElfProblem::Truncated)?;
        let rest = self.bytes.get(offset..).ok_or(ElfProblem::Truncated)?;
        let end = rest.iter().position(|byte| *byte == 0);
        let text = &rest[..end.ok_or(ElfProblem::Truncated)?];
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    fn segments(&self) -> Result<Vec<Segment>, ElfProblem> {
        let table = self.number(32)?;
        let entry_bytes = u16::from_le_bytes(self.at(54)?);
        let count = u16::from_le_bytes(self.at(56)?);
        if count > 0 && entry_bytes < PROGRAM_HEADER_BYTES {
            return Err(ElfProblem::Truncated);
        }
        (0..u64::from(count))
            .map(|index| {
                let at = table.checked_add(index * u64::from(entry_bytes));
                let at = at.filter(|at| *at < self.bytes.len() as u64);
                let at = at.ok_or(ElfProblem::Truncated)?;
                Ok(Segment {
                    kind: u32::from_le_bytes(self.at(at)?),
                    offset: self.number(at + 8)?,
                    address: self.number(at + 16)?,
                    file_bytes: self.number(at + 32)?,
                })
            })
            .collect()
    }

    /// Of the dynamic section, up to the empty one that ends it.
    fn tags(&self, dynamic: &Segment) -> Result<Vec<Tag>, ElfProblem> {
        let end = dynamic.offset.checked_add(dynamic.file_bytes);
        let end = end.filter(|end| *end <= self.bytes.len() as u64);
        let end = end.ok_or(ElfProblem::Truncated)?;
        let mut tags = Vec::new();
        let mut at = dynamic.offset;
        while at + 16 <= end {
            let tag = Tag {
                kind: self.number(at)?,
                value: self.number(at + 8)?,
            };
            if tag.kind == 0 {
                break;
            }
            tags.push(tag);
            at += 16;
        }
        Ok(tags)
    }
}

/// The dynamic section has addresses in memory; where they lie in the file, the loaded segments say.
fn offset_of(address: u64, segments: &[Segment]) -> Option<u64> {
    let loaded = segments.iter().filter(|segment| segment.kind == LOAD);
    loaded
        .filter_map(|segment| {
            let within = address.checked_sub(segment.address)?;
            (within < segment.file_bytes).then(|| segment.offset.checked_add(within))?
        })
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_needs_the_c_library_and_names_its_loader() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let elf = Elf::parse(&own).unwrap();
        assert!(elf.needed.iter().any(|name| name == "libc.so.6"), "{elf:?}");
        assert!(elf.interpreter.unwrap().contains("ld-linux"));
    }

    #[test]
    fn what_is_no_elf_file_is_said_to_be_none() {
        assert_eq!(Elf::parse(b"#!/bin/sh\n"), Err(ElfProblem::NotElf));
        assert_eq!(Elf::parse(b""), Err(ElfProblem::NotElf));
        assert_eq!(Elf::parse(b"\x7fELF\x02\x01"), Err(ElfProblem::Truncated));
        let mut narrow = [0; HEADER_BYTES];
        narrow[..6].copy_from_slice(b"\x7fELF\x01\x01");
        assert_eq!(Elf::parse(&narrow), Err(ElfProblem::NotSupported));
    }

    #[test]
    fn a_cut_or_damaged_file_never_panics() {
        let own = std::fs::read("/bin/sh").unwrap();
        for length in 0..own.len().min(2000) {
            let _ = Elf::parse(&own[..length]);
        }
        for at in 0..1000 {
            for value in [0, 0x7f, 0xff] {
                let mut damaged = own.clone();
                damaged[at] = value;
                let _ = Elf::parse(&damaged);
            }
        }
    }
}
