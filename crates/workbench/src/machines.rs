//! The person's own catalog of machines: profiles that `bancada probe` measured, one file each.

use std::fs;
use std::path::{Path, PathBuf};

use model::MachineProfile;
use model::profile::PROFILE_SCHEMA;

use crate::error::Error;

/// All profiles that are kept on this machine.
#[derive(Debug, Default)]
pub struct Machines {
    /// By name.
    pub profiles: Vec<MachineProfile>,
    /// Files that are not profiles, and why.
    pub damaged: Vec<String>,
}

fn folder(home: &Path) -> PathBuf {
    home.join("machines")
}

pub fn machines(home: &Path) -> Machines {
    let mut found = Machines::default();
    // Without the folder nothing was probed.
    let entries = fs::read_dir(folder(home)).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        match read_machine(&path) {
            Ok(profile) => found.profiles.push(profile),
            Err(error) => found.damaged.push(error.to_string()),
        }
    }
    found
        .profiles
        .sort_by(|one, other| one.name.cmp(&other.name));
    found
}

/// A profile that `bancada probe --json` printed.
pub fn read_machine(path: &Path) -> Result<MachineProfile, Error> {
    let shown = path.display();
    let text = fs::read(path).map_err(|e| Error::other(format!("cannot read {shown}: {e}")))?;
    let profile: MachineProfile = serde_json::from_slice(&text).map_err(|e| {
        Error::other(format!(
            "{shown} is not the profile of a machine, as `bancada probe --json` prints it: {e}"
        ))
    })?;
    match profile.schema {
        PROFILE_SCHEMA => Ok(profile),
        other => Err(Error::other(format!(
            "{shown} has version {other}, but this program reads version {PROFILE_SCHEMA}: probe that machine again"
        ))),
    }
}

/// Replaces an older profile of the same name.
pub fn keep_machine(home: &Path, profile: &MachineProfile) -> Result<PathBuf, Error> {
    let folder = folder(home);
    let path = folder.join(format!("{}.json", file_name(&profile.name)));
    let text = serde_json::to_vec(profile).map_err(Error::other)?;
    let written = fs::create_dir_all(&folder).and_then(|()| host::write_whole(&path, text));
    written.map_err(|e| Error::other(format!("cannot write {}: {e}", path.display())))?;
    Ok(path)
}

/// Names have slashes, and may have anything else. Different names get different files.
fn file_name(name: &str) -> String {
    let mut file = String::new();
    for character in name.chars() {
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' | '@' => file.push(character),
            other => file += &format!("%{:x}", u32::from(other)),
        }
    }
    // Not a hidden file, nor a folder.
    match file.starts_with('.') || file.is_empty() {
        true => format!("%{file}"),
        false => file,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_files() {
        let check = |name: &str, expected: &str| assert_eq!(file_name(name), expected);
        check("aws/c7g.xlarge@us-east-1", "aws%2fc7g.xlarge@us-east-1");
        check("vm", "vm");
        check("..", "%..");
        check("a%2fb", "a%252fb");
        check("", "%");
    }

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
