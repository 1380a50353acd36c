//! Images and labels: the seeded generator, MNIST, Fashion-MNIST, CIFAR and folders of pictures,
//! resampled to any size, in memory or in a cache that every framework memory-maps.
//!
//! A pixel is a byte until a network sees it; then it is `(x / 255 − 0.5) / 0.5`, from −1 (black)
//! to 1 (white).

pub mod cache;
mod cifar;
mod count;
mod digest;
mod digits;
mod error;
mod files;
mod folder;
mod idx;
mod images;
mod info;
mod load;
pub mod npy;
pub mod picture;
mod random;
mod raster;
mod resample;
mod sheet;
mod source;
mod strokes;
mod survey;

pub use count::{Counts, count};
pub use digest::folder_digest;
pub use error::DataError;
pub use images::{Images, normalise};
pub use info::{DatasetInfo, FOLDER, describe, fetched_folder, info, names};
pub use load::{DataRequest, Dataset, load};
pub use random::{Random, epoch_order};
pub use sheet::sheet;
