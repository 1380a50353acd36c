//! Whether a folder of pictures is the same on two machines.

use std::fs;
use std::path::Path;

use host::Digester;

use crate::error::DataError;

/// SHA-256 over the names and sizes of all files below a folder. Contents would take as long to read
/// as to decode, and times of change do not survive a copy.
pub fn folder_digest(folder: &Path) -> Result<String, DataError> {
    let mut digest = Digester::default();
    add(folder, "", &mut digest)?;
    Ok(digest.finish().to_string())
}

fn add(folder: &Path, name: &str, digest: &mut Digester) -> Result<(), DataError> {
    let entries = fs::read_dir(folder).map_err(DataError::read(folder))?;
    let mut entries: Vec<fs::DirEntry> = entries.flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        let found = fs::metadata(&path).map_err(DataError::read(&path))?;
        if found.is_dir() {
            add(&path, &name, digest)?;
        } else {
            digest.update(format!("{name}\0{}\n", found.len()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_same_digest_and_a_changed_folder_has_not() {
        let root = tempfile::tempdir().unwrap();
        let make = |name: &str, files: &[(&str, &str)]| {
            for (file, text) in files {
                let path = root.path().join(name).join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            folder_digest(&root.path().join(name)).unwrap()
        };
        let first = make("first", &[("a/1.png", "x"), ("b/2.png", "yy")]);
        assert_eq!(make("copy", &[("b/2.png", "yy"), ("a/1.png", "x")]), first);
        assert_ne!(make("other", &[("a/1.png", "x"), ("b/3.png", "yy")]), first);
        assert_ne!(make("larger", &[("a/1.png", "x"), ("b/2.png", "y")]), first);
        assert!(folder_digest(&root.path().join("missing")).is_err());
    }
}
