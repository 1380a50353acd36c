//! The steps from a Python to a complete environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::error::hint;
use super::{Failed, Progress, Setup, SetupError, Step, Tell, io};
use crate::disk;
use crate::environment::{Environment, State, part, state_of};
use crate::installer::Installer;
use crate::machine::{Python, minor_of};
use crate::marker::{MARKER, Marker};
use crate::process::{Ending, Watch, ask, tail, watch};
use crate::registry::{Kind, Recipe};
use crate::spec::Spec;

const FREEZE_TIMEOUT: Duration = Duration::from_secs(120);
/// Shown of the log when a step fails.
const LAST_LINES: usize = 8;
/// The one file that joins an environment to the one it extends.
const JOINT: &str = "bancada_base.pth";

pub(super) struct Build<'a> {
    pub(super) setup: &'a Setup<'a>,
    pub(super) spec: &'a Spec,
    pub(super) environment: &'a Environment,
    pub(super) base: Option<&'a Environment>,
    pub(super) installer: Installer,
    pub(super) gpu: bool,
}

/// The Python an environment is made of.
enum Source {
    Found(Python),
    /// uv is asked to fetch this version.
    Fetched(String),
}

impl Build<'_> {
    pub(super) fn make(&self, tell: &mut Tell<'_>) -> Result<Marker, SetupError> {
        let folder = &self.environment.folder;
        let result = self.carry_out(tell);
        // Where nothing was made there is nothing to go on with.
        if result.is_err() && !folder.exists() {
            let _ = fs::remove_file(part(folder));
        }
        result
    }

    fn carry_out(&self, tell: &mut Tell<'_>) -> Result<Marker, SetupError> {
        let environment = self.environment;
        let recipe = environment
            .owner
            .recipe(Some(&environment.version), self.gpu);
        let source = self.source(&recipe)?;
        let resumed = self.claim(&recipe)?;
        tell(Progress::Begins {
            environment: environment.clone(),
            python: match &source {
                Source::Found(python) => python.version.clone(),
                Source::Fetched(version) => version.clone(),
            },
            installer: self.installer.name(),
            resumed,
        });
        self.note_room(tell);
        self.create(&source, &recipe, tell)?;
        let python = self.python_version()?;
        self.unjoin()?;
        let locked = self.install(&recipe, &python, tell)?;
        self.join()?;
        self.check(tell)?;
        self.finish(&recipe, python, locked)
    }

    /// The first accepted Python; of the base's version, where there is a base.
    fn source(&self, recipe: &Recipe) -> Result<Source, SetupError> {
        let mut accepted = recipe.python.clone();
        if let Some(State::Whole(base)) = self.base.map(Environment::state) {
            accepted.retain(|minor| minor == minor_of(&base.python));
            if let (true, Some(spec)) = (accepted.is_empty(), &self.environment.base) {
                return Err(SetupError::BasePython {
                    spec: self.spec.clone(),
                    base: spec.clone(),
                    found: base.python,
                    accepted: recipe.python.clone(),
                });
            }
        }
        match (self.setup.machine.python(&accepted), &self.installer) {
            (Some(python), _) => Ok(Source::Found(python)),
            (None, Installer::Uv(_)) if !accepted.is_empty() => {
                Ok(Source::Fetched(accepted.swap_remove(0)))
            }
            (None, _) => Err(self.no_python(recipe, false)),
        }
    }

    fn no_python(&self, recipe: &Recipe, uv_failed: bool) -> SetupError {
        let versions = crate::registry::python_versions();
        let found = self.setup.machine.pythons(&versions);
        SetupError::NoPython {
            spec: self.spec.clone(),
            accepted: recipe.python.clone(),
            found: found.into_iter().map(|python| python.version).collect(),
            uv_failed,
        }
    }

    /// Makes the folder ours; true when an earlier attempt at the same is gone on with.
    fn claim(&self, recipe: &Recipe) -> Result<bool, SetupError> {
        let folder = &self.environment.folder;
        let part = part(folder);
        let state = state_of(folder);
        if state == State::Foreign {
            return Err(SetupError::Foreign {
                folder: folder.clone(),
            });
        }
        let claim = format!("{} gpu={}\n", recipe.digest(), self.gpu);
        let earlier = fs::read_to_string(&part).unwrap_or_default();
        let resumed = state == State::Unfinished && earlier == claim && folder.exists();
        // Before anything else: what lies in the folder from now on is not whole.
        fs::write(&part, &claim).map_err(io("write", &part))?;
        if !resumed && folder.exists() {
            fs::remove_dir_all(folder).map_err(io("remove", folder))?;
        }
        let log = self.environment.log();
        fs::write(&log, "").map_err(io("write", &log))?;
        Ok(resumed)
    }

    fn note_room(&self, tell: &mut Tell<'_>) {
        let wanted = self.environment.owner.size_mb.map(|mb| mb * 1_000_000);
        let free = disk::free_bytes(&self.environment.folder);
        if let (Some(wanted), Some(free)) = (wanted, free)
            && free < wanted
        {
            tell(Progress::Note(format!(
                "about {} GB are needed, but the disk of {} has only {:.1} GB free",
                wanted.div_ceil(100_000_000) as f64 / 10.0,
                self.setup.home.path().display(),
                free as f64 / 1e9
            )));
        }
    }

    fn create(
        &self,
        source: &Source,
        recipe: &Recipe,
        tell: &mut Tell<'_>,
    ) -> Result<(), SetupError> {
        let python = match source {
            Source::Found(python) => python.path.clone(),
            Source::Fetched(version) => PathBuf::from(version),
        };
        let command = self.installer.create(&python, &self.environment.folder);
        let ending = self.step(Step::Environment, command, None, tell)?;
        match (ending, source) {
            (Ending::Done, _) => Ok(()),
            (_, Source::Fetched(_)) => {
                let _ = fs::remove_dir_all(&self.environment.folder);
                Err(self.no_python(recipe, true))
            }
            _ => Err(self.failed("creating the environment")),
        }
    }

    /// The environment's modules are found first, then those of the one it extends.
    fn join(&self) -> Result<(), SetupError> {
        let Some(base) = self.base else {
            return Ok(());
        };
        let packages = self.packages_of(base)?;
        let joint = self.packages_of(self.environment)?.join(JOINT);
        fs::write(&joint, format!("{}\n", packages.display())).map_err(io("write", &joint))
    }

    /// An installer that saw the base's packages would take them for its own.
    fn unjoin(&self) -> Result<(), SetupError> {
        if self.base.is_some() {
            let joint = self.packages_of(self.environment)?.join(JOINT);
            let _ = fs::remove_file(joint);
        }
        Ok(())
    }

    fn packages_of(&self, environment: &Environment) -> Result<PathBuf, SetupError> {
        let answer = self.question(
            &environment.python(),
            "import sysconfig; print(sysconfig.get_path('purelib'))",
        )?;
        Ok(PathBuf::from(answer))
    }

    fn python_version(&self) -> Result<String, SetupError> {
        self.question(
            &self.environment.python(),
            "import platform; print(platform.python_version())",
        )
    }

    fn question(&self, python: &Path, code: &str) -> Result<String, SetupError> {
        let mut command = Command::new(python);
        command.args(["-c", code]);
        let answer = ask(&mut command, FREEZE_TIMEOUT).map_err(cannot_start(python))?;
        match answer.success {
            true => Ok(answer.stdout.trim().to_owned()),
            false => Err(self.failed("starting its Python")),
        }
    }

    fn finish(&self, recipe: &Recipe, python: String, locked: bool) -> Result<Marker, SetupError> {
        let environment = self.environment;
        let folder = &environment.folder;
        let answer = ask(&mut self.installer.freeze(folder), FREEZE_TIMEOUT)
            .map_err(io("list the packages of", folder))?;
        if !answer.success {
            return Err(self.failed("listing its packages"));
        }
        let mut marker = Marker {
            framework: environment.owner.name.clone(),
            version: environment.version.clone(),
            python,
            gpu: self.gpu,
            size_bytes: disk::size_of(folder).bytes,
            made: jiff::Timestamp::now()
                .strftime("%Y-%m-%dT%H:%M:%SZ")
                .to_string(),
            recipe: recipe.digest(),
            extends: self.base.map(Environment::name),
            locked,
            tried: match self.spec.framework.kind {
                Kind::Python => vec![self.spec.name().to_owned()],
                _ => Vec::new(),
            },
            packages: answer.stdout.lines().map(str::to_owned).collect(),
        };
        marker.version = environment.version_of(environment.owner, &marker);
        self.write_marker(&marker)?;
        let part = part(folder);
        fs::remove_file(&part).map_err(io("remove", &part))?;
        Ok(marker)
    }

    pub(super) fn write_marker(&self, marker: &Marker) -> Result<(), SetupError> {
        let folder = &self.environment.folder;
        let text = serde_json::to_string_pretty(marker).unwrap_or_default();
        let path = folder.join(MARKER);
        host::write_whole(&path, text + "\n").map_err(io("write", &path))
    }

    pub(super) fn step(
        &self,
        step: Step,
        mut command: Command,
        timeout: Option<Duration>,
        tell: &mut Tell<'_>,
    ) -> Result<Ending, SetupError> {
        let stopped = || SetupError::Stopped {
            spec: self.spec.clone(),
        };
        if (self.setup.stop)() {
            return Err(stopped());
        }
        tell(Progress::StepBegins(step));
        let begin = Instant::now();
        let log = self.environment.log();
        let program = PathBuf::from(command.get_program());
        let ending = watch(
            &mut command,
            &mut Watch {
                log: &log,
                timeout,
                stop: self.setup.stop,
                line: &mut |line| tell(Progress::Line(line.to_owned())),
            },
        )
        .map_err(cannot_start(&program))?;
        tell(Progress::StepEnds {
            step,
            seconds: begin.elapsed().as_secs_f64(),
        });
        match ending {
            Ending::Stopped => Err(stopped()),
            other => Ok(other),
        }
    }

    pub(super) fn failed(&self, what: &str) -> SetupError {
        let log = self.environment.log();
        let said = tail(&log, 20_000);
        let last_step = said.rfind("\n$ ").map_or(0, |at| at + 1);
        let said = &said[last_step..];
        let lines: Vec<&str> = said
            .lines()
            .map(str::trim_end)
            .filter(|line| !line.trim().is_empty() && !line.starts_with("$ "))
            .collect();
        let begin = lines.len().saturating_sub(LAST_LINES);
        SetupError::Failed(Box::new(Failed {
            spec: self.spec.clone(),
            what: what.to_owned(),
            last_lines: lines[begin..]
                .iter()
                .map(|line| (*line).to_owned())
                .collect(),
            hint: self
                .lacking()
                .unwrap_or_else(|| hint(said, self.spec, self.gpu)),
            log,
        }))
    }
}

pub(super) fn cannot_start(program: &Path) -> impl FnOnce(std::io::Error) -> SetupError {
    let program = program.to_owned();
    move |source| SetupError::CannotStart { program, source }
}
