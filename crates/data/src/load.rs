//! A request for data → images, ready to train on.

use std::path::PathBuf;

use crate::digits::{Series, Style};
use crate::error::DataError;
use crate::files;
use crate::images::Images;
use crate::info::info;
use crate::resample::resample;

/// Largest side an image may be asked in.
pub(crate) const MAX_SIDE: u32 = 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataRequest {
    pub dataset: String,
    /// Where the files of a real dataset are.
    pub data_dir: Option<PathBuf>,
    /// Side of the square images in pixels; images of another size are resampled.
    pub image: u32,
    /// The first so many training images; none for all.
    pub images: Option<u32>,
    /// The first so many held-out images; none for all.
    pub held_out: Option<u32>,
    /// Of the generator. Real datasets do not look at it.
    pub seed: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dataset {
    pub train: Images,
    pub held_out: Images,
    pub classes: u32,
}

pub fn load(request: &DataRequest) -> Result<Dataset, DataError> {
    let unknown = || DataError::UnknownDataset {
        name: request.dataset.clone(),
    };
    let info = info(&request.dataset).ok_or_else(unknown)?;
    if request.image == 0 || request.image > MAX_SIDE {
        return Err(DataError::ImageSide {
            side: request.image,
        });
    }
    if request.images == Some(0) {
        return Err(DataError::NoImages);
    }
    let train = part(request, false, request.images.unwrap_or(info.images))?;
    let held_out = part(request, true, request.held_out.unwrap_or(info.held_out))?;
    Ok(Dataset {
        train,
        held_out,
        classes: info.classes,
    })
}

fn part(request: &DataRequest, held_out: bool, count: u32) -> Result<Images, DataError> {
    let images = match request.dataset.as_str() {
        "digits" => drawn(request, Style::Grey, held_out, count)?,
        "digits-colour" => drawn(request, Style::Colour, held_out, count)?,
        _ => read(request, held_out, count)?,
    };
    room_for(&images, request.image)?;
    Ok(resample(images, request.image))
}

fn drawn(
    request: &DataRequest,
    style: Style,
    held_out: bool,
    count: u32,
) -> Result<Images, DataError> {
    let bytes = u64::from(count) * u64::from(style.channels()) * u64::from(style.side()).pow(2);
    if !fits(bytes) {
        return Err(DataError::TooLarge {
            images: count.into(),
            side: style.side(),
        });
    }
    Ok(Series {
        style,
        seed: request.seed,
        held_out,
    }
    .draw(count as usize))
}

fn read(request: &DataRequest, held_out: bool, count: u32) -> Result<Images, DataError> {
    let folder = request.data_dir.as_deref();
    let folder = folder.ok_or_else(|| DataError::FolderNeeded {
        dataset: request.dataset.clone(),
    })?;
    let mut images = match request.dataset.as_str() {
        "mnist" => files::mnist(folder, held_out)?,
        "cifar10" => files::cifar10(folder, held_out, count as usize)?,
        _ => {
            return Err(DataError::UnknownDataset {
                name: request.dataset.clone(),
            });
        }
    };
    let asked = if held_out {
        request.held_out
    } else {
        request.images
    };
    match asked {
        Some(asked) if asked as usize > images.len() => {
            let part = if held_out { "held-out" } else { "training" };
            Err(DataError::TooFew {
                dataset: request.dataset.clone(),
                part,
                asked,
                there: images.len(),
            })
        }
        _ => {
            images.truncate(count as usize);
            Ok(images)
        }
    }
}

/// An allocation that fails would end the process without a word; asking first gives a sentence.
fn room_for(images: &Images, side: u32) -> Result<(), DataError> {
    let bytes = images.len() as u64 * u64::from(images.channels) * u64::from(side).pow(2);
    match fits(bytes) {
        true => Ok(()),
        false => Err(DataError::TooLarge {
            images: images.len() as u64,
            side,
        }),
    }
}

fn fits(bytes: u64) -> bool {
    usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok())
}
