//! Weights as numbers, and as bytes in the public safetensors format: eight bytes with the length
//! of the header (little-endian), the header (JSON), then the numbers (little-endian).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::graph::Graph;

/// As in the format's own reader: a longer header is an attack or not a header.
const LONGEST_HEADER_BYTES: u64 = 100_000_000;
const METADATA: &str = "__metadata__";

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Weights {
    /// In the order of the graph's parameters.
    pub tensors: Vec<Tensor>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// `conv1.weight`.
    pub name: String,
    pub shape: Vec<u32>,
    /// Row by row: the last index runs fastest.
    pub values: Vec<f32>,
}

impl Weights {
    pub fn get(&self, name: &str) -> Option<&Tensor> {
        self.tensors.iter().find(|tensor| tensor.name == name)
    }

    /// Whether these are the weights of this network: every parameter, in its shape, no other.
    pub fn check(&self, graph: &Graph) -> Result<(), WeightsError> {
        let mut given: BTreeMap<&str, &Tensor> =
            self.tensors.iter().map(|t| (t.name.as_str(), t)).collect();
        for parameter in graph.nodes.iter().flat_map(|node| &node.parameters) {
            let tensor = given
                .remove(parameter.name.as_str())
                .ok_or_else(|| WeightsError::Missing(parameter.name.clone()))?;
            if tensor.shape != parameter.shape {
                return Err(WeightsError::Shape {
                    name: parameter.name.clone(),
                    expected: parameter.shape.clone(),
                    got: tensor.shape.clone(),
                });
            }
        }
        match given.into_keys().next() {
            Some(name) => Err(WeightsError::Surplus(name.to_owned())),
            None => Ok(()),
        }
    }

    /// A safetensors file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut header = String::from("{");
        let mut offset = 0u64;
        for (index, tensor) in self.tensors.iter().enumerate() {
            let end = offset + 4 * tensor.values.len() as u64;
            let comma = if index > 0 { "," } else { "" };
            let name = serde_json::Value::from(tensor.name.as_str());
            header.push_str(&format!(
                r#"{comma}{name}:{{"dtype":"F32","shape":{:?},"data_offsets":[{offset},{end}]}}"#,
                tensor.shape
            ));
            offset = end;
        }
        header.push('}');
        // The numbers begin at a multiple of eight, so that they can be used where they lie.
        while header.len() % 8 != 0 {
            header.push(' ');
        }
        let mut bytes = Vec::with_capacity(8 + header.len() + offset as usize);
        bytes.extend_from_slice(&(header.len() as u64).to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        for value in self.tensors.iter().flat_map(|tensor| &tensor.values) {
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        bytes
    }

    /// Reads a safetensors file of 32-bit floats. Needs no more memory than the file is long.
    pub fn from_bytes(bytes: &[u8]) -> Result<Weights, WeightsError> {
        let (length, rest) = bytes
            .split_first_chunk::<8>()
            .ok_or_else(|| malformed("it is shorter than eight bytes"))?;
        let length = u64::from_le_bytes(*length);
        if length > LONGEST_HEADER_BYTES || length > rest.len() as u64 {
            return Err(malformed("its header is longer than the file"));
        }
        let (header, data) = rest.split_at(length as usize);
        let tensors = read_header(header)?
            .into_iter()
            .map(|located| located.read(data))
            .collect::<Result<Vec<Tensor>, WeightsError>>()?;
        let used: usize = tensors.iter().map(|tensor| 4 * tensor.values.len()).sum();
        if used != data.len() {
            return Err(malformed("bytes follow the last tensor"));
        }
        Ok(Weights { tensors })
    }
}

#[derive(Serialize, Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: [u64; 2],
}

struct LocatedTensor {
    name: String,
    shape: Vec<u32>,
    start: usize,
    end: usize,
}

impl LocatedTensor {
    fn read(self, data: &[u8]) -> Result<Tensor, WeightsError> {
        let bytes = data
            .get(self.start..self.end)
            .ok_or_else(|| malformed(format!("`{}` is beyond its end", self.name)))?;
        let (numbers, _) = bytes.as_chunks::<4>();
        Ok(Tensor {
            name: self.name,
            shape: self.shape,
            values: numbers
                .iter()
                .map(|number| f32::from_le_bytes(*number))
                .collect(),
        })
    }
}

/// The tensors in the order of their bytes, which follow one another without gap or overlap.
fn read_header(header: &[u8]) -> Result<Vec<LocatedTensor>, WeightsError> {
    let entries: BTreeMap<String, serde_json::Value> = serde_json::from_slice(header)
        .map_err(|error| malformed(format!("its header is invalid ({error})")))?;
    let mut tensors = Vec::new();
    for (name, value) in entries {
        if name == METADATA {
            continue;
        }
        let entry: Entry = serde_json::from_value(value).map_err(|error| {
            malformed(format!("the description of `{name}` is invalid ({error})"))
        })?;
        tensors.push(locate(name, &entry)?);
    }
    tensors.sort_by_key(|tensor| (tensor.start, tensor.end));
    let mut expected = 0;
    for tensor in &tensors {
        if tensor.start != expected {
            return Err(malformed(format!(
                "`{}` begins at byte {}, not {expected}",
                tensor.name, tensor.start
            )));
        }
        expected = tensor.end;
    }
    Ok(tensors)
}

fn locate(name: String, entry: &Entry) -> Result<LocatedTensor, WeightsError> {
    if entry.dtype != "F32" {
        return Err(WeightsError::Kind {
            name,
            dtype: entry.dtype.clone(),
        });
    }
    let [start, end] = entry.data_offsets;
    let bytes = entry
        .shape
        .iter()
        .try_fold(4u64, |product, &side| product.checked_mul(side));
    if bytes.is_none() || bytes != end.checked_sub(start) {
        return Err(malformed(format!(
            "the number of bytes of `{name}` does not match its shape {:?}",
            entry.shape
        )));
    }
    let too_large = || malformed(format!("`{name}` is too large for this machine"));
    let shape: Option<Vec<u32>> = entry.shape.iter().map(|&d| u32::try_from(d).ok()).collect();
    Ok(LocatedTensor {
        shape: shape.ok_or_else(too_large)?,
        start: usize::try_from(start).map_err(|_| too_large())?,
        end: usize::try_from(end).map_err(|_| too_large())?,
        name,
    })
}

fn malformed(reason: impl Into<String>) -> WeightsError {
    WeightsError::Malformed(reason.into())
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WeightsError {
    #[error("not a complete safetensors file: {0}; save or copy it again")]
    Malformed(String),
    /// Numbers other than 32-bit floats.
    #[error("tensor `{name}` has type {dtype}: save it as F32, the only supported type")]
    Kind { name: String, dtype: String },
    #[error("`{0}` is missing in the weights: they belong to a different network")]
    Missing(String),
    #[error("the network has no `{0}`: the weights belong to a different network")]
    Surplus(String),
    #[error(
        "`{name}` is {got:?} in the weights and {expected:?} in the network: they were saved for a different input or number of classes"
    )]
    Shape {
        name: String,
        expected: Vec<u32>,
        got: Vec<u32>,
    },
}
