//! What this process may use of its machine: cores by affinity and quota, memory by its cgroups.
//!
//! Separate from `fence`, which limits other processes: a server needs to know its own share only.

mod cores;
mod layout;

pub use cores::{affinity, threads_for, usable_cores};
pub use layout::{Layout, Place};
