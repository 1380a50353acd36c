//! Reads files written by users: regular files of UTF-8 text, of a size that a person
//! could have written. `/dev/zero`, a pipe or a disk image is refused before it fills the memory.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

/// A study, a network, a what-if or a trace of requests.
pub fn read_text(path: &Path) -> io::Result<String> {
    let kind = fs::metadata(path)?;
    if kind.is_dir() {
        return Err(io::Error::new(ErrorKind::IsADirectory, "it is a folder"));
    }
    // Opening a pipe would wait for whoever writes to it.
    if !kind.is_file() {
        return Err(invalid("it is not a regular file".to_owned()));
    }
    let mut bytes = Vec::new();
    let most = crate::LARGEST_TEXT_BYTES;
    let read = File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if read as u64 > most {
        let most = most / (1024 * 1024);
        return Err(invalid(format!("it is larger than {most} MiB")));
    }
    crate::text_of(bytes).map_err(invalid)
}

fn invalid(message: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_files_of_a_sane_size_are_read() {
        let folder = std::env::temp_dir().join(format!("bancada-files-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let check = |name: &str, bytes: &[u8], expected: &str| {
            let path = folder.join(name);
            fs::write(&path, bytes).unwrap();
            let got = read_text(&path).unwrap_or_else(|error| error.to_string());
            assert!(got.contains(expected), "{name}: {got:.80}");
        };
        check("good.toml", b"a = 1", "a = 1");
        check("wide.toml", b"\xff\xfea\0", "UTF-16");
        check(
            "large.toml",
            &vec![b' '; 16 * 1024 * 1024 + 1],
            "larger than 16 MiB",
        );
        let check = |path: &Path, expected: &str| {
            let got = read_text(path).unwrap_err().to_string();
            assert!(got.contains(expected), "{got}");
        };
        check(Path::new("/dev/zero"), "not a regular file");
        check(&folder, "folder");
        fs::remove_dir_all(&folder).unwrap();
    }
}
