//! Disk usage.

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    pub bytes: u64,
    /// Of them, what is found by this path alone: uv links files from its own cache, and they stay
    /// there when an environment goes.
    pub own_bytes: u64,
}

/// Of everything below, links not followed. What cannot be read counts nothing.
pub fn size_of(path: &Path) -> Size {
    let mut size = Size::default();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            if metadata.is_dir() {
                folders.push(entry.path());
                continue;
            }
            // 512 whatever the file system's own blocks are.
            let bytes = metadata.blocks() * 512;
            size.bytes += bytes;
            size.own_bytes += if metadata.nlink() == 1 { bytes } else { 0 };
        }
    }
    size
}

/// What a person without privileges may still write to the disk that holds `path`, or the nearest
/// folder above it that exists.
pub fn free_bytes(path: &Path) -> Option<u64> {
    let existing = path.ancestors().find(|p| p.exists())?;
    let name = CString::new(existing.as_os_str().as_bytes()).ok()?;
    // SAFETY: `statvfs` is plain numbers, so all zeros is a value of it.
    let mut answer: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the name ends with a zero, and one `statvfs` is written to the address given.
    let answered = unsafe { libc::statvfs(name.as_ptr(), &mut answer) } == 0;
    // Through the widest number: the fields' widths differ between systems.
    let bytes = u128::from(answer.f_bavail) * u128::from(answer.f_frsize);
    u64::try_from(bytes).ok().filter(|_| answered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linked_files_are_counted_as_not_own() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("own"), vec![1; 100_000]).unwrap();
        let outside = tempfile::NamedTempFile::new_in(folder.path()).unwrap();
        fs::write(outside.path(), vec![1; 50_000]).unwrap();
        fs::hard_link(outside.path(), inner.join("linked")).unwrap();
        let size = size_of(&folder.path().join("a"));
        assert!(size.bytes >= 150_000, "{size:?}");
        assert!((100_000..150_000).contains(&size.own_bytes), "{size:?}");
        assert_eq!(size_of(Path::new("/nowhere/at/all")), Size::default());
        assert!(free_bytes(&folder.path().join("not/there")).is_some());
    }
}
