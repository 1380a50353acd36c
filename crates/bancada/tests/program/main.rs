//! The program as a whole.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod architecture;
mod cli;
mod common;
mod frameworks;
mod kill;
mod training;
