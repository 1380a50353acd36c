//! The person's own catalog of machines: profiles that `bancada probe` measured, one file each.

use std::fs;
use std::path::{Path, PathBuf};

use model::profile::PROFILE_SCHEMA;
use model::{Inventory, MachineProfile};

/// All profiles that are kept on this machine.
#[derive(Debug, Default)]
pub struct Machines {
    /// By name.
    pub profiles: Vec<MachineProfile>,
    /// Files that are not profiles, and why.
    pub damaged: Vec<String>,
}

/// In the cache folder.
pub fn machines_folder(home: &Path) -> PathBuf {
    home.join("machines")
}

pub fn machines(home: &Path) -> Machines {
    let mut found = Machines::default();
    // Without the folder nothing was probed.
    let entries = fs::read_dir(machines_folder(home));
    let entries = entries.into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        match read_machine(&path) {
            Ok(profile) => found.profiles.push(profile),
            Err(error) => found.damaged.push(error),
        }
    }
    found
        .profiles
        .sort_by(|one, other| one.name.cmp(&other.name));
    found
}

/// A profile that `bancada probe --json` printed, or why it is none.
pub fn read_machine(path: &Path) -> Result<MachineProfile, String> {
    let shown = path.display();
    let text = fs::read(path).map_err(|e| format!("cannot read {shown}: {e}"))?;
    let profile: MachineProfile = serde_json::from_slice(&text).map_err(|e| {
        format!("{shown} is not the profile of a machine, as `bancada probe --json` prints it: {e}")
    })?;
    match profile.schema {
        PROFILE_SCHEMA => Ok(profile),
        other => Err(format!(
            "{shown} has version {other}, but this program reads version {PROFILE_SCHEMA}: probe that machine again"
        )),
    }
}

impl Machines {
    /// Of this machine with so many cores, as it was probed last.
    pub(crate) fn into_profile_of(self, machine: &Inventory, cores: f64) -> Option<MachineProfile> {
        let own = self.profiles.into_iter();
        let own = own.filter(|profile| profile.is_of(machine, cores));
        own.max_by_key(|profile| profile.rank_for(machine))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_profile_is_named() {
        let home = tempfile::tempdir().unwrap();
        assert!(machines(home.path()).profiles.is_empty());
        fs::create_dir_all(home.path().join("machines")).unwrap();
        fs::write(home.path().join("machines/x.json"), "{}").unwrap();
        let found = machines(home.path());
        assert!(found.profiles.is_empty());
        assert!(found.damaged[0].contains("is not the profile of a machine"));
    }
}
