//! What this process may use of its machine: cores by affinity and quota, memory by its cgroups.

mod cores;
mod layout;

pub(crate) use cores::affinity;
pub use cores::{threads_for, usable_cores};
pub(crate) use layout::Hierarchy;
pub use layout::Layout;
