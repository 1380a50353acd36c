//! The adapters, carried inside the program.

use crate::digest::digest;

pub(crate) struct Embedded {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(Embedded { name: $name, text: include_str!(concat!("../adapters/", $name)) }),*]
    };
}

pub(crate) const ADAPTERS: &[Embedded] = embedded![
    "adapt_onnxruntime.py",
    "adapt_pytorch.py",
    "adapt_tensorflow.py",
    "adapt_tinygrad.py",
    "channels.py",
    "protocol.py",
    "workers.py",
    "xplane.py",
];

/// Adapters of another release lie in another folder, so that two releases do not disturb each
/// other's runs.
pub(crate) fn adapters_digest() -> String {
    digest(ADAPTERS.iter().flat_map(|file| [file.name, file.text]))
}

pub(crate) fn has(name: &str) -> bool {
    ADAPTERS.iter().any(|file| file.name == name)
}
