//! A model's folder as a stack reads it, kept in the cache: made once, before anything is measured.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::{StackError, Stacks, text};
use crate::adapters::{STACKS, adapters_digest, digest_of};
use crate::digest::digest;
use crate::home::{HomeError, Installed, publish, unfinished};
use crate::process::ask;
use crate::spec::Spec;

/// VGG-19 takes TensorFlow some ten seconds.
const PATIENCE: Duration = Duration::from_secs(900);
const LAST_LINES: usize = 8;
const FOLDER: &str = "stack-models";

/// A model to be served by a stack.
#[derive(Clone, Copy)]
pub struct StackModel<'a> {
    /// What people call it.
    pub name: &'a str,
    pub onnx: &'a Path,
    /// The text of `model.json`, with the model's name in it.
    pub description: &'a str,
    /// For stacks that build the network anew; asked only when there is no folder yet. `None` if
    /// there is nothing but the file.
    pub network: Option<&'a dyn Fn() -> Result<StackNetwork, String>>,
}

/// A layer graph and its weights.
pub struct StackNetwork {
    /// JSON, as in a job file.
    pub graph: String,
    /// Safetensors.
    pub weights: Vec<u8>,
}

impl Stacks<'_> {
    /// The folder for [`super::StackWish::model`]; made where it is not there.
    pub fn prepare(&self, spec: &Spec, model: &StackModel<'_>) -> Result<PathBuf, StackError> {
        let preparing = Preparing {
            stacks: self,
            spec,
            model,
            installed: self.installed(spec)?,
        };
        let parent = self.home.path().join(FOLDER);
        let key = preparing.key()?;
        let folder = parent.join(format!("{}-{key}", spec.name()));
        if folder.is_dir() {
            return Ok(folder);
        }
        let unfinished = unfinished(&folder).map_err(StackError::Home)?;
        preparing.fill(unfinished.path())?;
        publish(unfinished, folder).map_err(StackError::Home)
    }
}

struct Preparing<'a> {
    stacks: &'a Stacks<'a>,
    spec: &'a Spec,
    model: &'a StackModel<'a>,
    installed: Installed,
}

impl Preparing<'_> {
    /// What decides the folder's content. A changed file is told by its name, size and time, as
    /// `make` does: reading half a gigabyte would take as long as a start.
    fn key(&self) -> Result<String, StackError> {
        let onnx = self.model.onnx;
        let path = fs::canonicalize(onnx).map_err(home("find", onnx))?;
        let metadata = fs::metadata(&path).map_err(home("read", &path))?;
        let changed = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let changed = changed
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        Ok(digest([
            self.spec.name(),
            &self.installed.version,
            &digest_of(STACKS),
            &adapters_digest(),
            &text(&path),
            &format!("{} {}", metadata.len(), changed.as_nanos()),
            self.model.description,
        ]))
    }

    fn fill(&self, folder: &Path) -> Result<(), StackError> {
        let description = self.model.description;
        write(&folder.join("model.json"), description.as_bytes())?;
        match self.spec.framework.convert.as_deref() {
            Some(convert) => self.convert(folder, convert)?,
            None => {
                let onnx = self.model.onnx;
                let onnx = fs::canonicalize(onnx).map_err(home("find", onnx))?;
                let link = folder.join("model.onnx");
                symlink(onnx, &link).map_err(home("write", &link))?;
            }
        }
        // The first start would compile them, and be measured with it.
        let stacks = self.stacks.home.stacks().map_err(StackError::Home)?;
        let mut compile = Command::new(&self.installed.python);
        compile.args(["-m", "compileall", "-q"]).arg(stacks);
        // It only starts more slowly once.
        let _ = ask(&mut compile, PATIENCE);
        Ok(())
    }

    fn convert(&self, folder: &Path, convert: &str) -> Result<(), StackError> {
        let name = || self.model.name.to_owned();
        let spec = || self.spec.clone();
        let network = self.model.network.ok_or_else(|| StackError::NoGraph {
            spec: spec(),
            model: name(),
        })?;
        let network = network().map_err(|why| StackError::Network { model: name(), why })?;
        let graph = folder.join("graph.json");
        let weights = folder.join("model.safetensors");
        write(&graph, network.graph.as_bytes())?;
        write(&weights, &network.weights)?;
        let adapters = self.stacks.home.adapters().map_err(StackError::Home)?;
        let python = &self.installed.python;
        let variables = self.installed.variables.iter();
        let mut command = Command::new(python);
        command
            .arg(self.stacks.script(Some(convert))?)
            .arg(folder)
            .current_dir(folder)
            .envs(variables.map(|(name, value)| (name, value)))
            .env("BANCADA_ADAPTERS", adapters);
        let answer = ask(&mut command, PATIENCE).map_err(home("start", python))?;
        if !answer.success {
            return Err(StackError::Conversion {
                spec: spec(),
                model: name(),
                last_lines: crate::last_lines(&answer.stderr, LAST_LINES),
            });
        }
        for path in [graph, weights] {
            fs::remove_file(&path).map_err(home("remove", &path))?;
        }
        Ok(())
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), StackError> {
    fs::write(path, bytes).map_err(home("write", path))
}

fn home(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> StackError {
    let failed = HomeError::io(what, path);
    move |source| StackError::Home(failed(source))
}
