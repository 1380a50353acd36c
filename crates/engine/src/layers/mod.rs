//! The kinds of layers: forward, and backward from the gradient of the output to those of input
//! and parameters. Each function divides its work between threads by what it writes, so that a sum
//! is always taken in the same order.

pub(crate) mod conv;
pub(crate) mod dense;
pub(crate) mod depthwise;
pub(crate) mod elementwise;
pub(crate) mod lrn;
pub(crate) mod norm;
pub(crate) mod pool;
pub(crate) mod sweep;

/// What a layer with weights gives back: gradients of its input, where anyone asks for it, and of
/// its parameters.
pub(crate) struct Gradients {
    pub(crate) input: Option<Vec<f32>>,
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Option<Vec<f32>>,
}
