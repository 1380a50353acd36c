//! A network with everything computed: what an engine or adapter builds from.

use std::fmt;

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
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Shape {
    Image(Image),
    Vector { features: u32 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    pub channels: u32,
    pub height: u32,
    pub width: u32,
}

impl Shape {
    pub fn elements(self) -> u64 {
        match self {
            Shape::Image(image) => (u64::from(image.channels) * u64::from(image.height))
                .saturating_mul(u64::from(image.width)),
            Shape::Vector { features } => u64::from(features),
        }
    }
}

/// `Image { … }`, without saying so twice.
impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Image(image) => image.fmt(f),
            Shape::Vector { features } => f
                .debug_struct("Vector")
                .field("features", features)
                .finish(),
        }
    }
}

/// `[height, width]` pairs throughout. What depends on the input is a number in a graph, and
/// still open in a description.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Op<Size = u32, Pad = Padding> {
    Input,
    Conv {
        kernel: [u32; 2],
        stride: [u32; 2],
        padding: Pad,
        output: Size,
        groups: Size,
        bias: bool,
    },
    /// Momentum is the share of the new batch in the running mean and variance (0.1, say).
    BatchNorm {
        epsilon: f64,
        momentum: f64,
    },
    Relu,
    MaxPool(Window<Pad>),
    /// Padding is not counted in the mean.
    AvgPool(Window<Pad>),
    /// Gives a vector: one number a channel.
    GlobalAvgPool,
    /// Of a vector.
    Dense {
        output: Size,
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

impl Op {
    /// Of a convolution or pool.
    pub fn window(&self) -> Option<Window> {
        match *self {
            Op::Conv {
                kernel,
                stride,
                padding,
                ..
            } => Some(Window {
                kernel,
                stride,
                padding,
            }),
            Op::MaxPool(window) | Op::AvgPool(window) => Some(window),
            _ => None,
        }
    }
}

/// Moves over an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window<Pad = Padding> {
    pub kernel: [u32; 2],
    pub stride: [u32; 2],
    pub padding: Pad,
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
