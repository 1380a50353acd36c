//! Cache folders being created: under a temporary name, renamed when complete.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::home::HomeError;

const ENDING: &str = ".part";

/// An empty folder in `parent` for what will be called `name`. What programs left behind that were
/// killed while they made the same is removed: it may be large.
pub fn unfinished_folder(parent: &Path, name: &str) -> Result<PathBuf, HomeError> {
    let beginning = format!(".{name}.");
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        let process = file
            .strip_prefix(&beginning)
            .and_then(|rest| rest.strip_suffix(ENDING))
            .and_then(|process| process.parse().ok());
        if process.is_some_and(|process| !lives(process)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    let folder = parent.join(format!("{beginning}{}{ENDING}", std::process::id()));
    fs::create_dir_all(&folder).map_err(HomeError::io("create", &folder))?;
    Ok(folder)
}

fn lives(process: libc::pid_t) -> bool {
    // SAFETY: signal 0 only asks whether the process is there.
    let asked = unsafe { libc::kill(process, 0) };
    // One of another user is there too.
    asked == 0 || io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_dead_left_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let left = |name: &str, process: u32| {
            let folder = parent.path().join(format!(".{name}.{process}.part"));
            fs::create_dir(&folder).unwrap();
            folder
        };
        let dead = left("a", child.id());
        let another = left("b", child.id());
        let living = left("a", 1);
        let own = unfinished_folder(parent.path(), "a").unwrap();
        assert!(!dead.exists() && another.exists() && living.exists());
        assert!(own.is_dir());
    }
}
