//! Removes an environment: only what `setup` created.

use std::fs;
use std::path::Path;

use super::{SetupError, io};
use crate::disk::{self, Size};
use crate::environment::{State, part, state_of};
use crate::home::Home;
use crate::lock;
use crate::spec::Spec;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// `pytorch-2.15.0`.
    pub environment: String,
    pub size: Size,
}

pub fn remove(home: &Home, spec: &Spec) -> Result<Removed, SetupError> {
    let not_there = || SetupError::NotThere { spec: spec.clone() };
    let environment = home.environment(spec).ok_or_else(not_there)?;
    if environment.owner.name != spec.name() {
        return Err(SetupError::Shared {
            spec: spec.clone(),
            owner: &environment.owner.name,
        });
    }
    let folder = &environment.folder;
    match environment.state() {
        State::Missing => return Err(not_there()),
        State::Foreign => {
            return Err(SetupError::Foreign {
                folder: folder.clone(),
            });
        }
        State::Unfinished | State::Whole(_) => {}
    }
    let by = users(home, &environment.name());
    if !by.is_empty() {
        return Err(SetupError::Used {
            spec: spec.clone(),
            by,
        });
    }
    let _lock = lock::take(folder)?;
    let size = disk::size_of(folder);
    let part = part(folder);
    // An interrupted removal must not leave half of it behind that is taken for whole.
    if !part.exists() {
        fs::write(&part, "being removed\n").map_err(io("write", &part))?;
    }
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(io("remove", folder))?;
    }
    let _ = fs::remove_file(environment.log());
    fs::remove_file(&part).map_err(io("remove", &part))?;
    Ok(Removed {
        environment: environment.name(),
        size,
    })
}

/// The environments that extend this one, as specs.
fn users(home: &Home, name: &str) -> Vec<String> {
    let mut users = Vec::new();
    for environment in home.environments() {
        if let State::Whole(marker) = state_of(Path::new(&environment.folder))
            && marker.extends.as_deref() == Some(name)
        {
            users.push(environment.spec().to_string());
        }
    }
    users
}
