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
    "adapt_chainer.py",
    "adapt_jax.py",
    "adapt_keras.py",
    "adapt_mxnet.py",
    "adapt_onnxruntime.py",
    "adapt_paddle.py",
    "adapt_pytorch.py",
    "adapt_tensorflow.py",
    "adapt_theano.py",
    "adapt_tinygrad.py",
    "channels.py",
    "protocol.py",
    "variances.py",
    "workers.py",
    "xplane.py",
];

/// Adapters of another release lie in another folder, so that two releases do not disturb each
/// other's runs.
pub fn adapters_digest() -> String {
    digest(ADAPTERS.iter().flat_map(|file| [file.name, file.text]))
}

pub(crate) fn has(name: &str) -> bool {
    ADAPTERS.iter().any(|file| file.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_carried_once() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/adapters");
        let mut there: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".py"))
            .collect();
        there.sort();
        let mut carried: Vec<&str> = ADAPTERS.iter().map(|file| file.name).collect();
        carried.sort_unstable();
        assert_eq!(carried, there);
    }
}
