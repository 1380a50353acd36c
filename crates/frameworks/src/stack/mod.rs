//! Serving stacks: servers that others build for models, each started as one process with children
//! that fulfils the container contract (docs/serving.md).
//!
//! A model is prepared once ([`Stacks::prepare`]), so that no start has to convert anything; a start
//! ([`Stacks::start`]) is a command and its variables, for whoever measures it or becomes it.

mod error;
mod prepare;

use std::path::{Path, PathBuf};

use serde::Serialize;

pub use error::StackError;
pub use prepare::{StackModel, StackNetwork};

use crate::home::{Home, Installed};
use crate::machine::Machine;
use crate::registry::Kind;
use crate::spec::Spec;

pub struct Stacks<'a> {
    pub home: &'a Home,
    pub machine: &'a Machine,
}

/// How a stack is to be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StackWish<'a> {
    /// As [`Stacks::prepare`] made it.
    pub model: &'a Path,
    /// On this machine alone: stacks listen on 127.0.0.1.
    pub port: u16,
    /// None: one a core that the stack may use.
    pub workers: Option<u32>,
    /// Of each worker; none: as the stack's users do.
    pub threads: Option<u32>,
    pub front: Front,
    /// For NGINX' files and a socket; none: one that the stack makes, and removes when it ends.
    pub folder: Option<&'a Path>,
}

/// What clients connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Front {
    #[default]
    Nginx,
    /// Gunicorn itself.
    Bare,
}

/// A process that ends with all its children on SIGTERM.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StackStart {
    pub command: Vec<String>,
    pub env: Vec<(String, String)>,
    /// Of TensorFlow, ONNX Runtime ….
    pub version: String,
    /// In what it is not the stack that its name promises, as sentences.
    pub differences: Vec<String>,
}

const BARE: &str = "without NGINX: clients connect to Gunicorn directly, so a client that keeps its connection stays with one worker, however busy that is";

impl Stacks<'_> {
    pub fn start(&self, spec: &Spec, wish: &StackWish<'_>) -> Result<StackStart, StackError> {
        let installed = self.installed(spec)?;
        if wish.front == Front::Nginx
            && let Some(need) = self.machine.missing(&spec.framework.needs).first()
        {
            return Err(StackError::NoNginx {
                spec: spec.clone(),
                debian: need.debian.clone(),
            });
        }
        let script = self.script(spec.framework.adapter.as_deref())?;
        let mut env = installed.variables;
        let mut set = |name: &str, value: String| env.push((name.to_owned(), value));
        set("SM_MODEL_DIR", text(wish.model));
        set("SAGEMAKER_BIND_TO_PORT", wish.port.to_string());
        set("BANCADA_HOST", "127.0.0.1".to_owned());
        let front = match wish.front {
            Front::Nginx => "nginx",
            Front::Bare => "none",
        };
        set("BANCADA_STACK_FRONT", front.to_owned());
        // Empty is as good as unset: what this program's own surroundings say must not count.
        let number = |number: Option<u32>| number.map(|n| n.to_string()).unwrap_or_default();
        set("MODEL_SERVER_WORKERS", number(wish.workers));
        set("BANCADA_STACK_THREADS", number(wish.threads));
        let folder = wish.folder.map(text).unwrap_or_default();
        set("BANCADA_STACK_FOLDER", folder);
        Ok(StackStart {
            command: vec![text(&installed.python), text(&script), "serve".to_owned()],
            env,
            version: installed.version,
            differences: match wish.front {
                Front::Nginx => Vec::new(),
                Front::Bare => vec![BARE.to_owned()],
            },
        })
    }

    fn installed(&self, spec: &Spec) -> Result<Installed, StackError> {
        if spec.framework.kind != Kind::Stack {
            return Err(StackError::NoStack { spec: spec.clone() });
        }
        self.home.interpreter(spec).map_err(StackError::NotSetUp)
    }

    fn script(&self, name: Option<&str>) -> Result<PathBuf, StackError> {
        let folder = self.home.stacks().map_err(StackError::Home)?;
        Ok(folder.join(name.unwrap_or_default()))
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
