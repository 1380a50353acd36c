//! Terraform modules, carried in the binary: one for each provider behind one interface, and one for
//! serving on SageMaker that a reader may take.

use std::fs;
use std::path::Path;

use crate::error::InfraError;

/// Of a module that is copied no file may be larger, nor may there be more.
const MOST_BYTES: u64 = 10 << 20;
const MOST_FILES: usize = 1000;

pub struct Module {
    pub name: &'static str,
    pub about: &'static str,
    files: &'static [File],
}

struct File {
    name: &'static str,
    text: &'static str,
}

const INTERFACE: File = File {
    name: "variables.tf",
    text: include_str!("../modules/variables.tf"),
};

const fn main(text: &'static str) -> File {
    let name = "main.tf";
    File { name, text }
}

pub const MODULES: &[Module] = &[
    Module {
        name: "aws",
        about: "one EC2 machine, reachable by SSH from one address",
        files: &[main(include_str!("../modules/aws/main.tf")), INTERFACE],
    },
    Module {
        name: "azure",
        about: "one virtual machine of Azure, reachable by SSH from one address",
        files: &[main(include_str!("../modules/azure/main.tf")), INTERFACE],
    },
    Module {
        name: "gcp",
        about: "one Compute Engine machine, reachable by SSH from one address",
        files: &[main(include_str!("../modules/gcp/main.tf")), INTERFACE],
    },
    Module {
        name: "sagemaker",
        about: "bucket, image registry, role, model and endpoint for serving on SageMaker",
        files: &[main(include_str!("../modules/sagemaker/main.tf"))],
    },
];

pub fn named(name: &str) -> Option<&'static Module> {
    MODULES.iter().find(|module| module.name == name)
}

impl Module {
    /// Writes the files into a folder, over those that are there.
    pub fn write(&self, folder: &Path) -> Result<(), InfraError> {
        fs::create_dir_all(folder).map_err(InfraError::io("create", folder))?;
        for File { name, text } in self.files {
            let path = folder.join(name);
            fs::write(&path, text).map_err(InfraError::io("write", &path))?;
        }
        Ok(())
    }

    /// The names of its files.
    pub fn file_names(&self) -> impl Iterator<Item = &'static str> {
        self.files.iter().map(|file| file.name)
    }
}

/// A module of the user's own as it is now: what destroys a machine must not be lost with the study.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), InfraError> {
    let mut left = MOST_FILES;
    copy_folder(from, to, &mut left)?;
    let has_configuration = fs::read_dir(to)
        .map_err(InfraError::io("read", to))?
        .filter_map(Result::ok)
        .any(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.ends_with(".tf") || name.ends_with(".tf.json")
        });
    match has_configuration {
        true => Ok(()),
        false => Err(InfraError::Refused(format!(
            "the module {} contains no .tf file",
            from.display()
        ))),
    }
}

fn copy_folder(from: &Path, to: &Path, left: &mut usize) -> Result<(), InfraError> {
    host::create_private_folder(to).map_err(InfraError::io("create", to))?;
    let entries = fs::read_dir(from).map_err(InfraError::io("read the module", from))?;
    for entry in entries {
        let entry = entry.map_err(InfraError::io("read the module", from))?;
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        let about = fs::metadata(&path).map_err(InfraError::io("read", &path))?;
        // What Terraform itself keeps beside a configuration is that configuration's, not ours.
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name == ".terraform" || name.contains(".tfstate") || name == ".git" {
            continue;
        }
        if about.is_dir() {
            copy_folder(&path, &to, left)?;
            continue;
        }
        *left = left.saturating_sub(1);
        if !about.is_file() || about.len() > MOST_BYTES || *left == 0 {
            let path = path.display();
            return Err(InfraError::Refused(format!(
                "{path} cannot be part of a module: at most {MOST_FILES} files of at most 10 MB"
            )));
        }
        fs::copy(&path, &to).map_err(InfraError::io("copy", &path))?;
    }
    Ok(())
}
