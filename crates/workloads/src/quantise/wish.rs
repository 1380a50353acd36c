//! What is to be quantised, and the images that are looked at for it.

use std::path::{Path, PathBuf};

use data::DataRequest;
use frameworks::Home;
use serde::{Deserialize, Serialize};

use super::error::QuantiseError;
use super::tools::{Images, Looked};

/// What is to be quantised.
#[derive(Debug, Clone, Copy)]
pub struct QuantiseWish<'a> {
    /// ONNX, 32 bits.
    pub model: &'a Path,
    /// The text of its `model.json`, where it has one: how pixels become its input.
    pub description: Option<&'a str>,
    /// Needed unless `dynamic`.
    pub pictures: Option<&'a Pictures>,
    /// Ranges of activations are found while it computes, not taken from images beforehand.
    pub dynamic: bool,
    /// Whether its weights were trained on these pictures: else no accuracy is worth the name.
    pub trained: bool,
}

/// A dataset of which some images are looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pictures {
    pub dataset: String,
    /// None: where `bancada data fetch` puts it.
    pub data_dir: Option<PathBuf>,
    /// Training images that the ranges of activations are taken from.
    pub images: u32,
    /// On which both models are compared.
    pub held_out: u32,
    pub seed: u64,
}

/// What is of use here of a model's description; `serve` knows all of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Described {
    input: Option<Size>,
    mean: Vec<f32>,
    std: Vec<f32>,
    /// A meaning, or meanings by name.
    output: serde_json::Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) struct Size {
    pub(crate) channels: u32,
    pub(crate) height: u32,
    pub(crate) width: u32,
    #[serde(default)]
    pub(crate) layout: Layout,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Layout {
    #[default]
    Nchw,
    Nhwc,
}

/// Images that were decoded, and what is known of them.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) images: Images,
    pub(crate) dataset: String,
    pub(crate) train: u32,
    pub(crate) classes: u32,
}

impl QuantiseWish<'_> {
    fn described(&self) -> Result<Described, QuantiseError> {
        match self.description {
            Some(text) => serde_json::from_str(text).map_err(|error| {
                QuantiseError::new(format!("the model's description cannot be used: {error}"))
            }),
            None => Ok(Described::default()),
        }
    }

    /// The output that the description says to score classes; a bare meaning names the only output, or the one that
    /// is called so.
    pub(crate) fn scores(&self) -> Result<Option<String>, QuantiseError> {
        let output = self.described()?.output;
        if let Some(meaning) = output.as_str() {
            return Ok((meaning != "raw").then(|| meaning.to_owned()));
        }
        let named = output.as_object().into_iter().flatten();
        let mut scores = named.filter(|(_, meaning)| *meaning != "raw");
        Ok(scores.next().map(|(name, _)| name.clone()))
    }

    /// The description's, or the model's own where it tells all its sizes.
    pub(crate) fn input(&self, looked: &Looked) -> Result<Size, QuantiseError> {
        let told = self
            .described()?
            .input
            .or_else(|| picture_size(&looked.input));
        let size = told.ok_or_else(|| {
            QuantiseError::new(
                "the model's input is not a picture, or has no fixed size: write it as `input` in its model.json",
            )
        })?;
        match size.height == size.width {
            true => Ok(size),
            false => Err(QuantiseError::new(format!(
                "the model needs images of {}×{}, but images of datasets are square",
                size.height, size.width
            ))),
        }
    }
}

/// Channels are where the 1 or the 3 stands.
pub(crate) fn picture_size(input: &[Option<u32>]) -> Option<Size> {
    let &[_, Some(first), Some(second), Some(third)] = input else {
        return None;
    };
    let (layout, [channels, height, width]) = match (first, third) {
        (1 | 3, _) => (Layout::Nchw, [first, second, third]),
        (_, 1 | 3) => (Layout::Nhwc, [third, first, second]),
        _ => return None,
    };
    Some(Size {
        channels,
        height,
        width,
        layout,
    })
}

impl Pictures {
    /// Decoded and of the model's size, in the cache that all frameworks share.
    pub(crate) fn prepare(
        &self,
        home: &Home,
        wish: &QuantiseWish<'_>,
        size: Size,
    ) -> Result<Prepared, QuantiseError> {
        let fetched = || {
            data::info(&self.dataset)
                .filter(|info| info.needs_folder)
                .map(|info| data::fetched_folder(home.path(), info.name))
        };
        let request = DataRequest {
            dataset: self.dataset.clone(),
            data_dir: self.data_dir.clone().or_else(fetched),
            image: size.height,
            images: Some(self.images),
            held_out: Some(self.held_out),
            seed: self.seed,
        };
        let cached =
            data::cache::prepare(&request, home.path(), false).map_err(QuantiseError::new)?;
        if cached.channels > size.channels {
            return Err(QuantiseError::new(format!(
                "the images of {} have colour, but the model needs grey images",
                self.dataset
            )));
        }
        let described = wish.described()?;
        Ok(Prepared {
            images: Images {
                folder: cached.folder,
                channels: size.channels,
                last: size.layout == Layout::Nhwc,
                mean: described.mean,
                std: described.std,
            },
            dataset: self.dataset.clone(),
            train: cached.train,
            classes: cached.classes,
        })
    }
}
