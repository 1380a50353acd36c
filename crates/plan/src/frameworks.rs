//! The frameworks a training workload may name. The only list of them.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Framework {
    pub name: &'static str,
    pub about: &'static str,
}

/// The first is the default.
const FRAMEWORKS: &[Framework] = &[Framework {
    name: "engine",
    about: "the embedded engine: Rust, nothing to install",
}];

pub fn frameworks() -> impl Iterator<Item = &'static Framework> + Clone {
    FRAMEWORKS.iter()
}

pub(crate) fn names() -> impl Iterator<Item = &'static str> + Clone {
    frameworks().map(|f| f.name)
}
