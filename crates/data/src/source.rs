//! Where the images of one part come from, a few at a time.

use std::ops::Range;
use std::path::PathBuf;

use crate::digits::Series;
use crate::error::DataError;
use crate::files::{CifarFiles, IdxFiles};
use crate::folder::{self, Entry};
use crate::images::Images;
use crate::resample::resample;
use crate::{cifar, idx};

#[derive(Debug)]
pub(crate) enum Source {
    Drawn(Series),
    Idx(IdxFiles),
    Cifar(CifarFiles),
    Pictures(Vec<Entry>),
}

/// Size of the images before they are resampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OwnShape {
    pub(crate) channels: u32,
    pub(crate) height: u32,
    pub(crate) width: u32,
}

impl OwnShape {
    pub(crate) fn square(channels: u32, side: u32) -> Self {
        OwnShape {
            channels,
            height: side,
            width: side,
        }
    }
}

impl Source {
    /// How many images there are; drawn ones have no end.
    pub(crate) fn there(&self) -> Option<usize> {
        match self {
            Source::Drawn(_) => None,
            Source::Idx(files) => Some(files.len()),
            Source::Cifar(files) => Some(files.len()),
            Source::Pictures(entries) => Some(entries.len()),
        }
    }

    /// Of all images; `None` if pictures of any size must be looked at first.
    pub(crate) fn shape(&self) -> Option<OwnShape> {
        match self {
            Source::Drawn(Series { style, .. }) => {
                Some(OwnShape::square(style.channels(), style.side()))
            }
            Source::Idx(files) => {
                let idx::ImagesHeader { height, width, .. } = files.header;
                Some(OwnShape {
                    channels: 1,
                    height,
                    width,
                })
            }
            Source::Cifar(_) => Some(OwnShape::square(3, cifar::SIDE)),
            Source::Pictures(_) => None,
        }
    }

    /// Images in the size of their own.
    pub(crate) fn read(&self, rows: Range<usize>, shape: OwnShape) -> Result<Images, DataError> {
        match self {
            Source::Drawn(series) => Ok(series.draw(rows)),
            Source::Idx(files) => files.read(rows),
            Source::Cifar(files) => files.read(rows),
            Source::Pictures(entries) => {
                let entries = entries.get(rows).unwrap_or_default();
                folder::read(entries, shape.channels, shape.height)
            }
        }
    }

    /// Square images of the side requested; pictures are resampled once only.
    pub(crate) fn read_square(
        &self,
        rows: Range<usize>,
        shape: OwnShape,
        side: u32,
    ) -> Result<Images, DataError> {
        let shape = match self {
            Source::Pictures(_) => OwnShape::square(shape.channels, side),
            _ => shape,
        };
        Ok(resample(self.read(rows, shape)?, side))
    }

    /// No picture is decoded for them.
    pub(crate) fn labels(&self, rows: Range<usize>) -> Result<Vec<u16>, DataError> {
        match self {
            Source::Drawn(series) => Ok(rows.map(|row| series.label(row).into()).collect()),
            Source::Idx(files) => Ok(files.labels(rows).to_vec()),
            Source::Cifar(files) => Ok(files.read(rows)?.labels),
            Source::Pictures(entries) => {
                let entries = entries.get(rows).unwrap_or_default().iter();
                Ok(entries.map(|entry| entry.label).collect())
            }
        }
    }

    /// The files that hold the first `count` images.
    pub(crate) fn paths(&self, count: usize) -> Vec<PathBuf> {
        match self {
            Source::Drawn(_) => Vec::new(),
            Source::Idx(files) => vec![files.images_path.clone(), files.labels_path.clone()],
            Source::Cifar(files) => files.batches.iter().map(|b| b.path.clone()).collect(),
            Source::Pictures(entries) => {
                let used = entries.iter().take(count);
                used.map(|entry| entry.path.clone()).collect()
            }
        }
    }
}
