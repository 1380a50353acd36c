//! A request for data → images in memory.

use std::path::PathBuf;

use crate::error::DataError;
use crate::images::Images;
use crate::source::OwnShape;
use crate::survey::{Part, survey};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataRequest {
    pub dataset: String,
    /// Where the files of a real dataset are; `None` for where `bancada data fetch` puts them.
    pub data_dir: Option<PathBuf>,
    /// Side of the square images in pixels; images of another size are resampled.
    pub image: u32,
    /// The first so many training images; `None` for all.
    pub images: Option<u32>,
    /// The first so many held-out images; `None` for all.
    pub held_out: Option<u32>,
    /// Of the generator, and of the choice of what is held out of a folder. Real datasets do not
    /// look at it.
    pub seed: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dataset {
    pub train: Images,
    pub held_out: Images,
    pub classes: u32,
}

/// All images in memory, as bytes. What is large is better prepared as a [`crate::cache`].
pub fn load(request: &DataRequest) -> Result<Dataset, DataError> {
    let survey = survey(request, None)?;
    let shape = survey.shape()?;
    Ok(Dataset {
        train: read(&survey.train, shape, request.image)?,
        held_out: read(&survey.held_out, shape, request.image)?,
        classes: survey.classes,
    })
}

fn read(part: &Part, shape: OwnShape, side: u32) -> Result<Images, DataError> {
    let OwnShape {
        channels,
        height,
        width,
    } = shape;
    room_for(part.count, channels, (height, width))?;
    room_for(part.count, channels, (side, side))?;
    part.source.read_square(0..part.count, shape, side)
}

/// An allocation that fails would end the process without a word; asking first gives a sentence.
fn room_for(count: usize, channels: u32, (height, width): (u32, u32)) -> Result<(), DataError> {
    let sizes = [channels, height, width].map(u64::from);
    let bytes = sizes
        .iter()
        .try_fold(count as u64, |bytes, &size| bytes.checked_mul(size))
        .and_then(|bytes| usize::try_from(bytes).ok());
    match bytes {
        Some(bytes) if Vec::<u8>::new().try_reserve_exact(bytes).is_ok() => Ok(()),
        _ => Err(DataError::too_large(count, height)),
    }
}
