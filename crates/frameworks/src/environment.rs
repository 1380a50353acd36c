//! One environment's folder, and in what state it is.

use std::fs;
use std::path::{Path, PathBuf};

use crate::installer::frozen_version;
use crate::marker::{MARKER, Marker};
use crate::registry::Framework;
use crate::spec::Spec;

/// Where a framework's packages are or would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// Whose packages it holds: TensorFlow's, for Keras over TensorFlow.
    pub owner: &'static Framework,
    pub version: String,
    pub folder: PathBuf,
    /// Whose packages it sees too.
    pub base: Option<Spec>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    Missing,
    /// Begun, and to be gone on with.
    Unfinished,
    /// A folder of this name that `setup` did not make.
    Foreign,
    Whole(Box<Marker>),
}

impl Environment {
    pub fn state(&self) -> State {
        state_of(&self.folder)
    }

    /// `pytorch-2.15.0`.
    pub fn name(&self) -> String {
        format!("{}-{}", self.owner.name, self.version)
    }

    /// How a person names it.
    pub fn spec(&self) -> Spec {
        let pinned = self.owner.version.as_deref() == Some(self.version.as_str());
        Spec {
            framework: self.owner,
            version: (!pinned).then(|| self.version.clone()),
        }
    }

    pub fn python(&self) -> PathBuf {
        self.folder.join("bin/python")
    }

    /// Everything the installer said.
    pub fn log(&self) -> PathBuf {
        beside(&self.folder, ".log")
    }

    /// The version of a framework that runs in it, which need not be its owner.
    pub fn version_of(&self, framework: &Framework, marker: &Marker) -> String {
        let mut names = framework.main_packages();
        let found = names.find_map(|name| frozen_version(&marker.packages, name));
        found.unwrap_or(&self.version).to_owned()
    }
}

pub(crate) fn state_of(folder: &Path) -> State {
    let unfinished = part(folder).exists();
    // A link leads to what is somebody else's.
    match fs::symlink_metadata(folder) {
        Err(_) if unfinished => State::Unfinished,
        Err(_) => State::Missing,
        Ok(metadata) if !metadata.is_dir() => State::Foreign,
        Ok(_) if unfinished => State::Unfinished,
        Ok(_) => {
            let text = fs::read_to_string(folder.join(MARKER));
            match text.ok().and_then(|text| Marker::parse(&text)) {
                Some(marker) => State::Whole(Box::new(marker)),
                None => State::Foreign,
            }
        }
    }
}

/// Lies beside an environment for as long as it is being made or removed. Environments cannot be
/// renamed when complete, as runs are: their programs have their own path written in them.
pub(crate) fn part(folder: &Path) -> PathBuf {
    beside(folder, ".part")
}

fn beside(folder: &Path, ending: &str) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
