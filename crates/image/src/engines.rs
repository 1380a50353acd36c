//! Container engines of this machine, which take an archive.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::ImageError;
use crate::name::ImageName;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    Docker,
    Podman,
    Buildah,
}

const ALL: [Engine; 3] = [Engine::Docker, Engine::Podman, Engine::Buildah];

/// Those whose program is on the path; whether a daemon answers, loading shows.
pub fn engines() -> Vec<Engine> {
    engines_on(&std::env::var_os("PATH").unwrap_or_default())
}

fn engines_on(path: &OsStr) -> Vec<Engine> {
    let folders: Vec<PathBuf> = std::env::split_paths(path).collect();
    let is_here = |engine: &Engine| {
        let mut programs = folders.iter().map(|folder| folder.join(engine.name()));
        programs.any(|program| is_executable(&program))
    };
    ALL.into_iter().filter(is_here).collect()
}

/// The image is `name` in the engine afterwards.
pub fn load_into(engine: Engine, archive: &Path, name: &ImageName) -> Result<(), ImageError> {
    let loaded = match engine {
        Engine::Docker | Engine::Podman => {
            let mut command = Command::new(engine.name());
            command.args(["load", "--input"]).arg(archive);
            engine.run(command)?
        }
        Engine::Buildah => {
            let mut source = OsString::from("docker-archive:");
            source.push(archive);
            let mut command = Command::new(engine.name());
            command.args(["pull", "--quiet"]).arg(source);
            engine.run(command)?
        }
    };
    let loaded = loaded_as(&loaded).ok_or_else(|| ImageError::Engine {
        engine,
        said: format!("it did not report what it loaded: {}", loaded.trim()),
    })?;
    if loaded == name.to_string() || loaded == name.full() {
        return Ok(());
    }
    let mut command = Command::new(engine.name());
    command.args(["tag", loaded, &name.to_string()]);
    engine.run(command).map(|_| ())
}

/// `Loaded image: NAME`, `Loaded image ID: sha256:…`, `Loaded image(s): NAME`, or the ID alone.
fn loaded_as(said: &str) -> Option<&str> {
    let last = said.lines().rev().find(|line| !line.trim().is_empty())?;
    let after = last.split_once(": ").map_or(last, |(_, name)| name);
    Some(after.trim())
}

impl Engine {
    pub fn name(self) -> &'static str {
        match self {
            Engine::Docker => "docker",
            Engine::Podman => "podman",
            Engine::Buildah => "buildah",
        }
    }

    /// Says what it printed.
    fn run(self, mut command: Command) -> Result<String, ImageError> {
        let failed = |said: String| ImageError::Engine { engine: self, said };
        let ran = command
            .output()
            .map_err(|error| failed(error.to_string()))?;
        if !ran.status.success() {
            let said = String::from_utf8_lossy(&ran.stderr);
            return Err(failed(said.trim().to_owned()));
        }
        Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
    }
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let about = path.metadata();
    about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(text: &str) -> Result<Engine, String> {
        let found = ALL.into_iter().find(|engine| engine.name() == text);
        found.ok_or_else(|| format!("`{text}` is not docker, podman or buildah"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn engines_are_programs_on_the_path() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let podman = folder.path().join("podman");
        std::fs::write(&podman, "").unwrap();
        std::fs::write(folder.path().join("docker"), "").unwrap();
        std::fs::set_permissions(&podman, PermissionsExt::from_mode(0o755)).unwrap();
        let path = std::env::join_paths(["/nowhere".as_ref(), folder.path()]).unwrap();
        assert_eq!(engines_on(&path), [Engine::Podman]);
    }

    #[test]
    fn what_engines_say_of_a_loaded_image() {
        for (said, expected) in [
            ("Loaded image: bancada:1\n", Some("bancada:1")),
            ("Loaded image ID: sha256:0123\n", Some("sha256:0123")),
            (
                "Getting image\nLoaded image(s): localhost/bancada:1\n",
                Some("localhost/bancada:1"),
            ),
            ("0123456789ab\n", Some("0123456789ab")),
            ("\n", None),
        ] {
            assert_eq!(loaded_as(said), expected, "{said}");
        }
    }
}
