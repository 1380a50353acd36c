//! Files of `/proc` kept open and read again from their beginning: opening costs more than
//! reading, and an open file of a process that ended never shows the next owner of its number.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// The kernel hands out lists (disks, interfaces) in pieces of a page less one record. A shorter
/// answer is the whole file, and the second call that would say so is saved.
const MAYBE_MORE_BYTES: usize = 3072;
const FIRST_BUFFER_BYTES: usize = 16 * 1024;

/// Where readings land; it grows to the largest file and then stays.
#[derive(Debug)]
pub(crate) struct Buffer(Vec<u8>);

impl Buffer {
    pub(crate) fn new() -> Self {
        Buffer(vec![0; FIRST_BUFFER_BYTES])
    }
}

#[derive(Debug)]
pub(crate) struct Source {
    path: PathBuf,
    file: Option<File>,
}

impl Source {
    /// Opens and keeps the file.
    pub(crate) fn kept(path: PathBuf) -> io::Result<Self> {
        let file = File::open(&path)?;
        Ok(Source {
            path,
            file: Some(file),
        })
    }

    /// Opens the file anew for each reading: for the many, when open files are scarce.
    pub(crate) fn reopened(path: PathBuf) -> Self {
        Source { path, file: None }
    }

    pub(crate) fn read<'b>(&self, buffer: &'b mut Buffer) -> io::Result<&'b [u8]> {
        match &self.file {
            Some(file) => read_whole(file, buffer),
            None => read_whole(&File::open(&self.path)?, buffer),
        }
    }
}

fn read_whole<'b>(file: &File, buffer: &'b mut Buffer) -> io::Result<&'b [u8]> {
    let bytes = &mut buffer.0;
    let mut filled = 0;
    loop {
        if filled == bytes.len() {
            bytes.resize(2 * bytes.len(), 0);
        }
        let read = match file.read_at(&mut bytes[filled..], filled as u64) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        filled += read;
        if read == 0 || filled < MAYBE_MORE_BYTES {
            return Ok(&bytes[..filled]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_larger_than_the_buffer_is_read_whole_and_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long");
        let mut buffer = Buffer::new();
        std::fs::write(&path, vec![b'a'; 100_000]).unwrap();
        let source = Source::kept(path.clone()).unwrap();
        assert_eq!(source.read(&mut buffer).unwrap().len(), 100_000);
        std::fs::write(&path, b"short").unwrap();
        assert_eq!(source.read(&mut buffer).unwrap(), b"short");
        assert_eq!(Source::reopened(path).read(&mut buffer).unwrap(), b"short");
    }
}
