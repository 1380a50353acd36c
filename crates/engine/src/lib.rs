//! Trains and runs a described network in this process, on Burn's tensors.
//!
//! Only Burn's tensor crate is used: layers, optimisers and files are here, which keeps the
//! build small. The CPU backend is `flex`; `wgpu` and `cuda` are cargo features.
//!
//! The same job gives the same losses, bit for bit, on the same machine with the same number of
//! threads. Convolutions and matrix products divide work between threads, but never a sum;
//! different processors add in different orders and differ in the last bits.

mod check;
mod checkpoint;
mod device;
mod error;
mod executor;
mod learner;
mod loss;
mod ops;
mod optimizer;
mod parameters;
mod pass;
mod pictures;
mod predict;
mod train;
mod verify;

#[cfg(test)]
mod forward_tests;
#[cfg(test)]
mod gradient_tests;

pub use device::known_devices;
pub use error::{DeviceProblem, EngineError};
pub use predict::{Prediction, Predictor};
pub use train::train;
pub use verify::verify;
