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
    "adapt_mxnet.py",
    "adapt_onnxruntime.py",
    "adapt_jax.py",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_carried_once() {
        for file in ADAPTERS {
            assert!(file.name.ends_with(".py"), "{}", file.name);
            assert!(!file.text.is_empty(), "{}", file.name);
        }
        let mut names: Vec<&str> = ADAPTERS.iter().map(|file| file.name).collect();
        let listed = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), listed, "one is listed twice");
        assert!(has("protocol.py"));
    }
}
