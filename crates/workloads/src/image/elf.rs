//! What the header of a program or shared library says of the machine and the libraries it needs.
//!
//! Only what the dynamic loader itself looks at; of 64-bit little-endian files, which both architectures have.
//! Layout: System V ABI, chapters 4 and 5.

use object::LittleEndian as Little;
use object::elf::{
    DT_NEEDED, DT_NULL, DT_RPATH, DT_RUNPATH, DT_STRTAB, Dyn64, FileHeader64, PT_LOAD,
    ProgramHeader64,
};
use object::read::StringTable;
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _};

const HEADER_BYTES: usize = 64;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Elf {
    pub machine: u16,
    /// The dynamic loader; programs name it, libraries do not.
    pub interpreter: Option<String>,
    pub needed: Vec<String>,
    /// Folders to look in first; `$ORIGIN` is not yet replaced.
    pub run_paths: Vec<String>,
}

const NOT_ELF: &str = "it is not an ELF file (Linux program or library)";
const NOT_SUPPORTED: &str = "it is not a 64-bit little-endian ELF file";
const TRUNCATED: &str = "its headers point beyond its end: it is truncated";

impl Elf {
    /// The error is a sentence.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Elf, &'static str> {
        if !bytes.starts_with(b"\x7fELF") {
            return Err(NOT_ELF);
        }
        if bytes.len() < HEADER_BYTES {
            return Err(TRUNCATED);
        }
        // Class 2 has 64 bits, encoding 1 is little-endian.
        if bytes[4..6] != [2, 1] {
            return Err(NOT_SUPPORTED);
        }
        // With these right, what is left is a header that points outside.
        Elf::parse_headers(bytes).ok_or(TRUNCATED)
    }

    fn parse_headers(bytes: &[u8]) -> Option<Elf> {
        let header = FileHeader64::<Little>::parse(bytes).ok()?;
        let segments = header.program_headers(Little, bytes).ok()?;
        let mut elf = Elf {
            machine: header.e_machine(Little).0,
            interpreter: None,
            needed: Vec::new(),
            run_paths: Vec::new(),
        };
        for segment in segments {
            if let Some(path) = segment.interpreter(Little, bytes).ok()? {
                elf.interpreter = Some(text(path));
            }
            if let Some(tags) = segment.dynamic(Little, bytes).ok()? {
                elf.add_dynamic(tags, segments, bytes)?;
            }
        }
        Some(elf)
    }

    fn add_dynamic(
        &mut self,
        tags: &[Dyn64<Little>],
        segments: &[ProgramHeader64<Little>],
        bytes: &[u8],
    ) -> Option<()> {
        let end = tags.iter().position(|tag| tag.tag(Little) == DT_NULL);
        let tags = &tags[..end.unwrap_or(tags.len())];
        let Some(strings) = tags.iter().find(|tag| tag.tag(Little) == DT_STRTAB) else {
            return Some(());
        };
        let strings = offset_of(strings.val(Little), segments)?;
        let strings = StringTable::new(bytes, strings, bytes.len() as u64);
        for tag in tags {
            let value = || tag.string(Little, strings).ok().map(text);
            match tag.tag(Little) {
                DT_NEEDED => self.needed.push(value()?),
                DT_RPATH | DT_RUNPATH => {
                    let paths = value()?;
                    let paths = paths.split(':').filter(|path| !path.is_empty());
                    self.run_paths.extend(paths.map(str::to_owned));
                }
                _ => (),
            }
        }
        Some(())
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The dynamic section has addresses in memory; where they lie in the file, the loaded segments say.
fn offset_of(address: u64, segments: &[ProgramHeader64<Little>]) -> Option<u64> {
    let loaded = segments.iter().filter(|s| s.p_type(Little) == PT_LOAD);
    loaded
        .filter_map(|segment| {
            let within = address.checked_sub(segment.p_vaddr(Little))?;
            let offset = segment.p_offset(Little).checked_add(within)?;
            (within < segment.p_filesz(Little)).then_some(offset)
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
        assert_eq!(Elf::parse(b"#!/bin/sh\n"), Err(NOT_ELF));
        assert_eq!(Elf::parse(b""), Err(NOT_ELF));
        assert_eq!(Elf::parse(b"\x7fELF\x02\x01"), Err(TRUNCATED));
        let mut narrow = [0; HEADER_BYTES];
        narrow[..6].copy_from_slice(b"\x7fELF\x01\x01");
        assert_eq!(Elf::parse(&narrow), Err(NOT_SUPPORTED));
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
