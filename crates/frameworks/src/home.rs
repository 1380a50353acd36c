//! The cache folder: environments, adapters, and whatever else can be made again.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::adapters::{ADAPTERS, adapters_digest};
use crate::marker::{MARKER, Marker};
use crate::registry::{self, Kind};
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
        let parent = self.path.join("adapters");
        let folder = parent.join(adapters_digest());
        if folder.is_dir() {
            return Ok(folder);
        }
        let unfinished = parent.join(format!(
            ".{}.{}.part",
            adapters_digest(),
            std::process::id()
        ));
        fs::create_dir_all(&unfinished).map_err(HomeError::io("create", &unfinished))?;
        for file in ADAPTERS {
            let path = unfinished.join(file.name);
            fs::write(&path, file.text).map_err(HomeError::io("write", &path))?;
        }
        match fs::rename(&unfinished, &folder) {
            Ok(()) => Ok(folder),
            // Another program was faster; both wrote the same.
            Err(_) if folder.is_dir() => {
                let _ = fs::remove_dir_all(&unfinished);
                Ok(folder)
            }
            Err(source) => Err(HomeError::io("create", &folder)(source)),
        }
    }

    /// The environment that runs this framework.
    pub fn interpreter(&self, spec: &Spec) -> Result<Installed, NotSetUp> {
        let missing = |why| NotSetUp {
            spec: spec.clone(),
            why,
        };
        if spec.framework.kind != Kind::Python {
            return Err(missing(WhyNot::NoPython));
        }
        let folder = self
            .environment(spec)
            .ok_or_else(|| missing(WhyNot::Missing))?;
        if !folder.exists() {
            return Err(missing(WhyNot::Missing));
        }
        let marker = whole(&folder).ok_or_else(|| missing(WhyNot::Unfinished))?;
        if let Some(base) = &marker.extends
            && whole(&self.frameworks().join(base)).is_none()
        {
            return Err(missing(WhyNot::BaseMissing(base.clone())));
        }
        let shared = spec.version.is_none() && spec.framework.environment.is_some();
        let version = match shared {
            true => package_version(&marker, spec),
            false => Some(marker.version.clone()),
        };
        let variables = &spec.framework.variables;
        Ok(Installed {
            python: folder.join("bin/python"),
            folder,
            version: version.unwrap_or_default(),
            variables: variables
                .iter()
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            marker,
        })
    }

    /// The folder of its environment, whether it is there or not; None for what has no Python.
    pub fn environment(&self, spec: &Spec) -> Option<PathBuf> {
        let framework = match (&spec.framework.environment, &spec.version) {
            (Some(shared), None) => registry::find(shared)?,
            _ => spec.framework,
        };
        let version = spec.version.as_ref().or(framework.version.as_ref())?;
        Some(
            self.frameworks()
                .join(format!("{}-{version}", framework.name)),
        )
    }
}

/// The marker, when the folder is an environment that was finished.
pub(crate) fn whole(folder: &Path) -> Option<Marker> {
    if part(folder).exists() {
        return None;
    }
    Marker::parse(&fs::read_to_string(folder.join(MARKER)).ok()?)
}

/// Lies beside an environment for as long as it is being made or removed.
pub(crate) fn part(folder: &Path) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

/// Of a framework that lives in another's environment: `keras==3.15.1` among its packages.
fn package_version(marker: &Marker, spec: &Spec) -> Option<String> {
    let module = spec.framework.module.as_deref()?;
    let found = marker.packages.iter().find_map(|line| {
        let (name, version) = line.split_once("==")?;
        (name == module).then(|| version.to_owned())
    });
    found.or_else(|| spec.framework.version.clone())
}

#[derive(Debug)]
pub enum HomeError {
    /// No variable says where.
    Nowhere,
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

impl fmt::Display for HomeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HomeError::Nowhere => write!(
                f,
                "no folder for the cache: set BANCADA_CACHE (or HOME) to one"
            ),
            HomeError::Io { what, path, source } => write!(
                f,
                "cannot {what} {}: {source}; BANCADA_CACHE names another folder for the cache",
                path.display()
            ),
        }
    }
}

impl std::error::Error for HomeError {}

/// A framework that cannot be started on this machine yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotSetUp {
    pub spec: Spec,
    pub why: WhyNot,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhyNot {
    Missing,
    /// Begun, and not finished.
    Unfinished,
    /// It extends this one, which was removed.
    BaseMissing(String),
    /// The engine and Caffe have no Python.
    NoPython,
}

impl fmt::Display for NotSetUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spec = &self.spec;
        match &self.why {
            WhyNot::Missing => write!(
                f,
                "{spec} is not set up on this machine: bancada setup {spec}"
            ),
            WhyNot::Unfinished => write!(
                f,
                "{spec} is only partly set up on this machine; to go on: bancada setup {spec}"
            ),
            WhyNot::BaseMissing(base) => write!(
                f,
                "{spec} needs the environment {base}, which is no longer there: bancada setup {spec}"
            ),
            WhyNot::NoPython => write!(f, "{spec} has no Python environment"),
        }
    }
}

impl std::error::Error for NotSetUp {}
