//! The crate from outside, in one program: it is linked once.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may panic"
)]

mod capacity;
mod designs;
mod energy;
mod file_designs;
mod fingerprints;
mod goals;
mod hostile;
mod imports;
mod metrics;
mod mistakes;
mod money;
mod reference;
mod scale;
mod schema;
mod studies;
mod support;
