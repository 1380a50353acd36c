//! What decides a cache's images, and what describes a cache that was made.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use host::{Digest, Digester};
use serde::{Deserialize, Serialize};

use super::files::{self, DESCRIPTION};
use crate::error::DataError;
use crate::load::DataRequest;
use crate::npy::{Header, Kind};
use crate::source::OwnShape;
use crate::survey::Survey;

/// Raised whenever the same request would give other numbers.
const SCHEMA: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Recipe {
    schema: u32,
    pub(crate) dataset: String,
    pub(crate) image: u32,
    pub(crate) train: u32,
    pub(crate) held_out: u32,
    /// Where images depend on it.
    seed: Option<u64>,
    sources: Sources,
}

/// The files that were read. Their contents would take as long to read as the cache to make;
/// names, sizes and times of change tell a changed file as `make` does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Sources {
    files: u64,
    bytes: u64,
    /// SHA-256 of names (below the dataset's folder), sizes and times of change.
    digest: String,
}

impl Recipe {
    pub(crate) fn new(request: &DataRequest, survey: &Survey) -> Result<Self, DataError> {
        let count = |count: usize| {
            u32::try_from(count).map_err(|_| DataError::too_large(count, request.image))
        };
        Ok(Recipe {
            schema: SCHEMA,
            dataset: request.dataset.clone(),
            image: request.image,
            train: count(survey.train.count)?,
            held_out: count(survey.held_out.count)?,
            seed: survey.seed,
            sources: sources(survey)?,
        })
    }

    pub(crate) fn folder_name(&self) -> String {
        let digest = Digest::of(json(self));
        format!("{}-{}px-{digest:.16}", self.dataset, self.image)
    }
}

fn sources(survey: &Survey) -> Result<Sources, DataError> {
    let mut found = Sources::default();
    let mut digest = Digester::default();
    let folder = survey.folder.as_deref().unwrap_or(Path::new(""));
    for part in [&survey.train, &survey.held_out] {
        for path in part.source.paths(part.count) {
            let metadata = fs::metadata(&path).map_err(DataError::read(&path))?;
            let modified = metadata.modified().map_err(DataError::read(&path))?;
            let since = match modified.duration_since(UNIX_EPOCH) {
                Ok(after) => i128::try_from(after.as_nanos()).unwrap_or(i128::MAX),
                Err(before) => -i128::try_from(before.duration().as_nanos()).unwrap_or(i128::MAX),
            };
            let name = path.strip_prefix(folder).unwrap_or(&path);
            digest.update(name.as_os_str().as_encoded_bytes());
            digest.update([0]);
            digest.update(metadata.len().to_le_bytes());
            digest.update(since.to_le_bytes());
            found.files += 1;
            found.bytes += metadata.len();
        }
    }
    found.digest = digest.finish().to_string();
    Ok(found)
}

/// `cache.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Description {
    pub(crate) recipe: Recipe,
    pub(crate) channels: u32,
    pub(crate) classes: u32,
    /// Size of the raw images, where there are some.
    pub(crate) raw_height: u32,
    pub(crate) raw_width: u32,
}

/// A file that belongs to a cache.
pub(crate) struct ArrayOf {
    pub(crate) name: &'static str,
    pub(crate) header: Header,
}

impl Description {
    pub(crate) fn new(recipe: &Recipe, classes: u32, shape: OwnShape) -> Self {
        Description {
            recipe: recipe.clone(),
            channels: shape.channels,
            classes,
            raw_height: shape.height,
            raw_width: shape.width,
        }
    }

    pub(crate) fn arrays(&self, raw: bool) -> Vec<ArrayOf> {
        let Recipe {
            image,
            train,
            held_out,
            ..
        } = self.recipe;
        let array = |name, kind, shape: &[u32]| ArrayOf {
            name,
            header: Header {
                kind,
                shape: shape.iter().map(|&size| size.into()).collect(),
            },
        };
        let images = |count| [count, self.channels, image, image];
        let mut arrays = vec![
            array(files::TRAIN_IMAGES, Kind::Float32, &images(train)),
            array(files::TRAIN_LABELS, Kind::Int32, &[train]),
            array(files::HELD_OUT_IMAGES, Kind::Float32, &images(held_out)),
            array(files::HELD_OUT_LABELS, Kind::Int32, &[held_out]),
        ];
        if raw {
            arrays.push(self.raw());
        }
        arrays
    }

    pub(crate) fn raw(&self) -> ArrayOf {
        let sizes = [
            self.recipe.train,
            self.channels,
            self.raw_height,
            self.raw_width,
        ];
        ArrayOf {
            name: files::TRAIN_RAW,
            header: Header {
                kind: Kind::Byte,
                shape: sizes.map(u64::from).to_vec(),
            },
        }
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<(), DataError> {
        let path = folder.join(DESCRIPTION);
        fs::write(&path, json(self)).map_err(DataError::written(&path))
    }
}

/// `None` if it is missing or cannot be read.
pub(crate) fn read(folder: &Path) -> Option<Description> {
    serde_json::from_slice(&fs::read(folder.join(DESCRIPTION)).ok()?).ok()
}

/// Plain structs of text and whole numbers always have a JSON form.
fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec_pretty(value).unwrap_or_default()
}
