//! A model on disk: an ONNX file, or a folder with one, and its description next to it.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::description::Description;
use crate::model::ModelError;

const DESCRIPTION: &str = "model.json";
const MODEL: &str = "model.onnx";

#[derive(Debug, Clone, PartialEq)]
pub struct ModelFile {
    pub name: String,
    pub path: PathBuf,
    pub description: Description,
}

#[derive(Debug)]
pub enum FolderError {
    NoModel(PathBuf),
    Several(PathBuf),
    Unreadable { path: PathBuf, error: io::Error },
    Description { path: PathBuf, error: ModelError },
}

impl fmt::Display for FolderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FolderError::NoModel(path) => {
                write!(
                    f,
                    "there is no model at {}: expected an .onnx file, or a folder with one",
                    path.display()
                )
            }
            FolderError::Several(path) => write!(
                f,
                "{} has several .onnx files and none is called {MODEL}: name the one to serve",
                path.display()
            ),
            FolderError::Unreadable { path, error } => {
                write!(f, "{} cannot be read: {error}", path.display())
            }
            FolderError::Description { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for FolderError {}

impl ModelFile {
    /// The name is the description's, or else the folder's or the file's.
    pub fn find(path: &Path) -> Result<ModelFile, FolderError> {
        let file = if path.is_dir() {
            in_folder(path)?
        } else {
            path.to_owned()
        };
        if !file.is_file() {
            return Err(FolderError::NoModel(path.to_owned()));
        }
        let description = description(&file)?;
        let named = if path.is_dir() { path } else { file.as_path() };
        let own = named.canonicalize().unwrap_or_else(|_| named.to_owned());
        let stem = if path.is_dir() {
            own.file_name()
        } else {
            own.file_stem()
        };
        let name = description
            .name
            .clone()
            .unwrap_or_else(|| stem.unwrap_or_default().to_string_lossy().into_owned());
        Ok(ModelFile {
            name,
            path: file,
            description,
        })
    }
}

fn in_folder(folder: &Path) -> Result<PathBuf, FolderError> {
    let usual = folder.join(MODEL);
    if usual.is_file() {
        return Ok(usual);
    }
    let listed = fs::read_dir(folder).map_err(|error| FolderError::Unreadable {
        path: folder.to_owned(),
        error,
    })?;
    let files = listed.flatten().map(|entry| entry.path());
    let mut models = files.filter(|path| {
        path.extension()
            .is_some_and(|extension| extension == "onnx")
    });
    match (models.next(), models.next()) {
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => Err(FolderError::Several(folder.to_owned())),
        (None, _) => Err(FolderError::NoModel(folder.to_owned())),
    }
}

/// `NAME.json` before `model.json`, so that several models can lie in one folder.
fn description(model: &Path) -> Result<Description, FolderError> {
    let own = model.with_extension("json");
    let shared = model.with_file_name(DESCRIPTION);
    let Some(path) = [own, shared].into_iter().find(|path| path.is_file()) else {
        return Ok(Description::default());
    };
    match fs::read_to_string(&path) {
        Ok(text) => {
            Description::parse(&text).map_err(|error| FolderError::Description { path, error })
        }
        Err(error) => Err(FolderError::Unreadable { path, error }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_a_folder_and_what_is_neither() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let error = |path: &Path| ModelFile::find(path).unwrap_err().to_string();
        assert!(error(&at("none.onnx")).contains("there is no model at"));
        assert!(error(folder.path()).contains("there is no model at"));
        fs::write(at("a.onnx"), "").unwrap();
        assert_eq!(ModelFile::find(folder.path()).unwrap().path, at("a.onnx"));
        assert_eq!(ModelFile::find(&at("a.onnx")).unwrap().name, "a");
        fs::write(at("b.onnx"), "").unwrap();
        assert!(error(folder.path()).contains("several .onnx files"));
        fs::write(at("model.onnx"), "").unwrap();
        assert_eq!(
            ModelFile::find(folder.path()).unwrap().path,
            at("model.onnx")
        );
        fs::write(at("model.json"), r#"{"name": "eyes"}"#).unwrap();
        assert_eq!(ModelFile::find(folder.path()).unwrap().name, "eyes");
        fs::write(at("b.json"), "3").unwrap();
        assert!(error(&at("b.onnx")).contains("b.json: "));
    }
}
