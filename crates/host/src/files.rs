//! Files that survive the loss of power, and are what they seem to be.

use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, BufWriter, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use crate::unfinished::Unfinished;

/// The file has the old bytes or the new ones, never a part, also after the loss of power.
pub fn write_whole(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    write_whole_by(path, |file| file.write_all(bytes.as_ref()))
}

/// The same, for what is written piece by piece.
pub fn write_whole_by(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let unfinished = Unfinished::beside(path);
    let mut file = BufWriter::new(File::create(unfinished.path())?);
    write(&mut file)?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?;
    unfinished.publish(path)
}

/// The same, of another file's bytes.
pub fn copy_whole(from: &Path, to: &Path) -> io::Result<()> {
    let mut from = File::open(from)?;
    write_whole_by(to, |file| io::copy(&mut from, file).map(|_| ()))
}

/// A new or emptied file that its owner alone can read.
pub fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path)
}

/// [`write_whole`] for its owner alone, from the first byte on.
pub fn write_private(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let unfinished = Unfinished::beside(path);
    create_private(unfinished.path())?.write_all(bytes.as_ref())?;
    unfinished.publish(path)
}

/// A folder, and those above it, that their owner alone can open.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder)
}

/// Opens a regular file and nothing else: a symbolic link is not followed, and a named pipe, which
/// would wait for its other end for ever, is an error.
pub fn open_regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let opened = options.custom_flags(flags).open(path);
    let file = opened.map_err(|error| match error.raw_os_error() {
        Some(libc::ELOOP) => not_regular("a symbolic link"),
        Some(libc::ENXIO) => not_regular("a named pipe or a socket"),
        _ => error,
    })?;
    let kind = file.metadata()?.file_type();
    match kind.is_file() {
        true => Ok(file),
        false => Err(not_regular(kind_name(kind))),
    }
}

/// The bytes of a regular file. Whatever else has its name is an error, see [`open_regular`].
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path, OpenOptions::new().read(true))?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn not_regular(kind: &str) -> io::Error {
    let message = format!("it is {kind}, not a regular file");
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

fn kind_name(kind: FileType) -> &'static str {
    match () {
        () if kind.is_dir() => "a folder",
        () if kind.is_symlink() => "a symbolic link",
        () if kind.is_fifo() => "a named pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    }
}

/// A new name in a folder is on the disk only after the folder is. A file is synced as well.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    // The folder of a bare file name is the current one.
    let here = Path::new(".");
    let folder = if folder.as_os_str().is_empty() {
        here
    } else {
        folder
    };
    File::open(folder)?.sync_all()
}

/// Every file and folder below, then the folder itself.
pub fn sync_tree(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            sync_tree(&entry.path())?;
        } else if kind.is_file() {
            sync_folder(&entry.path())?;
        }
    }
    sync_folder(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_old_bytes_or_the_new_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let check = |expected: &str| {
            assert_eq!(fs::read_to_string(&path).unwrap(), expected);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        };
        write_whole(&path, "old").unwrap();
        check("old");
        let failed = write_whole_by(&path, |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("the rest is missing"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "the rest is missing");
        check("old");
        write_whole(&path, "new").unwrap();
        check("new");
        assert!(copy_whole(Path::new("/nowhere"), &path).is_err());
        check("new");
        copy_whole(&path.clone(), &path).unwrap();
        check("new");
        write_private(&path, "private").unwrap();
        check("private");
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(write_whole(Path::new("/dev/null/file"), "").is_err());
    }

    #[test]
    fn only_regular_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let check = |name: &str, expected: Result<&str, &str>| {
            let found = read_regular(&folder.path().join(name));
            let found = found.map(|bytes| String::from_utf8(bytes).unwrap());
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(found.map_err(|error| error.to_string()), expected, "{name}");
        };
        fs::write(folder.path().join("file"), "text").unwrap();
        std::os::unix::fs::symlink("file", folder.path().join("link")).unwrap();
        fs::create_dir(folder.path().join("folder")).unwrap();
        check("file", Ok("text"));
        check("link", Err("it is a symbolic link, not a regular file"));
        check("folder", Err("it is a folder, not a regular file"));
    }
}
