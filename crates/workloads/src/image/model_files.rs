//! The files of a model, as they go to `/opt/ml/model`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use crate::image::error::ImageError;
use crate::image::layer::TIME;
use crate::image::report::Warning;

/// A copy that ONNX Runtime has prepared is called MODEL.onnx.KEY.ort.
const PREPARED: &str = "ort";
const MODEL: &str = "onnx";

/// By path in the model's folder.
#[derive(Debug, Default)]
pub(crate) struct ModelFiles {
    pub files: BTreeMap<String, PathBuf>,
}

impl ModelFiles {
    /// All of a folder; of a file, also what belongs to it: its description, its data, its prepared copies.
    pub(crate) fn find(path: &Path) -> Result<ModelFiles, ImageError> {
        let no_model = || {
            ImageError::new(format!(
                "there is no model at {}: expected an .onnx file, or a folder with one",
                path.display()
            ))
        };
        let own = path.canonicalize().map_err(|_| no_model())?;
        let mut found = ModelFiles::default();
        if own.is_dir() {
            found.add_folder(&own, &own, "")?;
        } else {
            found.add_file(path, own)?;
        }
        let top = found.files.keys().filter(|name| !name.contains('/'));
        match top
            .clone()
            .any(|name| has_extension(Path::new(name), MODEL))
        {
            true => Ok(found),
            false => Err(no_model()),
        }
    }

    /// Its name is the one it was given by, also where that is a link to another.
    fn add_file(&mut self, path: &Path, content: PathBuf) -> Result<(), ImageError> {
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let folder = folder
            .canonicalize()
            .map_err(ImageError::io("read", folder))?;
        for file in listed(&folder)? {
            if belongs(&file, path) {
                self.add(&folder, &file, "")?;
            }
        }
        self.files.insert(file_name(path)?.to_owned(), content);
        Ok(())
    }

    fn add_folder(&mut self, root: &Path, folder: &Path, within: &str) -> Result<(), ImageError> {
        for path in listed(folder)? {
            self.add(root, &path, within)?;
        }
        Ok(())
    }

    /// A link to a file of the same folder is that file; what lies elsewhere was not meant to be published.
    fn add(&mut self, root: &Path, path: &Path, within: &str) -> Result<(), ImageError> {
        let name = format!("{within}{}", file_name(path)?);
        let about = fs::symlink_metadata(path).map_err(ImageError::io("read", path))?;
        if about.is_dir() {
            return self.add_folder(root, path, &format!("{name}/"));
        }
        let mut from = path.to_owned();
        if about.is_symlink() {
            let to = path.canonicalize().map_err(ImageError::io("read", path))?;
            if !to.starts_with(root) || !to.is_file() {
                let problem = format!(
                    "is a link to {}, which is not a file of the model's folder: put the file itself there",
                    to.display()
                );
                return Err(ImageError::of(path, problem));
            }
            from = to;
        } else if !about.is_file() {
            return Err(ImageError::of(path, "is neither a file nor a folder"));
        }
        self.files.insert(name, from);
        Ok(())
    }

    /// Copied to a folder with the times they will have in the image, without copies prepared earlier.
    pub(crate) fn stage(&self, folder: &Path) -> Result<(), ImageError> {
        for (name, from) in &self.files {
            if self.prepared_from(name).is_some() {
                continue;
            }
            let to = folder.join(name);
            let above = to.parent().unwrap_or(folder);
            fs::create_dir_all(above).map_err(ImageError::io("made", above))?;
            copy_with_time(from, &to).map_err(ImageError::io("written", &to))?;
        }
        Ok(())
    }

    /// The model's own files, and the prepared copies.
    pub(crate) fn split(self) -> (ModelFiles, ModelFiles) {
        let is_copy = |name: &str| self.prepared_from(name).is_some();
        let (copies, own) = self
            .files
            .clone()
            .into_iter()
            .partition(|(name, _)| is_copy(name));
        (ModelFiles { files: own }, ModelFiles { files: copies })
    }

    /// Prepared copies that will not be found in the image.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let stale = self.files.iter().filter(|(name, _)| {
            self.prepared_from(name)
                .is_some_and(|model| !has_image_time(model))
        });
        stale
            .map(|(_, copy)| Warning::NotPrepared { copy: copy.clone() })
            .collect()
    }

    /// The model that this file is a prepared copy of.
    fn prepared_from(&self, name: &str) -> Option<&PathBuf> {
        let (model, _key) = name
            .strip_suffix(PREPARED)?
            .strip_suffix('.')?
            .rsplit_once('.')?;
        self.files.get(model)
    }
}

pub(crate) fn file_name(path: &Path) -> Result<&str, ImageError> {
    let name = path.file_name().and_then(|name| name.to_str());
    name.ok_or_else(|| {
        ImageError::new(format!(
            "the name of {} is not UTF-8: rename the file",
            path.display()
        ))
    })
}

fn listed(folder: &Path) -> Result<Vec<PathBuf>, ImageError> {
    let entries = fs::read_dir(folder).map_err(ImageError::io("read", folder))?;
    entries
        .map(|entry| Ok(entry.map_err(ImageError::io("read", folder))?.path()))
        .collect()
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|own| own == extension)
}

/// `retina.json`, `model.json`, `retina.onnx.data`, `retina.onnx.KEY.ort`: beside `retina.onnx`.
fn belongs(file: &Path, model: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let own = model.file_name().unwrap_or_default().to_string_lossy();
    let beside = name.strip_prefix(own.as_ref());
    let described = model.with_extension("json");
    file.file_name() == described.file_name()
        || name == "model.json"
        || beside.is_some_and(|rest| rest.starts_with('.') || rest.starts_with('_'))
}

fn copy_with_time(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::copy(from, to)?;
    let file = fs::File::options().append(true).open(to)?;
    file.set_modified(UNIX_EPOCH + Duration::from_secs(TIME))
}

fn has_image_time(path: &Path) -> bool {
    let modified = fs::metadata(path).and_then(|about| about.modified());
    modified.is_ok_and(|modified| {
        let since = modified.duration_since(UNIX_EPOCH);
        since.is_ok_and(|since| since.as_secs() == TIME)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            fs::write(folder.path().join(name), name).unwrap();
        }
        folder
    }

    fn names(files: &ModelFiles) -> Vec<&str> {
        files.files.keys().map(String::as_str).collect()
    }

    #[test]
    fn copies_are_told_from_models_of_the_same_kind() {
        let folder = folder(&["model.onnx", "model.onnx.12ab.ort", "own.ort", "a.b.ort"]);
        let (own, copies) = ModelFiles::find(folder.path()).unwrap().split();
        assert_eq!(names(&own), ["a.b.ort", "model.onnx", "own.ort"]);
        assert_eq!(names(&copies), ["model.onnx.12ab.ort"]);
    }

    #[test]
    fn staged_files_have_the_image_s_time_and_no_old_copies() {
        let folder = folder(&["model.onnx", "model.onnx.12ab.ort", "model.json"]);
        let to = tempfile::tempdir().unwrap();
        let found = ModelFiles::find(folder.path()).unwrap();
        assert_eq!(found.warnings().len(), 1);
        found.stage(to.path()).unwrap();
        let staged = ModelFiles::find(to.path()).unwrap();
        assert_eq!(names(&staged), ["model.json", "model.onnx"]);
        assert!(staged.files.values().all(|path| has_image_time(path)));
        fs::write(to.path().join("model.onnx.34cd.ort"), "").unwrap();
        assert_eq!(ModelFiles::find(to.path()).unwrap().warnings(), []);
    }
}
