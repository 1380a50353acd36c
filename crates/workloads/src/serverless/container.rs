//! A worker as a container: the engine's command line.

use std::path::PathBuf;

use crate::serverless::options::Size;

/// Where a container listens, by the contract of managed services.
const CONTAINER_PORT: u16 = 8080;

/// A program that runs containers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    pub program: PathBuf,
}

const NO_ENGINE: &str = "neither podman nor docker is in the PATH: install one, or give a command instead of --container";

impl Engine {
    /// podman, which needs no daemon, before docker. The error is a sentence.
    pub fn find(path: &std::ffi::OsStr) -> Result<Engine, &'static str> {
        let folders: Vec<PathBuf> = std::env::split_paths(path).collect();
        let mut programs = ["podman", "docker"]
            .into_iter()
            .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
        let program = programs
            .find(|program| program.is_file())
            .ok_or(NO_ENGINE)?;
        Ok(Engine { program })
    }

    /// Stays in the foreground, passes signals on, and leaves no container behind.
    pub(crate) fn run(&self, container: &Container<'_>) -> Vec<String> {
        let memory = format!("{}m", container.size.memory_mb);
        let mut command = vec![self.program.to_string_lossy().into_owned()];
        let options = [
            "run",
            "--rm",
            "--name",
            container.name,
            "--memory",
            &memory,
            // As much with swap as without: none.
            "--memory-swap",
            &memory,
            "--cpus",
            &container.size.cpus_here().to_string(),
            "-p",
            &format!("127.0.0.1:{}:{CONTAINER_PORT}", container.port),
            container.image,
        ];
        command.extend(options.map(str::to_owned));
        command.extend(container.arguments.iter().cloned());
        command
    }

    /// A client that was killed leaves its container to the engine.
    pub(crate) fn remove(&self, name: &str) -> Vec<String> {
        let program = self.program.to_string_lossy().into_owned();
        [&program, "rm", "--force", name]
            .map(str::to_owned)
            .to_vec()
    }
}

/// What is to be run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Container<'a> {
    pub(crate) name: &'a str,
    pub(crate) image: &'a str,
    pub(crate) arguments: &'a [String],
    pub(crate) port: u16,
    pub(crate) size: Size,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_limits_memory_and_cores() {
        let engine = Engine {
            program: PathBuf::from("/usr/bin/podman"),
        };
        let container = Container {
            name: "bancada-1-2",
            image: "retina:1",
            arguments: &["serve".to_owned()],
            port: 40123,
            size: Size::any(1024, 2048.0).unwrap(),
        };
        assert_eq!(
            engine.run(&container).join(" "),
            "/usr/bin/podman run --rm --name bancada-1-2 --memory 1024m --memory-swap 1024m \
             --cpus 0.5 -p 127.0.0.1:40123:8080 retina:1 serve"
        );
        assert_eq!(
            engine.remove("bancada-1-2").join(" "),
            "/usr/bin/podman rm --force bancada-1-2"
        );
    }

    #[test]
    fn without_an_engine_there_is_no_container() {
        assert_eq!(Engine::find("".as_ref()), Err(NO_ENGINE));
    }
}
