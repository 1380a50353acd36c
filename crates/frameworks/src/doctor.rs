//! What is installed, whether it works, and what to do if not.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::adapters;
use crate::caffe::{caffe_advice, said_of_itself, version_in};
use crate::check::{self, ImportCheck};
use crate::disk;
use crate::environment::Environment;
use crate::home::{Home, Installed, WhyNot};
use crate::machine::{Machine, Python};
use crate::process::{Answer, ask};
use crate::registry::{self, Kind};
use crate::spec::Spec;
use crate::trial::{Started, Trial};

/// A framework that is not imported by then does not work.
const IMPORT_TIMEOUT: Duration = Duration::from_secs(180);
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Doctor<'a> {
    pub home: &'a Home,
    pub machine: &'a Machine,
    /// Where [`Home::adapters`] has put them.
    pub adapters: &'a Path,
    /// What shows whether a framework trains.
    pub trial: &'a Trial,
}

/// One framework, or one version of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct FrameworkReport {
    /// As a study writes it.
    pub name: String,
    pub condition: Condition,
    /// Installed, or else pinned.
    pub version: Option<String>,
    pub python: Option<String>,
    pub gpu_packages: bool,
    pub size_bytes: Option<u64>,
    pub folder: Option<PathBuf>,
    /// Whose environment it runs in, when that is another's.
    pub environment_of: Option<String>,
    /// Whose packages its environment sees too.
    pub extends: Option<String>,
    /// Of what does not train.
    pub import_seconds: Option<f64>,
    /// Of a process that trains one step.
    pub trial_seconds: Option<f64>,
    /// What is wrong, and what to do.
    pub problem: Option<String>,
    pub advice: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    #[default]
    Works,
    /// Set up, and does not work.
    Broken,
    Unfinished,
    NotSetUp,
    /// Not on this machine.
    CannotBeHad,
}

/// Everything around the frameworks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MachineReport {
    pub platform: String,
    pub cache: PathBuf,
    pub free_bytes: Option<u64>,
    pub folders: Vec<FolderSize>,
    pub uv: Option<Program>,
    pub pythons: Vec<Python>,
    pub caffe: Option<Program>,
    /// As `nvidia-smi` names them; None where there is no such program.
    pub gpus: Option<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FolderSize {
    pub name: String,
    pub size_bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Program {
    pub path: PathBuf,
    /// What it says of itself; None when it does not answer.
    pub version: Option<String>,
}

impl Doctor<'_> {
    /// Every framework in its pinned version, and the other versions that are here.
    pub fn specs(&self) -> Vec<Spec> {
        let pinned = registry::all().map(Spec::pinned);
        let others = self.home.environments();
        let others = others.iter().map(Environment::spec);
        let others: Vec<Spec> = others.filter(|spec| spec.version.is_some()).collect();
        pinned.chain(others).collect()
    }

    pub fn surroundings(&self) -> MachineReport {
        let machine = self.machine;
        let program = |path: &PathBuf| Program {
            version: first_line(Command::new(path).arg("--version")),
            path: path.clone(),
        };
        MachineReport {
            platform: machine.platform.clone(),
            cache: self.home.path().to_owned(),
            free_bytes: disk::free_bytes(self.home.path()),
            folders: folders(self.home.path()),
            uv: machine.uv.as_ref().map(program),
            pythons: machine.pythons(&registry::python_versions()),
            caffe: machine.caffe.as_ref().map(program),
            gpus: machine.program("nvidia-smi").map(|path| gpus(&path)),
        }
    }

    /// Takes as long as the framework takes to train a step, or to be imported if it does not train.
    pub fn examine(&self, spec: &Spec) -> FrameworkReport {
        match spec.framework.kind {
            Kind::Engine => report(spec, Condition::Works),
            Kind::Caffe => self.examine_caffe(spec),
            Kind::Python | Kind::Serving | Kind::Stack => match self.home.interpreter(spec) {
                Ok(installed) => self.examine_installed(spec, installed),
                Err(missing) => {
                    let mut report = self.not_set_up(spec);
                    if missing.why == WhyNot::Unfinished {
                        report.condition = Condition::Unfinished;
                        report.advice = Some(format!("to continue: bancada setup {spec}"));
                    }
                    if let WhyNot::BaseMissing(_) = missing.why {
                        report.condition = Condition::Broken;
                        report.problem = Some(missing.to_string());
                        report.advice = Some(format!("bancada setup {spec}"));
                    }
                    report
                }
            },
        }
    }

    fn examine_caffe(&self, spec: &Spec) -> FrameworkReport {
        let Some(path) = &self.machine.caffe else {
            let mut report = report(spec, Condition::NotSetUp);
            report.advice = Some(crate::SetupError::NoCaffe.to_string());
            return report;
        };
        match said_of_itself(path) {
            Some(said) if said.contains("caffe") => {
                let mut report = report(spec, Condition::Works);
                report.version = version_in(&said);
                report.folder = path.parent().map(Path::to_owned);
                if let Err(problem) = self.train(self.trial.of_caffe(), &mut report) {
                    report.condition = Condition::Broken;
                    let advice = caffe_advice(&problem);
                    let said = |advice| problem.replace(&format!("; {advice}"), "");
                    report.problem = Some(advice.map_or(problem.clone(), said));
                    report.advice = advice.map(str::to_owned);
                }
                report
            }
            _ => {
                let mut report = report(spec, Condition::Broken);
                report.problem = Some(format!(
                    "{} does not respond to `--version`",
                    path.display()
                ));
                report.advice = Some("BANCADA_CAFFE names the program".to_owned());
                report
            }
        }
    }

    fn not_set_up(&self, spec: &Spec) -> FrameworkReport {
        let framework = spec.framework;
        if !framework.platforms.contains(&self.machine.platform) {
            let mut report = report(spec, Condition::CannotBeHad);
            report.problem = Some(format!(
                "packages exist only for {}",
                framework.platforms.join(", ")
            ));
            return report;
        }
        let recipe = framework.recipe(spec.version.as_deref(), false);
        let mut report = report(spec, Condition::NotSetUp);
        report.advice = Some(format!("bancada setup {spec}"));
        if self.machine.uv.is_none() && self.machine.python(&recipe.python).is_none() {
            report.condition = Condition::CannotBeHad;
            report.problem = Some(format!("it needs Python {}", recipe.python.join(" or ")));
            report.advice =
                Some("install that Python, or install uv, which downloads it".to_owned());
        }
        report
    }

    fn examine_installed(&self, spec: &Spec, installed: Installed) -> FrameworkReport {
        let mut report = report(spec, Condition::Works);
        let marker = &installed.marker;
        report.version = Some(installed.version.clone());
        report.python = Some(marker.python.clone());
        report.gpu_packages = marker.gpu;
        report.size_bytes = Some(marker.size_bytes);
        report.folder = Some(installed.folder.clone());
        report.environment_of = (marker.framework != spec.name()).then(|| marker.framework.clone());
        report.extends = marker.extends.clone();
        let checked = match spec.framework.kind {
            Kind::Python => self.train_installed(spec, &installed, &mut report),
            _ => self.import(spec, &installed, &mut report),
        };
        // Of what trains, the step decides whether it has what it needs.
        if checked.is_err() || spec.framework.kind != Kind::Python {
            self.note_needs(spec, &mut report);
        }
        if let Err(problem) = checked {
            report.condition = Condition::Broken;
            report.problem = Some(match report.problem.take() {
                Some(needs) => format!("{needs}; {problem}"),
                None => problem,
            });
            report.advice.get_or_insert_with(|| {
                format!("bancada setup --remove {spec}, then bancada setup {spec}")
            });
        }
        report
    }

    fn note_needs(&self, spec: &Spec, report: &mut FrameworkReport) {
        let missing = self.machine.missing(&spec.framework.needs);
        if missing.is_empty() {
            return;
        }
        let packages: Vec<&str> = missing.iter().map(|n| n.debian.as_str()).collect();
        let needs: Vec<String> = missing
            .iter()
            .map(|n| format!("needs {}", n.what()))
            .collect();
        let install = format!("apt-get install {}", packages.join(" "));
        report.problem = Some(needs.join(", "));
        match spec.framework.kind {
            // It can do without, and is another stack then.
            Kind::Stack => report.advice = Some(format!("{install}, or start it with --no-nginx")),
            _ => {
                report.condition = Condition::Broken;
                report.advice = Some(install);
            }
        }
    }

    /// One step by the adapter in the framework's own Python.
    fn train_installed(
        &self,
        spec: &Spec,
        installed: &Installed,
        report: &mut FrameworkReport,
    ) -> Result<(), String> {
        let adapter = spec.framework.adapter.as_deref();
        let Some(adapter) = adapter.filter(|name| adapters::has(name)) else {
            report.advice = Some("use a release of bancada that has one".to_owned());
            return Err("this build has no adapter for it".to_owned());
        };
        let adapter = self.adapters.join(adapter);
        let started = self
            .trial
            .of_adapter(spec.name(), &installed.python, &adapter)
            .map(|mut started| {
                started.command.envs(installed.variables.iter().cloned());
                started
            });
        self.train(started, report)
    }

    fn train(
        &self,
        started: io::Result<Started>,
        report: &mut FrameworkReport,
    ) -> Result<(), String> {
        let folder = self.trial.folder.display();
        let started = started.map_err(|error| format!("cannot write in {folder}: {error}"))?;
        let begin = Instant::now();
        started.run()?;
        report.trial_seconds = Some(begin.elapsed().as_secs_f64());
        Ok(())
    }

    /// The framework, then the server around it, in the framework's own Python.
    fn import(
        &self,
        spec: &Spec,
        installed: &Installed,
        report: &mut FrameworkReport,
    ) -> Result<(), String> {
        let parts = self.parts(spec)?;
        let import = ImportCheck {
            python: &installed.python,
            adapters: Some(&parts.folder),
            modules: parts.modules,
            variables: &installed.variables,
            folder: installed.folder.clone(),
        };
        let answer = ask(&mut import.command(), IMPORT_TIMEOUT)
            .map_err(|error| format!("its Python does not start: {error}"))?;
        let told = check::parse(&answer.stdout);
        if let Some(first) = told.first().filter(|first| first.error.is_none()) {
            report.import_seconds = Some(first.seconds);
        }
        if answer.success && told.len() == import.modules.len() {
            return Ok(());
        }
        if let Some((module, error)) = told
            .last()
            .and_then(|last| Some((&last.module, last.error.as_ref()?)))
        {
            let error = error.lines().next().unwrap_or_default();
            return Err(format!("`import {module}` fails: {error}"));
        }
        let module = import.modules.get(told.len()).unwrap_or(&"it");
        Err(crash(module, &answer))
    }

    fn parts<'s>(&self, spec: &'s Spec) -> Result<Parts<'s>, String> {
        let framework = spec.framework;
        let adapter = framework.adapter.as_deref();
        let adapter = adapter.and_then(|name| name.strip_suffix(".py"));
        let module = framework.module.as_deref().into_iter();
        if framework.kind == Kind::Stack {
            let stacks = self.home.stacks();
            return Ok(Parts {
                folder: stacks.map_err(|error| error.to_string())?,
                modules: module.chain(STACK_MODULES).chain(adapter).collect(),
            });
        }
        Ok(Parts {
            folder: self.adapters.to_owned(),
            modules: module.collect(),
        })
    }
}

/// What a framework is made of beside its packages.
struct Parts<'s> {
    folder: PathBuf,
    modules: Vec<&'s str>,
}

/// The server around a stack's framework.
const STACK_MODULES: [&str; 3] = ["gunicorn", "uvicorn_worker", "stack_app"];

fn crash(module: &str, answer: &Answer) -> String {
    if answer.timed_out {
        return format!(
            "`import {module}` did not finish within {} s",
            IMPORT_TIMEOUT.as_secs()
        );
    }
    let said = answer
        .stderr
        .lines()
        .rev()
        .find(|line| !line.trim().is_empty());
    match said {
        Some(line) => format!("`import {module}` crashes Python: {}", line.trim()),
        None => format!("`import {module}` crashes Python without a message"),
    }
}

fn report(spec: &Spec, condition: Condition) -> FrameworkReport {
    FrameworkReport {
        name: spec.to_string(),
        condition,
        version: spec.wanted_version().map(str::to_owned),
        ..FrameworkReport::default()
    }
}

/// What lies in the cache folder.
fn folders(home: &Path) -> Vec<FolderSize> {
    let Ok(entries) = fs::read_dir(home) else {
        return Vec::new();
    };
    let mut folders: Vec<FolderSize> = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| FolderSize {
            name: entry.file_name().to_string_lossy().into_owned(),
            size_bytes: disk::size_of(&entry.path()).bytes,
        })
        .collect();
    folders.sort_by(|a, b| a.name.cmp(&b.name));
    folders
}

fn first_line(command: &mut Command) -> Option<String> {
    let answer = ask(command, PATIENCE).ok().filter(|a| a.success)?;
    let line = answer.stdout.lines().next()?.trim().to_owned();
    (!line.is_empty()).then_some(line)
}

/// `GPU 0: NVIDIA T4 (UUID: …)` without its identity.
fn gpus(nvidia_smi: &Path) -> Vec<String> {
    let answer = ask(Command::new(nvidia_smi).arg("-L"), PATIENCE);
    let Some(answer) = answer.ok().filter(|a| a.success) else {
        return Vec::new();
    };
    let lines = answer
        .stdout
        .lines()
        .filter(|line| line.starts_with("GPU "));
    let name = |line: &str| line.split(" (UUID").next().unwrap_or(line).to_owned();
    lines.map(name).collect()
}
