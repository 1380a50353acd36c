//! What a network needs: parameters, operations, memory.

use crate::error::NetworkError;
use crate::graph::{Graph, Node, Op};

/// How wide a number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    Half,
    #[default]
    Single,
    Double,
}

impl Precision {
    pub fn bytes(self) -> u64 {
        match self {
            Precision::Half => 2,
            Precision::Single => 4,
            Precision::Double => 8,
        }
    }
}

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

    /// Multiply-adds of the convolutions and dense layers alone, for one image: what papers give.
    pub fn multiply_adds(&self) -> u64 {
        sum(self.nodes.iter().map(Node::multiply_adds))
    }

    pub fn weight_bytes(&self, precision: Precision) -> u64 {
        self.kept().saturating_mul(precision.bytes())
    }

    /// What is kept of one batch from the forward for the backward pass.
    ///
    /// Counted once each: what a layer with weights or statistics takes, what a ReLU or softmax
    /// gives, the places of the maxima of a max-pool and the mask of a dropout. A flatten is
    /// its input seen otherwise and costs nothing.
    pub fn activation_bytes(&self, batch: u32, precision: Precision) -> u64 {
        let mut kept = vec![false; self.nodes.len()];
        let mut places = 0u64;
        for (index, node) in self.nodes.iter().enumerate() {
            match node.op {
                Op::Conv { .. }
                | Op::Dense { .. }
                | Op::BatchNorm { .. }
                | Op::Lrn { .. }
                | Op::MaxPool { .. } => {
                    for &input in &node.inputs {
                        mark(&mut kept, self.storage(input));
                    }
                }
                Op::Relu | Op::Softmax => mark(&mut kept, self.storage(index)),
                _ => {}
            }
            if matches!(node.op, Op::MaxPool { .. } | Op::Dropout { .. }) {
                places = places.saturating_add(node.shape.elements());
            }
        }
        let kept = self.nodes.iter().zip(kept).filter(|(_, kept)| *kept);
        let elements = sum(kept.map(|(node, _)| node.shape.elements()));
        elements
            .saturating_add(places)
            .saturating_mul(precision.bytes())
            .saturating_mul(u64::from(batch))
    }

    /// `optimizer_slots` is how many numbers the optimiser keeps beside each parameter: 0 for plain
    /// gradient descent, 1 with momentum, 2 for Adam.
    pub fn training_memory(
        &self,
        batch: u32,
        precision: Precision,
        optimizer_slots: u32,
    ) -> TrainingMemory {
        let bytes = precision.bytes();
        let gradients_bytes = self.parameters().saturating_mul(bytes);
        let around = |node: &Node| {
            let inputs = node
                .inputs
                .iter()
                .filter_map(|&input| self.nodes.get(input));
            sum(inputs.chain([node]).map(|node| node.shape.elements()))
        };
        let largest = self.nodes.iter().map(around).max().unwrap_or(0);
        TrainingMemory {
            weights_bytes: self.weight_bytes(precision),
            gradients_bytes,
            optimizer_bytes: gradients_bytes.saturating_mul(u64::from(optimizer_slots)),
            activations_bytes: self.activation_bytes(batch, precision),
            working_bytes: product([2, largest, bytes, u64::from(batch)]),
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

    pub fn to_json(&self) -> Result<serde_json::Value, NetworkError> {
        serde_json::to_value(self).map_err(|error| NetworkError::Graph(error.to_string()))
    }

    /// Reads a graph back and [checks](Graph::check) it.
    pub fn from_json(value: &serde_json::Value) -> Result<Graph, NetworkError> {
        use serde::Deserialize as _;
        let graph =
            Graph::deserialize(value).map_err(|error| NetworkError::Graph(error.to_string()))?;
        graph.check()?;
        Ok(graph)
    }

    /// Whether the nodes hang together: every input before its users, the logits among them.
    pub fn check(&self) -> Result<(), NetworkError> {
        let refuse = |reason: String| Err(NetworkError::Graph(reason));
        let mut names = std::collections::BTreeSet::new();
        for (index, node) in self.nodes.iter().enumerate() {
            if !names.insert(node.name.as_str()) {
                return refuse(format!("two nodes are named `{}`", node.name));
            }
            if (index == 0) != (node.op == Op::Input) {
                return refuse("the first node, and no other, must be the input".to_owned());
            }
            if node.inputs.iter().any(|&input| input >= index) {
                return refuse(format!("the input of `{}` is a later node", node.name));
            }
            if index > 0 && node.inputs.is_empty() {
                return refuse(format!("`{}` has no input", node.name));
            }
        }
        match self.logits < self.nodes.len() {
            true => Ok(()),
            false => refuse("its logits are not one of its nodes".to_owned()),
        }
    }
}

impl Node {
    /// Numbers of this node that training changes.
    pub fn trained(&self) -> u64 {
        let trained = self.parameters.iter().filter(|parameter| parameter.trained);
        sum(trained.map(|parameter| parameter.elements()))
    }

    /// Of a convolution or dense layer; 0 for all others.
    pub fn multiply_adds(&self) -> u64 {
        let bias = match self.op {
            Op::Conv { bias, .. } | Op::Dense { bias, .. } => bias,
            _ => return 0,
        };
        let additions = if bias { self.shape.elements() } else { 0 };
        self.flops.saturating_sub(additions) / 2
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
