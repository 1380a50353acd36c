//! A model's small description file, `model.json` next to it: how a picture becomes its input, and what its
//! classes are called. Everything in it may be left out.

use serde::{Deserialize, Serialize};

use crate::meaning::{Meaning, Outputs};
use crate::model::{ModelError, Port, Signature};
use crate::onnx::OnnxFile;
use crate::tensor::Kind;

#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Description {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Needed where the model itself does not tell its sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<InputSize>,
    pub resize: Resize,
    /// Taken from pixel values (0 to 255) before they are divided by `std`; one for all channels, or one each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mean: Vec<f32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub std: Vec<f32>,
    /// Names in the order of the model's scores; their numbers where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<String>,
    /// What outputs mean, and which are answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Outputs>,
    /// Whether the weights are drawn, not trained: answers mean nothing then, and say so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub untrained: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct InputSize {
    pub channels: u32,
    pub height: u32,
    pub width: u32,
    #[serde(default)]
    pub layout: Layout,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Images, channels, rows, columns.
    #[default]
    Nchw,
    /// Images, rows, columns, channels.
    Nhwc,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Resize {
    /// To the input's size, whatever becomes of the picture's shape.
    #[default]
    Stretch,
    /// The largest part in the middle that has the input's shape.
    Crop,
}

/// Mean and std: (x / 255 − 0.5) / 0.5, as all networks here are trained.
const USUAL: (f32, f32) = (127.5, 127.5);
/// For models that take bytes.
const AS_IT_IS: (f32, f32) = (0.0, 1.0);

/// A description and a model that were held against each other: nothing is left open.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Preparation {
    pub(crate) size: InputSize,
    pub(crate) kind: Kind,
    pub(crate) resize: Resize,
    /// By channel: what is taken away, and by what is divided.
    pub(crate) normalise: Vec<(f32, f32)>,
}

impl Description {
    pub fn parse(text: &str) -> Result<Description, ModelError> {
        let described: Description = serde_json::from_str(text).map_err(ModelError::new)?;
        if described.std.iter().any(|std| !std.is_normal()) {
            return Err(ModelError::new(
                "`std` contains zero or a value that is not a number",
            ));
        }
        Ok(described)
    }

    /// With what the model's file itself says, for servers that do not look into it.
    pub fn completed(self, file: &OnnxFile) -> Description {
        let meaning = |name: &String| match file.softmax.as_ref() == Some(name) {
            true => Meaning::Probabilities,
            false => Meaning::Raw,
        };
        let named = file.outputs.iter();
        let named = || named.map(|name| (name.clone(), meaning(name))).collect();
        Description {
            untrained: self.untrained || file.untrained,
            output: self.output.or_else(|| Some(Outputs::Named(named()))),
            ..self
        }
    }

    /// None where the model's input is not a picture: tensors can still be sent.
    pub(crate) fn preparation(
        &self,
        signature: &Signature,
    ) -> Result<Option<Preparation>, ModelError> {
        let Some(port) = signature.only_input() else {
            return match self.input {
                Some(_) => Err(ModelError::new(format!(
                    "the description's `input` is a picture, but the model takes {}",
                    signature.inputs_in_words()
                ))),
                None => Ok(None),
            };
        };
        let Some(size) = self.input.or_else(|| picture_size(port)) else {
            return Ok(None);
        };
        if !port.accepts(&size.shape(), true) {
            return Err(ModelError::new(format!(
                "the description's input is {:?}, but the model needs {}",
                size.shape(),
                port.sizes_in_words()
            )));
        }
        let usual = match port.kind {
            Kind::Uint8 => AS_IT_IS,
            kind if kind.is_float() => USUAL,
            _ => return Ok(None),
        };
        if !matches!(size.channels, 1 | 3) {
            return Ok(None);
        }
        let channels = size.channels as usize;
        let means = spread(&self.mean, usual.0, channels, "mean")?;
        let stds = spread(&self.std, usual.1, channels, "std")?;
        Ok(Some(Preparation {
            size,
            kind: port.kind,
            resize: self.resize,
            normalise: means.into_iter().zip(stds).collect(),
        }))
    }

    /// Of the model's answer.
    pub(crate) fn class(&self, index: usize) -> String {
        match self.classes.get(index) {
            Some(name) => name.clone(),
            None => index.to_string(),
        }
    }
}

impl InputSize {
    pub(crate) fn shape(self) -> [usize; 4] {
        let [channels, height, width] =
            [self.channels, self.height, self.width].map(|size| size as usize);
        match self.layout {
            Layout::Nchw => [1, channels, height, width],
            Layout::Nhwc => [1, height, width, channels],
        }
    }
}

fn spread(values: &[f32], usual: f32, channels: usize, name: &str) -> Result<Vec<f32>, ModelError> {
    match values {
        [] => Ok(vec![usual; channels]),
        &[one] => Ok(vec![one; channels]),
        _ if values.len() == channels => Ok(values.to_vec()),
        _ => Err(ModelError::new(format!(
            "`{name}` has {} numbers, but the input has {channels} channels",
            values.len()
        ))),
    }
}

/// Where the model tells all its sizes: channels are where the 1 or the 3 stands.
fn picture_size(port: &Port) -> Option<InputSize> {
    let [_, Some(first), Some(second), Some(third)] = port.sizes[..] else {
        return None;
    };
    let (layout, [channels, height, width]) = match (first, third) {
        (1 | 3, _) => (Layout::Nchw, [first, second, third]),
        (_, 1 | 3) => (Layout::Nhwc, [third, first, second]),
        _ => return None,
    };
    Some(InputSize {
        channels: channels.try_into().ok()?,
        height: height.try_into().ok()?,
        width: width.try_into().ok()?,
        layout,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(sizes: [usize; 3]) -> Signature {
        let port = Port {
            name: "input".to_owned(),
            kind: Kind::Float32,
            sizes: [None].into_iter().chain(sizes.map(Some)).collect(),
        };
        Signature {
            inputs: vec![port],
            ..Signature::default()
        }
    }

    #[test]
    fn sizes_come_from_the_model() {
        let check = |sizes, expected: Option<[usize; 4]>| {
            let found = Description::default()
                .preparation(&signature(sizes))
                .unwrap();
            assert_eq!(found.map(|found| found.size.shape()), expected);
        };
        check([3, 224, 192], Some([1, 3, 224, 192]));
        check([224, 192, 3], Some([1, 224, 192, 3]));
        check([1, 28, 28], Some([1, 1, 28, 28]));
        check([7, 28, 28], None);
    }

    #[test]
    fn mistakes_are_told() {
        let check = |text: &str, expected: &str| {
            let found = Description::parse(text)
                .and_then(|described| described.preparation(&signature([3, 8, 8])));
            let message = found.unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        };
        check("{", "EOF");
        check(r#"{"clases": []}"#, "unknown field `clases`");
        check(r#"{"std": [0]}"#, "`std` contains zero");
        check(
            r#"{"mean": [1, 2]}"#,
            "`mean` has 2 numbers, but the input has 3 channels",
        );
        let other = r#"{"input": {"channels": 3, "height": 9, "width": 8}}"#;
        check(
            other,
            "the description's input is [1, 3, 9, 8], but the model needs any×3×8×8",
        );
    }
}
