//! A model on disk: an ONNX file, or a folder with one, and its description next to it.

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

impl ModelFile {
    /// The name is the description's, or else the folder's or the file's.
    pub fn find(path: &Path) -> Result<ModelFile, ModelError> {
        let file = if path.is_dir() {
            in_folder(path)?
        } else {
            path.to_owned()
        };
        if !file.is_file() {
            return Err(no_model(path));
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

fn in_folder(folder: &Path) -> Result<PathBuf, ModelError> {
    let usual = folder.join(MODEL);
    if usual.is_file() {
        return Ok(usual);
    }
    let listed = fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
    let files = listed.flatten().map(|entry| entry.path());
    let mut models = files.filter(|path| {
        path.extension()
            .is_some_and(|extension| extension == "onnx")
    });
    match (models.next(), models.next()) {
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => Err(ModelError::new(format!(
            "{} has several .onnx files and none is called {MODEL}: name the one to serve",
            folder.display()
        ))),
        (None, _) => Err(no_model(folder)),
    }
}

fn no_model(path: &Path) -> ModelError {
    ModelError::new(format!(
        "there is no model at {}: expected an .onnx file, or a folder with one",
        path.display()
    ))
}

pub(crate) fn unreadable(path: &Path, error: &io::Error) -> ModelError {
    ModelError::new(format!("{} cannot be read: {error}", path.display()))
}

/// `NAME.json` before `model.json`, so that several models can lie in one folder.
fn description(model: &Path) -> Result<Description, ModelError> {
    let own = model.with_extension("json");
    let shared = model.with_file_name(DESCRIPTION);
    let Some(path) = [own, shared].into_iter().find(|path| path.is_file()) else {
        return Ok(Description::default());
    };
    let text = fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
    Description::parse(&text)
        .map_err(|error| ModelError::new(format!("{}: {error}", path.display())))
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
