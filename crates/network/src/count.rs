//! What a network needs: parameters, operations, memory.

use crate::graph::{Graph, Node, Op};

/// Of a weight, an activation and a gradient.
const NUMBER_BYTES: u64 = 4;

/// An estimate of what training holds at its fullest moment, before a framework's own needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrainingMemory {
    pub weights_bytes: u64,
    pub gradients_bytes: u64,
    pub optimizer_bytes: u64,
    /// Kept from the forward for the backward pass.
    pub activations_bytes: u64,
    /// The largest layer's input and output, and their gradients while it is worked on.
    pub working_bytes: u64,
}

impl TrainingMemory {
    pub fn total_bytes(self) -> u64 {
        [
            self.weights_bytes,
            self.gradients_bytes,
            self.optimizer_bytes,
            self.activations_bytes,
            self.working_bytes,
        ]
        .into_iter()
        .fold(0, u64::saturating_add)
    }
}

impl Graph {
    /// Numbers that training changes by gradient.
    pub fn parameters(&self) -> u64 {
        sum(self.nodes.iter().map(Node::trained))
    }

    /// Numbers that are kept: trained, and gathered (batch-norm's running mean and variance).
    pub fn kept(&self) -> u64 {
        let parameters = self.nodes.iter().flat_map(|node| &node.parameters);
        sum(parameters.map(|parameter| parameter.elements()))
    }

    /// Floating-point operations of the forward pass of one image; a multiply-add counts two.
    pub fn flops(&self) -> u64 {
        sum(self.nodes.iter().map(|node| node.flops))
    }

    /// What is kept of one batch from the forward for the backward pass.
    ///
    /// Counted once each: what a layer with weights or statistics takes, what a ReLU or softmax
    /// gives, the places of the maxima of a max-pool and the mask of a dropout. A flatten is
    /// its input seen otherwise and costs nothing.
    fn activation_bytes(&self, batch: u32) -> u64 {
        let mut kept = vec![false; self.nodes.len()];
        let mut places = 0u64;
        for (index, node) in self.nodes.iter().enumerate() {
            match node.op {
                Op::Conv { .. }
                | Op::Dense { .. }
                | Op::BatchNorm { .. }
                | Op::Lrn { .. }
                | Op::MaxPool(_) => {
                    for &input in &node.inputs {
                        mark(&mut kept, self.storage(input));
                    }
                }
                Op::Relu | Op::Softmax => mark(&mut kept, self.storage(index)),
                _ => {}
            }
            if matches!(node.op, Op::MaxPool(_) | Op::Dropout { .. }) {
                places = places.saturating_add(node.shape.elements());
            }
        }
        let kept = self.nodes.iter().zip(kept).filter(|(_, kept)| *kept);
        let elements = sum(kept.map(|(node, _)| node.shape.elements()));
        elements
            .saturating_add(places)
            .saturating_mul(NUMBER_BYTES)
            .saturating_mul(u64::from(batch))
    }

    /// `optimizer_slots` is how many numbers the optimiser keeps beside each parameter: 0 for plain
    /// gradient descent, 1 with momentum, 2 for Adam.
    pub fn training_memory(&self, batch: u32, optimizer_slots: u32) -> TrainingMemory {
        let gradients_bytes = self.parameters().saturating_mul(NUMBER_BYTES);
        let around = |node: &Node| {
            let inputs = node
                .inputs
                .iter()
                .filter_map(|&input| self.nodes.get(input));
            sum(inputs.chain([node]).map(|node| node.shape.elements()))
        };
        let largest = self.nodes.iter().map(around).max().unwrap_or(0);
        TrainingMemory {
            weights_bytes: self.kept().saturating_mul(NUMBER_BYTES),
            gradients_bytes,
            optimizer_bytes: gradients_bytes.saturating_mul(u64::from(optimizer_slots)),
            activations_bytes: self.activation_bytes(batch),
            working_bytes: product([2, largest, NUMBER_BYTES, u64::from(batch)]),
        }
    }

    /// The node whose memory a node's output lies in.
    fn storage(&self, mut index: usize) -> usize {
        while let Some(Node {
            op: Op::Flatten,
            inputs,
            ..
        }) = self.nodes.get(index)
        {
            match inputs.first() {
                Some(&input) if input < index => index = input,
                _ => break,
            }
        }
        index
    }
}

impl Node {
    /// Numbers of this node that training changes.
    pub fn trained(&self) -> u64 {
        let trained = self.parameters.iter().filter(|parameter| parameter.trained);
        sum(trained.map(|parameter| parameter.elements()))
    }
}

fn mark(kept: &mut [bool], index: usize) {
    if let Some(slot) = kept.get_mut(index) {
        *slot = true;
    }
}

fn sum(terms: impl IntoIterator<Item = u64>) -> u64 {
    terms.into_iter().fold(0, u64::saturating_add)
}

fn product(factors: impl IntoIterator<Item = u64>) -> u64 {
    factors.into_iter().fold(1, u64::saturating_mul)
}
