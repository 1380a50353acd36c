//! The person's own catalog of machines: profiles that `bancada probe` measured, one file each.

use std::fs;
use std::path::{Path, PathBuf};

use model::MachineProfile;
use worker::machines_folder;
pub use worker::{Machines, machines};

use crate::error::Error;

/// A profile that `bancada probe --json` printed.
pub fn read_machine(path: &Path) -> Result<MachineProfile, Error> {
    worker::read_machine(path).map_err(Error::other)
}

/// Replaces an older profile of the same name.
pub fn keep_machine(home: &Path, profile: &MachineProfile) -> Result<PathBuf, Error> {
    let folder = machines_folder(home);
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
}
