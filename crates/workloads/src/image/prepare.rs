//! The model as ONNX Runtime has optimised it, made by the server that goes into the image.

use std::path::Path;
use std::process::Command;

use crate::image::architecture::Architecture;
use crate::image::build::Image;
use crate::image::error::ImageError;
use crate::image::model_files::ModelFiles;

/// The files of `folder`, to which the model is copied first: a prepared copy is found by the time of its model,
/// and the user's own files keep theirs.
pub(crate) fn prepare(
    image: &Image,
    model: &ModelFiles,
    folder: &Path,
) -> Result<ModelFiles, ImageError> {
    if Architecture::host() != Some(image.architecture) {
        return Err(ImageError::new(format!(
            "preparing a model runs the server, but this machine is not {}: build without --prepare, or on such a machine",
            image.architecture
        )));
    }
    model.stage(folder)?;
    let failed = |said: &str| {
        ImageError::of(
            &image.program,
            format!("could not prepare the model: {said}"),
        )
    };
    let ran = Command::new(&image.program)
        .args(["serve", "--prepare", "--library"])
        .args([&image.library, folder])
        .output()
        .map_err(|error| failed(&error.to_string()))?;
    if !ran.status.success() {
        return Err(failed(String::from_utf8_lossy(&ran.stderr).trim()));
    }
    ModelFiles::find(folder)
}
