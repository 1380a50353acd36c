//! Weights before training.

use crate::graph::{Graph, Op, Parameter};
use crate::random::Stream;
use crate::weights::{Tensor, Weights};

/// The same for the same graph and seed, on every machine. Each tensor is drawn from a stream of
/// its own name, so a layer more or less leaves the others as they were.
pub fn initial_weights(graph: &Graph, seed: u64) -> Weights {
    let before_relu = before_relu(graph);
    let tensors = graph.nodes.iter().enumerate().flat_map(|(index, node)| {
        let groups = match node.op {
            Op::Conv { groups, .. } => groups.max(1),
            _ => 1,
        };
        let relu = before_relu[index];
        node.parameters
            .iter()
            .map(move |parameter| initial(parameter, Fan::of(parameter, groups), relu, seed))
    });
    Weights {
        tensors: tensors.collect(),
    }
}

fn initial(parameter: &Parameter, fan: Fan, relu: bool, seed: u64) -> Tensor {
    let elements = parameter.elements() as usize;
    let role = parameter.name.rsplit('.').next().unwrap_or_default();
    let values = match role {
        "weight" => {
            let mut stream = Stream::named(seed, &parameter.name);
            let bound = fan.bound(relu);
            (0..elements).map(|_| stream.symmetric(bound)).collect()
        }
        "gamma" | "variance" => vec![1.0; elements],
        _ => vec![0.0; elements],
    };
    Tensor {
        name: parameter.name.clone(),
        shape: parameter.shape.clone(),
        values,
    }
}

/// Connections of one neuron to the layer before and to the layer after.
#[derive(Clone, Copy)]
struct Fan {
    before: u64,
    after: u64,
}

impl Fan {
    /// Conv weights are [out, in / groups, height, width], dense weights [out, in].
    fn of(parameter: &Parameter, groups: u32) -> Fan {
        let side = |index: usize| parameter.shape.get(index).map_or(1, |&d| u64::from(d));
        let window = side(2).saturating_mul(side(3));
        Fan {
            before: side(1).saturating_mul(window).max(1),
            after: (side(0) / u64::from(groups)).saturating_mul(window).max(1),
        }
    }

    /// Uniform: He et al. 2015 (arXiv 1502.01852) before a ReLU, else Glorot and Bengio 2010.
    /// A square root is exact to the last bit everywhere; a logarithm would not be.
    fn bound(self, relu: bool) -> f32 {
        let squared = if relu {
            6.0 / self.before as f64
        } else {
            6.0 / (self.before as f64 + self.after as f64)
        };
        squared.sqrt() as f32
    }
}

/// Of each node: whether its output meets a ReLU before the next layer with weights.
fn before_relu(graph: &Graph) -> Vec<bool> {
    let mut meets = vec![false; graph.nodes.len()];
    for (index, node) in graph.nodes.iter().enumerate().rev() {
        let inputs_meet = match node.op {
            Op::Relu => true,
            Op::Conv { .. } | Op::Dense { .. } | Op::Softmax => false,
            _ => meets[index],
        };
        for &input in &node.inputs {
            if let Some(slot) = meets.get_mut(input) {
                *slot |= inputs_meet;
            }
        }
    }
    meets
}
