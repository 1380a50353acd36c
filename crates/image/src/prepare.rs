//! The model as ONNX Runtime has optimised it, made by the server that goes into the image.

use std::path::Path;
use std::process::Command;

use crate::architecture::Architecture;
use crate::error::ImageError;
use crate::model_files::ModelFiles;

pub(crate) struct Preparing<'a> {
    pub program: &'a Path,
    pub library: &'a Path,
    pub architecture: Architecture,
}

impl Preparing<'_> {
    /// The files of `folder`, to which the model is copied first: a prepared copy is found by the time of its model,
    /// and the user's own files keep theirs.
    pub(crate) fn prepare(
        &self,
        model: &ModelFiles,
        folder: &Path,
    ) -> Result<ModelFiles, ImageError> {
        if Architecture::host() != Some(self.architecture) {
            return Err(ImageError::PrepareElsewhere(self.architecture));
        }
        model.stage(folder)?;
        let failed = |said: String| ImageError::Prepare {
            program: self.program.to_owned(),
            said,
        };
        let ran = Command::new(self.program)
            .args(["serve", "--prepare", "--library"])
            .args([self.library, folder])
            .output()
            .map_err(|error| failed(error.to_string()))?;
        if !ran.status.success() {
            let said = String::from_utf8_lossy(&ran.stderr);
            return Err(failed(said.trim().to_owned()));
        }
        ModelFiles::find(folder)
    }
}
