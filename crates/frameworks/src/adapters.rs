//! Files carried inside the program: the adapters and the stacks; the lock files (`hashes`).

use crate::digest::digest;

pub(crate) struct Embedded {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

macro_rules! embedded {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$(Embedded { name: $name, text: include_str!(concat!("../", $folder, "/", $name)) }),*]
    };
}

pub(crate) const ADAPTERS: &[Embedded] = embedded![
    "adapters":
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

pub(crate) const STACKS: &[Embedded] = embedded![
    "stacks":
    "stack_app.py",
    "stack_common.py",
    "stack_fastapi_onnxruntime.py",
    "stack_fastapi_tensorflow.py",
    "to_keras.py",
];

pub(crate) use embedded;

/// Adapters of another release lie in another folder, so that two releases do not disturb each
/// other's runs.
pub fn adapters_digest() -> String {
    digest_of(ADAPTERS)
}

pub(crate) fn digest_of(files: &[Embedded]) -> String {
    digest(files.iter().flat_map(|file| [file.name, file.text]))
}

pub(crate) fn has(name: &str) -> bool {
    ADAPTERS.iter().any(|file| file.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folders_is_carried_once() {
        let check = |folder: &str, files: &[Embedded]| {
            let folder = format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"));
            let mut there: Vec<String> = std::fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .filter(|name| name.ends_with(".py") || name.ends_with(".txt"))
                .filter(|name| name != "regenerate.py")
                .collect();
            there.sort();
            let mut carried: Vec<&str> = files.iter().map(|file| file.name).collect();
            carried.sort_unstable();
            assert_eq!(carried, there);
        };
        check("adapters", ADAPTERS);
        check("stacks", STACKS);
        check("locks", crate::hashes::LOCKS);
    }
}
