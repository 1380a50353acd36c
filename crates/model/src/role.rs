//! What a factor is for: recommendations are made for a task, over what one may choose.

use serde::{Deserialize, Serialize};

words! {
    /// Part that a factor has in a decision.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum Role {
        /// What is to be done: a small network is not the better choice for someone who needs a large one.
        Task = "task",
        /// What one may choose.
        Choice = "choice",
        /// When or where it happened to be measured.
        Block = "block",
    }
}

/// Names of factors that say what is to be done, and names of blocks; everything else is a choice.
const TASKS: &[&str] = &[
    "classes",
    "data",
    "dataset",
    "epochs",
    "image",
    "image_size",
    "images",
    "input",
    "load",
    "model",
    "network",
    "problem",
    "resolution",
    "sequence_length",
    "target",
    "task",
];
const BLOCKS: &[&str] = &[
    "block", "date", "day", "host", "hour", "node", "session", "week",
];

impl Role {
    /// By the factor's name, whatever its case.
    pub fn usual(factor: &str) -> Role {
        let name = factor.to_lowercase().replace('-', "_");
        match name.as_str() {
            name if TASKS.contains(&name) => Role::Task,
            name if BLOCKS.contains(&name) => Role::Block,
            _ => Role::Choice,
        }
    }
}
