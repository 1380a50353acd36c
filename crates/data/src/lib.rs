//! Images and labels: the seeded generator, MNIST and CIFAR files, resampling to any size.

mod info;

pub use info::{DatasetInfo, info, names};
