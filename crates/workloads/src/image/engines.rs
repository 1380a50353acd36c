//! Container engines of this machine, which take an archive.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::image::error::ImageError;
use crate::image::name::ImageName;

model::words! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Engine {
        Docker = "docker",
        Podman = "podman",
        Buildah = "buildah",
    }
}

/// The image is `name` in the engine afterwards.
pub fn load_into(engine: Engine, archive: &Path, name: &ImageName) -> Result<(), ImageError> {
    let mut command = Command::new(engine.word());
    match engine {
        Engine::Docker | Engine::Podman => command.args(["load", "--input"]).arg(archive),
        Engine::Buildah => {
            let mut source = OsString::from("docker-archive:");
            source.push(archive);
            command.args(["pull", "--quiet"]).arg(source)
        }
    };
    let loaded = engine.run(command)?;
    let loaded = loaded_as(&loaded).ok_or_else(|| {
        engine.failed(&format!(
            "it did not report what it loaded: {}",
            loaded.trim()
        ))
    })?;
    if loaded == name.to_string() || loaded == name.full() {
        return Ok(());
    }
    let mut command = Command::new(engine.word());
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
    fn failed(self, why: &str) -> ImageError {
        ImageError::new(format!("{self} could not load the image: {why}"))
    }

    /// Says what it printed.
    fn run(self, mut command: Command) -> Result<String, ImageError> {
        let ran = command
            .output()
            .map_err(|error| self.failed(&error.to_string()))?;
        if !ran.status.success() {
            return Err(self.failed(String::from_utf8_lossy(&ran.stderr).trim()));
        }
        Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
    }
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(text: &str) -> Result<Engine, String> {
        Engine::named(text).ok_or_else(|| format!("`{text}` is not docker, podman or buildah"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
