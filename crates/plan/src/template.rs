//! The study that `bancada init` writes.

/// A commented study file that runs as it stands: in about a minute, on this machine.
pub fn template() -> String {
    include_str!("../template.toml").to_owned()
}
