//! Processes held to a number of cores and an amount of memory, for whoever starts them.
//!
//! Read in this order: `limits` (which way is open here), `cgroup` (the kernel's own way, both
//! versions), `start` (what a new process does before it becomes its command), `guard` (who ends
//! it when its maker is killed), `bytes` (numbers out of the kernel's files).
//!
//! Knows nothing of what the process does, and never waits for its end.

pub mod bytes;
pub mod cgroup;
mod guard;
pub mod limits;
pub mod start;

pub use allowance::usable_cores;
pub use guard::Guard;
pub use limits::{Fence, capacity};
