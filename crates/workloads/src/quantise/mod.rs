//! Quantises a model to 8 bits with ONNX Runtime's own tools, in their own environment, and measures the loss of
//! accuracy: once per model and settings, then cached.

mod error;
mod tools;
mod wish;

use std::fs;
use std::path::{Path, PathBuf};

use frameworks::{Home, Installed, Spec};
use host::{Digest, Unfinished};
use serde::{Deserialize, Serialize};
use serde_json::json;
use stats::Estimate;

pub use error::QuantiseError;
pub use wish::{Pictures, QuantiseWish};

use tools::{Asked, Compared};
use wish::Prepared;

/// The environment that `bancada setup` makes for it.
pub const TOOLS: &str = "onnx-tools";

const CONFIDENCE: f64 = 0.95;
const FOLDER: &str = "quantised";
const MODEL: &str = "model.onnx";
const RESULT: &str = "quantised.json";

/// A model in 8 bits, and the one it was made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quantised {
    /// ONNX, in the cache.
    pub path: PathBuf,
    pub bytes: u64,
    pub full_bytes: u64,
    /// Of weights: 7 where the processor's products of bytes would overflow.
    pub weight_bits: u8,
    pub dynamic: bool,
    /// Training images that the ranges of activations were taken from.
    pub calibration_images: Option<u32>,
    /// On held-out images; `None` if no dataset was named.
    pub comparison: Option<Comparison>,
    /// Of ONNX Runtime.
    pub version: String,
}

/// Both models on the same held-out images.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    pub dataset: String,
    /// How often both name the same class first.
    pub agreement: Share,
    /// Different classes that the model of 32 bits named: where there is but one, agreement says little.
    pub classes_named: u32,
    /// `None` if the weights were not trained on this dataset.
    pub accuracy: Option<Accuracy>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    pub full: Share,
    pub quantised: Share,
}

/// A count of images, and the share it is of all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Share {
    pub count: u32,
    pub of: u32,
    pub estimate: Estimate,
}

/// The quantised model; made where it is not in the cache.
pub fn quantise(home: &Home, wish: &QuantiseWish<'_>) -> Result<Quantised, QuantiseError> {
    let work = Work {
        home,
        wish,
        tools: installed(home)?,
        bits: weight_bits(),
    };
    let parent = home.path().join(FOLDER);
    let key = work.key()?;
    let folder = parent.join(&key);
    if let Some(found) = read(&folder) {
        return Ok(found);
    }
    let unfinished = Unfinished::folder(&folder).map_err(QuantiseError::io("create", &folder))?;
    let quantised = work.make(unfinished.path())?;
    keep(quantised, unfinished, &folder)
}

fn installed(home: &Home) -> Result<Installed, QuantiseError> {
    let spec = Spec::parse(TOOLS).map_err(QuantiseError::new)?;
    home.interpreter(&spec).map_err(QuantiseError::new)
}

struct Work<'a> {
    home: &'a Home,
    wish: &'a QuantiseWish<'a>,
    tools: Installed,
    bits: u8,
}

impl Work<'_> {
    /// Everything that decides the result.
    fn key(&self) -> Result<String, QuantiseError> {
        let wish = self.wish;
        let model = Digest::of_file(wish.model).map_err(QuantiseError::io("read", wish.model))?;
        let decides = json!({
            "model": short(model),
            "description": wish.description,
            "pictures": wish.pictures,
            "dynamic": wish.dynamic,
            "trained": wish.trained,
            "bits": self.bits,
            "tools": self.tools.version,
            "script": tools::SCRIPT,
        });
        Ok(short(Digest::of(decides.to_string())))
    }

    fn make(&self, folder: &Path) -> Result<Quantised, QuantiseError> {
        let wish = self.wish;
        // The tools are started in another folder.
        let model =
            std::path::absolute(wish.model).map_err(QuantiseError::io("find", wish.model))?;
        let prepared = self.pictures(&model)?;
        let to = folder.join(MODEL);
        let asked = Asked {
            model: &model,
            to: &to,
            bits: self.bits,
            dynamic: wish.dynamic,
            images: prepared.as_ref().map(|prepared| &prepared.images),
            scores: wish.scores()?,
        };
        let compared = tools::quantise(&self.tools, &asked)?;
        let size = |path: &Path| -> Result<u64, QuantiseError> {
            let metadata = fs::metadata(path).map_err(QuantiseError::io("read", path))?;
            Ok(metadata.len())
        };
        let calibrated = prepared.as_ref().filter(|_| !wish.dynamic);
        Ok(Quantised {
            bytes: size(&to)?,
            full_bytes: size(&model)?,
            path: to,
            weight_bits: self.bits,
            dynamic: wish.dynamic,
            calibration_images: calibrated.map(|prepared| prepared.train),
            comparison: match (compared, prepared) {
                (Some(compared), Some(prepared)) => {
                    // Of a network for other classes no answer is right.
                    let trained = wish.trained && compared.classes == prepared.classes;
                    comparison(&compared, prepared.dataset, trained)
                }
                _ => None,
            },
            version: self.tools.version.clone(),
        })
    }

    fn pictures(&self, model: &Path) -> Result<Option<Prepared>, QuantiseError> {
        match self.wish.pictures {
            Some(pictures) => {
                let input = self.wish.input(&tools::look(&self.tools, model)?)?;
                pictures.prepare(self.home, self.wish, input).map(Some)
            }
            None if self.wish.dynamic => Ok(None),
            None => Err(QuantiseError::new(
                "name a dataset for calibration (--dataset), or compute the ranges during inference (--dynamic)",
            )),
        }
    }
}

fn comparison(compared: &Compared, dataset: String, trained: bool) -> Option<Comparison> {
    let share = |count| Share::new(count, compared.images);
    Some(Comparison {
        dataset,
        agreement: share(compared.agree)?,
        classes_named: compared.named,
        accuracy: match trained {
            true => Some(Accuracy {
                full: share(compared.full_right)?,
                quantised: share(compared.right)?,
            }),
            false => None,
        },
    })
}

impl Share {
    /// None of no images.
    fn new(count: u32, of: u32) -> Option<Share> {
        let estimate = stats::proportion(count as usize, of as usize, CONFIDENCE)?;
        Some(Share {
            count,
            of,
            estimate,
        })
    }
}

/// Written last and renamed when whole.
fn keep(quantised: Quantised, from: Unfinished, to: &Path) -> Result<Quantised, QuantiseError> {
    let path = from.path().join(RESULT);
    let text = serde_json::to_string_pretty(&quantised).unwrap_or_default();
    fs::write(&path, text + "\n").map_err(QuantiseError::io("write", &path))?;
    // Another program was faster.
    if let Some(found) = read(to) {
        return Ok(found);
    }
    // A damaged one may be in the way.
    from.replace(to).map_err(QuantiseError::io("create", to))?;
    Ok(Quantised {
        path: to.join(MODEL),
        ..quantised
    })
}

/// `None` if it is not there, or not whole.
fn read(folder: &Path) -> Option<Quantised> {
    let text = fs::read_to_string(folder.join(RESULT)).ok()?;
    let found: Quantised = serde_json::from_str(&text).ok()?;
    let path = folder.join(MODEL);
    let whole = fs::metadata(&path).is_ok_and(|file| file.len() == found.bytes);
    whole.then_some(Quantised { path, ..found })
}

/// Enough for files that nobody forges.
fn short(digest: Digest) -> String {
    format!("{digest:.24}")
}

/// x86 processors without VNNI add two products of a byte in 16 bits, which overflows with weights of 8.
fn weight_bits() -> u8 {
    let overflows = cfg!(target_arch = "x86_64")
        && fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| !text.contains("_vnni"));
    if overflows { 7 } else { 8 }
}

#[cfg(test)]
mod tests;
