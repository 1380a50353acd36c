//! The program as a whole.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod architecture;
mod caffe;
mod cli;
mod common;
mod data;
mod frameworks;
mod hosts;
mod kill;
mod logs;
mod onnx;
mod serving;
mod setup;
mod training;
