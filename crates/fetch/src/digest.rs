//! Whether a file is the published one.

use std::path::Path;

use crate::catalog::DatasetFile;
use crate::error::FetchError;

pub(crate) fn check(path: &Path, wanted: &DatasetFile) -> Result<(), FetchError> {
    let DatasetFile { name, bytes, .. } = wanted;
    let found = std::fs::metadata(path).map_err(FetchError::io(path))?.len();
    if found != *bytes {
        return Err(FetchError::new(format!(
            "{name} has {found} bytes, the published file has {bytes}"
        )));
    }
    let digest = host::Digest::of_file(path).map_err(FetchError::io(path))?;
    match digest.to_string() == wanted.sha256 {
        true => Ok(()),
        false => Err(FetchError::new(format!(
            "{name} is not the published file (SHA-256 {digest})"
        ))),
    }
}
