//! Where the files of real datasets lie, and reading them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cifar;
use crate::error::{DataError, FormatError};
use crate::idx;
use crate::images::Images;

/// The dataset's own folder, or those its usual archives and libraries unpack into.
const MNIST_FOLDERS: &[&str] = &["", "MNIST/raw", "raw", "mnist"];
const CIFAR_FOLDERS: &[&str] = &["", "cifar-10-batches-bin"];

pub(crate) fn mnist(folder: &Path, held_out: bool) -> Result<Images, DataError> {
    let part = if held_out { "t10k" } else { "train" };
    let names = |what: &str| {
        ["-", "."]
            .map(|mark| format!("{part}-{what}{mark}{}", kind(what)))
            .to_vec()
    };
    let images_path = find(folder, MNIST_FOLDERS, names("images"))?;
    let labels_path = find(folder, MNIST_FOLDERS, names("labels"))?;
    let image_bytes = read(&images_path)?;
    let label_bytes = read(&labels_path)?;
    let images = idx::parse_images(&image_bytes).map_err(malformed(&images_path))?;
    let labels = idx::parse_labels(&label_bytes).map_err(malformed(&labels_path))?;
    if images.count != labels.len() {
        return Err(DataError::LabelsDiffer {
            images_path,
            images: images.count,
            labels_path,
            labels: labels.len(),
        });
    }
    let (height, width) = (images.height, images.width);
    Ok(Images {
        channels: 1,
        height,
        width,
        pixels: images.pixels.to_vec(),
        labels: labels.iter().map(|&label| label.into()).collect(),
    })
}

fn kind(what: &str) -> &'static str {
    if what == "images" {
        "idx3-ubyte"
    } else {
        "idx1-ubyte"
    }
}

/// Files are read only until there are `enough` images.
pub(crate) fn cifar10(folder: &Path, held_out: bool, enough: usize) -> Result<Images, DataError> {
    let names = match held_out {
        true => vec!["test_batch.bin".to_owned()],
        false => (1..=5)
            .map(|number| format!("data_batch_{number}.bin"))
            .collect(),
    };
    let mut images = cifar::empty();
    for name in names {
        if images.len() < enough.max(1) {
            let path = find(folder, CIFAR_FOLDERS, vec![name])?;
            cifar::parse_into(&read(&path)?, &mut images).map_err(malformed(&path))?;
        }
    }
    Ok(images)
}

fn find(folder: &Path, below: &[&str], wanted: Vec<String>) -> Result<PathBuf, DataError> {
    let places = || {
        below
            .iter()
            .flat_map(|sub| wanted.iter().map(move |name| folder.join(sub).join(name)))
    };
    if let Some(path) = places().find(|path| path.is_file()) {
        return Ok(path);
    }
    let compressed = places()
        .map(|path| path.with_added_extension("gz"))
        .find(|path| path.is_file());
    Err(DataError::FileMissing {
        folder: folder.to_owned(),
        wanted,
        compressed,
    })
}

fn read(path: &Path) -> Result<Vec<u8>, DataError> {
    fs::read(path).map_err(|error| DataError::Read {
        path: path.to_owned(),
        error,
    })
}

fn malformed(path: &Path) -> impl FnOnce(FormatError) -> DataError {
    move |error| DataError::Malformed {
        path: path.to_owned(),
        error,
    }
}
