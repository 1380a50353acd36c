//! A serverless service on this machine: in front of any stack that answers `GET /ping` and
//! `POST /invocations` it starts workers when requests come, holds them to their memory and their
//! share of the cores, ends them when nobody asks for a while, and bills what was used.
//!
//! Read in this order: `options` (what is asked), `terms` and `bill` (how time becomes money),
//! `emulator` (its life), `front` (requests in, answers out), `invoke`, `start` and `end` (the
//! story of one request and of its worker), then what they need: `pool`, `process`, `line`,
//! `log`.
//!
//! One thread for all connections (tokio, hyper): workers compute, this only hands over. It is
//! also the thread to which the kernel ties the workers, so that none survives it.

mod bill;
mod call;
mod container;
mod emulator;
mod end;
mod front;
mod invoke;
mod line;
mod log;
mod options;
mod pool;
mod process;
mod refusal;
mod start;
mod terms;

pub use bill::Bill;
pub use container::{Engine, NoEngine};
pub use emulator::{EmulatorError, Told, emulate, emulate_until};
pub use options::{Options, Size, SizeError, Stack, USUAL_MB_PER_CPU};
pub use terms::BillingTerms;
