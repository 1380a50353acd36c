//! What can be wrong with data, in sentences.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::npy::NpyError;

#[derive(Debug)]
pub enum DataError {
    UnknownDataset {
        name: String,
    },
    FolderNeeded {
        dataset: String,
    },
    FileMissing {
        folder: PathBuf,
        wanted: Vec<String>,
        compressed: Option<PathBuf>,
    },
    Read {
        path: PathBuf,
        error: io::Error,
    },
    Malformed {
        path: PathBuf,
        error: FormatError,
    },
    /// Images of one file, labels of another.
    LabelsDiffer {
        images_path: PathBuf,
        images: usize,
        labels_path: PathBuf,
        labels: usize,
    },
    TooFew {
        dataset: String,
        part: &'static str,
        asked: u32,
        there: usize,
    },
    NoImages,
    ImageSide {
        side: u32,
    },
    TooLarge {
        images: u64,
        side: u32,
    },
    Write {
        path: PathBuf,
        error: io::Error,
    },
    /// A file of a cache that cannot be used.
    Cache {
        path: PathBuf,
        error: NpyError,
    },
    /// Numbers that are not images of this shape with a label each.
    Shape {
        shape: [usize; 4],
        values: usize,
        labels: usize,
    },
}

impl DataError {
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| DataError::Read { path, error }
    }

    pub(crate) fn written(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| DataError::Write { path, error }
    }
}

/// What is wrong inside a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormatError {
    Compressed,
    Magic {
        found: u32,
        expected: u32,
    },
    Truncated {
        expected_bytes: u64,
        found_bytes: u64,
    },
    TrailingBytes {
        expected_bytes: u64,
        found_bytes: u64,
    },
    Empty,
    Label {
        index: usize,
        label: u8,
    },
    Records {
        found_bytes: u64,
        record_bytes: u64,
    },
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataError::UnknownDataset { name } => {
                let known: Vec<&str> = crate::names().collect();
                write!(f, "unknown dataset `{name}`; known: {}", known.join(", "))
            }
            DataError::FolderNeeded { dataset } => {
                write!(
                    f,
                    "`{dataset}` is read from files: give their folder as `data_dir`"
                )
            }
            DataError::FileMissing {
                folder,
                wanted,
                compressed,
            } => {
                write!(f, "no file {} in {}", wanted.join(" or "), folder.display())?;
                match compressed {
                    Some(path) => write!(f, "; unpack it first: gunzip -k {}", path.display()),
                    None => Ok(()),
                }
            }
            DataError::Read { path, error } => write!(f, "cannot read {}: {error}", path.display()),
            DataError::Malformed { path, error } => write!(f, "{}: {error}", path.display()),
            DataError::LabelsDiffer {
                images_path,
                images,
                labels_path,
                labels,
            } => write!(
                f,
                "{} has {images} images, but {} has {labels} labels: they do not belong together",
                images_path.display(),
                labels_path.display()
            ),
            DataError::TooFew {
                dataset,
                part,
                asked,
                there,
            } => {
                write!(
                    f,
                    "{asked} {part} images were asked for, but `{dataset}` has {there}: ask for fewer"
                )
            }
            DataError::NoImages => {
                write!(f, "0 training images were asked for: ask for at least 1")
            }
            DataError::ImageSide { side } => {
                write!(
                    f,
                    "an image side of {side} pixels is not possible: choose 1 to {}",
                    crate::load::MAX_SIDE
                )
            }
            DataError::TooLarge { images, side } => write!(
                f,
                "{images} images of {side}×{side} pixels do not fit in memory: ask for fewer or smaller ones"
            ),
            DataError::Write { path, error } => {
                write!(f, "cannot write {}: {error}", path.display())
            }
            DataError::Cache { path, error } => write!(
                f,
                "{} {error}: remove its folder, and it is made again",
                path.display()
            ),
            DataError::Shape {
                shape: [count, channels, height, width],
                values,
                labels,
            } => write!(
                f,
                "{values} values and {labels} labels are not {count} images of {channels} × {height} × {width}"
            ),
        }
    }
}

impl std::error::Error for DataError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            DataError::Read { error, .. } | DataError::Write { error, .. } => Some(error),
            DataError::Malformed { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormatError::Compressed => {
                write!(f, "the file is compressed; unpack it first with gunzip")
            }
            FormatError::Magic { found, expected } => write!(
                f,
                "begins with {found:#010x} where {expected:#010x} was expected: another kind of file, or a broken one"
            ),
            FormatError::Truncated {
                expected_bytes,
                found_bytes,
            } => write!(
                f,
                "ends after {found_bytes} of {expected_bytes} bytes: fetch it again"
            ),
            FormatError::TrailingBytes {
                expected_bytes,
                found_bytes,
            } => write!(
                f,
                "has {found_bytes} bytes where its header says {expected_bytes}: fetch it again"
            ),
            FormatError::Empty => write!(f, "holds no images"),
            FormatError::Label { index, label } => {
                write!(
                    f,
                    "image {index} has the label {label}, but labels go from 0 to 9"
                )
            }
            FormatError::Records {
                found_bytes,
                record_bytes,
            } => write!(
                f,
                "has {found_bytes} bytes, not a multiple of the {record_bytes} of an image: fetch it again"
            ),
        }
    }
}

impl std::error::Error for FormatError {}
