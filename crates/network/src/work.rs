//! What a training step is made of, by kind of work: what decides how its time changes from one
//! machine to another.

use model::profile::{LayerWork, WorkKind};
use thiserror::Error;

use crate::graph::{Graph, Node, Op, Shape};

const NUMBER_BYTES: f64 = 4.0;

/// A layer whose time on another machine nothing in the probe tells.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("layer `{layer}` is a local response normalisation, which the probe does not measure")]
pub struct NotProbed {
    pub layer: String,
}

impl Graph {
    /// Layers of one step over a batch, forward and backward, then the optimiser. `optimizer_slots`
    /// as in [`Graph::training_memory`].
    pub fn training_work(
        &self,
        batch: u32,
        optimizer_slots: u32,
    ) -> Result<Vec<LayerWork>, NotProbed> {
        let mut work = Vec::new();
        let mut calls = 0;
        // A softmax behind the logits is part of the loss.
        for (index, node) in self.nodes.iter().enumerate().take(self.logits + 1) {
            if matches!(node.op, Op::Input | Op::Flatten) {
                continue;
            }
            calls += 1;
            add(&mut work, self.layer_work(index, node, f64::from(batch))?);
        }
        // The weights are read twice, their gradient written and read, the weights and what the
        // optimiser keeps read and written.
        let passes = 6.0 + 2.0 * f64::from(optimizer_slots);
        add(
            &mut work,
            OneLayer {
                kind: WorkKind::Update,
                size: self.parameters() as f64 * NUMBER_BYTES * passes,
            },
        );
        work.push(LayerWork {
            kind: WorkKind::Call,
            size: 1.0,
            times: calls,
        });
        Ok(work)
    }

    fn layer_work(&self, index: usize, node: &Node, batch: f64) -> Result<OneLayer, NotProbed> {
        let input_of = |&input: &usize| self.nodes.get(input);
        let inputs = node.inputs.iter().filter_map(input_of);
        let taken: u64 = inputs.map(|input| input.shape.elements()).sum();
        let (taken, given) = (taken as f64, node.shape.elements() as f64);
        let flops = node.flops as f64 * batch * self.passes(index);
        let (kind, size) = match &node.op {
            Op::Dense { .. } => (WorkKind::MatrixProduct, flops),
            Op::Conv { groups, .. } if *groups > 1 && Some(*groups) == self.channels(node) => {
                (WorkKind::Depthwise, flops)
            }
            Op::Conv { kernel: [1, 1], .. } => (WorkKind::Pointwise, flops),
            Op::Conv { .. } => (WorkKind::Convolution, flops),
            Op::Lrn { .. } => {
                return Err(NotProbed {
                    layer: node.name.clone(),
                });
            }
            // Values that are passed over, forward and backward.
            op => {
                let values = match op {
                    Op::BatchNorm { .. } => 8.0 * given,
                    Op::Dropout { .. } => 6.0 * given,
                    Op::Relu => 5.0 * given,
                    _ => 2.0 * (taken + given),
                };
                (WorkKind::Memory, values * NUMBER_BYTES * batch)
            }
        };
        Ok(OneLayer { kind, size })
    }

    /// Forward, gradient of the weights, and of the input, which that of the images has none of.
    fn passes(&self, index: usize) -> f64 {
        let is_first = |&input: &usize| {
            let ops = self.nodes[..=input].iter().map(|node| &node.op);
            ops.into_iter()
                .all(|op| matches!(op, Op::Input | Op::Flatten))
        };
        match self.nodes[index].inputs.iter().all(is_first) {
            true => 2.0,
            false => 3.0,
        }
    }

    fn channels(&self, node: &Node) -> Option<u32> {
        match self.nodes.get(*node.inputs.first()?)?.shape {
            Shape::Image(image) => Some(image.channels),
            Shape::Vector { .. } => None,
        }
    }
}

struct OneLayer {
    kind: WorkKind,
    size: f64,
}

/// Layers that are alike are one entry.
fn add(work: &mut Vec<LayerWork>, OneLayer { kind, size }: OneLayer) {
    if size <= 0.0 {
        return;
    }
    let known = work
        .iter_mut()
        .find(|known| known.kind == kind && known.size == size);
    match known {
        Some(known) => known.times += 1,
        None => work.push(LayerWork {
            kind,
            size,
            times: 1,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work_of(network: &str, side: u32, channels: u32) -> Result<Vec<LayerWork>, NotProbed> {
        let input = crate::InputSpec::square(channels, side, 10);
        let graph = crate::load(network).unwrap().instantiate(input).unwrap();
        graph.training_work(8, 2)
    }

    #[test]
    fn a_step_is_counted_layer_by_layer() {
        let work = work_of("lenet5", 32, 1).unwrap();
        let total = |kind: WorkKind| -> f64 {
            let layers = work.iter().filter(|layer| layer.kind == kind);
            layers.map(LayerWork::total).sum()
        };
        // c1: 28·28·6·25 multiply-adds, without a gradient of the images; c3: 10·10·16·150.
        let convolutions =
            8.0 * 2.0 * (2.0 * 28.0 * 28.0 * 6.0 * 25.0 + 3.0 * 10.0 * 10.0 * 16.0 * 150.0);
        let found = total(WorkKind::Convolution);
        assert!(
            (found / convolutions - 1.0).abs() < 0.02,
            "{found} {convolutions}"
        );
        assert_eq!(total(WorkKind::Update), 61_706.0 * 4.0 * 10.0);
        // Two convolutions, two pools, three dense layers, four times ReLU.
        assert_eq!(total(WorkKind::Call), 11.0);
        assert_eq!(total(WorkKind::Depthwise), 0.0);
    }

    #[test]
    fn depthwise_convolutions_are_a_kind_of_their_own() {
        let work = work_of("mobilenet", 64, 3).unwrap();
        assert!(work.iter().any(|layer| layer.kind == WorkKind::Depthwise));
        assert!(work.iter().any(|layer| layer.kind == WorkKind::Pointwise));
        assert!(work.iter().any(|layer| layer.kind == WorkKind::Convolution));
    }

    #[test]
    fn what_the_probe_does_not_measure_is_named() {
        let error = work_of("googlenet", 64, 3).unwrap_err();
        assert!(error.to_string().contains("local response normalisation"));
        assert!(work_of("vgg16", 64, 3).is_ok());
    }
}
