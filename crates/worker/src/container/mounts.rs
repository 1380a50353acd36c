//! What of this machine a container sees, at the same paths.

use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    path: PathBuf,
    is_read_only: bool,
}

impl Mount {
    pub(crate) fn read_only(path: &Path) -> Mount {
        Mount {
            path: path.to_owned(),
            is_read_only: true,
        }
    }

    pub(crate) fn writable(path: &Path) -> Mount {
        Mount {
            path: path.to_owned(),
            is_read_only: false,
        }
    }

    /// `--mount` and its argument, which engines read as a line of CSV.
    pub(crate) fn words(&self) -> [String; 2] {
        let path = self.path.to_string_lossy();
        let fields = ["src", "dst"].map(|name| quoted(&format!("{name}={path}")));
        let mut text = format!("type=bind,{}", fields.join(","));
        if self.is_read_only {
            text.push_str(",readonly");
        }
        ["--mount".to_owned(), text]
    }
}

fn quoted(field: &str) -> String {
    match field.contains(['"', ',']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_owned(),
    }
}

/// Without those that are in a folder that is seen anyway, and without what does not exist.
pub(crate) fn distinct(mounts: Vec<Mount>) -> Vec<Mount> {
    let mut kept: Vec<Mount> = Vec::new();
    for mount in mounts {
        let is_seen = |other: &Mount| {
            mount.path.starts_with(&other.path) && (mount.is_read_only || !other.is_read_only)
        };
        if mount.path.exists() && !kept.iter().any(is_seen) {
            kept.push(mount);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_one_argument() {
        let check = |path: &str, expected: &str| {
            assert_eq!(Mount::read_only(Path::new(path)).words()[1], expected);
        };
        check("/a b", "type=bind,src=/a b,dst=/a b,readonly");
        check(
            "/a,readonly",
            "type=bind,\"src=/a,readonly\",\"dst=/a,readonly\",readonly",
        );
        check(
            "/a\"b",
            "type=bind,\"src=/a\"\"b\",\"dst=/a\"\"b\",readonly",
        );
    }

    #[test]
    fn what_is_seen_anyway_is_mounted_once() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let all = |first: Mount, second: Mount| distinct(vec![first, second]).len();
        let outer = folder.path();
        assert_eq!(all(Mount::writable(outer), Mount::read_only(&inner)), 1);
        // A place to write in a folder that is only read.
        assert_eq!(all(Mount::read_only(outer), Mount::writable(&inner)), 2);
        assert_eq!(
            all(Mount::writable(outer), Mount::writable(Path::new("/no"))),
            1
        );
    }
}
