//! What is written, read back by readers of the tests' own.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod caffe;
mod common;
mod onnx;
mod prototxt;
