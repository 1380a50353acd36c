//! Images and labels: the seeded generator, MNIST and CIFAR-10 files, resampling to any size.
//!
//! Everything here is bytes until a batch is asked for; then a pixel becomes
//! `(x / 255 − 0.5) / 0.5`, from −1 (black) to 1 (white).

pub mod cache;
pub mod cifar;
mod digits;
mod error;
mod files;
pub mod idx;
mod images;
mod info;
mod load;
mod npy;
mod random;
mod raster;
mod resample;
mod strokes;

pub use error::{DataError, FormatError};
pub use images::Images;
pub use info::{DatasetInfo, describe, fetched_folder, info, names};
pub use load::{DataRequest, Dataset, load};
pub use npy::NpyError;
pub use random::{Random, epoch_order};
