//! What lies where in an image.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::image::error::ImageError;
use crate::image::model_files::{ModelFiles, file_name};
use crate::image::tree::{Entry, Tree};

pub(crate) const PROGRAM: &str = "/usr/bin/bancada-serve";
/// Beside the program, where the server looks first.
const PROGRAM_FOLDER: &str = "/usr/bin";
const MODEL_FOLDER: &str = "/opt/ml/model";
/// Not a user that systems give to someone.
pub(crate) const USER: u32 = 10001;

/// The loader and the libraries, and names for the two users there are.
pub(crate) fn libraries(files: BTreeMap<String, PathBuf>) -> Tree {
    let mut tree = Tree::default();
    for (at, from) in files {
        tree.add_file(&at, from, true);
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
    let name = file_name(library)?;
    tree.add_file(PROGRAM, program.to_owned(), true);
    let at = format!("{PROGRAM_FOLDER}/{name}");
    tree.add_file(&at, library.to_owned(), true);
    // There without a model too: platforms put it there.
    tree.add(MODEL_FOLDER, Entry::Folder);
    Ok(tree)
}

pub(crate) fn model(files: &ModelFiles) -> Tree {
    let mut tree = Tree::default();
    for (name, from) in &files.files {
        tree.add_file(&format!("{MODEL_FOLDER}/{name}"), from.clone(), false);
    }
    tree
}
