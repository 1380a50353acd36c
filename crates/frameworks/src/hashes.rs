//! Lock files: every package of a pinned version with the hashes of its files, carried in the program
//! and written by `locks/regenerate.py`.

use crate::adapters::Embedded;

pub(crate) const LOCKS: &[Embedded] = crate::adapters::embedded![
    "locks":
    "chainer.first.txt",
    "chainer.txt",
    "fastapi-onnxruntime.txt",
    "fastapi-tensorflow.txt",
    "jax.txt",
    "keras-jax.txt",
    "keras-torch.txt",
    "mxnet.txt",
    "onnx-tools.txt",
    "onnxruntime-training.txt",
    "onnxruntime.txt",
    "paddle.txt",
    "pytorch.txt",
    "tensorflow.txt",
    "theano.first.txt",
    "theano.txt",
    "tinygrad.txt",
];

/// The lock of one of a framework's calls of the installer: `jax`, `chainer.first`. `None` if there
/// does not exist for this Python (`3.11`) on this platform.
pub(crate) fn find(name: &str, python: &str, platform: &str) -> Option<&'static str> {
    let file = format!("{name}.txt");
    let lock = LOCKS.iter().find(|lock| lock.name == file)?;
    let is_for = |what: &str, wanted: &str| {
        let mut heads = lock.text.lines().filter_map(|l| l.strip_prefix(what));
        heads.any(|list| list.split_whitespace().any(|one| one == wanted))
    };
    (is_for("# python ", python) && is_for("# platforms ", platform)).then_some(lock.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;

    #[test]
    fn locks_are_for_what_they_say() {
        let check = |name, python, platform, expected: bool| {
            let found = find(name, python, platform).is_some();
            assert_eq!(found, expected, "{name} {python} {platform}");
        };
        check("jax", "3.11", "linux-x86_64", true);
        check("jax", "3.13", "linux-aarch64", true);
        check("jax", "3.10", "linux-x86_64", false);
        check("jax", "3.11", "macos-aarch64", false);
        check("mxnet", "3.11", "linux-aarch64", false);
        check("theano.first", "3.8", "linux-x86_64", true);
        check("caffe", "3.11", "linux-x86_64", false);
    }

    /// A pin that is changed without its lock would install what it was before.
    #[test]
    fn every_pinned_version_is_locked_by_hashes() {
        for framework in registry::all().filter(|f| f.kind.is_installed()) {
            if framework.environment.is_some() {
                continue;
            }
            let recipe = framework.recipe(None, false);
            let python = &recipe.python[0];
            let mut locked = String::new();
            for stage in &recipe.stages {
                let name = stage.lock_name(&framework.name);
                let lock = find(&name, python, "linux-x86_64");
                locked += lock.unwrap_or_else(|| panic!("no lock {name}"));
            }
            let pins = recipe.stages.iter().flat_map(|stage| &stage.packages);
            for pin in pins.filter(|pin| pin.contains("==") && !pin.contains("!= 'linux'")) {
                let pin = pin.split(" ;").next().unwrap();
                let line = format!("\n{pin} ");
                assert!(locked.contains(&line), "{}: {pin}", framework.name);
            }
        }
    }

    #[test]
    fn locks_are_names_versions_and_hashes_only() {
        for lock in LOCKS {
            for line in lock.text.lines().filter(|line| !line.starts_with('#')) {
                let line = line.trim_end_matches('\\').trim_end();
                let is_hash = line
                    .strip_prefix("    --hash=sha256:")
                    .is_some_and(|h| h.len() == 64 && h.bytes().all(|b| b.is_ascii_hexdigit()));
                let is_pin = line.contains("==") && !line.contains("://") && !line.contains('@');
                assert!(is_hash || is_pin, "{}: {line}", lock.name);
            }
        }
    }
}
