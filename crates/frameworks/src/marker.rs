//! The marker that `setup` writes into a complete environment.

use serde::{Deserialize, Serialize};

/// `bancada.json` in an environment's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    pub framework: String,
    /// Of the main package, as installed.
    pub version: String,
    pub python: String,
    /// Whether the builds for GPUs were requested.
    pub gpu: bool,
    pub size_bytes: u64,
    /// RFC 3339, UTC.
    pub made: String,
    /// Changes when `frameworks.toml` would install something else.
    pub recipe: String,
    /// Folder name of the environment whose packages this one sees too.
    #[serde(default)]
    pub extends: Option<String>,
    /// Whether every file was checked by the hash that this program carries.
    #[serde(default)]
    pub locked: bool,
    /// Frameworks that have done a training step in it.
    #[serde(default)]
    pub tried: Vec<String>,
    /// Every package with its version, as the installer's `freeze` tells.
    pub packages: Vec<String>,
}

pub(crate) const MARKER: &str = "bancada.json";

impl Marker {
    pub(crate) fn parse(text: &str) -> Option<Marker> {
        serde_json::from_str(text).ok()
    }
}
