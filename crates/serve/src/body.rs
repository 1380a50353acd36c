//! A request's body → the model's input.

mod json;

use std::time::Duration;

use data::picture::{self, Picture};

use crate::description::{Layout, Preparation, Resize};
use crate::model::Signature;
use crate::refusal::Refusal;
use crate::tensor::Tensor;

/// What bodies may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Picture,
    Json,
    Npy,
}

impl Kind {
    /// By the content type. Without one, and with the one that curl sends for want of a better, it can only be a
    /// picture: those tell by their first bytes what they are.
    pub(crate) fn of(content_type: Option<&str>) -> Result<Kind, Refusal> {
        let told = content_type.map(|text| {
            let kind = text.split(';').next().unwrap_or_default();
            kind.trim().to_ascii_lowercase()
        });
        match told.as_deref() {
            None
            | Some("image/jpeg" | "image/jpg" | "image/png" | "application/x-image")
            | Some("application/octet-stream" | "application/x-www-form-urlencoded") => {
                Ok(Kind::Picture)
            }
            Some("application/json") => Ok(Kind::Json),
            Some("application/x-npy") => Ok(Kind::Npy),
            Some(other) => Err(Refusal::unsupported(other)),
        }
    }
}

/// What one request may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub body_bytes: usize,
    /// Of a picture, before it is resized.
    pub pixels: u64,
    /// All bodies that are being received, together.
    pub receiving_bytes: usize,
    /// For the whole head of a request to arrive, and how long a connection may be idle.
    pub head: Duration,
    /// For a whole body to arrive.
    pub receiving: Duration,
    pub connections: usize,
}

pub(crate) fn tensor(
    kind: Kind,
    body: &[u8],
    preparation: Option<&Preparation>,
    signature: &Signature,
    limits: &Limits,
) -> Result<Tensor, Refusal> {
    match kind {
        Kind::Picture => {
            let preparation = preparation.ok_or_else(|| {
                Refusal::unprocessable(format!(
                    "this model's input ({}) is no picture: send application/json or application/x-npy",
                    signature.in_words()
                ))
            })?;
            let picture = picture::decode_within(body, limits.pixels).map_err(|problem| {
                Refusal::unprocessable(format!(
                    "the body is no picture that can be used: {problem}"
                ))
            })?;
            Ok(prepared(picture, preparation))
        }
        Kind::Json => fitting(json::tensor(body)?, signature),
        Kind::Npy => {
            let (shape, values) = data::npy::floats(body).map_err(|problem| {
                Refusal::unprocessable(format!("the body is no NumPy array: it {problem}"))
            })?;
            fitting((shape, values), signature)
        }
    }
}

/// An image alone may come without the size that counts images.
fn fitting(
    (mut shape, values): (Vec<usize>, Vec<f32>),
    signature: &Signature,
) -> Result<Tensor, Refusal> {
    if shape.len() + 1 == signature.input.len() {
        shape.insert(0, 1);
    }
    if values.iter().any(|value| !value.is_finite()) {
        return Err(Refusal::unprocessable(
            "the tensor has a value that is not finite as a float32",
        ));
    }
    let sent = format!("{shape:?}");
    let tensor = Tensor::new(shape, values);
    tensor
        .filter(|tensor| signature.accepts(tensor.shape()) && tensor.images() > 0)
        .ok_or_else(|| {
            Refusal::unprocessable(format!(
                "the tensor has the shape {sent}, the model wants {}",
                signature.in_words()
            ))
        })
}

fn prepared(picture: Picture, preparation: &Preparation) -> Tensor {
    let size = preparation.size;
    let picture = match preparation.resize {
        Resize::Stretch => picture,
        Resize::Crop => cropped(picture, size.height, size.width),
    };
    let planes = picture.planes(size.channels, size.height, size.width);
    let plane = size.height as usize * size.width as usize;
    let normalised = planes
        .chunks_exact(plane.max(1))
        .zip(&preparation.normalise);
    let values: Vec<f32> = normalised
        .flat_map(|(plane, &(mean, std))| {
            plane
                .iter()
                .map(move |&pixel| (f32::from(pixel) - mean) / std)
        })
        .collect();
    let values = match size.layout {
        Layout::Nchw => values,
        Layout::Nhwc => channels_last(&values, plane),
    };
    // The planes have the input's size by their making.
    Tensor::new(size.shape().to_vec(), values)
        .unwrap_or_else(|| unreachable!("planes of another size"))
}

fn channels_last(values: &[f32], plane: usize) -> Vec<f32> {
    (0..plane)
        .flat_map(|pixel| values.iter().skip(pixel).step_by(plane))
        .copied()
        .collect()
}

/// The largest part in the middle with the shape of height × width.
fn cropped(picture: Picture, height: u32, width: u32) -> Picture {
    let (own_height, own_width) = (u64::from(picture.height), u64::from(picture.width));
    let kept_height = (own_width * u64::from(height))
        .div_ceil(u64::from(width).max(1))
        .clamp(1, own_height);
    let kept_width = (own_height * u64::from(width))
        .div_ceil(u64::from(height).max(1))
        .clamp(1, own_width);
    let top = (own_height - kept_height) / 2;
    let left = (own_width - kept_width) / 2;
    let bytes = u64::from(picture.channels);
    let row_bytes = (own_width * bytes) as usize;
    let from = (left * bytes) as usize;
    let kept = (kept_width * bytes) as usize;
    let rows = picture.pixels.chunks_exact(row_bytes.max(1));
    let pixels = rows.skip(top as usize).take(kept_height as usize);
    Picture {
        height: kept_height as u32,
        width: kept_width as u32,
        channels: picture.channels,
        pixels: pixels
            .flat_map(|row| &row[from..from + kept])
            .copied()
            .collect(),
    }
}

#[cfg(test)]
mod tests;
