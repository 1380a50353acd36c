//! Short, partial or foreign measurements → predictions, each with its interval and what it was made
//! from. Pure: no files, no clock, no threads.

pub mod curve;
pub mod growth;
pub mod progress;
pub mod search;
pub mod sequential;
pub mod steady;
pub mod transfer;
pub mod whole_run;
