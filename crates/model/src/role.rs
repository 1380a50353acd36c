//! What a factor is for: recommendations are made for a task, over what one may choose.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Part that a factor has in a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// What is to be done: a small network is not the better choice for someone who needs a large one.
    Task,
    /// What one may choose.
    Choice,
    /// When or where it happened to be measured.
    Block,
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
    pub const WORDS: [&'static str; 3] = ["task", "choice", "block"];

    /// By the factor's name, whatever its case.
    pub fn usual(factor: &str) -> Role {
        let name = factor.to_lowercase().replace('-', "_");
        match name.as_str() {
            name if TASKS.contains(&name) => Role::Task,
            name if BLOCKS.contains(&name) => Role::Block,
            _ => Role::Choice,
        }
    }

    pub fn named(word: &str) -> Option<Role> {
        let all = [Role::Task, Role::Choice, Role::Block];
        all.into_iter().find(|role| role.word() == word)
    }

    pub fn word(self) -> &'static str {
        match self {
            Role::Task => "task",
            Role::Choice => "choice",
            Role::Block => "block",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}
