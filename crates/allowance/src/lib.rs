//! What this process may use of its machine: cores by affinity and by quota, memory by its control groups.
//!
//! Apart from `fence`, which puts limits on others: a server has to know its own share and nothing else.

mod cores;
mod layout;

pub use cores::{affinity, threads_for, usable_cores};
pub use layout::{Layout, Place};
