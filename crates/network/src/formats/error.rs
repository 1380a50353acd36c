use crate::{Node, WeightsError};

/// Why a network cannot be written in a format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The weights are not those of the network.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// The network is not one that `network` makes: it was read from a file that is damaged.
    #[error("the network's graph is damaged: {what}; create it again from its description")]
    Graph { what: String },
    /// A file of this format cannot be so long.
    #[error("{format} files are limited to 2 GB, but this network's weights take {:.1} GB: use a smaller image or narrower layers, or keep the safetensors file", *.bytes as f64 / 1e9)]
    TooLarge { format: &'static str, bytes: u64 },
    /// The program that reads the format cannot train so.
    #[error("{format} cannot train with these settings: {what}")]
    Settings { format: &'static str, what: String },
    /// A file is not of the format.
    #[error("not a complete {format} file: {what}")]
    Malformed { format: &'static str, what: String },
    /// The format has no word for what a layer does.
    #[error("{format} cannot express the layer `{layer}`: {what}")]
    Layer {
        format: &'static str,
        layer: String,
        what: String,
    },
}

impl FormatError {
    pub(crate) fn layer(format: &'static str, layer: &Node, what: impl Into<String>) -> Self {
        FormatError::Layer {
            format,
            layer: layer.name.clone(),
            what: what.into(),
        }
    }

    pub(crate) fn graph(what: impl Into<String>) -> Self {
        FormatError::Graph { what: what.into() }
    }
}
