//! What can go wrong in the engine, in sentences.

use std::fmt;
use std::io;
use std::path::PathBuf;

use data::DataError;
use network::{Shape, WeightsError};

#[derive(Debug)]
pub enum EngineError {
    Protocol {
        found: u32,
    },
    /// The job's network is not a graph.
    NetworkJson(serde_json::Error),
    /// A node of the graph that cannot be built.
    Graph {
        node: String,
        problem: String,
    },
    Setting {
        name: &'static str,
        problem: String,
    },
    Data(DataError),
    /// Images of another shape than the network's input.
    InputShape {
        network: Shape,
        images: Shape,
    },
    Classes {
        network: u32,
        images: u32,
    },
    Weights(WeightsError),
    Device {
        device: String,
        problem: DeviceProblem,
    },
    Threads {
        threads: u32,
        problem: String,
    },
    Checkpoint {
        path: PathBuf,
        error: io::Error,
    },
    /// The file of the initial weights cannot be read.
    Weightless {
        path: PathBuf,
        error: io::Error,
    },
    /// A comparison needs images that all frameworks see alike.
    NoCache,
    /// Numbers could not be brought back from the device.
    Numbers {
        problem: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceProblem {
    Unknown,
    /// Built without this feature.
    NotBuilt {
        name: &'static str,
        feature: &'static str,
    },
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineError::Protocol { found } => write!(
                f,
                "the job uses protocol {found}, but this engine reads {}: use the same version of bancada for both",
                model::job::JOB_PROTOCOL
            ),
            EngineError::NetworkJson(error) => {
                write!(f, "the job's network is not a layer graph: {error}")
            }
            EngineError::Graph { node, problem } => {
                write!(f, "layer `{node}` cannot be built: {problem}")
            }
            EngineError::Weightless { path, error } => write!(
                f,
                "the initial weights {} cannot be read: {error}",
                path.display()
            ),
            EngineError::NoCache => {
                f.write_str("the job has no image cache: `bancada verify` creates one")
            }
            EngineError::Setting { name, problem } => write!(f, "`{name}` {problem}"),
            EngineError::Data(error) => error.fmt(f),
            EngineError::InputShape { network, images } => write!(
                f,
                "the network expects {}, but the images are {}: make them equal",
                describe(*network),
                describe(*images)
            ),
            EngineError::Classes { network, images } => {
                write!(
                    f,
                    "the network has {network} classes, but the images have {images}: make them equal"
                )
            }
            EngineError::Weights(error) => error.fmt(f),
            EngineError::Device { device, problem } => write_device(f, device, problem),
            EngineError::Threads { threads, problem } => {
                write!(
                    f,
                    "{threads} threads could not be started ({problem}): use fewer"
                )
            }
            EngineError::Checkpoint { path, error } => {
                write!(
                    f,
                    "the trained network could not be saved as {}: {error}",
                    path.display()
                )
            }
            EngineError::Numbers { problem } => {
                write!(
                    f,
                    "the results could not be read back from the device: {problem}"
                )
            }
        }
    }
}

fn write_device(f: &mut fmt::Formatter<'_>, device: &str, problem: &DeviceProblem) -> fmt::Result {
    match problem {
        DeviceProblem::Unknown => {
            write!(
                f,
                "unknown device `{device}`; known: {}",
                crate::known_devices().join(", ")
            )
        }
        DeviceProblem::NotBuilt { name, feature } => write!(
            f,
            "this bancada was built without {name}, which `{device}` needs: cargo run --release --features {feature} -- …"
        ),
    }
}

fn describe(shape: Shape) -> String {
    match shape {
        Shape::Image {
            channels,
            height,
            width,
        } => format!("{channels} × {height} × {width} values"),
        Shape::Vector { features } => format!("a vector of {features} values"),
    }
}

impl std::error::Error for EngineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            EngineError::NetworkJson(error) => Some(error),
            EngineError::Checkpoint { error, .. } => Some(error),
            // The sentences of these are told whole already.
            _ => None,
        }
    }
}

impl From<DataError> for EngineError {
    fn from(error: DataError) -> Self {
        EngineError::Data(error)
    }
}

impl From<WeightsError> for EngineError {
    fn from(error: WeightsError) -> Self {
        EngineError::Weights(error)
    }
}
