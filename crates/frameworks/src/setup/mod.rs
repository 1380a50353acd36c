//! Creates an environment: finds Python, installs packages, trains a step, marks it as complete.
//!
//! While it is being created a `.part` file is next to it; an interrupted setup restarts in the same
//! folder, where the installers find their earlier work. The marker is written last.

mod build;
mod check;
mod error;
mod packages;
mod remove;

use std::time::Instant;

pub use error::{Failed, SetupError};
pub use remove::{Removed, remove};

use crate::environment::{Environment, State};
use crate::home::{Home, HomeError};
use crate::installer::Installer;
use crate::lock;
use crate::machine::{Machine, minor_of};
use crate::marker::Marker;
use crate::registry::Kind;
use crate::spec::Spec;
use crate::trial::Trial;

use build::Build;

pub struct Setup<'a> {
    pub home: &'a Home,
    pub machine: &'a Machine,
    /// Packages for GPUs, where the framework has such.
    pub gpu: bool,
    /// What shows whether a framework works.
    pub trial: &'a Trial,
    /// Asked often; true ends the work, to be gone on with another time.
    pub stop: &'a dyn Fn() -> bool,
}

/// What happens while an environment is made.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    Begins {
        environment: Environment,
        python: String,
        installer: &'static str,
        /// An earlier attempt is gone on with.
        resumed: bool,
    },
    StepBegins(Step),
    /// The newest line that the installer said.
    Line(String),
    StepEnds {
        step: Step,
        seconds: f64,
    },
    Note(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Environment,
    CpuBuilds,
    BuildTools,
    Packages,
    Import,
    Trial,
}

impl Step {
    pub fn name(self) -> &'static str {
        match self {
            Step::Environment => "environment",
            Step::CpuBuilds => "builds without CUDA",
            Step::BuildTools => "build tools",
            Step::Packages => "packages",
            Step::Import => "import",
            Step::Trial => "training step",
        }
    }
}

/// A framework that is ready.
#[derive(Debug, Clone, PartialEq)]
pub struct Ready {
    pub spec: Spec,
    /// `None` for what has no environment: the engine, Caffe.
    pub installed: Option<ReadyEnvironment>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ReadyEnvironment {
    /// The framework's, not always its owner's.
    pub version: String,
    pub size_bytes: u64,
    pub gpu: bool,
    /// Whose environment it is, when it is another framework's.
    pub shared_with: Option<&'static str>,
    /// Seconds it took; None when it was there already.
    pub seconds: Option<f64>,
}

pub type Tell<'t> = dyn FnMut(Progress) + 't;

impl Setup<'_> {
    pub fn set_up(&self, spec: &Spec, tell: &mut Tell<'_>) -> Result<Ready, SetupError> {
        match spec.framework.kind {
            Kind::Caffe if self.machine.caffe.is_none() => return Err(SetupError::NoCaffe),
            Kind::Engine | Kind::Caffe => {
                if spec.framework.kind == Kind::Caffe {
                    self.try_caffe()?;
                }
                return Ok(Ready {
                    spec: spec.clone(),
                    installed: None,
                });
            }
            Kind::Python | Kind::Serving | Kind::Stack => {}
        }
        if !spec.framework.platforms.contains(&self.machine.platform) {
            return Err(SetupError::Platform {
                spec: spec.clone(),
                platform: self.machine.platform.clone(),
            });
        }
        for need in self.machine.missing(&spec.framework.needs) {
            tell(Progress::Note(format!("{}: {need}", spec.name())));
        }
        let Some(environment) = self.home.environment(spec) else {
            return Err(SetupError::NotThere { spec: spec.clone() });
        };
        let begin = Instant::now();
        let base = match &environment.base {
            Some(base) => {
                self.set_up(base, tell)?;
                self.home.environment(base)
            }
            None => None,
        };
        let is_tried = |marker: &Marker| {
            spec.framework.kind != Kind::Python || marker.tried.iter().any(|t| t == spec.name())
        };
        if let Some(marker) = self.usable(&environment, base.as_ref()).filter(is_tried) {
            return Ok(ready(spec, &environment, &marker, None));
        }
        let _lock = lock::take(&environment.folder)?;
        // Another program may have finished it meanwhile.
        let whole = self.usable(&environment, base.as_ref());
        if let Some(marker) = whole.as_ref().filter(|marker| is_tried(marker)) {
            return Ok(ready(spec, &environment, marker, None));
        }
        let build = Build {
            setup: self,
            spec,
            environment: &environment,
            base: base.as_ref(),
            installer: match &self.machine.uv {
                Some(uv) => Installer::Uv(uv.clone()),
                None => Installer::Pip,
            },
            gpu: self.gpu && environment.owner.has_gpu_builds(),
        };
        let marker = match whole {
            Some(marker) => build.check_again(marker, tell)?,
            None => build.make(tell)?,
        };
        let seconds = begin.elapsed().as_secs_f64();
        Ok(ready(spec, &environment, &marker, Some(seconds)))
    }

    /// The marker of an environment that is as it would be made now.
    fn usable(&self, environment: &Environment, base: Option<&Environment>) -> Option<Marker> {
        let State::Whole(marker) = environment.state() else {
            return None;
        };
        let wants_gpu = self.gpu && environment.owner.has_gpu_builds();
        let recipe = environment
            .owner
            .recipe(Some(&environment.version), marker.gpu);
        let same = recipe.digest() == marker.recipe && (marker.gpu || !wants_gpu);
        (same && extends(&marker, base)).then_some(*marker)
    }
}

/// Whether it sees the packages of this base, and by a Python that can use them: a base may have
/// been rebuilt, in another version or of another Python.
fn extends(marker: &Marker, base: Option<&Environment>) -> bool {
    let python_fits = match base.map(Environment::state) {
        Some(State::Whole(base)) => minor_of(&base.python) == minor_of(&marker.python),
        _ => true,
    };
    marker.extends == base.map(Environment::name) && python_fits
}

fn ready(spec: &Spec, environment: &Environment, marker: &Marker, seconds: Option<f64>) -> Ready {
    let owner = environment.owner.name.as_str();
    Ready {
        spec: spec.clone(),
        installed: Some(ReadyEnvironment {
            version: environment.version_of(spec.framework, marker),
            size_bytes: marker.size_bytes,
            gpu: marker.gpu,
            shared_with: (owner != spec.name()).then_some(owner),
            seconds,
        }),
    }
}

fn io<'a>(
    what: &'static str,
    path: &'a std::path::Path,
) -> impl FnOnce(std::io::Error) -> SetupError + 'a {
    move |source| SetupError::Home(HomeError::io(what, path)(source))
}
