//! What this process may use of its machine, and processes limited to a number of cores and an
//! amount of memory.
//!
//! Read in this order: `allowance` (what is available), `fence` (which mechanism enforces limits),
//! `cgroup` (v1 and v2), `start` (what a new process does before it executes its command), `guard`
//! (ends it when its parent is killed), `bytes` (parsing numbers in kernel files).
//!
//! Knows nothing about what the process does, and never waits for its end.

mod allowance;
pub mod bytes;
pub mod cgroup;
mod fence;
mod guard;
pub mod start;

pub use allowance::{Layout, threads_for, usable_cores};
pub use fence::{Fence, PossibleLimits, capacity, possible_limits};
pub use guard::{BY_MARK, Guard};
