//! The trained network on disk, as safetensors.

use std::fs;
use std::path::Path;

use network::Weights;

use crate::error::EngineError;

/// There is a complete file or none.
pub(crate) fn save(weights: &Weights, path: &Path) -> Result<(), EngineError> {
    host::write_whole(path, weights.to_bytes()).map_err(|error| EngineError::Checkpoint {
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
