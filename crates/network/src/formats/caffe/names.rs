//! What layers are called in Caffe: as ours, unless Caffe's own need the name.

use std::collections::BTreeSet;

use crate::{Graph, Op};

pub(super) const DATA: &str = "data";
pub(super) const LABEL: &str = "label";
pub(super) const LOSS: &str = "loss";
pub(super) const ACCURACY: &str = "accuracy";

/// Of one of our layers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Names {
    pub(super) layer: String,
    /// Batch normalisation is two layers in Caffe, and so is a global mean with the shape of a
    /// vector: the name of the other.
    pub(super) other: Option<String>,
    /// Of a pool: what it needs where its output is cropped.
    pub(super) crop: Option<CropNames>,
}

/// A pool that Caffe makes one row or column too large, and the layers that cut it to size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CropNames {
    /// The pool itself.
    pub(super) whole: String,
    /// The wanted rows, with all columns.
    pub(super) rows: String,
    /// What is cut off.
    pub(super) below: String,
    pub(super) right: String,
    pub(super) silence: String,
}

/// In the order of the nodes; the same for the text and for the weights.
pub(super) fn names(graph: &Graph) -> Vec<Names> {
    let mut taken: BTreeSet<String> = [DATA, LABEL, LOSS, ACCURACY].map(str::to_owned).into();
    let mut free = |name: String| {
        let mut name = name;
        while !taken.insert(name.clone()) {
            name.push('_');
        }
        name
    };
    let layers: Vec<String> = graph
        .nodes
        .iter()
        .map(|node| match node.op {
            Op::Input => DATA.to_owned(),
            _ => free(node.name.clone()),
        })
        .collect();
    let other = |(op, layer): (&Op, String)| {
        let mut part = |part: &str| free(format!("{layer}.{part}"));
        Names {
            other: match op {
                Op::BatchNorm { .. } => Some(part("scale")),
                Op::GlobalAvgPool => Some(part("pooled")),
                _ => None,
            },
            crop: matches!(op, Op::MaxPool(_) | Op::AvgPool(_)).then(|| CropNames {
                whole: part("whole"),
                rows: part("rows"),
                below: part("below"),
                right: part("right"),
                silence: part("silence"),
            }),
            layer,
        }
    };
    let ops = graph.nodes.iter().map(|node| &node.op);
    ops.zip(layers).map(other).collect()
}
