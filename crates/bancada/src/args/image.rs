//! Arguments of `image`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use workloads::image::{Architecture, Engine, ImageName};

use super::InstanceArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum ImageCommand {
    /// Build a container image with the server and a model, nothing else
    Build(Box<ImageBuildArgs>),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ImageBuildArgs {
    /// The model: an .onnx file, a folder with one and its description, a run, or a network of the zoo [default:
    /// what the platform puts at /opt/ml/model]
    pub(crate) model: Option<String>,
    /// The image's name, NAME:TAG
    #[arg(long)]
    pub(crate) name: ImageName,
    /// Folder to write (OCI layout)
    #[arg(long, value_name = "DIR", required_unless_present_any = ["archive", "load"])]
    pub(crate) to: Option<PathBuf>,
    /// File to write, for docker load, podman load and skopeo
    #[arg(long, value_name = "FILE")]
    pub(crate) archive: Option<PathBuf>,
    /// Load it into docker, podman or buildah
    #[arg(long, value_name = "ENGINE")]
    pub(crate) load: Option<Engine>,
    /// amd64 or arm64 [default: this machine's]
    #[arg(long, value_name = "ARCH")]
    pub(crate) arch: Option<Architecture>,
    /// Base image, an OCI layout (folder or archive) [default: none]
    #[arg(long, value_name = "IMAGE")]
    pub(crate) base: Option<PathBuf>,
    /// Look for shared libraries here first
    #[arg(long, value_name = "DIR")]
    pub(crate) libraries: Vec<PathBuf>,
    /// ONNX Runtime's shared library [default: detected]
    #[arg(long, value_name = "FILE")]
    pub(crate) library: Option<PathBuf>,
    /// The program bancada-serve [default: detected]
    #[arg(long, value_name = "FILE")]
    pub(crate) server: Option<PathBuf>,
    /// Include the model's optimised copy, for this kind of processor
    #[arg(long)]
    pub(crate) prepare: bool,
    /// Overwrite existing files
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) instance: InstanceArgs,
    /// Print sizes and digests as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
