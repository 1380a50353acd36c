//! `frameworks.toml`, read once: the only list of frameworks.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::digest::digest;
use crate::spec::compare_versions;

const TEXT: &str = include_str!("../frameworks.toml");

/// A test reads it too: what is embedded cannot be wrong in the field.
static ALL: LazyLock<Vec<Framework>> = LazyLock::new(|| parse(TEXT).unwrap_or_default());

/// The first is the default of a study.
pub fn all() -> impl Iterator<Item = &'static Framework> + Clone {
    ALL.iter()
}

/// Of those that train: what a study may name.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    all().filter(|f| f.kind.trains()).map(|f| f.name.as_str())
}

/// What models are served by beside `bancada serve`.
pub fn stacks() -> impl Iterator<Item = &'static Framework> + Clone {
    all().filter(|f| f.kind == Kind::Stack)
}

pub fn find(name: &str) -> Option<&'static Framework> {
    all().find(|f| f.name == name)
}

/// Every version of Python that some framework accepts, in order.
pub fn python_versions() -> Vec<String> {
    let older = |f: &'static Framework| f.older.iter().flat_map(|o| &o.python);
    let accepted = all().flat_map(|f| f.python.iter().chain(older(f)));
    let mut versions: Vec<String> = accepted.cloned().collect();
    versions.sort_by(|a, b| compare_versions(a, b));
    versions.dedup();
    versions
}

/// One framework that a study may name, or `setup` may set up.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Framework {
    pub name: String,
    pub about: String,
    #[serde(default)]
    pub kind: Kind,
    /// File name among the adapters; Keras' three backends share one. `None` if there is no
    /// Python. Of a stack, the program that is started.
    pub adapter: Option<String>,
    /// File name among the stacks: makes a stack's model from a layer graph.
    pub convert: Option<String>,
    /// Of the main package, unless a study asks for another.
    pub version: Option<String>,
    #[serde(default)]
    first: Vec<String>,
    #[serde(default)]
    packages: Vec<String>,
    #[serde(default = "yes")]
    isolation: bool,
    gpu: Option<Vec<String>>,
    /// Smaller builds without CUDA, which are requested first.
    pub cpu_builds: Option<CpuBuilds>,
    #[serde(default)]
    python: Vec<String>,
    pub module: Option<String>,
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
    /// The framework in whose environment this one runs.
    pub environment: Option<String>,
    /// The framework whose packages this one's environment sees too.
    pub extends: Option<String>,
    #[serde(default)]
    pub needs: Vec<Need>,
    #[serde(default)]
    pub platforms: Vec<String>,
    /// About, in millions of bytes.
    pub size_mb: Option<u64>,
    /// What a study may ask for in vain, and why, as the end of a sentence.
    #[serde(default)]
    pub cannot: BTreeMap<Capability, String>,
    /// What `compile` is on a CPU where a study leaves it out; `None` if that is a third way.
    compiles: Option<bool>,
    #[serde(default)]
    older: Vec<Older>,
}

/// What not every framework can do, on whatever device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Capability {
    /// More than one worker.
    Workers,
    Mixed,
    /// `compile = true`.
    Compile,
    /// `compile = false`.
    Eager,
    OwnLoader,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// This program itself.
    Engine,
    /// An adapter in a Python environment that `setup` makes.
    #[default]
    Python,
    /// The `caffe` program that the machine has.
    Caffe,
    /// An environment that `setup` makes and no study trains in: it serves models.
    Serving,
    /// The same, with a server of its own that is measured like any other.
    Stack,
}

/// A program or library that comes with the system, not from a package index.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    pub program: Option<String>,
    pub library: Option<String>,
    /// The Debian package that has it.
    pub debian: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Older {
    below: String,
    packages: Vec<String>,
    gpu: Option<Vec<String>>,
    python: Vec<String>,
}

/// Builds without CUDA, which the default package index does not have.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuBuilds {
    /// The address of the index that has them.
    pub index: String,
    /// What people call it.
    pub about: String,
    /// About, when they are set up, in millions of bytes.
    pub size_mb: u64,
}

/// What is installed for one version of a framework.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// One call of the installer each, in this order.
    pub stages: Vec<Stage>,
    /// Accepted versions of Python, the preferred one first.
    pub python: Vec<String>,
    /// Builds without CUDA that are requested first.
    pub cpu_builds: Option<CpuBuilds>,
}

impl Kind {
    /// Whether `setup` makes an environment for it.
    pub fn is_installed(self) -> bool {
        matches!(self, Kind::Python | Kind::Serving | Kind::Stack)
    }

    pub fn trains(self) -> bool {
        matches!(self, Kind::Engine | Kind::Python | Kind::Caffe)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    pub packages: Vec<String>,
    /// Installed before the framework's own packages, which are built by these.
    pub is_first: bool,
    /// False: packages are built with what earlier stages installed.
    pub isolation: bool,
}

impl Framework {
    /// What `version` of it, or the pinned one, needs.
    pub fn recipe(&self, version: Option<&str>, gpu: bool) -> Recipe {
        let version = version.or(self.version.as_deref()).unwrap_or_default();
        let older = self
            .older
            .iter()
            .find(|o| compare_versions(version, &o.below).is_lt());
        let (packages, for_gpu, python) = match older {
            Some(older) => (&older.packages, &older.gpu, &older.python),
            None => (&self.packages, &self.gpu, &self.python),
        };
        let packages = match for_gpu {
            Some(packages) if gpu => packages,
            _ => packages,
        };
        let stage = |packages: &[String], is_first, isolation| Stage {
            is_first,
            packages: packages
                .iter()
                .map(|p| p.replace("{version}", version))
                .collect(),
            isolation,
        };
        let mut stages = vec![stage(packages, false, self.isolation)];
        if !self.first.is_empty() {
            stages.insert(0, stage(&self.first, true, true));
        }
        Recipe {
            stages,
            python: python.clone(),
            cpu_builds: self.cpu_builds.clone().filter(|_| !gpu),
        }
    }

    /// Names of the packages that carry its version: `torch`; on other platforms others.
    pub(crate) fn main_packages(&self) -> impl Iterator<Item = &str> {
        let versioned = self.packages.iter().chain(self.gpu.iter().flatten());
        let versioned = versioned.filter_map(|package| package.split_once("=={version}"));
        versioned.filter_map(|(name, _)| name.split('[').next())
    }

    /// Whether it computes so on a CPU unless it is told.
    pub fn compiles_by_custom(&self, compile: bool) -> bool {
        let other_way = match compile {
            true => Capability::Eager,
            false => Capability::Compile,
        };
        self.compiles == Some(compile) || self.cannot.contains_key(&other_way)
    }

    pub fn has_gpu_builds(&self) -> bool {
        self.gpu.is_some()
    }
}

impl Recipe {
    /// Changes when what is installed would.
    pub fn digest(&self) -> String {
        let packages = self.stages.iter().flat_map(|s| &s.packages);
        digest(packages.map(String::as_str))
    }
}

impl Stage {
    /// What its lock file is called: `jax`, `chainer.first`.
    pub(crate) fn lock_name(&self, framework: &str) -> String {
        match self.is_first {
            true => format!("{framework}.first"),
            false => framework.to_owned(),
        }
    }
}

impl Need {
    /// `clang`, `libopenblas.so`.
    pub fn what(&self) -> &str {
        let named = self.program.as_ref().or(self.library.as_ref());
        named.unwrap_or(&self.debian)
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let debian = &self.debian;
        write!(f, "needs {}: apt-get install {debian}", self.what())
    }
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    framework: Vec<Framework>,
}

fn parse(text: &str) -> Result<Vec<Framework>, toml::de::Error> {
    toml::from_str::<File>(text).map(|file| file.framework)
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
