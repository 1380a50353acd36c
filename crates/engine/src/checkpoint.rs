//! The trained network on disk, as safetensors.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use network::Weights;

use crate::error::EngineError;

/// Written beside and renamed, so that there is a whole file or none.
pub(crate) fn save(weights: &Weights, path: &Path) -> Result<(), EngineError> {
    write_beside(&weights.to_bytes(), path).map_err(|error| EngineError::Checkpoint {
        path: path.to_owned(),
        error,
    })
}

pub(crate) fn load(path: &Path) -> Result<Weights, EngineError> {
    let bytes = fs::read(path).map_err(|error| EngineError::Weightless {
        path: path.to_owned(),
        error,
    })?;
    Ok(Weights::from_bytes(&bytes)?)
}

fn write_beside(bytes: &[u8], path: &Path) -> io::Result<()> {
    let beside = path.with_added_extension("part");
    let written = File::create(&beside).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&beside, path));
    if renamed.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&beside);
    }
    renamed
}
