//! Files that are sent: which of a folder, and of what kind.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What is said of a body whose kind its name does not tell.
pub const UNKNOWN_TYPE: &str = "application/octet-stream";

/// By the file's name; `None` for what no server of ours takes.
pub fn content_type(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?.to_string_lossy().to_ascii_lowercase();
    match extension.as_str() {
        "jpg" | "jpeg" => Some("image/jpeg"),
        "png" => Some("image/png"),
        "json" => Some("application/json"),
        "npy" => Some("application/x-npy"),
        _ => None,
    }
}

/// A file alone, whatever it is, or those of a folder that can be sent, in the order of their names. The error is a
/// sentence.
pub fn body_files(path: &Path) -> Result<Vec<PathBuf>, String> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let shown = path.display();
    let entries = path.read_dir();
    let entries = entries.map_err(|error| format!("cannot read {shown}: {error}"))?;
    let mut kinds = BTreeSet::new();
    let mut files = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        if let Some(kind) = content_type(&path).filter(|_| path.is_file()) {
            kinds.insert(kind);
            files.push(path);
        }
    }
    files.sort();
    match kinds.len() {
        0 => Err(format!(
            "{shown} has no pictures (.jpg, .png), tensors (.npy) or .json to send"
        )),
        1 => Ok(files),
        // Requests of one load are of one kind.
        _ => Err(format!(
            "{shown} has files of several types ({}), but a run sends only one: keep one type",
            kinds.into_iter().collect::<Vec<_>>().join(", ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn kinds_by_name() {
        let check = |name, expected| assert_eq!(content_type(Path::new(name)), expected, "{name}");
        check("a/B.JPEG", Some("image/jpeg"));
        check("x.npy", Some("application/x-npy"));
        check("x.txt", None);
        check("jpg", None);
    }

    #[test]
    fn files_of_a_folder() {
        let folder = std::env::temp_dir().join(format!("bancada-bodies-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let write = |name: &str| fs::write(folder.join(name), "x").unwrap();
        assert!(body_files(&folder).unwrap_err().contains("has no pictures"));
        write("notes.txt");
        assert!(body_files(&folder).unwrap_err().contains("has no pictures"));
        write("b.jpg");
        write("a.jpeg");
        let expected = ["a.jpeg", "b.jpg"].map(|name| folder.join(name));
        assert_eq!(body_files(&folder).unwrap(), expected);
        assert_eq!(
            body_files(&folder.join("notes.txt")).unwrap(),
            [folder.join("notes.txt")]
        );
        write("c.png");
        let mixed = body_files(&folder).unwrap_err();
        assert!(mixed.contains("(image/jpeg, image/png)"), "{mixed}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
