use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use data::DataError;
use frameworks::{HomeError, NotSetUp, SpecError};

/// Why a model could not be quantised.
#[derive(Debug)]
pub enum QuantiseError {
    Spec(SpecError),
    NotSetUp(NotSetUp),
    Home(HomeError),
    /// Ranges are taken from images, and none were named.
    NoPictures,
    /// The model's input is no picture, or does not tell its sizes.
    NoPicture,
    NotSquare {
        height: u32,
        width: u32,
    },
    /// Coloured images for a model of grey ones.
    Colours {
        dataset: String,
    },
    Description(serde_json::Error),
    Data(DataError),
    Failed {
        model: PathBuf,
        last_lines: Vec<String>,
    },
    Io {
        what: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}

impl QuantiseError {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> QuantiseError {
        let path = path.to_owned();
        move |source| QuantiseError::Io { what, path, source }
    }
}

impl fmt::Display for QuantiseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QuantiseError::Spec(error) => error.fmt(f),
            QuantiseError::NotSetUp(error) => error.fmt(f),
            QuantiseError::Home(error) => error.fmt(f),
            QuantiseError::NoPictures => f.write_str(
                "name a dataset for calibration (--dataset), or compute the ranges during inference (--dynamic)",
            ),
            QuantiseError::NoPicture => f.write_str(
                "the model's input is not a picture, or has no fixed size: write it as `input` in its model.json",
            ),
            QuantiseError::NotSquare { height, width } => write!(
                f,
                "the model needs images of {height}×{width}, but images of datasets are square"
            ),
            QuantiseError::Colours { dataset } => write!(
                f,
                "the images of {dataset} have colour, but the model needs grey images"
            ),
            QuantiseError::Description(error) => {
                write!(f, "the model's description cannot be used: {error}")
            }
            QuantiseError::Data(error) => error.fmt(f),
            QuantiseError::Failed { model, last_lines } => {
                write!(f, "{} could not be quantised", model.display())?;
                last_lines
                    .iter()
                    .try_for_each(|line| write!(f, "\n  │ {line}"))
            }
            QuantiseError::Io { what, path, source } => {
                write!(f, "cannot {what} {}: {source}", path.display())
            }
        }
    }
}

impl std::error::Error for QuantiseError {}
