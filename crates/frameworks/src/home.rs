//! The cache folder: environments, adapters, and whatever else can be rebuilt.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::{env, fs};

use host::Unfinished;

use crate::adapters::{ADAPTERS, Embedded, STACKS, digest_of};
use crate::environment::{Environment, State, state_of};
use crate::marker::Marker;
use crate::registry::{self, Framework};
use crate::spec::Spec;

/// `$BANCADA_CACHE`, else `$XDG_CACHE_HOME/bancada`, else `~/.cache/bancada`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    path: PathBuf,
}

/// An environment that is whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    pub python: PathBuf,
    pub folder: PathBuf,
    /// Of the main package.
    pub version: String,
    /// To be set when the framework is started: `KERAS_BACKEND`, ….
    pub variables: Vec<(String, String)>,
    pub marker: Marker,
}

impl Home {
    pub fn find() -> Result<Home, HomeError> {
        Home::from_variables(|name| env::var_os(name).filter(|value| !value.is_empty()))
    }

    fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Result<Home, HomeError> {
        let path = variable("BANCADA_CACHE")
            .map(PathBuf::from)
            .or_else(|| variable("XDG_CACHE_HOME").map(|p| Path::new(&p).join("bancada")))
            .or_else(|| variable("HOME").map(|p| Path::new(&p).join(".cache/bancada")))
            .ok_or(HomeError::Nowhere)?;
        // Runs happen in other folders: a relative one would be another there.
        let path = std::path::absolute(&path).map_err(|source| HomeError::Io {
            what: "find the folder",
            path,
            source,
        })?;
        Ok(Home::at(path))
    }

    pub fn at(path: impl Into<PathBuf>) -> Home {
        Home { path: path.into() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where environments lie.
    pub fn frameworks(&self) -> PathBuf {
        self.path.join("frameworks")
    }

    /// The folder of the adapters of this release, written when it is not there yet.
    pub fn adapters(&self) -> Result<PathBuf, HomeError> {
        self.written("adapters", ADAPTERS)
    }

    /// The same of the stacks' programs.
    pub fn stacks(&self) -> Result<PathBuf, HomeError> {
        self.written("stacks", STACKS)
    }

    fn written(&self, kind: &str, files: &[Embedded]) -> Result<PathBuf, HomeError> {
        let parent = self.path.join(kind);
        let digest = digest_of(files);
        let folder = parent.join(&digest);
        if folder.is_dir() {
            return Ok(folder);
        }
        let unfinished = unfinished(&folder)?;
        for file in files {
            let path = unfinished.path().join(file.name);
            fs::write(&path, file.text).map_err(HomeError::io("write", &path))?;
        }
        publish(unfinished, folder)
    }

    /// The environment that runs this framework.
    pub fn interpreter(&self, spec: &Spec) -> Result<Installed, NotSetUp> {
        let missing = |why| NotSetUp {
            spec: spec.clone(),
            why,
        };
        let environment = self
            .environment(spec)
            .ok_or_else(|| missing(WhyNot::NoPython))?;
        let marker = match environment.state() {
            State::Whole(marker) => *marker,
            State::Unfinished => return Err(missing(WhyNot::Unfinished)),
            State::Missing | State::Foreign => return Err(missing(WhyNot::Missing)),
        };
        if let Some(base) = &marker.extends
            && !matches!(state_of(&self.frameworks().join(base)), State::Whole(_))
        {
            return Err(missing(WhyNot::BaseMissing(base.clone())));
        }
        Ok(Installed {
            python: environment.python(),
            version: environment.version_of(spec.framework, &marker),
            variables: variables(spec.framework),
            folder: environment.folder,
            marker,
        })
    }

    /// Where its environment is or would be; None for what has no Python.
    pub fn environment(&self, spec: &Spec) -> Option<Environment> {
        if !spec.framework.kind.is_installed() {
            return None;
        }
        let shared = match (&spec.framework.environment, &spec.version) {
            (Some(shared), None) => Some(registry::find(shared)?),
            _ => None,
        };
        let owner = shared.unwrap_or(spec.framework);
        let version = spec.version.as_ref().or(owner.version.as_ref())?.clone();
        let base = match shared {
            Some(_) => None,
            None => owner.extends.as_ref().or(owner.environment.as_ref()),
        };
        let base = base.and_then(|name| registry::find(name));
        let folder = self.frameworks().join(format!("{}-{version}", owner.name));
        Some(Environment {
            owner,
            version,
            folder,
            base: base.map(Spec::pinned),
        })
    }

    /// The environments that are there, whole or not, in the order of the frameworks.
    pub fn environments(&self) -> Vec<Environment> {
        let Ok(entries) = fs::read_dir(self.frameworks()) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .map(|name| name.strip_suffix(".part").unwrap_or(&name).to_owned())
            .collect();
        names.sort();
        names.dedup();
        let mut found: Vec<Environment> = Vec::new();
        for framework in registry::all() {
            for name in &names {
                let version = name.strip_prefix(framework.name.as_str());
                let version = version.and_then(|rest| rest.strip_prefix('-'));
                let spec = version
                    .and_then(|version| Spec::parse(&format!("{}@{version}", framework.name)).ok());
                let environment = spec.and_then(|spec| self.environment(&spec));
                let ours = |e: &Environment| !matches!(e.state(), State::Missing | State::Foreign);
                found.extend(environment.filter(|e| e.owner.name == framework.name && ours(e)));
            }
        }
        found
    }
}

/// An empty folder under a temporary name, for what becomes `folder`.
pub(crate) fn unfinished(folder: &Path) -> Result<Unfinished, HomeError> {
    Unfinished::folder(folder).map_err(HomeError::io("create", folder))
}

pub(crate) fn publish(unfinished: Unfinished, folder: PathBuf) -> Result<PathBuf, HomeError> {
    match unfinished.publish(&folder) {
        Ok(()) => Ok(folder),
        // Another program was faster; both wrote the same.
        Err(_) if folder.is_dir() => Ok(folder),
        Err(source) => Err(HomeError::io("create", &folder)(source)),
    }
}

pub(crate) fn variables(framework: &Framework) -> Vec<(String, String)> {
    // A person's own would put other packages before the environment's, or another library.
    let isolated = [
        ("PYTHONPATH", ""),
        ("PYTHONHOME", ""),
        ("PYTHONNOUSERSITE", "1"),
    ];
    let isolated = isolated.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let own = framework.variables.iter();
    let own = own.map(|(name, value)| (name.clone(), value.clone()));
    isolated.into_iter().chain(own).collect()
}

#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// No variable says where.
    #[error("no folder for the cache: set BANCADA_CACHE (or HOME) to one")]
    Nowhere,
    #[error("cannot {what} {path}: {source}; set BANCADA_CACHE to a different folder")]
    Io {
        what: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}

impl HomeError {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> HomeError {
        let path = path.to_owned();
        move |source| HomeError::Io { what, path, source }
    }
}

/// A framework that cannot be started on this machine yet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{spec} {why}{}", match .why {
    WhyNot::NoPython => String::new(),
    _ => format!(": bancada setup {spec}"),
})]
pub struct NotSetUp {
    pub spec: Spec,
    pub why: WhyNot,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WhyNot {
    #[error("is not set up")]
    Missing,
    /// Begun, and not finished.
    #[error("is only partly set up; to continue")]
    Unfinished,
    /// It extends this one, which was removed.
    #[error("needs the environment {0}, which is no longer there")]
    BaseMissing(String),
    /// The engine and Caffe have no Python.
    #[error("has no Python environment")]
    NoPython,
}
