//! The crate against servers: a small one that answers as the test says, and moto's.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod aws;
mod calls;
mod chain;
mod moto;
mod server;
mod set_up;
mod signed;
