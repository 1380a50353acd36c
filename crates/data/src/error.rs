//! What can be wrong with data, in sentences.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::npy::NpyError;
use crate::picture::PictureError;

#[derive(Debug)]
pub enum DataError {
    UnknownDataset {
        name: String,
    },
    FolderNeeded {
        dataset: String,
    },
    /// Not in the folder where fetched datasets are put.
    NotHere {
        dataset: String,
    },
    /// A folder of pictures that is not laid out as one.
    Folder {
        folder: PathBuf,
        problem: FolderProblem,
    },
    Picture {
        path: PathBuf,
        error: PictureError,
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
    NoRow {
        path: PathBuf,
        row: usize,
        rows: usize,
    },
    /// Whole when it was made, and gone or damaged a moment later.
    CacheLost {
        folder: PathBuf,
    },
    NoRoom {
        folder: PathBuf,
        needed_bytes: u64,
        free_bytes: u64,
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FolderProblem {
    /// Fewer than two folders with pictures.
    FewClasses {
        found: usize,
    },
    ManyClasses {
        found: usize,
    },
    /// Held-out pictures of a class that no training picture has.
    StrangeClass {
        class: String,
    },
    /// A picture of a kind that is not read.
    StrangeKind {
        path: PathBuf,
    },
    TooDeep,
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
        classes: u32,
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
                    "`{dataset}` is read from files: set their folder as `data_dir`"
                )
            }
            DataError::NotHere { dataset } => write!(
                f,
                "{dataset} is not downloaded: bancada data fetch {dataset}"
            ),
            DataError::Folder { folder, problem } => write_folder(f, folder, problem),
            DataError::Picture { path, error } => {
                write!(f, "{} cannot be used: {error}", path.display())
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
                "{} has {images} images, but {} has {labels} labels: they do not match",
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
                    "{asked} {part} images requested, but `{dataset}` has {there}: use fewer"
                )
            }
            DataError::NoImages => {
                write!(f, "0 training images requested: use at least 1")
            }
            DataError::ImageSide { side } => {
                write!(
                    f,
                    "an image side of {side} pixels is not possible: choose 1 to {}",
                    crate::survey::MAX_SIDE
                )
            }
            DataError::TooLarge { images, side } => write!(
                f,
                "{images} images of {side}×{side} pixels do not fit in memory: use fewer or smaller images"
            ),
            DataError::Write { path, error } => {
                write!(f, "cannot write {}: {error}", path.display())
            }
            DataError::Cache { path, error } => write!(
                f,
                "{} {error}: delete its folder, and it is rebuilt",
                path.display()
            ),
            DataError::NoRow { path, row, rows } => write!(
                f,
                "image {row} of {} was requested, which has {rows}",
                path.display()
            ),
            DataError::CacheLost { folder } => write!(
                f,
                "{} was created but is already damaged or gone: is something clearing that folder?",
                folder.display()
            ),
            DataError::NoRoom {
                folder,
                needed_bytes,
                free_bytes,
            } => write!(
                f,
                "the image cache needs {}, but only {} are free in {}: free some space, use fewer or smaller images, or set BANCADA_CACHE to a folder on a different disk",
                size(*needed_bytes),
                size(*free_bytes),
                folder.display()
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

fn write_folder(f: &mut fmt::Formatter<'_>, folder: &Path, problem: &FolderProblem) -> fmt::Result {
    let folder = folder.display();
    let layout = "put pictures in train/CLASS and test/CLASS, or only in CLASS";
    match problem {
        FolderProblem::FewClasses { found } => write!(
            f,
            "{folder} has {found} classes with pictures, but at least 2 are needed: {layout}"
        ),
        FolderProblem::ManyClasses { found } => {
            write!(
                f,
                "{folder} has {found} classes, but at most 65535 are possible"
            )
        }
        FolderProblem::StrangeClass { class } => write!(
            f,
            "{folder} has held-out pictures of `{class}`, a class without training pictures: {layout}"
        ),
        FolderProblem::StrangeKind { path } => write!(
            f,
            "{} is neither PNG nor JPEG: convert it, or remove it from the folder",
            path.display()
        ),
        FolderProblem::TooDeep => {
            write!(f, "{folder} has endlessly nested folders: {layout}")
        }
    }
}

/// As a person reads it: 1.5 GB.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
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
                "begins with {found:#010x} instead of {expected:#010x}: a different type of file, or a damaged one"
            ),
            FormatError::Truncated {
                expected_bytes,
                found_bytes,
            } => write!(
                f,
                "ends after {found_bytes} of {expected_bytes} bytes: download it again"
            ),
            FormatError::TrailingBytes {
                expected_bytes,
                found_bytes,
            } => write!(
                f,
                "has {found_bytes} bytes, but its header says {expected_bytes}: download it again"
            ),
            FormatError::Empty => write!(f, "contains no images"),
            FormatError::Label {
                index,
                label,
                classes,
            } => {
                write!(
                    f,
                    "image {index} has the label {label}, but labels go from 0 to {}",
                    classes.saturating_sub(1)
                )
            }
            FormatError::Records {
                found_bytes,
                record_bytes,
            } => write!(
                f,
                "has {found_bytes} bytes, not a multiple of the {record_bytes} of an image: download it again"
            ),
        }
    }
}

impl std::error::Error for FormatError {}
