//! A results folder that was just made, and taken away again where nothing came of it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::layout::Layout;
use crate::{StoreError, files};

#[derive(Debug)]
pub(crate) struct NewFolder {
    /// Whether the folder was not there before.
    pub(crate) is_new: bool,
    /// Folders above it that were not there either, the innermost first.
    parents: Vec<PathBuf>,
}

impl NewFolder {
    pub(crate) fn make(layout: &Layout) -> Result<NewFolder, StoreError> {
        let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let missing = layout.dir.ancestors().take_while(is_missing);
        let missing: Vec<PathBuf> = missing.map(Path::to_path_buf).collect();
        let made = NewFolder {
            is_new: !missing.is_empty(),
            parents: missing.into_iter().skip(1).collect(),
        };
        let created = files::create_folder(&layout.runs());
        if created.is_err() {
            made.remove(layout);
        }
        created.map(|()| made)
    }

    /// Removes files of ours and empty folders; what anybody else put there stays.
    pub(crate) fn remove(&self, layout: &Layout) {
        if !self.is_new {
            return;
        }
        for folder in [layout.aside(), layout.old(), layout.runs()] {
            let _ = fs::remove_dir(folder);
        }
        let saved = ["plan.json", "study.toml"].map(|name| layout.dir.join(name));
        let own = [layout.identity(), layout.index(), layout.lock()];
        for file in own.iter().chain(&saved) {
            let _ = fs::remove_file(file);
        }
        for folder in std::iter::once(&layout.dir).chain(&self.parents) {
            let _ = fs::remove_dir(folder);
        }
    }
}
