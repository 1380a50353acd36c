//! Compressed files and archives, unpacked no further than what is wanted.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use tar::Archive;

use crate::error::FetchError;

/// A file that shall come out of an archive.
pub(crate) struct Part {
    /// Without its folders.
    pub(crate) name: String,
    pub(crate) to: PathBuf,
    pub(crate) most_bytes: u64,
}

/// Unpacks one compressed file; what would become larger than `most_bytes` is refused.
pub(crate) fn gunzip(from: &Path, to: &Path, most_bytes: u64) -> Result<(), FetchError> {
    let file = File::open(from).map_err(FetchError::io(from))?;
    let mut content = MultiGzDecoder::new(BufReader::new(file));
    write(&mut content, to, most_bytes).map_err(broken(from))
}

/// Unpacks the parts of a compressed tar archive; all must be there.
pub(crate) fn untar(from: &Path, parts: &[Part]) -> Result<(), FetchError> {
    let file = File::open(from).map_err(FetchError::io(from))?;
    let mut archive = Archive::new(MultiGzDecoder::new(BufReader::new(file)));
    let mut missing: Vec<&Part> = parts.iter().collect();
    let mut read = || -> io::Result<()> {
        for entry in archive.entries()? {
            let mut entry = entry?;
            let path = entry.path()?.into_owned();
            let is_wanted = |part: &&Part| path.file_name().is_some_and(|name| name == &*part.name);
            let wanted = missing.iter().position(is_wanted);
            if let Some(place) = wanted.filter(|_| entry.header().entry_type().is_file()) {
                let part = missing.swap_remove(place);
                write(&mut entry, &part.to, part.most_bytes)?;
            }
        }
        Ok(())
    };
    read().map_err(broken(from))?;
    match missing.first() {
        Some(part) => Err(FetchError::missing(&part.name)),
        None => Ok(()),
    }
}

fn write(content: &mut dyn Read, to: &Path, most_bytes: u64) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(to)?);
    let written = io::copy(&mut content.take(most_bytes.saturating_add(1)), &mut file)?;
    if written > most_bytes {
        let problem = format!("more than {most_bytes} bytes when unpacked");
        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    }
    file.flush()
}

fn broken(from: &Path) -> impl FnOnce(io::Error) -> FetchError {
    move |error| {
        let what = from.file_name().unwrap_or_default().to_string_lossy();
        match error.kind() {
            io::ErrorKind::UnexpectedEof => FetchError::archive(what, "it ends too early"),
            _ => FetchError::archive(what, error),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::server_tests::gzip;
    use std::fs;

    #[test]
    fn files_come_out_and_bombs_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("a.gz"), folder.path().join("a"));
        let check = |bytes: &[u8], most_bytes, expected: &str| {
            fs::write(&from, bytes).unwrap();
            let told = match gunzip(&from, &to, most_bytes) {
                Ok(()) => fs::read_to_string(&to).unwrap(),
                Err(why) => why.to_string(),
            };
            assert_eq!(told, expected);
        };
        check(&gzip(b"hello"), 5, "hello");
        check(
            &gzip(b"hello"),
            4,
            "a.gz cannot be unpacked: more than 4 bytes when unpacked",
        );
        let cut = gzip(&[b'x'; 1000]);
        check(
            &cut[..cut.len() - 5],
            2000,
            "a.gz cannot be unpacked: it ends too early",
        );
        check(
            b"<html><body>Not found</body>",
            99,
            "a.gz cannot be unpacked: invalid gzip header",
        );
        fs::remove_file(&from).unwrap();
        let missing = gunzip(&from, &to, 9).unwrap_err().to_string();
        assert!(missing.contains("a.gz: No such file"), "{missing}");
    }

    /// An archive of these files.
    pub(crate) fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut archive = tar::Builder::new(Vec::new());
        for (name, content) in files {
            let mut header = tar::Header::new_ustar();
            header.set_size(content.len() as u64);
            archive.append_data(&mut header, name, *content).unwrap();
        }
        archive.into_inner().unwrap()
    }

    fn part(folder: &Path, name: &str, most_bytes: u64) -> Part {
        Part {
            name: name.to_owned(),
            to: folder.join(name),
            most_bytes,
        }
    }

    #[test]
    fn broken_archives_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("a.tar.gz");
        let good = archive(&[("a", &[1; 600]), ("b", b"2")]);
        let check = |bytes: &[u8]| {
            fs::write(&from, gzip(bytes)).unwrap();
            let part = |name| part(folder.path(), name, 600);
            untar(&from, &[part("a"), part("b")])
        };
        check(&good).unwrap();
        for end in [0, 100, 600, 1200, 1536 + 100, 2048 + 100] {
            assert!(check(&good[..end]).is_err(), "{end}");
        }
        let mut changed = good;
        changed[0] = b'c';
        assert!(check(&changed).is_err());
        assert!(check(&[b'x'; 2048]).is_err());
    }

    #[test]
    fn parts_come_out_of_archives_by_their_name() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("a.tar.gz");
        let files: [(&str, &[u8]); 3] = [("deep/er/one", b"1"), ("other", b"?"), ("two", b"22")];
        fs::write(&from, gzip(&archive(&files))).unwrap();
        let part = |name| part(folder.path(), name, 2);
        untar(&from, &[part("two"), part("one")]).unwrap();
        assert_eq!(fs::read(folder.path().join("one")).unwrap(), b"1");
        assert_eq!(fs::read(folder.path().join("two")).unwrap(), b"22");
        assert!(!folder.path().join("other").exists());
        let why = untar(&from, &[part("three")]).unwrap_err().to_string();
        assert_eq!(why, "has no three");
    }
}
