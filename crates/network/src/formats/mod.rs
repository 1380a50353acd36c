//! A described network in other programs' formats: ONNX, and Caffe's prototxt, solver, weights and
//! log. Text and bytes only: callers open files and start programs.

pub mod caffe;
mod error;
pub mod glog;
mod onnx;
mod protobuf;
mod tensors;

pub use error::FormatError;
pub use onnx::{onnx, untrained_onnx};
