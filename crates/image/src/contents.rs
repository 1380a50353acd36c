//! What lies where in an image.

use std::path::Path;

use crate::closure::Closure;
use crate::error::ImageError;
use crate::model_files::ModelFiles;
use crate::tree::{Entry, Tree};

pub(crate) const PROGRAM: &str = "/usr/bin/bancada-serve";
/// Beside the program, where the server looks first.
const PROGRAM_FOLDER: &str = "/usr/bin";
const MODEL_FOLDER: &str = "/opt/ml/model";
/// Not a user that systems give to someone.
pub(crate) const USER: u32 = 10001;

/// The loader and the libraries, and names for the two users there are.
pub(crate) fn libraries(closure: &Closure) -> Tree {
    let mut tree = Tree::default();
    for (at, from) in &closure.files {
        let from = from.clone();
        let executable = true;
        tree.add(at, Entry::File { from, executable });
    }
    let text = format!(
        "root:x:0:0:root:/:/sbin/nologin\nbancada:x:{USER}:{USER}:bancada:/:/sbin/nologin\n"
    );
    tree.add("/etc/passwd", Entry::Text { text });
    let text = format!("root:x:0:\nbancada:x:{USER}:\n");
    tree.add("/etc/group", Entry::Text { text });
    tree
}

pub(crate) fn server(program: &Path, library: &Path) -> Result<Tree, ImageError> {
    let mut tree = Tree::default();
    let name = library.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| ImageError::NotText(library.to_owned()))?;
    for (at, from) in [
        (PROGRAM.to_owned(), program),
        (format!("{PROGRAM_FOLDER}/{name}"), library),
    ] {
        let from = from.to_owned();
        let executable = true;
        tree.add(&at, Entry::File { from, executable });
    }
    // There without a model too: platforms put it there.
    tree.add(MODEL_FOLDER, Entry::Folder);
    Ok(tree)
}

pub(crate) fn model(files: &ModelFiles) -> Tree {
    let mut tree = Tree::default();
    for (name, from) in &files.files {
        let from = from.clone();
        let executable = false;
        let at = format!("{MODEL_FOLDER}/{name}");
        tree.add(&at, Entry::File { from, executable });
    }
    tree
}
