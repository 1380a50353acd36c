//! What can go wrong in the engine, in sentences.

use std::io;
use std::path::PathBuf;

use data::DataError;
use network::{Image, Shape, WeightsError};

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(
        "the job uses protocol {found}, but this engine reads {}: use the same version of bancada for both",
        model::job::JOB_PROTOCOL
    )]
    Protocol { found: u32 },
    /// The job's network is not a graph.
    #[error("the job's network is not a layer graph: {0}")]
    NetworkJson(serde_json::Error),
    /// A node of the graph that cannot be built.
    #[error("layer `{node}` cannot be built: {problem}")]
    Graph { node: String, problem: String },
    #[error("`{name}` {problem}")]
    Setting { name: &'static str, problem: String },
    #[error(transparent)]
    Data(#[from] DataError),
    /// Images of another shape than the network's input.
    #[error("the network expects {}, but the images are {}: make them equal", describe(*.network), describe(*.images))]
    InputShape { network: Shape, images: Shape },
    #[error("the network has {network} classes, but the images have {images}: make them equal")]
    Classes { network: u32, images: u32 },
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// Not the processor.
    #[error(
        "the embedded engine computes only on `cpu`, not on `{device}`: for a GPU, use a framework such as pytorch"
    )]
    Device { device: String },
    #[error("{threads} threads could not be started ({problem}): use fewer")]
    Threads { threads: u32, problem: String },
    #[error("the trained network could not be saved as {path}: {error}")]
    Checkpoint { path: PathBuf, error: io::Error },
    /// The file of the initial weights cannot be read.
    #[error("the initial weights {path} cannot be read: {error}")]
    Weightless { path: PathBuf, error: io::Error },
    /// A comparison needs images that all frameworks see alike.
    #[error("the job has no image cache: `bancada verify` creates one")]
    NoCache,
}

fn describe(shape: Shape) -> String {
    match shape {
        Shape::Image(Image {
            channels,
            height,
            width,
        }) => format!("{channels} × {height} × {width} values"),
        Shape::Vector { features } => format!("a vector of {features} values"),
    }
}
