//! Content kept under its digest.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use host::Digester;

use crate::image::error::ImageError;

/// Digests and counts what passes through.
pub(crate) struct Digesting<W> {
    inner: W,
    digest: Digester,
    bytes: u64,
}

pub(crate) struct Passed<W> {
    pub inner: W,
    pub digest: String,
    pub bytes: u64,
}

impl<W> Digesting<W> {
    pub(crate) fn new(inner: W) -> Digesting<W> {
        Digesting {
            inner,
            digest: Digester::default(),
            bytes: 0,
        }
    }

    pub(crate) fn finish(self) -> Passed<W> {
        Passed {
            inner: self.inner,
            digest: format!("sha256:{}", self.digest.finish()),
            bytes: self.bytes,
        }
    }

    fn count(&mut self, passed: &[u8]) {
        self.digest.update(passed);
        self.bytes += passed.len() as u64;
    }
}

impl<W: Write> Write for Digesting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.count(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<R: Read> Read for Digesting<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(to)?;
        self.count(&to[..read]);
        Ok(read)
    }
}

/// `blobs/sha256` of a layout.
pub(crate) struct Blobs {
    folder: PathBuf,
}

pub(crate) struct Blob {
    pub digest: String,
    pub bytes: u64,
}

impl Blobs {
    pub(crate) fn make(layout: &Path) -> Result<Blobs, ImageError> {
        let folder = layout.join("blobs/sha256");
        fs::create_dir_all(&folder).map_err(ImageError::io("made", &folder))?;
        Ok(Blobs { folder })
    }

    /// What `write` writes, under the digest it turns out to have.
    pub(crate) fn add<T>(
        &self,
        write: impl FnOnce(&mut Digesting<BufWriter<File>>) -> Result<T, ImageError>,
    ) -> Result<(Blob, T), ImageError> {
        let unnamed = self.folder.join("unnamed");
        let file = File::create(&unnamed).map_err(ImageError::io("written", &unnamed))?;
        let mut to = Digesting::new(BufWriter::new(file));
        let told = write(&mut to)?;
        let passed = to.finish();
        let mut inner = passed.inner;
        inner.flush().map_err(ImageError::io("written", &unnamed))?;
        let hex = passed.digest.trim_start_matches("sha256:");
        let path = self.folder.join(hex);
        fs::rename(&unnamed, &path).map_err(ImageError::io("written", &path))?;
        let blob = Blob {
            digest: passed.digest,
            bytes: passed.bytes,
        };
        Ok((blob, told))
    }

    pub(crate) fn add_bytes(&self, bytes: &[u8]) -> Result<Blob, ImageError> {
        let (blob, ()) = self.add(|to| {
            to.write_all(bytes)
                .map_err(ImageError::io("written", &self.folder))
        })?;
        Ok(blob)
    }
}

/// Where a layout keeps what has this digest; `None` if it is not a digest that layouts are named by, so that no base
/// can name a file outside of itself.
pub(crate) fn path_of(layout: &Path, digest: &str) -> Option<PathBuf> {
    let hex = digest.strip_prefix("sha256:")?;
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (hex.len() == 64 && hex.bytes().all(is_hex)).then(|| layout.join("blobs/sha256").join(hex))
}
