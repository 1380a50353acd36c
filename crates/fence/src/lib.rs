//! Limits processes to a number of cores and an amount of memory.
//!
//! Read in this order: `limits` (which mechanism is available), `cgroup` (v1 and v2), `start` (what
//! a new process does before it executes its command), `guard` (ends it when its parent is killed),
//! `bytes` (parsing numbers in kernel files).
//!
//! Knows nothing about what the process does, and never waits for its end.

pub mod bytes;
pub mod cgroup;
mod guard;
pub mod limits;
pub mod start;

pub use allowance::usable_cores;
pub use guard::Guard;
pub use limits::{Fence, capacity};
