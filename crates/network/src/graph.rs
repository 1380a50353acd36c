//! A network with everything computed: what an engine or adapter builds from.

use serde::{Deserialize, Serialize};

/// Nodes in an order in which every input comes before its users. The first is the input, the
/// last gives the logits (a final softmax, where described, is the node after them).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Graph {
    pub name: String,
    pub nodes: Vec<Node>,
    /// Index of the node whose output the loss is computed on: the logits, before any final softmax.
    pub logits: usize,
    pub classes: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Unique; parameters are named after it: `conv1.weight`.
    pub name: String,
    pub op: Op,
    /// Indices of earlier nodes.
    pub inputs: Vec<usize>,
    /// Of one image.
    pub shape: Shape,
    pub parameters: Vec<Parameter>,
    /// Floating-point operations of the forward pass of one image; a multiply-add counts two.
    pub flops: u64,
}

/// Shape of one image's activations, without the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Shape {
    Image {
        channels: u32,
        height: u32,
        width: u32,
    },
    Vector {
        features: u32,
    },
}

impl Shape {
    pub fn elements(self) -> u64 {
        match self {
            Shape::Image {
                channels,
                height,
                width,
            } => (u64::from(channels) * u64::from(height)).saturating_mul(u64::from(width)),
            Shape::Vector { features } => u64::from(features),
        }
    }
}

/// `[height, width]` pairs throughout.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Op {
    Input,
    Conv {
        kernel: [u32; 2],
        stride: [u32; 2],
        padding: Padding,
        output: u32,
        groups: u32,
        bias: bool,
    },
    /// Momentum is the share of the new batch in the running mean and variance (0.1, say).
    BatchNorm {
        epsilon: f64,
        momentum: f64,
    },
    Relu,
    MaxPool {
        kernel: [u32; 2],
        stride: [u32; 2],
        padding: Padding,
    },
    /// Padding is not counted in the mean.
    AvgPool {
        kernel: [u32; 2],
        stride: [u32; 2],
        padding: Padding,
    },
    /// Gives a vector: one number a channel.
    GlobalAvgPool,
    /// Of a vector.
    Dense {
        output: u32,
        bias: bool,
    },
    Dropout {
        rate: f64,
    },
    /// Channel by channel, row by row.
    Flatten,
    Add,
    /// Along channels.
    Concat,
    /// Across channels: x / (k + alpha / size · Σ x²)^beta.
    Lrn {
        size: u32,
        alpha: f64,
        beta: f64,
        k: f64,
    },
    Softmax,
}

/// Rows and columns of zeros (of −∞ for max-pooling) on each side, always explicit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Padding {
    pub top: u32,
    pub bottom: u32,
    pub left: u32,
    pub right: u32,
}

/// A tensor of the network that is kept: trained, or gathered (batch-norm's running mean).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// `conv1.weight`, `conv1.bias`, `bn1.gamma`, `bn1.beta`, `bn1.mean`, `bn1.variance`.
    pub name: String,
    /// Conv weights are [out, in / groups, height, width], dense weights [out, in].
    pub shape: Vec<u32>,
    pub trained: bool,
}

impl Parameter {
    pub fn elements(&self) -> u64 {
        self.shape
            .iter()
            .fold(1, |product, &side| product.saturating_mul(u64::from(side)))
    }
}
