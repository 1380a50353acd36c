//! Emulates a serverless service in front of any stack that serves `GET /ping` and
//! `POST /invocations`: starts workers when requests arrive, limits their memory and cores, ends
//! them when they are idle, and bills what was used.
//!
//! Read in this order: `options`, `terms` and `bill` (how time is billed), `emulator` (start and
//! shutdown), `front` (requests and responses), `invoke`, `start` and `end` (one request and its
//! worker), then their helpers: `pool`, `process`, `line`, `log`.
//!
//! One thread handles all connections (tokio, hyper): workers compute, this only forwards. The
//! kernel also ties the workers to this thread, so that none survives it.

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
pub use container::Engine;
pub use emulator::{EmulatorEvent, emulate, emulate_until};
pub use options::{Options, Size, Stack, USUAL_MB_PER_CPU};
pub use terms::BillingTerms;
