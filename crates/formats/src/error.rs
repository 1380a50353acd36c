use std::fmt;

use network::WeightsError;

/// Why a network cannot be written in a format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormatError {
    /// The weights are not those of the network.
    Weights(WeightsError),
    /// The network is not one that `network` makes: it was read from a file that is damaged.
    Graph { what: String },
    /// A file of this format cannot be so long.
    TooLarge { format: &'static str, bytes: u64 },
    /// The program that reads the format cannot train so.
    Settings { format: &'static str, what: String },
    /// A file is not of the format.
    Malformed { format: &'static str, what: String },
    /// The format has no word for what a layer does.
    Layer {
        format: &'static str,
        layer: String,
        what: String,
    },
}

impl FormatError {
    pub(crate) fn graph(what: impl Into<String>) -> Self {
        FormatError::Graph { what: what.into() }
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormatError::Weights(error) => error.fmt(f),
            FormatError::Graph { what } => write!(
                f,
                "the network's graph is damaged: {what}; create it again from its description"
            ),
            FormatError::TooLarge { format, bytes } => write!(
                f,
                "{format} files are limited to 2 GB, but this network's weights take {:.1} GB: \
                 use a smaller image or narrower layers, or keep the safetensors file",
                *bytes as f64 / 1e9
            ),
            FormatError::Layer {
                format,
                layer,
                what,
            } => write!(f, "{format} cannot express the layer `{layer}`: {what}"),
            FormatError::Settings { format, what } => {
                write!(f, "{format} cannot train with these settings: {what}")
            }
            FormatError::Malformed { format, what } => {
                write!(f, "not a complete {format} file: {what}")
            }
        }
    }
}

impl std::error::Error for FormatError {}

impl From<WeightsError> for FormatError {
    fn from(error: WeightsError) -> Self {
        FormatError::Weights(error)
    }
}
