//! Machines rented by Terraform or OpenTofu: planned, created, reached by SSH, listed for as long as
//! they may cost money, and destroyed.
//!
//! Read [`Infra`] first. A machine has a private folder with everything that ends it: a copy of the
//! module, the variables, the state, the keys. A journal, written before anything is created, knows
//! every machine that was ever asked for; only a `destroyed` that was seen takes one off the list.

mod caller;
mod error;
mod infra;
mod journal;
mod keys;
mod machine;
pub mod modules;
pub mod notice;
pub mod onboard;
mod plan;
mod start_script;
mod terraform;
mod wanted;

pub use caller::{caller_address, check_range};
pub use error::InfraError;
pub use infra::{Apply, Infra};
pub use journal::{Phase, Rental};
pub use machine::{Booted, Machine};
pub use plan::Planned;
pub use wanted::Wanted;
