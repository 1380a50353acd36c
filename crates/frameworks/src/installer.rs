//! The commands that make an environment: uv's where it is found, else venv's and pip's.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::registry::Stage;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Installer {
    Uv(PathBuf),
    Pip,
}

impl Installer {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Installer::Uv(_) => "uv",
            Installer::Pip => "pip",
        }
    }

    /// An environment in `folder`, or what is missing of one that was begun. `python` is a program;
    /// to uv it may also be a version.
    pub(crate) fn create(&self, python: &Path, folder: &Path) -> Command {
        match self {
            Installer::Uv(uv) => {
                let mut command = uv_command(uv);
                command.args(["venv", "--no-project", "--allow-existing", "--python"]);
                command.arg(python).arg(folder);
                command
            }
            Installer::Pip => {
                let mut command = Command::new(python);
                command.args(["-m", "venv"]).arg(folder);
                command
            }
        }
    }

    fn begin_install(&self, folder: &Path, stage: &Stage) -> Command {
        let python = folder.join("bin/python");
        let mut command = match self {
            Installer::Uv(uv) => {
                let mut command = uv_command(uv);
                command.args(["pip", "install", "--python"]).arg(python);
                command
            }
            Installer::Pip => {
                let mut command = Command::new(python);
                command.args(["-m", "pip", "install", "--no-input"]);
                command.arg("--disable-pip-version-check");
                command
            }
        };
        if !stage.isolation {
            command.arg("--no-build-isolation");
        }
        command
    }

    pub(crate) fn install(&self, folder: &Path, stage: &Stage) -> Command {
        let mut command = self.begin_install(folder, stage);
        command.args(&stage.packages);
        command
    }

    /// What a lock file names, and nothing else: a file with another hash is refused.
    pub(crate) fn install_locked(&self, folder: &Path, stage: &Stage, lock: &Path) -> Command {
        let mut command = self.begin_install(folder, stage);
        command.args(["--require-hashes", "--no-deps", "-r"]);
        command.arg(lock);
        command
    }

    /// From this index where it has the package. uv looks there first; pip takes the highest version
    /// of all indexes, and `2.15.0+cpu` is higher than `2.15.0`.
    pub(crate) fn install_from(&self, folder: &Path, stage: &Stage, index: &str) -> Command {
        let mut command = self.install(folder, stage);
        command.arg(match self {
            Installer::Uv(_) => "--index",
            Installer::Pip => "--extra-index-url",
        });
        command.arg(index);
        command
    }

    /// Lines `name==version`.
    pub(crate) fn freeze(&self, folder: &Path) -> Command {
        let python = folder.join("bin/python");
        match self {
            Installer::Uv(uv) => {
                let mut command = uv_command(uv);
                command.args(["pip", "freeze", "--python"]).arg(python);
                command
            }
            Installer::Pip => {
                let mut command = Command::new(python);
                command.args(["-m", "pip", "list", "--format=freeze"]);
                command.arg("--disable-pip-version-check");
                command
            }
        }
    }
}

/// Whether an index lists a version of a package, asked by the environment's own Python: `ADDRESS NAME
/// VERSION`. Given up soon, since many machines can reach one package index and nothing else.
pub(crate) fn probe(folder: &Path, index: &str, package: &str, version: &str) -> Command {
    const SCRIPT: &str = r#"
import sys, urllib.request
index, name, version = sys.argv[1:4]
with urllib.request.urlopen("%s/%s/" % (index, name), timeout=10) as page:
    listed = page.read(1 << 24).decode("utf-8", "replace")
sys.exit(0 if "%s-%s" % (name, version) in listed else "%s does not list %s %s" % (index, name, version))
"#;
    let mut command = Command::new(folder.join("bin/python"));
    command.args(["-c", SCRIPT, index, package, version]);
    command
}

/// uv reads none of pip's variables: a person who has set only those means uv too.
fn uv_command(uv: &Path) -> Command {
    let mut command = Command::new(uv);
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if set("UV_DEFAULT_INDEX")
        .or_else(|| set("UV_INDEX_URL"))
        .is_none()
        && let Some(index) = set("PIP_INDEX_URL")
    {
        command.env("UV_DEFAULT_INDEX", index);
    }
    if set("UV_INDEX")
        .or_else(|| set("UV_EXTRA_INDEX_URL"))
        .is_none()
        && let Some(index) = set("PIP_EXTRA_INDEX_URL")
    {
        command.env("UV_INDEX", index);
    }
    command
}

/// The version of `name` in what `freeze` said, without the build (`+cpu`).
pub(crate) fn frozen_version<'f>(packages: &'f [String], name: &str) -> Option<&'f str> {
    packages.iter().find_map(|line| {
        let (found, version) = line.split_once("==")?;
        let version = version.split('+').next()?;
        (normalised(found) == normalised(name)).then(|| version.trim())
    })
}

/// Case and the marks between words do not tell packages apart.
fn normalised(name: &str) -> String {
    name.trim().to_lowercase().replace(['_', '.'], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_freeze_says() {
        let packages: Vec<String> = [
            "Theano==1.0.5",
            "torch==2.15.0+cpu",
            "ml_dtypes==0.6.0",
            "-e .",
        ]
        .map(str::to_owned)
        .to_vec();
        let check = |name, expected| assert_eq!(frozen_version(&packages, name), expected);
        check("theano", Some("1.0.5"));
        check("torch", Some("2.15.0"));
        check("ml-dtypes", Some("0.6.0"));
        check("numpy", None);
    }
}
