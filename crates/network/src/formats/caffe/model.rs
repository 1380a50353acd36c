//! Weights as Caffe keeps them: a binary `NetParameter` with a `LayerParameter` for every layer
//! that has any. Field numbers are those of src/caffe/proto/caffe.proto.

use std::collections::BTreeMap;

use crate::{Graph, Node, Op, Parameter, Tensor, Weights};

use super::FORMAT;
use super::names::{Names, names};
use crate::formats::error::FormatError;
use crate::formats::protobuf::{Field, Message, Value, fields};
use crate::formats::tensors;

mod field {
    pub(super) const NET_NAME: u32 = 1;
    pub(super) const NET_LAYER: u32 = 100;
    pub(super) const LAYER_NAME: u32 = 1;
    pub(super) const LAYER_TYPE: u32 = 2;
    pub(super) const LAYER_BLOBS: u32 = 7;
    pub(super) const BLOB_DATA: u32 = 5;
    pub(super) const BLOB_SHAPE: u32 = 7;
    pub(super) const SHAPE_DIM: u32 = 1;
}

/// For `caffe train --weights`.
pub fn caffemodel(graph: &Graph, weights: &Weights) -> Result<Vec<u8>, FormatError> {
    weights.check(graph)?;
    let mut net = Message::new();
    net.text(field::NET_NAME, &graph.name);
    for stored in stored(graph) {
        let mut layer = Message::new();
        layer
            .text(field::LAYER_NAME, &stored.name)
            .text(field::LAYER_TYPE, stored.kind);
        for name in &stored.parameters {
            if let Some(tensor) = weights.get(name) {
                layer.message(field::LAYER_BLOBS, blob(tensor, stored.counter)?);
            }
        }
        if let Some(counter) = stored.counter {
            let mut blob = Message::new();
            blob.message(field::BLOB_SHAPE, shape(&[1]))
                .floats(field::BLOB_DATA, vec![counter]);
            layer.message(field::LAYER_BLOBS, blob);
        }
        net.message(field::NET_LAYER, layer);
    }
    net.file(FORMAT)
}

/// What Caffe saved, as weights of the network.
pub fn read_caffemodel(graph: &Graph, bytes: &[u8]) -> Result<Weights, FormatError> {
    let layers = read_layers(bytes)?;
    let mut found: BTreeMap<&str, Vec<f32>> = BTreeMap::new();
    for stored in stored(graph) {
        let lacking = || malformed(format!("the values of `{}` are missing", stored.name));
        let blobs = layers.get(stored.name.as_bytes()).ok_or_else(lacking)?;
        let blob = |place: usize| blobs.get(place).and_then(|blob| numbers(blob));
        let share = match stored.counter {
            Some(_) => share(blob(stored.parameters.len()).ok_or_else(lacking)?),
            None => 1.0,
        };
        for (place, name) in stored.parameters.iter().enumerate() {
            let mut values = blob(place).ok_or_else(lacking)?;
            if stored.counter.is_some() {
                values.iter_mut().for_each(|value| *value *= share);
            }
            found.insert(name, values);
        }
    }
    let parameters = graph.nodes.iter().flat_map(|node| &node.parameters);
    let tensor = |parameter: &Parameter| {
        let values = found.remove(parameter.name.as_str()).unwrap_or_default();
        if values.len() as u64 != parameter.elements() {
            return Err(malformed(format!(
                "`{}` has {} numbers, not {}",
                parameter.name,
                values.len(),
                parameter.elements()
            )));
        }
        Ok(Tensor {
            name: parameter.name.clone(),
            shape: parameter.shape.clone(),
            values,
        })
    };
    let tensors = parameters.map(tensor).collect::<Result<_, _>>()?;
    Ok(Weights { tensors })
}

/// A layer of Caffe that has weights.
pub(super) struct Stored<'g> {
    pub(super) name: String,
    kind: &'static str,
    /// In the order of its blobs; the order of the numbers in each is ours.
    pub(super) parameters: Vec<&'g str>,
    /// For what is gathered: how many batches are in the sums, the older the less, a blob after the
    /// others, by which they are divided. Begun at 1 / momentum, where it stays, it makes Caffe's
    /// mean the usual one: momentum of the new, the rest of the old.
    counter: Option<f32>,
}

pub(super) fn stored(graph: &Graph) -> Vec<Stored<'_>> {
    let nodes = graph.nodes.iter().zip(names(graph));
    let of_node = |(node, names)| of_node(node, names);
    nodes.flat_map(of_node).collect()
}

fn of_node(node: &Node, names: Names) -> Vec<Stored<'_>> {
    let parameters: Vec<&str> = node.parameters.iter().map(|p| p.name.as_str()).collect();
    let layer = |kind| Stored {
        name: names.layer.clone(),
        kind,
        parameters: parameters.clone(),
        counter: None,
    };
    match (&node.op, parameters.as_slice()) {
        (Op::Conv { .. }, _) => vec![layer("Convolution")],
        (Op::Dense { .. }, _) => vec![layer("InnerProduct")],
        (Op::BatchNorm { momentum, .. }, &[gamma, beta, mean, variance]) => vec![
            Stored {
                parameters: vec![mean, variance],
                counter: Some(if *momentum > 0.0 {
                    (1.0 / momentum) as f32
                } else {
                    1.0
                }),
                ..layer("BatchNorm")
            },
            Stored {
                name: names.other.unwrap_or_default(),
                parameters: vec![gamma, beta],
                ..layer("Scale")
            },
        ],
        _ => Vec::new(),
    }
}

fn blob(tensor: &Tensor, counter: Option<f32>) -> Result<Message<'_>, FormatError> {
    tensors::check(tensor)?;
    let mut blob = Message::new();
    blob.message(field::BLOB_SHAPE, shape(&tensor.shape));
    match counter {
        Some(counter) => {
            let sums: Vec<f32> = tensor.values.iter().map(|value| value * counter).collect();
            blob.floats(field::BLOB_DATA, sums);
        }
        None => _ = blob.floats(field::BLOB_DATA, &tensor.values),
    }
    Ok(blob)
}

fn shape(sides: &[u32]) -> Message<'static> {
    let mut shape = Message::new();
    for &side in sides {
        shape.int(field::SHAPE_DIM, side.into());
    }
    shape
}

/// Nothing gathered is nothing, as Caffe itself takes it.
fn share(counter: Vec<f32>) -> f32 {
    match counter.first() {
        Some(&counter) if counter != 0.0 => 1.0 / counter,
        _ => 0.0,
    }
}

/// The blobs of every layer, by its name.
fn read_layers(bytes: &[u8]) -> Result<BTreeMap<&[u8], Vec<&[u8]>>, FormatError> {
    let cut = || malformed("it is truncated, or a different type of file".to_owned());
    let mut layers = BTreeMap::new();
    for layer in messages(&fields(bytes).ok_or_else(cut)?, field::NET_LAYER) {
        let layer = fields(layer).ok_or_else(cut)?;
        if let Some(name) = messages(&layer, field::LAYER_NAME).next() {
            let blobs = messages(&layer, field::LAYER_BLOBS).collect();
            layers.insert(name, blobs);
        }
    }
    Ok(layers)
}

fn messages<'b>(fields: &[Field<'b>], number: u32) -> impl Iterator<Item = &'b [u8]> {
    fields.iter().filter_map(move |field| match field.value {
        Value::Bytes(bytes) if field.number == u64::from(number) => Some(bytes),
        _ => None,
    })
}

/// `None` if they are no packed 32-bit floats.
fn numbers(blob: &[u8]) -> Option<Vec<f32>> {
    let mut values = Vec::new();
    for data in messages(&fields(blob)?, field::BLOB_DATA) {
        let (words, rest) = data.as_chunks::<4>();
        if !rest.is_empty() {
            return None;
        }
        values.extend(words.iter().map(|word| f32::from_le_bytes(*word)));
    }
    (!values.is_empty()).then_some(values)
}

fn malformed(what: String) -> FormatError {
    FormatError::Malformed {
        format: FORMAT,
        what,
    }
}
