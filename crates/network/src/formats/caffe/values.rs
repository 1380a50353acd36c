//! Which blob holds what a layer gives. Layers that may overwrite what they get do so, as is the
//! custom in Caffe: it is what its users' memory measurements are of.

use crate::{Graph, Node, Op};

use super::names::{DATA, Names};

/// What a layer does to blobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlobUse {
    /// Gives what it takes: nothing is written for it.
    Passes,
    Own,
    /// Writes over its input.
    Over,
}

/// The blob of each node, and how it comes about.
#[derive(Debug)]
pub(super) struct Values {
    pub(super) blobs: Vec<String>,
    pub(super) places: Vec<BlobUse>,
}

impl Values {
    pub(super) fn of(graph: &Graph, names: &[Names]) -> Values {
        let nodes = graph.nodes.get(..=graph.logits).unwrap_or(&graph.nodes);
        let mut uses = vec![0_u32; nodes.len()];
        for &input in nodes.iter().flat_map(|node| &node.inputs) {
            if let Some(uses) = uses.get_mut(input) {
                *uses += 1;
            }
        }
        let mut values = Values {
            blobs: Vec::new(),
            places: Vec::new(),
        };
        for (node, names) in nodes.iter().zip(names) {
            let input = node.inputs.first().copied();
            let before = input.and_then(|input| Some((nodes.get(input)?, *uses.get(input)?)));
            let place = place(node, before);
            let taken = input.and_then(|input| values.blobs.get(input)).cloned();
            let blob = match (place, taken) {
                _ if node.op == Op::Input => DATA.to_owned(),
                (BlobUse::Passes | BlobUse::Over, Some(taken)) => taken,
                _ => names.layer.clone(),
            };
            values.blobs.push(blob);
            values.places.push(place);
        }
        values
    }
}

fn place(node: &Node, before: Option<(&Node, u32)>) -> BlobUse {
    let is_nothing = match node.op {
        Op::Input => true,
        Op::Dropout { rate } => rate <= 0.0,
        Op::Add | Op::Concat => node.inputs.len() == 1,
        _ => false,
    };
    if is_nothing {
        return BlobUse::Passes;
    }
    let overwrites = match before {
        Some((before, 1)) => may_overwrite(&node.op, before),
        _ => false,
    };
    match overwrites {
        true => BlobUse::Over,
        false => BlobUse::Own,
    }
}

/// What comes before must not need its output for its gradient. A ReLU needs the sign of its own,
/// which dropout leaves and batch normalisation does not.
fn may_overwrite(op: &Op, before: &Node) -> bool {
    match (op, &before.op) {
        (Op::Dropout { .. }, Op::Relu) => true,
        (Op::Relu | Op::Dropout { .. } | Op::BatchNorm { .. }, before_op) => match before_op {
            Op::Conv { .. } | Op::Dense { .. } | Op::BatchNorm { .. } => true,
            // With one input it gives what it takes, which others may take too.
            Op::Add => before.inputs.len() > 1,
            _ => false,
        },
        _ => false,
    }
}
