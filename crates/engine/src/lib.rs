//! Trains and runs a described network in this process, on the processor.
//!
//! Layers, gradients, optimisers and files are here; only the matrix product is someone else's.
//!
//! The same job gives the same losses, bit for bit, on the same machine. Work is divided between
//! threads by what is written, in pieces that depend on the layer alone, so that no sum is taken in
//! another order; different processors add in different orders and differ in the last bits.

mod check;
mod checkpoint;
mod device;
mod dims;
mod error;
mod executor;
mod layers;
mod learner;
mod loss;
mod optimizer;
mod pass;
mod pictures;
mod predict;
mod probe;
mod product;
mod train;
mod verify;

#[cfg(test)]
mod forward_tests;
#[cfg(test)]
mod gradient_tests;

pub use error::EngineError;
pub use predict::{Prediction, Predictor};
pub use probe::probe;
pub use train::train;
pub use verify::verify;
