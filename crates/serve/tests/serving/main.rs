//! The server over real connections, with a model whose answers are known.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod common;
mod ends;
mod hostile;
mod onnx;
mod real;
mod requests;
