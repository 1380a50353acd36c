//! A request's body → the model's inputs.

mod json;

use std::time::Duration;

use data::picture::{self, Picture};

use crate::description::{Layout, Preparation, Resize};
use crate::model::{Port, Signature};
use crate::refusal::Refusal;
use crate::tensor::{Kind, Tensor, Values};

/// What bodies may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Picture,
    Json,
    Npy,
    /// The first bytes tell.
    Unsaid,
}

impl Format {
    /// By the content type.
    pub(crate) fn of(content_type: Option<&str>) -> Result<Format, Refusal> {
        let told = content_type.map(|text| {
            let kind = text.split(';').next().unwrap_or_default();
            kind.trim().to_ascii_lowercase()
        });
        match told.as_deref() {
            // The last one is curl's default.
            None | Some("application/octet-stream" | "application/x-www-form-urlencoded") => {
                Ok(Format::Unsaid)
            }
            Some("image/jpeg" | "image/jpg" | "image/png" | "application/x-image") => {
                Ok(Format::Picture)
            }
            Some("application/json") => Ok(Format::Json),
            Some("application/x-npy") => Ok(Format::Npy),
            Some(other) => Err(Refusal::unsupported(other)),
        }
    }

    /// What is neither JSON nor NumPy's can only be a picture.
    fn by_first_bytes(body: &[u8]) -> Format {
        let first = body.iter().find(|byte| !byte.is_ascii_whitespace());
        match first {
            Some(b'{' | b'[') => Format::Json,
            _ if body.starts_with(b"\x93NUMPY") => Format::Npy,
            _ => Format::Picture,
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

/// A model, as bodies are read for it.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'m> {
    pub(crate) signature: &'m Signature,
    /// Of pictures.
    pub(crate) preparation: Option<&'m Preparation>,
    /// Whether any number of examples may be sent.
    pub(crate) any_examples: bool,
    pub(crate) pixels: u64,
}

impl Reader<'_> {
    /// One for each of the model's inputs, in its order.
    pub(crate) fn tensors(&self, format: Format, body: &[u8]) -> Result<Vec<Tensor>, Refusal> {
        match format {
            Format::Unsaid => self.tensors(Format::by_first_bytes(body), body),
            Format::Picture => Ok(vec![self.picture(body)?]),
            Format::Npy => Ok(vec![self.npy(body)?]),
            Format::Json => self.json(body),
        }
    }

    fn picture(&self, body: &[u8]) -> Result<Tensor, Refusal> {
        let preparation = self.preparation.ok_or_else(|| {
            Refusal::unprocessable(format!(
                "this model does not take pictures but {}: send application/json or application/x-npy",
                self.signature.inputs_in_words()
            ))
        })?;
        let picture = picture::decode_within(body, self.pixels).map_err(|problem| {
            Refusal::unprocessable(format!("the body is not a usable picture: {problem}"))
        })?;
        prepared(picture, preparation)
    }

    fn npy(&self, body: &[u8]) -> Result<Tensor, Refusal> {
        let port = self.only_input()?;
        let unusable = |problem: &str| {
            Refusal::unprocessable(format!("the body is not a NumPy array: it {problem}"))
        };
        let array = data::npy::array(body).map_err(|problem| unusable(&problem.to_string()))?;
        let kind = Kind::of_npy(array.kind)
            .ok_or_else(|| unusable(&format!("has the unsupported type `{}`", array.kind)))?;
        let values = Values::from_le_bytes(kind, array.numbers);
        let count = array
            .shape
            .iter()
            .try_fold(1, |a: usize, &b| a.checked_mul(b));
        let values = values
            .filter(|values| Some(values.len()) == count)
            .ok_or_else(|| unusable("does not have the length in its header"))?;
        self.fitting(port, array.shape, values)
    }

    fn json(&self, body: &[u8]) -> Result<Vec<Tensor>, Refusal> {
        match json::read(body)? {
            json::Sent::One(list) => {
                let port = self.only_input()?;
                Ok(vec![self.fitting(port, list.shape, list.values)?])
            }
            json::Sent::Named(mut named) => {
                let inputs = self.signature.inputs.iter();
                let tensors = inputs.map(|port| self.named(port, &mut named));
                let tensors = tensors.collect::<Result<Vec<_>, _>>()?;
                match named.first() {
                    None => self.consistent(tensors),
                    Some(unknown) => Err(Refusal::unprocessable(format!(
                        "there is no input `{}`: the model takes {}",
                        unknown.name,
                        self.signature.inputs_in_words()
                    ))),
                }
            }
        }
    }

    fn named(&self, port: &Port, named: &mut Vec<json::Named>) -> Result<Tensor, Refusal> {
        let place = named.iter().position(|one| one.name == port.name);
        let place = place.ok_or_else(|| {
            Refusal::unprocessable(format!(
                "the input `{}` is missing: the model takes {}",
                port.name,
                self.signature.inputs_in_words()
            ))
        })?;
        let json::Named {
            name,
            datatype,
            list,
        } = named.swap_remove(place);
        if let Some(datatype) = datatype.filter(|datatype| *datatype != port.kind.name()) {
            return Err(Refusal::unprocessable(match Kind::of_name(&datatype) {
                Some(_) => format!(
                    "the input `{name}` has the type {}, but the body says {datatype}",
                    port.kind.name()
                ),
                None => format!("the type `{datatype}` of the input `{name}` is not known"),
            }));
        }
        self.fitting(port, list.shape, list.values)
    }

    fn only_input(&self) -> Result<&Port, Refusal> {
        self.signature.only_input().ok_or_else(|| {
            Refusal::unprocessable(format!(
                "the model has {} inputs: send JSON, {{\"inputs\": {{NAME: LIST, …}}}} with {}",
                self.signature.inputs.len(),
                self.signature.inputs_in_words()
            ))
        })
    }

    /// An example alone may come without the size that counts examples.
    fn fitting(
        &self,
        port: &Port,
        mut shape: Vec<usize>,
        values: Values,
    ) -> Result<Tensor, Refusal> {
        if shape.len() + 1 == port.sizes.len() {
            shape.insert(0, 1);
        }
        let values = values.converted(port.kind).map_err(|number| {
            Refusal::unprocessable(format!(
                "the input `{}` takes {} numbers, and {number} is not one",
                port.name,
                port.kind.name()
            ))
        })?;
        let sent = format!("{shape:?}");
        let tensor = Tensor::new(shape, values);
        tensor
            .filter(|tensor| {
                port.accepts(tensor.shape(), self.any_examples)
                    && (!self.any_examples || tensor.examples() > 0)
            })
            .ok_or_else(|| {
                Refusal::unprocessable(format!(
                    "the tensor has the shape {sent}, but the model needs {}",
                    port.sizes_in_words()
                ))
            })
    }

    /// Where the first sizes count examples, they are the same.
    fn consistent(&self, tensors: Vec<Tensor>) -> Result<Vec<Tensor>, Refusal> {
        let examples = tensors.first().map(Tensor::examples);
        let others = tensors.iter().map(Tensor::examples);
        match self.any_examples && !others.map(Some).all(|other| other == examples) {
            true => Err(Refusal::unprocessable(
                "the inputs have different numbers of examples (first dimensions)",
            )),
            false => Ok(tensors),
        }
    }
}

fn prepared(picture: Picture, preparation: &Preparation) -> Result<Tensor, Refusal> {
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
    let values = match preparation.kind {
        Kind::Float32 => Values::Float32(values),
        // Pixels that a description's mean and std take out of a byte's range stay at its ends.
        Kind::Uint8 => values
            .into_iter()
            .map(|value| value.round() as u8)
            .collect::<Vec<_>>()
            .into(),
        other => Values::Float32(values).converted(other).map_err(|number| {
            Refusal::unprocessable(format!(
                "a pixel became {number}, which is not a {} number",
                other.name()
            ))
        })?,
    };
    // The planes have the input's size by their making.
    Ok(Tensor::new(size.shape().to_vec(), values)
        .unwrap_or_else(|| unreachable!("planes of different sizes")))
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
