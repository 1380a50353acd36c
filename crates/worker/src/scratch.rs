//! A folder for what nobody needs afterwards: below the cache folder, since what is tried may be
//! larger than what the system keeps for temporary files.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Goes when it is dropped. What a killed program left goes when the next one makes its own.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
    /// Of the folder, held for as long as it is used: the kernel lets go of it in whatever way the
    /// program ends.
    _lock: File,
}

impl Scratch {
    /// `home` is bancada's cache folder.
    pub fn make(home: &Path) -> io::Result<Scratch> {
        let parent = home.join("scratch");
        fs::create_dir_all(&parent)?;
        // One at a time: a folder that is made and not yet locked looks like one left behind.
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(false);
        let turn = options.open(parent.join(".lock"))?;
        // Where locks do not work, nothing is taken for left behind.
        _ = turn.lock();
        remove_left_behind(&parent);
        let folder = free_name(&parent);
        fs::create_dir(&folder)?;
        let lock = File::open(&folder)?;
        _ = lock.lock();
        _ = turn.unlock();
        Ok(Scratch {
            folder,
            _lock: lock,
        })
    }

    pub fn path(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // That it cannot be removed is no reason to stop; the next program tries again.
        _ = fs::remove_dir_all(&self.folder);
    }
}

fn remove_left_behind(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for folder in entries.map(|entry| entry.path()).filter(|p| p.is_dir()) {
        if File::open(&folder).is_ok_and(|folder| folder.try_lock().is_ok()) {
            _ = fs::remove_dir_all(&folder);
        }
    }
}

/// Processes in two containers may have the same number.
fn free_name(parent: &Path) -> PathBuf {
    let own = |count: u32| parent.join(format!("{}-{count}", std::process::id()));
    let mut names = (0..).map(own);
    names.find(|name| !name.exists()).unwrap_or_else(|| own(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_goes_with_its_owner_and_what_was_left_goes_with_the_next() {
        let name = format!("bancada-scratch-{}", std::process::id());
        let home = std::env::temp_dir().join(name);
        let left = home.join("scratch/1-0");
        fs::create_dir_all(left.join("data")).unwrap();
        let first = Scratch::make(&home).unwrap();
        assert!(!left.exists(), "nobody holds it");
        fs::write(first.path().join("images"), "x").unwrap();
        let second = Scratch::make(&home).unwrap();
        assert!(first.path().join("images").exists(), "its owner lives");
        assert_ne!(first.path(), second.path());
        let paths = [first.path().to_owned(), second.path().to_owned()];
        drop((first, second));
        assert!(paths.iter().all(|path| !path.exists()));
        fs::remove_dir_all(&home).unwrap();
    }
}
