//! Container images of the server: its program, ONNX Runtime, a model, and only those shared libraries of the system
//! that these need. Written without a container engine, and byte for byte the same from the same files, so that two
//! images can be compared by their digests.
//!
//! `build` writes an OCI layout, an archive of it, or both; `load_into` loads an archive into an engine.

mod architecture;
mod archive;
mod base;
mod blobs;
mod build;
mod closure;
mod contents;
mod elf;
mod engines;
mod error;
mod layer;
mod model_files;
mod name;
mod oci;
mod prepare;
mod report;
mod settings;
mod tree;

pub use architecture::Architecture;
pub use build::{Base, Image, Output, build};
pub use engines::{Engine, load_into};
pub use error::ImageError;
pub use name::ImageName;
pub use report::{Layer, LayerKind, Report, Size, Warning};
