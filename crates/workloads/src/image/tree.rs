//! Files and folders of a layer, in the order in which they are written.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// By path without the first slash: sorted, a folder stands before what is in it.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub entries: BTreeMap<String, Entry>,
}

#[derive(Debug)]
pub(crate) enum Entry {
    Folder,
    Text { text: String },
    File { from: PathBuf, executable: bool },
}

impl Entry {
    /// All belongs to root, and the server, which is not root, reads it.
    pub(crate) fn mode(&self) -> u32 {
        match self {
            Entry::Folder
            | Entry::File {
                executable: true, ..
            } => 0o755,
            Entry::Text { .. } | Entry::File { .. } => 0o644,
        }
    }
}

impl Tree {
    pub(crate) fn add_file(&mut self, at: &str, from: PathBuf, executable: bool) {
        self.add(at, Entry::File { from, executable });
    }

    /// `at` is the path in the image; the folders above it are added.
    pub(crate) fn add(&mut self, at: &str, entry: Entry) {
        let at = at.trim_matches('/');
        for (end, _) in at.match_indices('/') {
            let above = self.entries.entry(at[..end].to_owned());
            above.or_insert(Entry::Folder);
        }
        self.entries.insert(at.to_owned(), entry);
    }
}
