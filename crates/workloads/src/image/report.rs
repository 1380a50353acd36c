//! What was built, and how large it is.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::image::architecture::Architecture;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub name: String,
    pub architecture: Architecture,
    /// Of the manifest: the same files make the same digest, unless the model was prepared while building.
    pub digest: String,
    /// Of the configuration; engines call it the image's ID.
    pub config_digest: String,
    pub layers: Vec<Layer>,
    pub total: Size,
    /// Nor its prepared copy.
    pub without_model: Size,
    /// Of the archive, where one was requested.
    pub archive_bytes: Option<u64>,
    pub warnings: Vec<Warning>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Layer {
    pub kind: LayerKind,
    pub digest: String,
    pub diff_id: String,
    pub size: Size,
    pub files: u64,
}

model::words! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum LayerKind {
        /// Of the base that was given.
        Base = "base",
        /// The loader and shared libraries of this system.
        Libraries = "libraries",
        /// The server and ONNX Runtime.
        Server = "server",
        Model = "model",
        /// The model as the runtime has optimised it. Apart, because the runtime does not write it twice alike: the model's own
        /// layer stays the same.
        Prepared = "prepared",
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// As it is kept in a registry and pulled.
    pub compressed_bytes: u64,
    /// Of the files, unpacked.
    pub disk_bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Warning {
    /// Files of an image have one fixed time, by which a copy is found; this one was prepared from a model with another.
    #[error("{} will not be used in the image, where files have different times: use --prepare while building the image", .copy.display())]
    NotPrepared { copy: PathBuf },
    /// Compressed in a way that is not read here, so its libraries and its size on disk are unknown.
    #[error(
        "the base's layer {digest} is compressed with zstd: its size on disk is not counted, and its libraries were not checked"
    )]
    BaseNotRead { digest: String },
}

impl Size {
    pub(crate) fn of<'a>(layers: impl IntoIterator<Item = &'a Layer>) -> Size {
        layers.into_iter().fold(Size::default(), |sum, layer| Size {
            compressed_bytes: sum.compressed_bytes + layer.size.compressed_bytes,
            disk_bytes: sum.disk_bytes + layer.size.disk_bytes,
        })
    }
}
