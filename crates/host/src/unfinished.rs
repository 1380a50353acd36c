//! What is being written has a temporary name until it is complete.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::files::{sync_folder, sync_tree};

const ENDING: &str = ".part";

/// A temporary name beside a file or folder: on the same file system, so that renaming is enough.
/// Nothing is there at first; what is there when this is dropped is removed.
#[derive(Debug)]
pub struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    pub fn beside(to: &Path) -> Unfinished {
        // With the process id the name is no other program's, with the number no other thread's.
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mut name = std::ffi::OsString::from(".");
        name.push(to.file_name().unwrap_or_default());
        name.push(format!(".{}-{number}{ENDING}", std::process::id()));
        Unfinished {
            path: to.with_file_name(name),
        }
    }

    /// An empty folder; those around it are created. What killed programs left of the same is
    /// removed: it may be large.
    pub fn folder(to: &Path) -> io::Result<Unfinished> {
        let name = to.file_name().unwrap_or_default().to_string_lossy();
        let parent = to.parent().unwrap_or(Path::new(""));
        for left in leftovers(parent) {
            if left.is_abandoned && left.name == name {
                left.remove();
            }
        }
        let unfinished = Unfinished::beside(to);
        fs::create_dir_all(&unfinished.path)?;
        Ok(unfinished)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Brings it to the disk, then gives it its name in one step. A file of that name is replaced;
    /// a folder that is not empty is an error, see [`Unfinished::replace`].
    pub fn publish(self, to: &Path) -> io::Result<()> {
        self.sync()?;
        self.rename(to)
    }

    /// The same; a folder of that name is replaced, and only removed once that is done.
    pub fn replace(self, to: &Path) -> io::Result<()> {
        self.sync()?;
        let earlier = Unfinished::beside(to);
        let replaces = to.symlink_metadata().is_ok_and(|found| found.is_dir());
        if replaces {
            fs::rename(to, &earlier.path)?;
        }
        let renamed = self.rename(to);
        if renamed.is_err() && replaces {
            fs::rename(&earlier.path, to)?;
        }
        renamed
    }

    fn sync(&self) -> io::Result<()> {
        match self.path.is_dir() {
            true => sync_tree(&self.path),
            false => sync_folder(&self.path),
        }
    }

    fn rename(&self, to: &Path) -> io::Result<()> {
        fs::rename(&self.path, to)?;
        sync_folder(to.parent().unwrap_or(Path::new("")))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let _ = match self.path.is_dir() {
            true => fs::remove_dir_all(&self.path),
            false => fs::remove_file(&self.path),
        };
    }
}

/// Something unfinished in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    pub path: PathBuf,
    /// What it was to become.
    pub name: String,
    /// Whether the process that began it is gone.
    pub is_abandoned: bool,
}

impl Leftover {
    pub fn remove(&self) {
        let _ = Unfinished {
            path: self.path.clone(),
        };
    }
}

/// What processes began in `folder` and have not finished.
pub fn leftovers(folder: &Path) -> Vec<Leftover> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let found = entries.filter_map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let (name, number) = name
            .strip_prefix('.')?
            .strip_suffix(ENDING)?
            .rsplit_once('.')?;
        let process: u32 = number.split_once('-')?.0.parse().ok()?;
        Some(Leftover {
            path: entry.path(),
            name: name.to_owned(),
            is_abandoned: !Path::new("/proc").join(process.to_string()).exists(),
        })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than any Linux gives.
    const NO_PROCESS: u32 = 4_194_305;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn folders_are_published_replaced_or_removed() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("to");
        let begun = |content: &str| {
            let unfinished = Unfinished::folder(&to).unwrap();
            fs::create_dir(unfinished.path().join("inner")).unwrap();
            fs::write(unfinished.path().join("inner/file"), content).unwrap();
            unfinished
        };
        let check = |expected: &str| {
            let found = fs::read_to_string(to.join("inner/file")).unwrap();
            assert_eq!(found, expected);
            assert_eq!(names(folder.path()), ["to"]);
        };
        begun("1").publish(&to).unwrap();
        check("1");
        assert!(begun("2").publish(&to).is_err());
        check("1");
        begun("3").replace(&to).unwrap();
        check("3");
        drop(begun("4"));
        check("3");
    }

    #[test]
    fn a_bare_name_is_in_the_current_folder() {
        assert_eq!(
            Unfinished::beside(Path::new("file")).path().parent(),
            Some(Path::new(""))
        );
        sync_folder(Path::new("")).unwrap();
    }

    #[test]
    fn leftovers_of_ended_processes_are_told_from_others() {
        let folder = tempfile::tempdir().unwrap();
        let mine = Unfinished::folder(&folder.path().join("a.b")).unwrap();
        fs::write(folder.path().join(format!(".c.{NO_PROCESS}-0.part")), "").unwrap();
        for other in ["d.1-0.part", ".d.part", ".d.x-0.part", "d"] {
            fs::write(folder.path().join(other), "").unwrap();
        }
        let mut found = leftovers(folder.path());
        found.sort_by(|a, b| a.name.cmp(&b.name));
        let found: Vec<_> = found
            .iter()
            .map(|left| (left.name.as_str(), left.is_abandoned))
            .collect();
        assert_eq!(found, [("a.b", false), ("c", true)]);
        for left in leftovers(folder.path()) {
            left.remove();
        }
        drop(mine);
        assert_eq!(
            names(folder.path()),
            [".d.part", ".d.x-0.part", "d", "d.1-0.part"]
        );
    }
}
