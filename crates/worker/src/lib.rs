//! Binds an order to the machine it is on (cores, interpreter, ports, paths), carries it out and
//! leaves a measurement. Knows no study, no price and no store.
//!
//! Read in this order: `work` (one order from file to measurement), `bind` (training and commands)
//! and `serving`, `container` (the command of a run wrapped), `make_ready` (what no run should wait for), then their helpers. `verification`
//! asks every framework for the same few steps and compares.

pub mod agreement;
mod allocation;
mod bind;
mod container;
mod error;
mod finish;
mod hosts;
mod machines;
mod make_ready;
mod picture;
mod preview;
pub mod probe;
mod repeats;
mod reported;
mod scratch;
mod serving;
mod training_files;
mod trial;
pub mod verification;
mod work;

pub use allocation::use_allocation;
pub use bind::Context;
pub use container::has_image;
pub use error::WorkError;
pub use hosts::HostError;
pub use machines::{Machines, machines, machines_folder, read_machine};
pub use make_ready::{MakeModel, make_ready};
pub use preview::Preview;
pub use repeats::{Repeated, Repeats};
pub use scratch::Scratch;
pub use trial::trial;
pub use work::Worker;
