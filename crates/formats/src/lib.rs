//! A described network in other programs' formats: ONNX, and Caffe's prototxt, solver, weights and
//! log. Text and bytes only: files are opened and programs started elsewhere.

mod error;
mod onnx;
mod protobuf;

pub use error::FormatError;
pub use onnx::onnx;
