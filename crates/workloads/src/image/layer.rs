//! A layer: a tree as a compressed tar archive, with nothing in it that another run would write otherwise.

use std::fs::File;
use std::io::{Read as _, Write};

use flate2::{Compression, GzBuilder};
use tar::{EntryType, Header};

use crate::image::blobs::{Blobs, Digesting};
use crate::image::error::ImageError;
use crate::image::report::{Layer, LayerKind, Size};
use crate::image::tree::{Entry, Tree};

/// Seconds since 1970 of everything in an image: what it contains decides its digest, not when it was built.
pub(crate) const TIME: u64 = 0;
/// Twice the time at level 9 makes ONNX Runtime's library smaller by 0.4 %.
const COMPRESSION: u32 = 6;
/// Of the gzip format: the system that compressed is not reported.
const UNKNOWN_SYSTEM: u8 = 255;

pub(crate) fn write(tree: &Tree, kind: LayerKind, blobs: &Blobs) -> Result<Layer, ImageError> {
    let (blob, (diff_id, disk_bytes)) = blobs.add(|to| {
        let packed = GzBuilder::new()
            .mtime(0)
            .operating_system(UNKNOWN_SYSTEM)
            .write(to, Compression::new(COMPRESSION));
        let mut archive = tar::Builder::new(Digesting::new(packed));
        let mut disk_bytes = 0;
        for (path, entry) in &tree.entries {
            disk_bytes += append(&mut archive, path, entry)?;
        }
        let written = archive.into_inner().and_then(|archive| {
            let passed = archive.finish();
            passed.inner.finish()?;
            Ok(passed.digest)
        });
        let diff_id = written.map_err(ImageError::io("written", "layer".as_ref()))?;
        Ok((diff_id, disk_bytes))
    })?;
    let files = tree.entries.values();
    let files = files.filter(|entry| !matches!(entry, Entry::Folder));
    Ok(Layer {
        kind,
        digest: blob.digest,
        diff_id,
        size: Size {
            compressed_bytes: blob.bytes,
            disk_bytes,
        },
        files: files.count() as u64,
    })
}

/// Says how many bytes the file has.
pub(crate) fn append<W: Write>(
    archive: &mut tar::Builder<W>,
    path: &str,
    entry: &Entry,
) -> Result<u64, ImageError> {
    let (result, bytes) = match entry {
        Entry::Folder => {
            let mut header = header(EntryType::Directory, entry.mode(), 0);
            let path = format!("{path}/");
            let result = archive.append_data(&mut header, path, std::io::empty());
            (result, 0)
        }
        Entry::Text { text } => {
            let bytes = text.len() as u64;
            let mut header = header(EntryType::Regular, entry.mode(), bytes);
            let result = archive.append_data(&mut header, path, text.as_bytes());
            (result, bytes)
        }
        Entry::File { from, .. } => {
            let file = File::open(from).map_err(ImageError::io("read", from))?;
            let about = file.metadata().map_err(ImageError::io("read", from))?;
            let bytes = about.len();
            let mut header = header(EntryType::Regular, entry.mode(), bytes);
            // The header is written first: a file that grows or shrinks meanwhile would spoil what follows it.
            let mut content = file.take(bytes);
            archive
                .append_data(&mut header, path, &mut content)
                .map_err(ImageError::io("read", from))?;
            return match content.limit() {
                0 => Ok(bytes),
                _ => Err(ImageError::of(from, "changed while it was being read")),
            };
        }
    };
    result.map_err(ImageError::io("written", path.as_ref()))?;
    Ok(bytes)
}

fn header(kind: EntryType, mode: u32, bytes: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(bytes);
    header.set_mtime(TIME);
    header.set_uid(0);
    header.set_gid(0);
    header
}
